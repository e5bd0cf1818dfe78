#include "penstock/runtime/program.h"

#include <algorithm>

#include "penstock/runtime/cost_model.h"
#include "penstock/runtime/frames.h"

namespace penstock {
namespace {

class Compiler {
 public:
  Compiler(std::shared_ptr<const Graph> graph, Device* device, const KernelMaker& make_kernel)
      : program_(std::make_unique<Program>()), graph_(*graph), device_(device), make_kernel_(make_kernel) {
    program_->graph = std::move(graph);
    program_->device = device;
  }

  std::unique_ptr<Program> Compile(int inter_op_threads) {
    order_ = TopologicalOrder(graph_);
    position_.assign(graph_.num_ids(), -1);
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]->id()] = static_cast<int>(i);
    AssignFrames();
    for (Node* node : order_) AddInstruction(*node);
    AddEdges();
    PlanClears();
    program_->parallel = inter_op_threads > 1 && WorthOverlapping();
    return std::move(program_);
  }

 private:
  void AssignFrames() {
    FrameTree tree = FindFrames(graph_, order_);
    for (FrameTree::Frame& found : tree.frames) {
      StaticFrame& frame = program_->frames.emplace_back();
      frame.name = std::move(found.name);
      frame.parent = found.parent;
      frame.num_enters = found.num_enters;
      frame.parallel_iterations = found.parallel_iterations;
    }
    program_->has_frames_or_async |= tree.frames.size() > 1;
    frame_ = std::move(tree.of);
    child_ = std::move(tree.entered);
  }

