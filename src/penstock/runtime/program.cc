#include "penstock/runtime/program.h"

#include <algorithm>
#include <queue>

#include "penstock/kernel/may_block.h"
#include "penstock/runtime/blocks.h"
#include "penstock/runtime/cost_model.h"
#include "penstock/runtime/kept_inputs.h"

namespace penstock {
namespace {

// Compiles the nodes of one block: the outermost level with all frames that are no loops of their own, or one loop.
class Compiler {
 public:
  Compiler(Source& source, int frame, Program* program) : source_(source), frame_(frame), program_(*program) {
    program_.device = source.device;
    first_slot_.assign(source.graph.num_ids(), -1);
    unit_of_.assign(source.graph.num_ids(), -1);
  }

  void CompileOutermost(int inter_op_threads) {
    for (const FrameTree::Frame& found : source_.tree.frames) {
      StaticFrame& frame = program_.frames.emplace_back();
      frame.name = found.name;
      frame.parent = found.parent;
      frame.num_enters = found.num_enters;
      frame.parallel_iterations = found.parallel_iterations;
    }
    FindUnits();
    AddInstructions();
    AddEdges();
    PlanClears();
    program_.parallel = (inter_op_threads > 1 && WorthOverlapping()) || WaitsOverlap();
  }

  void CompileLoop(Loop* loop) {
    const LoopShape& shape = *source_.shapes[frame_];
    program_.frames.emplace_back();  // local numbers of instructions are given out there
    FindUnits();
    for (const LoopShape::Variable& variable : shape.variables) {
      NewSlots(*variable.merge);
      NewSlots(*variable.take);
    }
    for (size_t i = shape.variables.size(); i < shape.inputs.size(); ++i) {
      const int slot = NewSlots(*shape.inputs[i]);
      loop->constants.push_back({static_cast<int>(i), slot});
      kept_.push_back(slot);
    }
    SortByRound(loop);
    AddInstructions();
    first_body_ = loop->first_body;
    for (int i = 0; i < loop->first_round; ++i) kept_.push_back(program_.instructions[i].first_output);
    loop->condition = first_slot_[shape.condition->id()];
    kept_.push_back(loop->condition);
    std::vector<int> sources;
    for (size_t i = 0; i < shape.variables.size(); ++i) {
      const LoopShape::Variable& from = shape.variables[i];
      Loop::Variable& to = loop->variables.emplace_back();
      to.input = static_cast<int>(i);
      to.merge = first_slot_[from.merge->id()];
      to.taken = first_slot_[from.take->id()] + 1;
      to.next = SlotOf(from.next->input(0));
      to.merge_is_read = ReadInBody(to.merge);
      for (const Node* exit : from.exits) {
        to.exits.push_back(
            static_cast<int>(std::find(shape.exits.begin(), shape.exits.end(), exit) - shape.exits.begin()));
      }
      sources.push_back(to.next);
      kept_.push_back(to.merge);
      kept_.push_back(to.next);
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      Loop::Variable& variable = loop->variables[i];
      variable.next_is_kept = std::count(sources.begin() + i, sources.end(), sources[i]) > 1;
      for (const Loop::Constant& constant : loop->constants) variable.next_is_kept |= constant.slot == sources[i];
      for (int k = 0; k < loop->first_round; ++k) {  // run once, needed in every round
        variable.next_is_kept |= program_.instructions[k].first_output == sources[i];
      }
    }
    PlanClears();
  }

 private:
  // What becomes one instruction: a node, or a loop with all its entries and exits.
  struct Unit {
    Node* node = nullptr;
    int loop = -1;
    std::vector<Endpoint> inputs;
    std::vector<DataType> input_types;
    std::vector<Node*> controls;
    int position = 0;  // in the graph's order
  };

