#include "penstock/runtime/program.h"

#include <algorithm>
#include <map>
#include <queue>

namespace penstock {
namespace {

// Nodes in an order in which each stands behind its inputs (NextIteration -> Merge edges aside), by id among equals.
// InvalidArgument if there is a cycle.
std::vector<Node*> Order(const Graph& graph) {
  std::vector<int> waiting(graph.num_ids());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  const auto back_edge = [](const Node* from, const Node* to) {
    return from->traits().flow == Flow::kNextIteration && to->traits().flow == Flow::kMerge;
  };
  const std::vector<Node*> nodes = graph.Nodes();
  for (Node* node : nodes) {
    for (const Endpoint& input : node->inputs()) waiting[node->id()] += !back_edge(input.node, node);
    waiting[node->id()] += static_cast<int>(node->control_inputs().size());
    if (waiting[node->id()] == 0) ready.push(node->id());
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    Node* node = graph.node(ready.top());
    ready.pop();
    order.push_back(node);
    for (const Consumer& consumer : node->consumers()) {
      if (consumer.input >= 0 && back_edge(node, consumer.node)) continue;
      if (--waiting[consumer.node->id()] == 0) ready.push(consumer.node->id());
    }
  }
  if (order.size() != nodes.size()) {
    for (Node* node : nodes) {
      if (waiting[node->id()] > 0) {
        throw InvalidArgument("Graph is invalid, contains a cycle with ", nodes.size() - order.size(),
                              " nodes, including: {{node ", node->name(), "}}");
      }
    }
  }
  return order;
}

// Estimated run time of a node in nanoseconds, from shapes as far as they are known.
int64_t EstimateCost(const Node& node);

class Compiler {
 public:
  Compiler(std::shared_ptr<const Graph> graph, Device* device, const KernelMaker& make_kernel)
      : program_(std::make_unique<Program>()), graph_(*graph), device_(device), make_kernel_(make_kernel) {
    program_->graph = std::move(graph);
    program_->device = device;
  }

  std::unique_ptr<Program> Compile(int inter_op_threads) {
    order_ = Order(graph_);
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
  // Walks from the graph's sources through Enter into child frames and through Exit back out.
  void AssignFrames() {
    frame_.assign(graph_.num_ids(), -1);
    program_->frames.push_back({});
    std::map<std::pair<int, std::string>, int> children;
    for (Node* node : order_) {
      int frame = -1;
      const auto join = [&](const Node* from) {
        int f = frame_[from->id()];
        if (f < 0) return;  // a back edge
        if (from->traits().flow == Flow::kExit) f = program_->frames[f].parent;
        if (f < 0) throw InvalidArgument("{{node ", from->name(), "}} leaves a frame that was never entered");
        if (frame >= 0 && frame != f && node->traits().flow != Flow::kMerge) {
          throw InvalidArgument("{{node ", node->name(), "}} has inputs from different frames. The input {{node ", from->name(),
                                "}} is in frame '", program_->frames[f].name, "'. Another is in frame '",
                                program_->frames[frame].name, "'.");
        }
        if (frame < 0 || f > frame) frame = f;
      };
      for (const Endpoint& input : node->inputs()) {
        int before = frame;
        if (input.node->traits().flow == Flow::kEnter) {
          const int f = child_[input.node->id()];
          if (before >= 0 && before != f) {
            throw InvalidArgument("{{node ", node->name(), "}} has inputs from different frames. The input {{node ",
                                  input.node->name(), "}} is in frame '", program_->frames[f].name, "'.");
          }
          frame = f;
        } else {
          join(input.node);
        }
      }
      for (const Node* control : node->control_inputs()) {
        if (control->traits().flow == Flow::kEnter) {
          frame = std::max(frame, child_[control->id()]);
        } else {
          join(control);
        }
      }
      frame = std::max(frame, 0);
      frame_[node->id()] = frame;
      if (node->traits().flow == Flow::kEnter) {
        const std::string& name = node->attr<std::string>("frame_name");
        auto [it, fresh] = children.try_emplace({frame, name}, static_cast<int>(program_->frames.size()));
        if (fresh) {
          StaticFrame child;
          child.name = name;
          child.parent = frame;
          child.parallel_iterations = static_cast<int>(node->attr_or<int64_t>("parallel_iterations", 10));
          program_->frames.push_back(child);
        }
        ++program_->frames[it->second].num_enters;
        child_[node->id()] = it->second;
        program_->has_frames_or_async = true;
      }
    }
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
  std::vector<int> position_, frame_;
  std::unordered_map<int, int> first_slot_, child_;
};

// Shapes of one node, for its flops function.
class KnownShapes : public ShapeContext {
 public:
  explicit KnownShapes(const Node& node) {
    op_ = &node.op();
    attrs_ = &node.attrs();
    for (const Endpoint& input : node.inputs()) inputs_.push_back(&input.node->info(input.index));
    input_types_ = node.input_types();
    output_types_ = node.output_types();
    for (int i = 0; i < node.num_outputs(); ++i) outputs_.push_back(node.info(i));
  }
};

int64_t EstimateCost(const Node& node) {
  const OpTraits& traits = node.traits();
  if (traits.cost == Cost::kNothing) return 0;
  if (node.op().flops) {
    KnownShapes shapes(node);
    try {
      const double flops = node.op().flops(shapes);
      if (flops >= 0) return static_cast<int64_t>(flops / 80);  // about 80 GFLOP/s on a core
    } catch (const Error&) {
    }
  }
  int64_t elements = 0;
  bool known = true;
  const auto add = [&](const PartialShape& shape) {
    const int64_t n = shape.num_elements();
    known &= n >= 0;
    elements += std::max<int64_t>(n, 0);
  };
  for (const Endpoint& input : node.inputs()) add(input.shape());
  for (int i = 0; i < node.num_outputs(); ++i) add(node.shape(i));
  if (traits.cost == Cost::kHeavy) return known ? 1000 + elements * 20 : 200'000;
  return known ? elements / 2 : 1000;
}

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
