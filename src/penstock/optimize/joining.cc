#include "penstock/optimize/joining.h"
#include "penstock/base/branches.h"

#include <algorithm>
#include <numeric>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constinit BranchTable<2> part_ways{"joining/part", {"whole group", "cut"}};

constexpr size_t kMostSteps = 32, kMostArgs = 16;  // of one node

std::vector<int> Phases(const Graph& graph, const std::vector<Node*>& order, const std::vector<int>& kind) {
  std::vector<int> phases(graph.num_ids());
  for (const Node* node : order) {
    int& phase = phases[node->id()];
    const auto after = [&](const Node* from) {
      const int own = kind[from->id()];
      phase = std::max(phase, phases[from->id()] + (own >= 0 && own != kind[node->id()]));
    };
    for (const Endpoint& input : node->inputs()) {
      if (!(node->traits().flow == Flow::kMerge && input.node->traits().flow == Flow::kNextIteration))
        after(input.node);
    }
    for (const Node* control : node->control_inputs()) {
      after(control);
      if (kind[control->id()] >= 0) phase = std::max(phase, phases[control->id()] + 1);
    }
  }
  // What is read in a later phase only is computed there.
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = **it;
    if (kind[node.id()] < 0 || node.consumers().empty()) continue;
    const Node* first = node.consumers()[0].node;
    if (std::ranges::all_of(node.consumers(), [&](const Consumer& c) {
          return c.input >= 0 && kind[c.node->id()] == kind[node.id()] && phases[c.node->id()] == phases[first->id()];
        })) {
      phases[node.id()] = phases[first->id()];
    }
  }
  return phases;
}

void AddArgs(const Node& node, std::span<Node* const> inside, std::vector<Endpoint>* args) {
  for (const Endpoint& input : OperandsOf(node)) {
    if (std::ranges::find(inside, input.node) == inside.end() && std::ranges::find(*args, input) == args->end())
      args->push_back(input);
  }
}

// A sum of many is one addition after the other.
int NumSteps(const Node& node) {
  return IsComparedSelect(node.op()) ? 1 : std::max(1, static_cast<int>(OperandsOf(node).size()) - 1);
}

}  // namespace

std::vector<std::string> PlacesOf(const Graph& graph, const Node& node) {
  std::vector<std::string> places = {node.device()};
  for (const std::string& name : node.ColocationGroups()) {
    const Node* beside = graph.FindNode(name);
    places.push_back(beside ? beside->device() : "");
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

const OpDef* ElementwiseSteps::Of(const Node& node) {
  if (node.num_outputs() != 1 || node.num_inputs() == 0 || !node.control_inputs().empty()) return nullptr;
  const DataType type = node.output_type(0);
  if ((type != DT_FLOAT && type != DT_DOUBLE) || !IsPure(graph_, node)) return nullptr;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.input_type(i) != type) return nullptr;
  }
  const OpDef* op = &node.op();
  if (IsComparedSelect(*op)) return op;
  if (AlgebraOf(*op) == Algebra::kSum) {
    if (node.num_inputs() < 2) return nullptr;
    op = graph_.ops().Find("AddN");
  } else if (AlgebraOf(*op) == Algebra::kAddBias) {
    const PartialShape &x = node.input(0).shape(), &bias = node.input(1).shape();
    if (node.attr_or<std::string>("data_format", "NHWC") != "NHWC" || x.rank() < 2 || bias.rank() != 1 ||
        bias[0] <= 1 || bias[0] != x[x.rank() - 1]) {
      return nullptr;
    }
    op = graph_.ops().Find("AddV2");
  }
  return IsStep(*op, node.output_type(0)) ? op : nullptr;
}

// The op has an elementwise kernel, and no attribute but its type; a sum, as one of two.
bool ElementwiseSteps::IsStep(const OpDef& op, DataType type) {
  const auto [it, is_new] = is_step_.try_emplace({&op, type}, false);
  const bool sum = AlgebraOf(op) == Algebra::kSum;
  if (!is_new || op.outputs.size() != 1) return it->second;
  if (!sum && (op.attrs.size() != 1 || op.attrs[0].name != "T")) return false;
  const AttrMap attrs{{"T", type}, {"N", int64_t{2}}};
  if (!KernelRegistry::Global().Find("CPU", op, attrs)) return false;
  const std::vector<DataType> types(sum ? 2 : op.inputs.size(), type);
  const NodeView view(op.name, op, attrs, types, std::span(types).first(1), nullptr);
  return it->second = KernelRegistry::Global().Make("CPU", view)->elementwise() != nullptr;
}

