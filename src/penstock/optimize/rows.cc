// Sums, means and extremes of rows and the elementwise functions around them, as in a normalisation by layers, become
// one node, which reads and writes memory once for all of them: a row stays in the cache until it is done.
#include <algorithm>
#include <map>

#include "penstock/graph/control_flow.h"
#include "penstock/optimize/joining.h"
#include "penstock/optimize/liveness.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constexpr int64_t kLongestRow = 8192;

bool ReducesRows(const Graph& graph, const Node& node) {
  if (!IsReduction(node.op()) || !node.control_inputs().empty() || !IsPure(graph, node)) return false;
  const DataType type = node.output_type(0);
  const PartialShape& x = node.input(0).shape();
  if ((type != DT_FLOAT && type != DT_DOUBLE) || x.rank() < 2) return false;
  const int64_t width = x[x.rank() - 1];
  const auto axis = IntsOf(node.input(1));
  return node.attr_or<bool>("keep_dims", false) && width > 1 && width <= kLongestRow && axis && axis->size() == 1 &&
         ((*axis)[0] == -1 || (*axis)[0] == x.rank() - 1);
}

class RowFuser {
 public:
  explicit RowFuser(Graph& graph)
      : graph_(graph), def_(graph.ops().Find("_FusedRows")), liveness_(graph), steps_(graph) {}

  int Run() {
    if (!def_) return 0;
    order_ = InputsFirst(graph_);
    FindKinds();
    int fused = 0;
    for (const std::vector<Node*>& group : JoinedGroups(graph_, order_, kind_)) {
      for (size_t first = 0; first < group.size();) {
        const Part part = NextPart(group, first);
        fused += Pays(part) && Replace(part);
        first += part.nodes.size();
      }
    }
    return fused;
  }

 private:
  // Of one kind are nodes around the rows of one shape that run in one place and at the same times: functions of whole
  // rows, reductions of rows to numbers, functions of such numbers.
  struct Kind {
    DataType type;
    std::vector<int64_t> rows;  // shape
    std::vector<std::string> places;
    int liveness;
    auto operator<=>(const Kind&) const = default;
  };

  void FindKinds() {
    kind_.assign(graph_.num_ids(), -1);
    for (const Node* node : order_) {
      if (ReducesRows(graph_, *node)) {
        const Kind kind = KindFor(*node, node->input(0).shape().dims());
        kind_[node->id()] = kinds_.try_emplace(kind, static_cast<int>(kinds_.size())).first->second;
      }
    }
    for (const Node* node : order_) {
      if (kind_[node->id()] < 0 && steps_.Of(*node) && !IsComparedSelect(node->op()) && node->shape(0).known_rank() &&
          node->shape(0).rank() > 1)
        kind_[node->id()] = KindOfStep(*node);
    }
  }

  Kind KindFor(const Node& node, std::vector<int64_t> rows) const {
    return {node.output_type(0), std::move(rows), PlacesOf(graph_, node), liveness_.Of(node)};
  }

  int KindOfStep(const Node& node) const {
    const PartialShape& shape = node.shape(0);
    if (shape[shape.rank() - 1] != 1) {
      const auto it = kinds_.find(KindFor(node, shape.dims()));
      return it == kinds_.end() ? -1 : it->second;
    }
    // Numbers of rows belong to the rows that they come from.
    int found = -1;
    for (const Endpoint& input : node.inputs()) {
      const int kind = kind_[input.node->id()];
      if (kind < 0 || input.shape() != shape) continue;
      if (found >= 0 && found != kind) return -1;
      found = kind;
    }
    if (found < 0) return -1;
    const Kind own = KindFor(node, {});
    const auto same = [&](const auto& known) {
      return known.second == found && known.first.type == own.type && known.first.places == own.places &&
             known.first.liveness == own.liveness;
    };
    return std::ranges::any_of(kinds_, same) ? found : -1;
  }

  static bool IsOfRows(const Endpoint& value) {
    const PartialShape& shape = value.shape();
    return shape.known_rank() && shape.rank() > 1 && shape[shape.rank() - 1] != 1;
  }

  // There is something to reduce, something to compute of whole rows, and rows to begin with.
  bool Pays(const Part& part) const {
    const auto reduction = std::ranges::find_if(part.nodes, [](Node* node) { return IsReduction(node->op()); });
    if (reduction == part.nodes.end()) return false;
    const PartialShape& rows = (*reduction)->input(0).shape();
    return std::ranges::any_of(part.nodes, [](Node* node) { return IsOfRows({node, 0}); }) &&
           std::ranges::any_of(part.args, [&](const Endpoint& arg) { return arg.shape() == rows; });
  }

  bool Replace(const Part& part) {
    Program program = ProgramOf(part, steps_);
    std::vector<Node*> outputs;
    std::vector<int64_t> results;
    std::vector<bool> of_rows(program.steps.size());
    int64_t step = 0;
    for (Node* node : part.nodes) {
      const int64_t last = program.last_step.at(node);
      for (; step <= last; ++step) of_rows[static_cast<size_t>(step)] = IsOfRows({node, 0});
      const auto outside = [&](const Consumer& c) { return !program.last_step.contains(c.node); };
      if (std::ranges::none_of(node->consumers(), outside)) continue;
      outputs.push_back(node);
      results.push_back(last);
    }
    if (outputs.empty()) return false;
    AttrMap attrs = AttrsOf(part, std::move(program), outputs.size());
    attrs.Set("of_rows", std::move(of_rows));
    attrs.Set("results", std::move(results));
    Node* fused = AddJoined(graph_, part.nodes, def_->name, part.args, std::move(attrs));
    GiveOutputs(graph_, outputs, fused);
    RemoveJoined(graph_, part.nodes, fused);
    return true;
  }

  Graph& graph_;
  const OpDef* def_;
  Liveness liveness_;
  ElementwiseSteps steps_;
  std::vector<Node*> order_;
  std::vector<int> kind_;  // by node
  std::map<Kind, int> kinds_;
};

}  // namespace

int FuseRows(Graph& graph) {
  const std::vector<Node*> nodes = graph.Nodes();
  const auto reduces = [&](const Node* node) { return ReducesRows(graph, *node); };
  return std::ranges::any_of(nodes, reduces) ? RowFuser(graph).Run() : 0;
}

}  // namespace penstock
