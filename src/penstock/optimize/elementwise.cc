// Chains of elementwise functions become one node each, which reads and writes memory once for all of them.
//
// Which nodes may join: each gets a phase, which grows wherever a path leaves the nodes that might be joined. So a path
// from one node of a phase to another never leads through anything else, and what hangs together within a phase can run
// as one node, without a cycle.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "penstock/graph/control_flow.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/liveness.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constexpr size_t kMostSteps = 32, kMostArgs = 16;  // of one node: its tiles have to fit into the first-level cache

class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph), def_(graph.ops().Find("_FusedElementwise")), liveness_(graph) {}

  int Run() {
    if (!def_) return 0;
    order_ = InputsFirst(graph_);
    kind_.assign(graph_.num_ids(), -1);
    phase_.assign(graph_.num_ids(), 0);
    bool any = false;
    for (Node* node : order_) {
      kind_[node->id()] = KindOf(*node);
      any |= kind_[node->id()] >= 0;
    }
    if (!any) return 0;
    FindPhases();
    int fused = 0;
    for (const std::vector<Node*>& chain : Chains()) fused += Fuse(chain);
    return fused;
  }

 private:
  // Nodes of one kind may be joined: they are of one type and shape, run in one place and at the same times. -1: not
  // elementwise.
  int KindOf(const Node& node) {
    if (node.num_outputs() != 1 || node.num_inputs() == 0 || !node.control_inputs().empty()) return -1;
    const DataType type = node.output_type(0);
    if ((type != DT_FLOAT && type != DT_DOUBLE) || !IsPure(graph_, node)) return -1;
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (node.input_type(i) != type) return -1;
    }
    if (!StepOf(node)) return -1;
    const PartialShape& shape = node.shape(0);
    const auto key =
        std::make_tuple(type, shape.known_rank(), shape.known_rank() ? shape.dims() : std::vector<int64_t>(),
                        Places(node), liveness_.Of(node));
    return kinds_.try_emplace(key, static_cast<int>(kinds_.size())).first->second;
  }

  // Where the node is asked to be: its device, and those of the nodes beside which it is to stand.
  std::vector<std::string> Places(const Node& node) const {
    std::vector<std::string> places = {node.device()};
    for (const std::string& name : node.ColocationGroups()) {
      const Node* beside = graph_.FindNode(name);
      places.push_back(beside ? beside->device() : "");
    }
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }

  // The op that computes one step of the node: its own, or additions if it is a sum in another form. Null: none.
  const OpDef* StepOf(const Node& node) {
    const OpDef* op = &node.op();
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
  bool IsStep(const OpDef& op, DataType type) {
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

  void FindPhases() {
    for (const Node* node : order_) {
      int& phase = phase_[node->id()];
      const auto after = [&](const Node* from) {
        const int kind = kind_[from->id()];
        phase = std::max(phase, phase_[from->id()] + (kind >= 0 && kind != kind_[node->id()]));
      };
      for (const Endpoint& input : node->inputs()) {
        if (!(node->traits().flow == Flow::kMerge && input.node->traits().flow == Flow::kNextIteration))
          after(input.node);
      }
      for (const Node* control : node->control_inputs()) {
        after(control);
        if (kind_[control->id()] >= 0) phase = std::max(phase, phase_[control->id()] + 1);
      }
    }
    // What is read in a later phase only is computed there.
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node& node = **it;
      if (kind_[node.id()] < 0 || node.consumers().empty()) continue;
      const Node* first = node.consumers()[0].node;
      if (std::ranges::all_of(node.consumers(), [&](const Consumer& c) {
            return c.input >= 0 && kind_[c.node->id()] == kind_[node.id()] &&
                   phase_[c.node->id()] == phase_[first->id()];
          })) {
        phase_[node.id()] = phase_[first->id()];
      }
    }
  }

  // What hangs together, in the order of inputs first.
  std::vector<std::vector<Node*>> Chains() {
    std::vector<int> root(graph_.num_ids());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int id) {
      while (root[id] != id) id = root[id] = root[root[id]];
      return id;
    };
    const auto join = [&](int a, int b) {
      if (kind_[a] >= 0 && kind_[a] == kind_[b] && phase_[a] == phase_[b]) root[find(a)] = find(b);
    };
    for (const Node* node : order_) {
      for (const Endpoint& input : node->inputs()) {
        join(input.node->id(), node->id());
        // What is put side by side is made together.
        if (AlgebraOf(node->op()) == Algebra::kConcat) join(input.node->id(), node->input(0).node->id());
      }
    }
    std::vector<std::vector<Node*>> chains;
    std::map<int, size_t> chain_of;
    for (Node* node : order_) {
      if (kind_[node->id()] < 0) continue;
      const auto [it, is_new] = chain_of.try_emplace(find(node->id()), chains.size());
      if (is_new) chains.emplace_back();
      chains[it->second].push_back(node);
    }
    return chains;
  }

  // As one node, or several if it is long. The number of nodes that came of it.
  int Fuse(const std::vector<Node*>& chain) {
    int fused = 0;
    for (size_t first = 0; first < chain.size();) {
      size_t last = first, steps = 0;
      std::vector<Endpoint> args;
      for (; last < chain.size(); ++last) {
        std::vector<Endpoint> more = args;
        AddArgs(*chain[last], std::span(chain).subspan(first, last - first), &more);
        steps += static_cast<size_t>(std::max(1, chain[last]->num_inputs() - 1));
        if (last > first && (more.size() > kMostArgs || steps > kMostSteps)) break;
        args = std::move(more);
      }
      if (last - first > 1) {
        Replace({chain.begin() + static_cast<int64_t>(first), chain.begin() + static_cast<int64_t>(last)}, args);
        ++fused;
      }
      first = last;
    }
    return fused;
  }

  static void AddArgs(const Node& node, std::span<Node* const> inside, std::vector<Endpoint>* args) {
    for (const Endpoint& input : node.inputs()) {
      if (std::ranges::find(inside, input.node) == inside.end() && std::ranges::find(*args, input) == args->end())
        args->push_back(input);
    }
  }

  void Replace(const std::vector<Node*>& nodes, const std::vector<Endpoint>& args) {
    std::vector<std::string> steps, names;
    std::vector<int64_t> operands;
    Steps last_step;
    const int64_t num_args = static_cast<int64_t>(args.size());
    const auto number = [&](const Endpoint& value) {
      const auto it = last_step.find(value.node);
      return it != last_step.end() ? num_args + it->second : std::ranges::find(args, value) - args.begin();
    };
    for (Node* node : nodes) {
      const std::string& op = StepOf(*node)->name;
      // A sum of many is one addition after the other.
      for (int i = 0; i < std::max(1, node->num_inputs() - 1); ++i) {
        operands.push_back(i == 0 ? number(node->input(0)) : num_args + static_cast<int64_t>(steps.size()) - 1);
        if (node->num_inputs() > 1) operands.push_back(number(node->input(i + 1)));
        steps.push_back(op);
        names.push_back(node->name());
      }
      last_step[node] = static_cast<int64_t>(steps.size()) - 1;
    }
    Outputs outputs;
    for (Node* node : nodes) {
      const auto outside = [&](const Consumer& c) { return !last_step.contains(c.node); };
      if (std::ranges::none_of(node->consumers(), outside)) continue;
      Node* concat = ConcatOf(*node, last_step);
      if (!concat) {
        outputs.push_back({node, {last_step[node]}});
      } else if (std::ranges::find(outputs, concat, &Output::node) == outputs.end()) {
        outputs.push_back({concat, {}});
        for (int i = 0; i + 1 < concat->num_inputs(); ++i)
          outputs.back().steps.push_back(last_step[concat->input(i).node]);
      }
    }
    if (outputs.empty()) return;
    std::vector<int64_t> results, joins, parts;
    for (const Output& output : outputs) {
      results.insert(results.end(), output.steps.begin(), output.steps.end());
      joins.push_back(static_cast<int64_t>(output.steps.size()));
    }
    std::vector<Endpoint> inputs;
    std::vector<int> splits;
    for (const Endpoint& arg : args) {
      const bool part = IsPart(arg, *nodes[0], last_step);
      inputs.push_back(part ? arg.node->input(1) : arg);
      parts.insert(parts.end(), {part ? arg.node->num_outputs() : 1, part ? arg.index : 0});
      if (part) splits.push_back(arg.node->id());
    }
    AttrMap attrs{{"T", nodes[0]->output_type(0)},
                  {"num_args", num_args},
                  {"num_results", static_cast<int64_t>(outputs.size())},
                  {"steps", std::move(steps)},
                  {"names", std::move(names)},
                  {"operands", std::move(operands)},
                  {"results", std::move(results)},
                  {"parts", std::move(parts)},
                  {"joins", std::move(joins)}};
    std::vector<std::string> beside;
    for (const Node* node : nodes) {
      for (const std::string& name : node->ColocationGroups()) {
        if (std::ranges::find(beside, "loc:@" + name) == beside.end()) beside.push_back("loc:@" + name);
      }
    }
    if (!beside.empty()) attrs.Set("_class", std::move(beside));
    Node* fused = graph_.AddNode({.op = def_->name,
                                  .name = graph_.UniqueName(nodes.back()->name() + "/fused"),
                                  .inputs = std::move(inputs),
                                  .control_inputs = {},
                                  .attrs = std::move(attrs),
                                  .device = nodes[0]->device()});
    for (size_t r = 0; r < outputs.size(); ++r) {
      Node* const node = outputs[r].node;
      graph_.SetShape({fused, static_cast<int>(r)}, node->shape(0));
      Redirect(graph_, {node, 0}, {fused, static_cast<int>(r)});
      MoveControlConsumers(graph_, node, fused);
      if (!last_step.contains(node)) graph_.RemoveNode(node);
    }
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      MoveControlConsumers(graph_, *it, fused);
      graph_.RemoveNode(*it);
    }
    for (const int id : splits) {
      Node* split = graph_.node(id);
      if (split && split->consumers().empty()) graph_.RemoveNode(split);
    }
  }

  // What is given out: a step, or several side by side.
  struct Output {
    Node* node;
    std::vector<int64_t> steps;
  };
  using Outputs = std::vector<Output>;
  using Steps = std::map<const Node*, int64_t>;

  // `axis` is a constant that says the last dimension of `shape`, which is known.
  static bool IsLastAxis(const Endpoint& axis, const PartialShape& shape) {
    const std::optional<std::vector<int64_t>> value = IntsOf(axis);
    return value && value->size() == 1 && shape.rank() > 0 && shape[shape.rank() - 1] > 0 &&
           ((*value)[0] == -1 || (*value)[0] == shape.rank() - 1);
  }

  // The argument is a part of a tensor that nobody but these steps reads the parts of.
  bool IsPart(const Endpoint& arg, const Node& step, const Steps& steps) const {
    const Node& split = *arg.node;
    return AlgebraOf(split.op()) == Algebra::kSplit && IsPure(graph_, split) && split.control_inputs().empty() &&
           Places(split) == Places(step) && arg.shape().known_rank() && arg.shape() == step.shape(0) &&
           IsLastAxis(split.input(0), arg.shape()) && std::ranges::all_of(split.consumers(), [&](const Consumer& c) {
             return c.input >= 0 && steps.contains(c.node);
           });
  }

  // The node, outside of the steps, that alone reads this one and puts it beside others of them. Null: there is none.
  Node* ConcatOf(const Node& node, const Steps& steps) const {
    Node* concat = nullptr;
    for (const Consumer& c : node.consumers()) {
      if (steps.contains(c.node)) continue;
      if (c.input < 0 || (concat && concat != c.node)) return nullptr;
      concat = c.node;
    }
    if (AlgebraOf(concat->op()) != Algebra::kConcat || !IsPure(graph_, *concat) || !concat->control_inputs().empty() ||
        Places(*concat) != Places(node) || !IsLastAxis(concat->input(concat->num_inputs() - 1), node.shape(0))) {
      return nullptr;
    }
    std::vector<const Node*> seen;
    for (int i = 0; i + 1 < concat->num_inputs(); ++i) {
      const Node* from = concat->input(i).node;
      const bool ours = steps.contains(from) && std::ranges::find(seen, from) == seen.end() &&
                        std::ranges::all_of(from->consumers(), [&](const Consumer& c) {
                          return c.node == concat || steps.contains(c.node);
                        });
      if (!ours) return nullptr;
      seen.push_back(from);
    }
    return concat;
  }

  Graph& graph_;
  const OpDef* def_;
  Liveness liveness_;
  std::vector<Node*> order_;
  std::vector<int> kind_, phase_;  // by node
  std::map<std::tuple<DataType, bool, std::vector<int64_t>, std::vector<std::string>, int>, int> kinds_;
  std::map<std::pair<const OpDef*, DataType>, bool> is_step_;
};

}  // namespace

int FuseElementwise(Graph& graph) { return Fuser(graph).Run(); }

}  // namespace penstock
