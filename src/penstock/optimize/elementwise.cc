// Chains of elementwise functions become one node each, which reads and writes memory once for all of them.
#include <algorithm>
#include <map>
#include <tuple>

#include "penstock/graph/control_flow.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/joining.h"
#include "penstock/optimize/liveness.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

class Fuser {
 public:
  explicit Fuser(Graph& graph)
      : graph_(graph), def_(graph.ops().Find("_FusedElementwise")), liveness_(graph), steps_(graph) {}

  int Run() {
    if (!def_) return 0;
    order_ = InputsFirst(graph_);
    kind_.assign(graph_.num_ids(), -1);
    bool any = false;
    for (Node* node : order_) {
      kind_[node->id()] = KindOf(*node);
      any |= kind_[node->id()] >= 0;
    }
    if (!any) return 0;
    int fused = 0;
    for (const std::vector<Node*>& chain : JoinedGroups(graph_, order_, kind_)) {
      for (size_t first = 0; first < chain.size();) {
        const Part part = NextPart(chain, first);
        fused += part.nodes.size() > 1 && Replace(part);
        first += part.nodes.size();
      }
    }
    return fused;
  }

 private:
  // Nodes of one kind may be joined: they are of one type and shape, run in one place and at the same times. -1: not
  // elementwise.
  int KindOf(const Node& node) {
    if (!steps_.Of(node)) return -1;
    const DataType type = node.output_type(0);
    const PartialShape& shape = node.shape(0);
    const auto key =
        std::make_tuple(type, shape.known_rank(), shape.known_rank() ? shape.dims() : std::vector<int64_t>(),
                        PlacesOf(graph_, node), liveness_.Of(node));
    return kinds_.try_emplace(key, static_cast<int>(kinds_.size())).first->second;
  }

  // Whether it came to be one node.
  bool Replace(const Part& part) {
    const std::vector<Node*>& nodes = part.nodes;
    const Program program = ProgramOf(part, steps_);
    const Steps& last_step = program.last_step;
    Outputs outputs;
    for (Node* node : nodes) {
      const auto outside = [&](const Consumer& c) { return !last_step.contains(c.node); };
      if (std::ranges::none_of(node->consumers(), outside)) continue;
      Node* concat = ConcatOf(*node, last_step);
      if (!concat) {
        outputs.push_back({node, {last_step.at(node)}});
      } else if (std::ranges::find(outputs, concat, &Output::node) == outputs.end()) {
        outputs.push_back({concat, {}});
        for (int i = 0; i + 1 < concat->num_inputs(); ++i)
          outputs.back().steps.push_back(last_step.at(concat->input(i).node));
      }
    }
    if (outputs.empty()) return false;
    std::vector<int64_t> results, joins, parts;
    for (const Output& output : outputs) {
      results.insert(results.end(), output.steps.begin(), output.steps.end());
      joins.push_back(static_cast<int64_t>(output.steps.size()));
    }
    std::vector<Endpoint> inputs;
    std::vector<int> splits;
    for (const Endpoint& arg : part.args) {
      const bool is_part = IsPart(arg, *nodes[0], last_step);
      inputs.push_back(is_part ? arg.node->input(1) : arg);
      parts.insert(parts.end(), {is_part ? arg.node->num_outputs() : 1, is_part ? arg.index : 0});
      if (is_part) splits.push_back(arg.node->id());
    }
    AttrMap attrs = AttrsOf(part, program, outputs.size());
    attrs.Set("results", std::move(results));
    attrs.Set("parts", std::move(parts));
    attrs.Set("joins", std::move(joins));
    Node* fused = AddJoined(graph_, nodes, def_->name, std::move(inputs), std::move(attrs));
    std::vector<Node*> replaced;
    for (const Output& output : outputs) replaced.push_back(output.node);
    GiveOutputs(graph_, replaced, fused);
    for (Node* node : replaced) {
      if (!last_step.contains(node)) graph_.RemoveNode(node);
    }
    RemoveJoined(graph_, nodes, fused);
    for (const int id : splits) {
      Node* split = graph_.node(id);
      if (split && split->consumers().empty()) graph_.RemoveNode(split);
    }
    return true;
  }

  // What is given out: a step, or several side by side.
  struct Output {
    Node* node;
    std::vector<int64_t> steps;
  };
  using Outputs = std::vector<Output>;
  using Steps = Program::Steps;

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
           PlacesOf(graph_, split) == PlacesOf(graph_, step) && arg.shape().known_rank() &&
           arg.shape() == step.shape(0) && IsLastAxis(split.input(0), arg.shape()) &&
           std::ranges::all_of(split.consumers(),
                               [&](const Consumer& c) { return c.input >= 0 && steps.contains(c.node); });
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
        PlacesOf(graph_, *concat) != PlacesOf(graph_, node) ||
        !IsLastAxis(concat->input(concat->num_inputs() - 1), node.shape(0))) {
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
  ElementwiseSteps steps_;
  std::vector<Node*> order_;
  std::vector<int> kind_;  // by node
  std::map<std::tuple<DataType, bool, std::vector<int64_t>, std::vector<std::string>, int>, int> kinds_;
};

}  // namespace

int FuseElementwise(Graph& graph) { return Fuser(graph).Run(); }

}  // namespace penstock