  void FindUnits() {
    for (size_t position = 0; position < source_.order.size(); ++position) {
      Node* node = source_.order[position];
      if (source_.BlockOf(*node) != frame_ || (frame_ > 0 && IsRail(*node))) continue;
      const int loop = source_.LoopEntered(*node);
      int index = static_cast<int>(units_.size());
      if (loop >= 0) {
        const LoopShape& shape = *source_.shapes[loop];
        if (const int known = unit_of_[shape.inputs[0]->id()]; known >= 0) index = known;
      }
      if (index == static_cast<int>(units_.size())) {
        units_.emplace_back();
        units_[index].node = node;
        units_[index].loop = loop;
        if (loop >= 0) {
          for (const Node* enter : source_.shapes[loop]->inputs) unit_of_[enter->id()] = index;
          for (const Node* exit : source_.shapes[loop]->exits) unit_of_[exit->id()] = index;
        }
      }
      unit_of_[node->id()] = index;
      units_[index].position = static_cast<int>(position);
    }
    for (Unit& unit : units_) {
      if (unit.loop < 0) {
        unit.inputs = unit.node->inputs();
        unit.input_types = unit.node->input_types();
        unit.controls = unit.node->control_inputs();
        continue;
      }
      for (const Node* enter : source_.shapes[unit.loop]->inputs) {
        unit.inputs.push_back(enter->input(0));
        unit.input_types.push_back(enter->input_type(0));
        unit.controls.insert(unit.controls.end(), enter->control_inputs().begin(), enter->control_inputs().end());
      }
      unit.node = const_cast<Node*>(source_.shapes[unit.loop]->inputs[0]);
    }
    SortUnits();
  }

  // The parts of a loop that are no instructions: Loop::Variable says what they do.
  bool IsRail(const Node& node) const {
    switch (node.traits().flow) {
      case Flow::kExit:
      case Flow::kNextIteration: return source_.tree.of[node.id()] == frame_;
      case Flow::kMerge: return node.num_inputs() == 2 && node.input(1).node->traits().flow == Flow::kNextIteration;
      case Flow::kSwitch: return node.input(1).node->traits().flow == Flow::kLoopCond;
      default: return false;
    }
  }

  // By the graph's order, each behind what it needs: the entries of a loop stand apart in that order.
  void SortUnits() {
    std::vector<int> waiting(units_.size());
    std::vector<std::vector<int>> next(units_.size());
    const auto wait_for = [&](const Node* from, int unit) {
      const int before = unit_of_[from->id()];
      if (before < 0 ||
          (from->traits().flow == Flow::kNextIteration && units_[unit].node->traits().flow == Flow::kMerge))
        return;
      next[before].push_back(unit);
      ++waiting[unit];
    };
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      for (const Endpoint& input : units_[i].inputs) wait_for(input.node, i);
      for (const Node* control : units_[i].controls) wait_for(control, i);
    }
    using Item = std::pair<int, int>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      if (waiting[i] == 0) ready.push({units_[i].position, i});
    }
    std::vector<int> sorted;
    while (!ready.empty()) {
      const int i = ready.top().second;
      ready.pop();
      sorted.push_back(i);
      for (const int j : next[i]) {
        if (--waiting[j] == 0) ready.push({units_[j].position, j});
      }
    }
    if (sorted.size() != units_.size()) {
      const auto stuck = std::ranges::find_if(units_, [&](const Unit& u) { return waiting[&u - units_.data()] > 0; });
      throw InvalidArgument("{{node ", stuck->node->name(), "}} waits for itself: a loop's entry needs its own exit");
    }
    Reorder(sorted);
  }

  void Reorder(const std::vector<int>& order) {
    std::vector<Unit> units;
    std::vector<int> place(units_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<int>(i);
      units.push_back(std::move(units_[order[i]]));
    }
    units_ = std::move(units);
    for (int& unit : unit_of_) unit = unit < 0 ? -1 : place[unit];
  }

  // Constants run once; what needs a variable's value behind the condition is the body; all else runs in each round
  // before the condition is looked at.
  void SortByRound(Loop* loop) {
    BlockBranches branches(source_);
    std::vector<bool> body(units_.size());
    const auto in_body = [&](const Node* from) {
      const int unit = unit_of_[from->id()];
      return unit >= 0 ? body[unit] : IsRail(*from) && from->traits().flow == Flow::kSwitch;
    };
    std::vector<int> once, rounds, last;
    for (size_t i = 0; i < units_.size(); ++i) {
      const Unit& unit = units_[i];
      const bool always = !MayBeDead(unit, branches);
      for (const Endpoint& input : unit.inputs) body[i] = body[i] || in_body(input.node);
      for (const Node* control : unit.controls) body[i] = body[i] || in_body(control);
      const bool constant =
          unit.inputs.empty() && !unit.node->traits().stateful && unit.node->num_outputs() == 1 && always;
      (constant ? once : body[i] ? last : rounds).push_back(static_cast<int>(i));
    }
    loop->first_round = static_cast<int>(once.size());
    loop->first_body = static_cast<int>(once.size() + rounds.size());
    std::vector<int> order = std::move(once);
    order.insert(order.end(), rounds.begin(), rounds.end());
    order.insert(order.end(), last.begin(), last.end());
    Reorder(order);
  }

