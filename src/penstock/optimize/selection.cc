// A choice by a comparison that nothing else reads becomes one node, which can be joined with what is around it.
#include <optional>
#include <string>

#include "penstock/base/branches.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constinit BranchTable<2> selections{"selection/comparison", {"as it is", "turned"}};

// The op that compares as `comparison` does, and whether it takes its operands the other way round.
struct Comparison {
  std::string op;
  bool turned;
};
std::optional<Comparison> ComparisonOf(const Node& node) {
  const std::string& op = node.op_name();
  if (op == "Less" || op == "LessEqual") return Comparison{"_Select" + op, false};
  if (op == "Greater") return Comparison{"_SelectLess", true};
  if (op == "GreaterEqual") return Comparison{"_SelectLessEqual", true};
  if ((op == "Equal" || op == "NotEqual") && node.attr_or<bool>("incompatible_shape_error", true))
    return Comparison{"_Select" + op, false};
  return {};
}

// Version 1's choice wants one shape for all, or chooses rows.
bool IsOfOneShape(const Node& select) {
  for (int i = 0; i < 3; ++i) {
    if (!select.input(i).shape().fully_known() || select.input(i).shape() != select.shape(0)) return false;
  }
  return true;
}

bool Join(Graph& graph, Node* select) {
  if (select->op_name() != "SelectV2" && (select->op_name() != "Select" || !IsOfOneShape(*select))) return false;
  const DataType type = select->output_type(0);
  Node* condition = select->input(0).node;
  const auto comparison = ComparisonOf(*condition);
  if ((type != DT_FLOAT && type != DT_DOUBLE) || !comparison || condition->input_type(0) != type ||
      condition->consumers().size() != 1 || !condition->control_inputs().empty() || !select->control_inputs().empty() ||
      !IsPure(graph, *select) || !IsPure(graph, *condition) || !SamePlace(*select, *condition)) {
    return false;
  }
  AttrMap attrs{{"T", type}};
  if (const AttrValue* place = select->attrs().Find("_class")) attrs.Set("_class", *place);
  const bool turned = comparison->turned;
  selections.Enter(turned ? 1 : 0);
  Node* joined = graph.AddNode({.op = comparison->op,
                                .name = graph.UniqueName(select->name() + "/compared"),
                                .inputs = {condition->input(turned ? 1 : 0), condition->input(turned ? 0 : 1),
                                           select->input(1), select->input(2)},
                                .control_inputs = {},
                                .attrs = std::move(attrs),
                                .device = select->device()});
  graph.SetShape({joined, 0}, select->shape(0));
  Redirect(graph, {select, 0}, {joined, 0});
  MoveControlConsumers(graph, select, joined);
  RemoveUnused(graph, select);
  return true;
}

}  // namespace

int JoinSelections(Graph& graph) {
  int joined = 0;
  ForEachNode(graph, [&](Node* node) { joined += Join(graph, node); });
  return joined;
}

}  // namespace penstock