  void AddInstruction(Node& node) {
    const int index = static_cast<int>(program_->instructions.size());
    Instruction instruction{
        .node = &node,
        .kernel = nullptr,
        .view = NodeView(node.name(), node.op(), node.attrs(), node.input_types(), node.output_types(), device_)};
    instruction.flow = node.traits().flow;
    instruction.num_outputs = node.num_outputs();
    instruction.first_output = program_->num_slots;
    program_->num_slots += node.num_outputs();
    first_slot_[node.id()] = instruction.first_output;
    instruction.first_input = static_cast<int>(program_->inputs.size());
    instruction.num_inputs = node.num_inputs();
    instruction.num_control_inputs = static_cast<int>(node.control_inputs().size());
    instruction.first_deref = static_cast<int>(program_->derefs.size());
    instruction.cost_ns = EstimateCost(node);
    instruction.expensive = instruction.cost_ns > 10000;
    StaticFrame& frame = program_->frames[frame_[node.id()]];
    instruction.frame = frame_[node.id()];
    instruction.first_entry = frame.num_entries;
    instruction.local = frame.num_instructions++;
    frame.num_entries += node.num_inputs();
    frame.instructions.push_back(index);
    for (int i = 0; i < node.num_inputs(); ++i) {
      const Endpoint from = node.input(i);
      int slot = first_slot_.contains(from.node->id()) ? first_slot_[from.node->id()] + from.index : 0;  // 0: a back edge
      if (IsRef(from.type()) && !IsRef(node.input_type(i))) {
        program_->derefs.push_back({slot, program_->num_slots, node.traits().uninitialized_input});
        slot = program_->num_slots++;
        ++instruction.num_derefs;
      }
      if (IsRef(node.input_type(i)) && !IsRef(from.type())) {
        throw InvalidArgument("Input ", i, " of {{node ", node.name(), "}} must be a reference to a variable, but ", from.name(),
                              " is a value (is a variable fed?)");
      }
      program_->inputs.push_back({slot, false});
    }
    switch (instruction.flow) {
      case Flow::kArg:
        program_->args.push_back({static_cast<int>(node.attr<int64_t>("index")), instruction.first_output, index});
        break;
      case Flow::kRetval:
        program_->rets.push_back({static_cast<int>(node.attr<int64_t>("index")),
                                  program_->inputs[instruction.first_input].slot, index});
        break;
      case Flow::kEnter:
        instruction.constant_enter = node.attr_or<bool>("is_constant", false);
        instruction.child_frame = child_[node.id()];
        [[fallthrough]];
      case Flow::kSwitch:
      case Flow::kMerge:
      case Flow::kExit:
        if (instruction.flow == Flow::kExit && instruction.frame == 0) {
          throw InvalidArgument("{{node ", node.name(), "}} leaves a frame that was never entered");
        }
        [[fallthrough]];
      case Flow::kNextIteration:
        program_->has_frames_or_async = true;
        [[fallthrough]];
      default:
        try {
          instruction.kernel = make_kernel_(node, instruction.view);
        } catch (...) {
          const Status status = CurrentStatus();
          throw Error(Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", node.name(), "}}]]"), node.name()));
        }
        instruction.async = instruction.kernel->is_async();
        program_->has_frames_or_async |= instruction.async;
    }
    instruction.control_trigger = node.traits().control_trigger;
    program_->instructions.push_back(std::move(instruction));
  }

  void AddEdges() {
    for (Instruction& instruction : program_->instructions) {
      instruction.first_edge = static_cast<int>(program_->edges.size());
      std::vector<int> last(instruction.num_outputs, -1);
      for (const Consumer& consumer : instruction.node->consumers()) {
        Edge edge;
        edge.to = position_[consumer.node->id()];
        edge.input = consumer.input;
        if (consumer.input >= 0) {
          edge.output = consumer.node->input(consumer.input).index;
          last[edge.output] = static_cast<int>(program_->edges.size());
        }
        program_->edges.push_back(edge);
      }
      for (int i : last) {
        if (i >= 0) program_->edges[i].last = true;
      }
      instruction.num_edges = static_cast<int>(program_->edges.size()) - instruction.first_edge;
    }
  }

  // Marks the last read of every slot, and says after which instruction it is cleared.
  void PlanClears() {
    std::vector<int> last(program_->num_slots, -1);
    std::vector<bool> kept(program_->num_slots);
    for (const auto& ret : program_->rets) kept[ret.slot] = true;
    const auto& instructions = program_->instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Instruction& instruction = instructions[i];
      for (int o = 0; o < instruction.num_outputs; ++o) last[instruction.first_output + o] = static_cast<int>(i);
      for (int k = 0; k < instruction.num_derefs; ++k) {
        last[program_->derefs[instruction.first_deref + k].from] = static_cast<int>(i);
      }
      for (int k = 0; k < instruction.num_inputs; ++k) {
        last[program_->inputs[instruction.first_input + k].slot] = static_cast<int>(i);
      }
    }
    std::vector<std::vector<int>> clears(instructions.size());
    for (int slot = 0; slot < program_->num_slots; ++slot) {
      if (last[slot] >= 0 && !kept[slot]) clears[last[slot]].push_back(slot);
    }
    for (size_t i = 0; i < instructions.size(); ++i) {
      Instruction& instruction = program_->instructions[i];
      for (int k = 0; k < instruction.num_inputs; ++k) {
        auto& input = program_->inputs[instruction.first_input + k];
        int uses = 0;
        for (int j = 0; j < instruction.num_inputs; ++j) uses += program_->inputs[instruction.first_input + j].slot == input.slot;
        input.last_use = last[input.slot] == static_cast<int>(i) && !kept[input.slot] && uses == 1;
      }
      instruction.first_clear = static_cast<int>(program_->clears.size());
      instruction.num_clears = static_cast<int>(clears[i].size());
      program_->clears.insert(program_->clears.end(), clears[i].begin(), clears[i].end());
    }
  }

  // Whether independent kernels of middling size would gain from running side by side: small ones are not worth a thread,
  // large ones use all cores by themselves.
  bool WorthOverlapping() const {
    constexpr int64_t kSmall = 15'000, kLarge = 2'000'000;
    std::vector<int64_t> finish(program_->instructions.size());
    int64_t total = 0, longest = 0;
    for (size_t i = 0; i < program_->instructions.size(); ++i) {
      const Instruction& instruction = program_->instructions[i];
      const int64_t cost = instruction.cost_ns;
      const int64_t counted = cost >= kSmall && cost <= kLarge ? cost : 0;
      int64_t start = 0;
      const auto wait_for = [&](const Node* from) {
        const int p = position_[from->id()];
        if (p < static_cast<int>(i)) start = std::max(start, finish[p]);
      };
      for (const Endpoint& input : instruction.node->inputs()) wait_for(input.node);
      for (const Node* control : instruction.node->control_inputs()) wait_for(control);
      finish[i] = start + cost;
      longest = std::max(longest, finish[i]);
      total += counted;
    }
    return total > 200'000 && total > longest + longest / 2;
  }

  std::unique_ptr<Program> program_;
  const Graph& graph_;
  Device* device_;
  const KernelMaker& make_kernel_;
  std::vector<Node*> order_;
  std::vector<int> position_, frame_, child_;
  std::unordered_map<int, int> first_slot_;
};

}  // namespace

std::unique_ptr<Program> CompileProgram(std::shared_ptr<const Graph> graph, Device* device, const KernelMaker& make_kernel,
                                        int inter_op_threads) {
  return Compiler(std::move(graph), device, make_kernel).Compile(inter_op_threads);
}

std::unique_ptr<Program::Workspace> Program::BorrowWorkspace() const {
  if (Workspace* spare = spare_.exchange(nullptr)) return std::unique_ptr<Workspace>(spare);
  auto workspace = std::make_unique<Workspace>();
  workspace->slots.resize(num_slots);
  for (const InputSlot& input : inputs) workspace->inputs.push_back({&workspace->slots[input.slot], input.last_use});
  return workspace;
}

void Program::ReturnWorkspace(std::unique_ptr<Workspace> workspace) const {
  delete spare_.exchange(workspace.release());
}

Program::~Program() { delete spare_.load(); }

}  // namespace penstock