  int NewSlots(const Node& node) {
    first_slot_[node.id()] = program_.num_slots;
    program_.num_slots += node.num_outputs();
    return first_slot_[node.id()];
  }
  int SlotOf(const Endpoint& endpoint) const {
    const int first = first_slot_[endpoint.node->id()];
    return first < 0 ? 0 : first + endpoint.index;  // 0: a back edge, which the dataflow executor follows
  }

  void AddInstructions() {
    BlockBranches branches(source_);
    for (size_t i = 0; i < units_.size(); ++i) AddInstruction(units_[i], static_cast<int>(i), branches);
  }

  void AddInstruction(const Unit& unit, int index, BlockBranches& branches) {
    Node& node = *unit.node;
    Instruction instruction{
        .node = &node, .kernel = source_.kernels[node.id()], .loop = nullptr, .view = source_.View(node)};
    instruction.flow = node.traits().flow;
    instruction.num_outputs = node.num_outputs();
    instruction.first_output = program_.num_slots;
    instruction.cost_ns = EstimateCost(node);
    if (unit.loop >= 0) {
      AddLoop(unit, &instruction);
    } else {
      NewSlots(node);
    }
    instruction.expensive = instruction.cost_ns > 10000;
    const int level = frame_ > 0 ? 0 : source_.tree.of[node.id()];
    StaticFrame& frame = program_.frames[level];
    instruction.frame = level;
    instruction.first_entry = frame.num_entries;
    instruction.local = frame.num_instructions++;
    frame.num_entries += static_cast<int>(unit.inputs.size());
    frame.instructions.push_back(index);
    instruction.num_control_inputs = static_cast<int>(unit.controls.size());
    AddInputs(unit, &instruction);
    switch (instruction.flow) {
      case Flow::kArg:
        program_.args.push_back({static_cast<int>(node.attr<int64_t>("index")), instruction.first_output, index});
        break;
      case Flow::kRetval:
        program_.rets.push_back(
            {static_cast<int>(node.attr<int64_t>("index")), program_.inputs[instruction.first_input].slot, index});
        break;
      case Flow::kEnter:
        instruction.constant_enter = node.attr_or<bool>("is_constant", false);
        instruction.child_frame = source_.tree.entered[node.id()];
        break;
      default: break;
    }
    if (instruction.kernel) {
      instruction.async = instruction.kernel->is_async();
      instruction.keeps_inputs = MayKeepInputs(node);
      instruction.blocks = dynamic_cast<const MayBlock*>(instruction.kernel.get()) != nullptr;
    }
    program_.may_block |= instruction.blocks;
    program_.has_frames_or_async |= instruction.async || instruction.frame > 0 || instruction.flow == Flow::kEnter;
    instruction.control_trigger = node.traits().control_trigger;
    AddChecks(unit, &instruction, branches);
    program_.instructions.push_back(std::move(instruction));
  }

  void AddLoop(const Unit& unit, Instruction* instruction) {
    const LoopShape& shape = *source_.shapes[unit.loop];
    auto loop = std::make_shared<Loop>();
    loop->name = source_.tree.frames[unit.loop].name;
    Compiler(source_, unit.loop, &loop->program).CompileLoop(loop.get());
    for (const Node* exit : shape.exits) {
      first_slot_[exit->id()] = program_.num_slots++;
      loop->output_types.push_back(exit->output_type(0));
    }
    loop->input_types = unit.input_types;
    constexpr int64_t kRounds = 100;  // a guess
    for (const Instruction& inner : loop->program.instructions) instruction->cost_ns += kRounds * inner.cost_ns;
    instruction->num_outputs = static_cast<int>(shape.exits.size());
    instruction->flow = Flow::kNone;
    instruction->kernel = nullptr;
    instruction->view = NodeView(unit.node->name(), unit.node->op(), unit.node->attrs(), loop->input_types,
                                 loop->output_types, source_.device);
    instruction->blocks = loop->program.may_block;
    instruction->loop = std::move(loop);
  }

  void AddInputs(const Unit& unit, Instruction* instruction) {
    instruction->first_input = static_cast<int>(program_.inputs.size());
    instruction->num_inputs = static_cast<int>(unit.inputs.size());
    instruction->first_deref = static_cast<int>(program_.derefs.size());
    for (size_t i = 0; i < unit.inputs.size(); ++i) {
      const Endpoint& from = unit.inputs[i];
      int slot = SlotOf(from);
      if (IsRef(from.type()) && !IsRef(unit.input_types[i])) {
        program_.derefs.push_back({slot, program_.num_slots, unit.node->traits().uninitialized_input});
        slot = program_.num_slots++;
        ++instruction->num_derefs;
      }
      if (IsRef(unit.input_types[i]) && !IsRef(from.type())) {
        throw InvalidArgument("Input ", i, " of {{node ", unit.node->name(),
                              "}} must be a reference to a variable, but ", from.node->name(),
                              " is a value (is a variable fed?)");
      }
      program_.inputs.push_back({slot, false});
    }
  }

