// The branches and loops of a graph, recovered from its Switch, Merge, Enter, Exit and NextIteration nodes. However a
// graph was made, by a front end, by import or by differentiation, its structure says what is inside of what.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// A graph's nodes, each behind its inputs (from NextIteration to Merge aside). Nodes on a cycle are left out.
std::vector<Node*> InputsFirst(const Graph& graph);

// One branch of a conditional, or one loop.
struct ControlContext {
  ControlContext* parent = nullptr;  // null: in no other
  bool is_loop = false;
  // A branch: alive when `pred` is `branch`. `pred` is a value of `parent`.
  Endpoint pred;
  int branch = 0;
  // A loop: its frame, and its variables. `enters` are all ways in, invariants included.
  struct Variable {
    Node *enter = nullptr, *merge = nullptr, *switch_node = nullptr, *next = nullptr,
         *exit = nullptr;  // some may be missing
  };
  std::string frame;
  std::vector<Node*> enters;
  std::vector<Variable> variables;
  Node* cond = nullptr;  // LoopCond

  int depth() const { return parent ? parent->depth() + 1 : 1; }
  bool Contains(const ControlContext* other) const {
    for (; other; other = other->parent) {
      if (other == this) return true;
    }
    return false;
  }
};

class ControlFlow {
 public:
  explicit ControlFlow(const Graph& graph);

  bool empty() const { return contexts_.empty(); }
  // What a value is inside of; null: of nothing.
  ControlContext* Of(Endpoint value) const;
  // What the node is part of: a loop, for its Enter and Exit nodes.
  ControlContext* Of(const Node* node) const { return Known(node) ? of_[node->id()] : nullptr; }
  bool Known(const Node* node) const { return node->id() < static_cast<int>(known_.size()) && known_[node->id()]; }
  // For a node that was added later.
  void Assign(const Node* node, ControlContext* context);
  // The innermost loop at or around a context; null if there is none.
  static ControlContext* LoopOf(ControlContext* context) {
    while (context && !context->is_loop) context = context->parent;
    return context;
  }
  // Whether the node is the Merge or Switch of a loop variable.
  static bool IsLoopMerge(const Node* node);
  static bool IsLoopSwitch(const Node* node);

 private:
  void Walk(const std::vector<Node*>& order);
  void FindVariables(const Graph& graph);
  ControlContext* Loop(const Node* enter);
  ControlContext* Branch(ControlContext* around, Endpoint pred, int branch) const;

  std::vector<std::unique_ptr<ControlContext>> contexts_;
  std::map<std::string, ControlContext*> loops_;
  std::map<std::tuple<ControlContext*, int, int, int>, ControlContext*> branches_;
  std::vector<ControlContext*> of_;  // by node id
  std::vector<char> known_;
};

}  // namespace penstock
