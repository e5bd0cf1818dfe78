// The straight line: one instruction after the other on the caller's thread; no lock, queue or count.
#include <chrono>

#include "penstock/runtime/executor.h"

namespace penstock {

std::atomic<int> g_interrupts{0};

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Status AtNode(const Status& status, const Node& node) {
  if (status.ok() || !status.node().empty()) return status;
  return Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", node.name(), "}}]]"), node.name());
}

namespace {

// Reads the variable behind a reference.
void Dereference(const Program::Deref& deref, std::vector<Value>& slots) {
  VariableSlot& variable = *slots[deref.from].ref;
  std::lock_guard lock(variable.mutex);
  if (!variable.value.initialized() && !deref.allow_uninitialized) {
    throw FailedPrecondition("Attempting to use uninitialized value ", variable.name);
  }
  slots[deref.to].tensor = variable.value;
}

}  // namespace

void RunStraightLine(const Program& program, const RunArgs& run) {
  StepServices& step = *run.step;
  std::unique_ptr<Program::Workspace> workspace = program.BorrowWorkspace();
  std::vector<Value>& slots = workspace->slots;
  for (const auto& arg : program.args) slots[arg.slot].tensor = run.args[arg.index];
  const Instruction* current = nullptr;
  try {
    for (const Instruction& instruction : program.instructions) {
      current = &instruction;
      for (int i = 0; i < instruction.num_derefs; ++i) Dereference(program.derefs[instruction.first_deref + i], slots);
      if (instruction.kernel) {
        if ((step.cancellation && step.cancellation->cancelled()) ||
            (step.interrupts_seen >= 0 && g_interrupts.load(std::memory_order_relaxed) != step.interrupts_seen)) [[unlikely]] {
          throw Cancelled("Step was cancelled.");
        }
        const std::span<Value> outputs(slots.data() + instruction.first_output, instruction.num_outputs);
        KernelContext k(instruction.view, {workspace->inputs.data() + instruction.first_input, size_t(instruction.num_inputs)},
                        outputs, step, *program.device);
        if (run.recorder) [[unlikely]] {
          const int64_t start = NowNanos();
          instruction.kernel->Run(k);
          run.recorder->Ran(instruction, *program.device, start, NowNanos(), outputs);
        } else {
          instruction.kernel->Run(k);
        }
      }
      for (int i = 0; i < instruction.num_clears; ++i) {
        Value& value = slots[program.clears[instruction.first_clear + i]];
        value.tensor = Tensor();
        value.ref = nullptr;
      }
    }
  } catch (...) {
    // The workspace holds half a step's values: it is thrown away, not reused.
    throw Error(AtNode(CurrentStatus(), *current->node));
  }
  for (const auto& ret : program.rets) run.rets[ret.index] = slots[ret.slot].tensor;
  for (const auto& ret : program.rets) slots[ret.slot] = Value();
  program.ReturnWorkspace(std::move(workspace));
}

}  // namespace penstock