  // Adds the unit to `branches`; whether it lies behind a Switch.
  bool MayBeDead(const Unit& unit, BlockBranches& branches) const {
    const auto add = [&](const Node& node) {
      branches.Add(node, frame_);
      return !branches.Of(node).empty();
    };
    if (unit.loop < 0) return add(*unit.node);
    bool dead = false;
    for (const Node* enter : source_.shapes[unit.loop]->inputs) dead |= add(*enter);
    return dead;
  }

  // On a straight line, what lies behind a Switch looks whether it is to run.
  void AddChecks(const Unit& unit, Instruction* instruction, BlockBranches& branches) {
    instruction->maybe_dead = MayBeDead(unit, branches);
    instruction->first_check = static_cast<int>(program_.checks.size());
    instruction->first_guard = static_cast<int>(program_.guards.size());
    if (!instruction->maybe_dead) return;
    for (const Endpoint& input : unit.inputs) {
      if (!branches.At(input, frame_).empty()) program_.checks.push_back(SlotOf(input));
    }
    for (const Node* control : unit.controls) {
      const int before = unit_of_[control->id()];
      if (before >= 0 && program_.instructions[before].maybe_dead) program_.guards.push_back(before);
    }
    instruction->num_checks = static_cast<int>(program_.checks.size()) - instruction->first_check;
    instruction->num_guards = static_cast<int>(program_.guards.size()) - instruction->first_guard;
  }

  void AddEdges() {
    for (size_t i = 0; i < units_.size(); ++i) {
      Instruction& instruction = program_.instructions[i];
      instruction.first_edge = static_cast<int>(program_.edges.size());
      std::vector<int> last(instruction.num_outputs, -1);
      const auto add = [&](const Node& from, int offset) {
        for (const Consumer& consumer : from.consumers()) {
          Edge edge;
          edge.to = unit_of_[consumer.node->id()];
          edge.input = consumer.input;
          if (consumer.input >= 0) {
            edge.output = offset + consumer.node->input(consumer.input).index;
            last[edge.output] = static_cast<int>(program_.edges.size());
            if (const int loop = source_.LoopEntered(*consumer.node); loop >= 0) {
              const auto& inputs = source_.shapes[loop]->inputs;
              edge.input = static_cast<int>(std::find(inputs.begin(), inputs.end(), consumer.node) - inputs.begin());
            }
          }
          program_.edges.push_back(edge);
        }
      };
      if (units_[i].loop < 0) {
        add(*units_[i].node, 0);
      } else {
        const auto& exits = source_.shapes[units_[i].loop]->exits;
        for (size_t e = 0; e < exits.size(); ++e) add(*exits[e], static_cast<int>(e));
      }
      for (int e : last) {
        if (e >= 0) program_.edges[e].last = true;
      }
      instruction.num_edges = static_cast<int>(program_.edges.size()) - instruction.first_edge;
    }
  }

  bool ReadInBody(int slot) const {
    for (size_t i = first_body_; i < program_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      for (int k = 0; k < instruction.num_inputs; ++k) {
        if (program_.inputs[instruction.first_input + k].slot == slot) return true;
      }
      for (int k = 0; k < instruction.num_derefs; ++k) {
        if (program_.derefs[instruction.first_deref + k].from == slot) return true;
      }
    }
    return false;
  }

