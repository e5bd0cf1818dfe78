// The straight line: one instruction after the other on the caller's thread; no lock, queue or count.
#include <chrono>

#include "penstock/runtime/executor.h"
#include "penstock/runtime/kept_inputs.h"

namespace penstock {

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Status AtNode(const Status& status, const Node& node) {
  if (status.ok() || !status.node().empty()) return status;
  return Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", node.name(), "}}]]"), node.name());
}

namespace {

// Reads the variable behind a reference.
void Dereference(const Program::Deref& deref, std::vector<Value>& slots) {
  if (!slots[deref.from].ref) {  // of a side of a conditional that was not taken
    slots[deref.to].tensor = Tensor();
    return;
  }
  VariableSlot& variable = *slots[deref.from].ref;
  std::lock_guard lock(variable.mutex);
  if (!variable.value.initialized() && !deref.allow_uninitialized) {
    throw FailedPrecondition("Attempting to use uninitialized value ", variable.name);
  }
  slots[deref.to].tensor = variable.value;
}

// Whether the instruction is on the side of a Switch that is not taken. A Merge runs with any one of its inputs,
// whatever became of those that it waits for.
bool IsDead(const Program& program, const Instruction& instruction, const Program::Workspace& workspace) {
  int missing = 0;
  for (int i = 0; i < instruction.num_checks; ++i) {
    const Value& value = workspace.slots[program.checks[instruction.first_check + i]];
    missing += !value.tensor.initialized() && !value.ref;
  }
  if (instruction.flow == Flow::kMerge) return missing == instruction.num_inputs;
  if (missing > 0) return true;
  if (instruction.control_trigger) return false;
  for (int i = 0; i < instruction.num_guards; ++i) {
    if (workspace.dead[program.guards[instruction.first_guard + i]]) return true;
  }
  return false;
}

void RunKernel(const Program& program, const Instruction& instruction, std::span<KernelContext::Input> inputs,
               std::span<Value> outputs, const RunArgs& run, int64_t frame_iter) {
  if (MustStop(*run.step)) [[unlikely]]
    throw Cancelled("Step was cancelled.");
  if (instruction.keeps_inputs) [[unlikely]]
    OwnInputs(inputs);
  KernelContext k(instruction.view, inputs, outputs, *run.step, *program.device);
  k.frame_iter = frame_iter;
  if (!run.recorder) [[likely]]
    return instruction.kernel->Run(k);
  const int64_t start = NowNanos();
  instruction.kernel->Run(k);
  run.recorder->Ran(*instruction.node, *program.device, start, NowNanos(), outputs);
}

// Runs some of the program's instructions, one after the other. If one fails, the workspace holds half a step's values
// and must be thrown away.
void RunInstructions(const Program& program, size_t first, size_t last, Program::Workspace& workspace,
                     const RunArgs& run, int64_t frame_iter) {
  std::vector<Value>& slots = workspace.slots;
  const Instruction* current = nullptr;
  try {
    for (size_t at = first; at < last; ++at) {
      const Instruction& instruction = program.instructions[at];
      current = &instruction;
      bool dead = false;
      if (instruction.maybe_dead) [[unlikely]]
        workspace.dead[at] = dead = IsDead(program, instruction, workspace);
      if (!dead) {
        for (int i = 0; i < instruction.num_derefs; ++i)
          Dereference(program.derefs[instruction.first_deref + i], slots);
        const std::span<KernelContext::Input> inputs(workspace.inputs.data() + instruction.first_input,
                                                     static_cast<size_t>(instruction.num_inputs));
        const std::span<Value> outputs(slots.data() + instruction.first_output, instruction.num_outputs);
        if (instruction.kernel) {
          RunKernel(program, instruction, inputs, outputs, run, frame_iter);
        } else if (instruction.loop) {
          RunLoop(*instruction.loop, inputs, outputs, run, frame_iter);
        }
      }
      for (int i = 0; i < instruction.num_clears; ++i) {
        Value& value = slots[program.clears[instruction.first_clear + i]];
        value.tensor = Tensor();
        value.ref = nullptr;
      }
    }
  } catch (...) {
    throw Error(AtNode(CurrentStatus(), *current->node));
  }
}

}  // namespace

void RunStraightLine(const Program& program, const RunArgs& run) {
  std::unique_ptr<Program::Workspace> workspace = program.BorrowWorkspace();
  std::vector<Value>& slots = workspace->slots;
  for (const auto& arg : program.args) slots[arg.slot].tensor = run.args[arg.index];
  RunInstructions(program, 0, program.instructions.size(), *workspace, run, 0);
  for (const auto& ret : program.rets) {
    const Tensor& value = slots[ret.slot].tensor;
    if (!value.initialized()) [[unlikely]] {
      throw Error(AtNode(Status(Code::kInvalidArgument, StrCat("Retval[", ret.index, "] does not have value")),
                         *program.instructions[ret.instruction].node->input(0).node));
    }
    run.rets[ret.index] = value;
  }
  for (const auto& ret : program.rets) slots[ret.slot] = Value();
  program.ReturnWorkspace(std::move(workspace));
}

// FNV-1a of the name, begun with the outer key and mixed once more with SplitMix64's numbers.
uint64_t FrameKey(int64_t outer, std::string_view name) {
  constexpr uint64_t kFnvOffset = 0xCBF29CE484222325, kFnvPrime = 0x100000001B3;
  constexpr uint64_t kSplitMixStep = 0x9E3779B97F4A7C15, kSplitMixFactor = 0xBF58476D1CE4E5B9;
  uint64_t hash = kFnvOffset ^ static_cast<uint64_t>(outer) * kSplitMixStep;
  for (const unsigned char c : name) hash = (hash ^ c) * kFnvPrime;
  return (hash ^ hash >> 29) * kSplitMixFactor | 1u << 31;  // never 0, which stands for outside of all loops
}

void RunLoop(const Loop& loop, std::span<KernelContext::Input> inputs, std::span<Value> outputs, const RunArgs& run,
             int64_t frame_iter) {
  const Program& program = loop.program;
  std::unique_ptr<Program::Workspace> workspace = program.BorrowWorkspace();
  std::vector<Value>& slots = workspace->slots;
  for (const Loop::Constant& constant : loop.constants) slots[constant.slot] = *inputs[constant.input].value;
  for (const Loop::Variable& variable : loop.variables) {
    KernelContext::Input& input = inputs[variable.input];
    slots[variable.merge] = input.last_use ? std::move(*input.value) : *input.value;
  }
  int64_t round = static_cast<int64_t>(FrameKey(frame_iter, loop.name));
  const size_t head = static_cast<size_t>(loop.first_round), body = static_cast<size_t>(loop.first_body);
  const size_t end = program.instructions.size();
  RunInstructions(program, 0, head, *workspace, run, round);
  for (;; ++round) {
    RunInstructions(program, head, body, *workspace, run, round);
    if (!*slots[loop.condition].tensor.data<bool>()) break;
    for (const Loop::Variable& variable : loop.variables) {
      Value& value = slots[variable.merge];
      slots[variable.taken] = variable.merge_is_read ? value : std::move(value);
    }
    RunInstructions(program, body, end, *workspace, run, round);
    for (const Loop::Variable& variable : loop.variables) {
      Value& next = slots[variable.next];
      slots[variable.merge] = variable.next_is_kept ? next : std::move(next);
    }
  }
  for (const Loop::Variable& variable : loop.variables) {
    for (const int exit : variable.exits) outputs[exit] = slots[variable.merge];
  }
  for (Value& slot : slots) slot = Value();
  program.ReturnWorkspace(std::move(workspace));
}

}  // namespace penstock