std::vector<std::vector<Node*>> JoinedGroups(const Graph& graph, const std::vector<Node*>& order,
                                             const std::vector<int>& kind) {
  const std::vector<int> phase = Phases(graph, order, kind);
  std::vector<int> root(graph.num_ids());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int id) {
    while (root[id] != id) id = root[id] = root[root[id]];
    return id;
  };
  const auto join = [&](int a, int b) {
    if (kind[a] >= 0 && kind[a] == kind[b] && phase[a] == phase[b]) root[find(a)] = find(b);
  };
  for (const Node* node : order) {
    for (const Endpoint& input : node->inputs()) {
      join(input.node->id(), node->id());
      // What is put side by side is made together.
      if (AlgebraOf(node->op()) == Algebra::kConcat) join(input.node->id(), node->input(0).node->id());
    }
  }
  std::vector<std::vector<Node*>> groups;
  std::map<int, size_t> group_of;
  for (Node* node : order) {
    if (kind[node->id()] < 0) continue;
    const auto [it, is_new] = group_of.try_emplace(find(node->id()), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(node);
  }
  return groups;
}

Part NextPart(const std::vector<Node*>& group, size_t first) {
  Part part;
  size_t steps = 0;
  for (Node* node : std::span(group).subspan(first)) {
    std::vector<Endpoint> more = part.args;
    AddArgs(*node, part.nodes, &more);
    steps += static_cast<size_t>(NumSteps(*node));
    if (!part.nodes.empty() && (more.size() > kMostArgs || steps > kMostSteps)) break;
    part.args = std::move(more);
    part.nodes.push_back(node);
  }
  part_ways.Enter(part.nodes.size() == group.size() ? 0 : 1);
  return part;
}

bool IsReduction(const OpDef& op) {
  return op.name == "Sum" || op.name == "Mean" || op.name == "Max" || op.name == "Min";
}

bool IsComparedSelect(const OpDef& op) { return op.name.starts_with("_Select"); }

std::span<const Endpoint> OperandsOf(const Node& node) {
  const std::span<const Endpoint> inputs = node.inputs();
  return IsReduction(node.op()) ? inputs.first(1) : inputs;
}

Program ProgramOf(const Part& part, ElementwiseSteps& steps) {
  Program program;
  const auto& args = part.args;
  const int64_t num_args = static_cast<int64_t>(args.size());
  const auto number = [&](const Endpoint& value) {
    const auto it = program.last_step.find(value.node);
    return it != program.last_step.end() ? num_args + it->second : std::ranges::find(args, value) - args.begin();
  };
  for (const Node* node : part.nodes) {
    const std::string& op = IsReduction(node->op()) ? node->op_name() : steps.Of(*node)->name;
    const std::span<const Endpoint> operands = OperandsOf(*node);
    for (int i = 0; i < NumSteps(*node); ++i) {
      const int64_t before = num_args + static_cast<int64_t>(program.steps.size()) - 1;
      program.operands.push_back(i == 0 ? number(operands[0]) : before);
      if (operands.size() > 1) program.operands.push_back(number(operands[i + 1]));
      for (size_t k = 2; IsComparedSelect(node->op()) && k < operands.size(); ++k)
        program.operands.push_back(number(operands[k]));
      program.steps.push_back(op);
      program.names.push_back(node->name());
    }
    program.last_step[node] = static_cast<int64_t>(program.steps.size()) - 1;
  }
  return program;
}

AttrMap AttrsOf(const Part& part, Program program, size_t num_results) {
  return {{"T", part.nodes[0]->output_type(0)},
          {"num_args", static_cast<int64_t>(part.args.size())},
          {"num_results", static_cast<int64_t>(num_results)},
          {"steps", std::move(program.steps)},
          {"names", std::move(program.names)},
          {"operands", std::move(program.operands)}};
}

Node* AddJoined(Graph& graph, const std::vector<Node*>& nodes, std::string_view op, std::vector<Endpoint> inputs,
                AttrMap attrs) {
  std::vector<std::string> beside;
  for (const Node* node : nodes) {
    for (const std::string& name : node->ColocationGroups()) {
      if (std::ranges::find(beside, "loc:@" + name) == beside.end()) beside.push_back("loc:@" + name);
    }
  }
  if (!beside.empty()) attrs.Set("_class", std::move(beside));
  return graph.AddNode({.op = std::string(op),
                        .name = graph.UniqueName(nodes.back()->name() + "/fused"),
                        .inputs = std::move(inputs),
                        .control_inputs = {},
                        .attrs = std::move(attrs),
                        .device = nodes[0]->device()});
}

void GiveOutputs(Graph& graph, const std::vector<Node*>& outputs, Node* joined) {
  for (size_t r = 0; r < outputs.size(); ++r) {
    const Endpoint to{joined, static_cast<int>(r)};
    graph.SetShape(to, outputs[r]->shape(0));
    Redirect(graph, {outputs[r], 0}, to);
    MoveControlConsumers(graph, outputs[r], joined);
  }
}

void RemoveJoined(Graph& graph, const std::vector<Node*>& nodes, Node* joined) {
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    MoveControlConsumers(graph, *it, joined);
    graph.RemoveNode(*it);
  }
}

}  // namespace penstock