  // Marks the last read of every slot, and says after which instruction it is cleared.
  void PlanClears() {
    std::vector<int> last(program_.num_slots, -1);
    std::vector<bool> kept(program_.num_slots);
    for (const auto& ret : program_.rets) kept[ret.slot] = true;
    for (const int slot : kept_) kept[slot] = true;
    const auto& instructions = program_.instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Instruction& instruction = instructions[i];
      for (int o = 0; o < instruction.num_outputs; ++o) last[instruction.first_output + o] = static_cast<int>(i);
      for (int k = 0; k < instruction.num_derefs; ++k) {
        last[program_.derefs[instruction.first_deref + k].from] = static_cast<int>(i);
      }
      for (int k = 0; k < instruction.num_inputs; ++k) {
        last[program_.inputs[instruction.first_input + k].slot] = static_cast<int>(i);
      }
    }
    std::vector<std::vector<int>> clears(instructions.size());
    for (int slot = 0; slot < program_.num_slots; ++slot) {
      if (last[slot] >= 0 && !kept[slot]) clears[last[slot]].push_back(slot);
    }
    for (size_t i = 0; i < instructions.size(); ++i) {
      Instruction& instruction = program_.instructions[i];
      for (int k = 0; k < instruction.num_inputs; ++k) {
        auto& input = program_.inputs[instruction.first_input + k];
        int uses = 0;
        for (int j = 0; j < instruction.num_inputs; ++j)
          uses += program_.inputs[instruction.first_input + j].slot == input.slot;
        input.last_use = last[input.slot] == static_cast<int>(i) && !kept[input.slot] && uses == 1;
      }
      instruction.first_clear = static_cast<int>(program_.clears.size());
      instruction.num_clears = static_cast<int>(clears[i].size());
      program_.clears.insert(program_.clears.end(), clears[i].begin(), clears[i].end());
    }
  }

  // Whether independent kernels of middling size would gain from running side by side: small ones are not worth a
  // thread, large ones use all cores by themselves.
  bool WorthOverlapping() const {
    constexpr int64_t kSmall = 15'000, kLarge = 2'000'000;
    std::vector<int64_t> finish(units_.size());
    int64_t total = 0, longest = 0;
    for (size_t i = 0; i < units_.size(); ++i) {
      const int64_t cost = program_.instructions[i].cost_ns;
      const int64_t counted = cost >= kSmall && cost <= kLarge ? cost : 0;
      int64_t start = 0;
      const auto wait_for = [&](const Node* from) {
        const int p = unit_of_[from->id()];
        if (p >= 0 && p < static_cast<int>(i)) start = std::max(start, finish[p]);
      };
      for (const Endpoint& input : units_[i].inputs) wait_for(input.node);
      for (const Node* control : units_[i].controls) wait_for(control);
      finish[i] = start + cost;
      longest = std::max(longest, finish[i]);
      total += counted;
    }
    // Tokens cost about a microsecond an instruction.
    const int64_t tokens = 1'000 * static_cast<int64_t>(units_.size());
    return total > 200'000 && total > longest + longest / 2 && total - longest > tokens;
  }

  // Whether kernels that may block do not depend on each other: none should wait for another one's input to come.
  bool WaitsOverlap() const {
    if (!program_.may_block) return false;
    std::vector<int> chain(units_.size());  // how many of them follow each other, at most, up to a unit
    int blocking = 0, longest = 0;
    for (size_t i = 0; i < units_.size(); ++i) {
      const auto follow = [&](const Node* from) {
        const int p = unit_of_[from->id()];
        if (p >= 0 && p < static_cast<int>(i)) chain[i] = std::max(chain[i], chain[p]);
      };
      for (const Endpoint& input : units_[i].inputs) follow(input.node);
      for (const Node* control : units_[i].controls) follow(control);
      if (program_.instructions[i].blocks) {
        ++chain[i];
        ++blocking;
      }
      longest = std::max(longest, chain[i]);
    }
    return longest < blocking;
  }

  Source& source_;
  const int frame_;
  Program& program_;
  std::vector<Unit> units_;      // by instruction
  std::vector<int> unit_of_;     // by node; -1: not in this block, or no instruction
  std::vector<int> first_slot_;  // by node
  std::vector<int> kept_;        // slots that no instruction clears
  int first_body_ = 0;
};

}  // namespace

std::unique_ptr<Program> CompileProgram(std::shared_ptr<const Graph> graph, Device* device,
                                        const KernelMaker& make_kernel, int inter_op_threads, bool nest_loops) {
  auto program = std::make_unique<Program>();
  Source source(*graph, device, make_kernel, nest_loops);
  Compiler(source, 0, program.get()).CompileOutermost(inter_op_threads);
  program->graph = std::move(graph);
  return program;
}

std::unique_ptr<Program::Workspace> Program::BorrowWorkspace() const {
  if (Workspace* spare = spare_.exchange(nullptr)) return std::unique_ptr<Workspace>(spare);
  auto workspace = std::make_unique<Workspace>();
  workspace->slots.resize(num_slots);
  for (const InputSlot& input : inputs) workspace->inputs.push_back({&workspace->slots[input.slot], input.last_use});
  workspace->dead.resize(instructions.size());
  return workspace;
}

void Program::ReturnWorkspace(std::unique_ptr<Workspace> workspace) const {
  delete spare_.exchange(workspace.release());
}

Program::~Program() { delete spare_.load(); }

}  // namespace penstock
