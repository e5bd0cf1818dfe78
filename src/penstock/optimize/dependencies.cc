// Control edges that order nothing: from what is always there, beside a data edge, through a no-op or an identity that
// nobody reads, between what has no effect but its value. What they stood for, deadness included, stays.
#include <algorithm>

#include "penstock/ops/algebra.h"
#include "penstock/optimize/liveness.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

bool IsNoOp(const Node& node) {
  return node.num_inputs() == 0 && node.num_outputs() == 0 && node.traits().cost == Cost::kNothing;
}

// Ready from the start of a step, and never dead.
bool AlwaysThere(const Node& node) {
  return node.traits().flow == Flow::kArg ||
         (node.control_inputs().empty() && ConstantOf({const_cast<Node*>(&node), 0}));
}

// A node that only hands control on.
bool OnlyOrders(const Graph& graph, const Node& node) {
  if (node.consumers().empty() ||
      !std::ranges::all_of(node.consumers(), [](const Consumer& c) { return c.input < 0; })) {
    return false;
  }
  if (!IsPure(graph, node)) return false;
  if (ConstantOf({const_cast<Node*>(&node), 0})) return !node.control_inputs().empty();
  if (IsNoOp(node)) return true;
  if (AlgebraOf(node.op()) != Algebra::kIdentity) return false;
  const Flow flow = node.input(0).node->traits().flow;
  return flow == Flow::kNone || flow == Flow::kArg;  // one output of a Switch can be dead without the other
}

bool HasReader(const Node& node) {
  return std::ranges::any_of(node.consumers(), [](const Consumer& c) { return c.input >= 0; });
}

// If nobody reads it, nobody misses it: it does not run for the errors that it might find.
bool MayBeLeftOut(const Node& node) {
  return node.traits().elementwise || AlgebraOf(node.op()) == Algebra::kTotal ||
         AlgebraOf(node.op()) == Algebra::kReshape;
}

}  // namespace

int RelaxOrder(Graph& graph) {
  const Liveness liveness(graph);
  int changed = 0;
  std::vector<int> unread;
  ForEachNode(graph, [&](Node* node) {
    if (node->control_inputs().empty() || node->num_inputs() == 0 || !IsPure(graph, *node)) return;
    const auto orders_nothing = [&](const Node* from) {
      return IsPure(graph, *from) && (HasReader(*from) || MayBeLeftOut(*from)) &&
             liveness.LivesWithInputs(*from, *node);
    };
    const std::vector<Node*> controls = node->control_inputs();
    for (Node* from : controls) {
      const bool group = IsNoOp(*from) && IsPure(graph, *from);
      if (!(group ? std::ranges::all_of(from->control_inputs(), orders_nothing) : orders_nothing(from))) continue;
      for (const Node* before : group ? from->control_inputs() : std::vector<Node*>{from}) {
        if (!HasReader(*before)) unread.push_back(before->id());
      }
      graph.RemoveControlEdge(from, node);
      if (group) RemoveUnused(graph, from);
      ++changed;
    }
  });
  for (const int id : unread) {
    if (Node* node = graph.node(id)) RemoveUnused(graph, node);
  }
  return changed;
}

int PruneDependencies(Graph& graph) {
  int changed = 0;
  ForEachNode(graph, [&](Node* node) {
    if (!OnlyOrders(graph, *node)) return;
    std::vector<Node*> before = node->control_inputs();
    for (const Endpoint& input : node->inputs()) {
      if (std::ranges::find(before, input.node) == before.end()) before.push_back(input.node);
    }
    std::erase_if(before, [](const Node* n) { return AlwaysThere(*n); });
    const size_t edges = before.size() * node->consumers().size();
    if (edges > before.size() + node->consumers().size()) return;  // a hub saves edges
    // A device of its own is a wish to be there.
    if (std::ranges::any_of(before, [&](const Node* n) { return n->device() != node->device(); }) &&
        !node->device().empty()) {
      return;
    }
    const std::vector<Consumer> after = node->consumers();
    // Something that runs of itself may be meant to start a step's branch in a frame: it must wait for somebody there.
    if (before.empty() &&
        std::ranges::any_of(after, [](const Consumer& c) { return c.node->traits().flow == Flow::kMerge; })) {
      return;
    }
    for (const Consumer& c : after) {
      graph.RemoveControlEdge(node, c.node);
      for (Node* n : before) graph.AddControlEdge(n, c.node);
    }
    RemoveUnused(graph, node);
    ++changed;
  });
  ForEachNode(graph, [&](Node* node) {
    if (node->control_inputs().empty() || node->traits().flow == Flow::kMerge) return;
    const std::vector<Node*> controls = node->control_inputs();
    for (Node* from : controls) {
      const bool beside_data = std::ranges::any_of(node->inputs(), [&](const Endpoint& e) { return e.node == from; });
      if (!beside_data && !AlwaysThere(*from)) continue;
      graph.RemoveControlEdge(from, node);
      if (!beside_data) RemoveUnused(graph, from);
      ++changed;
    }
  });
  return changed;
}

}  // namespace penstock
