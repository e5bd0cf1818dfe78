#include "penstock/graph/control_flow.h"

#include <algorithm>

namespace penstock {
namespace {

bool IsBackEdge(const Node* from, const Node* to) {
  return from->traits().flow == Flow::kNextIteration && to->traits().flow == Flow::kMerge;
}

// What hands its only input on stands for it.
Endpoint Source(Endpoint value) {
  while (value.node->traits().may_alias_input0 && value.node->num_inputs() == 1) {
    value = value.node->input(0);
  }
  return value;
}

ControlContext* Deeper(ControlContext* a, ControlContext* b) {
  if (!a || !b) return a ? a : b;
  return a->depth() >= b->depth() ? a : b;
}

// What two contexts have in common around them.
ControlContext* Common(ControlContext* a, ControlContext* b) {
  while (a != b) {
    const int depth_a = a ? a->depth() : 0, depth_b = b ? b->depth() : 0;
    if (depth_a >= depth_b) a = a->parent;
    if (depth_b >= depth_a) b = b->parent;
  }
  return a;
}

}  // namespace

std::vector<Node*> InputsFirst(const Graph& graph) {
  std::vector<int> waiting(graph.num_ids());
  std::vector<Node*> order;
  for (Node* node : graph.Nodes()) {
    for (const Endpoint& input : node->inputs()) waiting[node->id()] += !IsBackEdge(input.node, node);
    waiting[node->id()] += static_cast<int>(node->control_inputs().size());
    if (waiting[node->id()] == 0) order.push_back(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Consumer& consumer : order[i]->consumers()) {
      if (consumer.input >= 0 && IsBackEdge(order[i], consumer.node)) continue;
      if (--waiting[consumer.node->id()] == 0) order.push_back(consumer.node);
    }
  }
  return order;
}

ControlFlow::ControlFlow(const Graph& graph) {
  const std::vector<Node*> nodes = graph.Nodes();
  const bool any = std::ranges::any_of(nodes, [](const Node* node) {
    return node->traits().flow == Flow::kSwitch || node->traits().flow == Flow::kEnter;
  });
  if (!any) return;
  of_.resize(graph.num_ids());
  known_.resize(graph.num_ids());
  const std::vector<Node*> order = InputsFirst(graph);
  Walk(order);
  if (!loops_.empty()) Walk(order);  // now that it is known what each loop is inside of
  FindVariables(graph);
}

ControlContext* ControlFlow::Loop(const Node* enter) {
  ControlContext*& loop = loops_[enter->attr<std::string>("frame_name")];
  if (!loop) {
    loop = contexts_.emplace_back(std::make_unique<ControlContext>()).get();
    loop->is_loop = true;
    loop->frame = enter->attr<std::string>("frame_name");
  }
  return loop;
}

ControlContext* ControlFlow::Branch(ControlContext* around, Endpoint pred, int branch) const {
  pred = Source(pred);
  const auto it = branches_.find({around, pred.node->id(), pred.index, branch});
  return it == branches_.end() ? nullptr : it->second;
}

bool ControlFlow::IsLoopSwitch(const Node* node) {
  return node->traits().flow == Flow::kSwitch && node->input(1).node->traits().flow == Flow::kLoopCond;
}

bool ControlFlow::IsLoopMerge(const Node* node) {
  if (node->traits().flow != Flow::kMerge) return false;
  return std::ranges::any_of(node->inputs(),
                             [](const Endpoint& input) { return input.node->traits().flow == Flow::kNextIteration; });
}

ControlContext* ControlFlow::Of(Endpoint value) const {
  const Node* node = value.node;
  if (!Known(node)) return nullptr;
  ControlContext* context = of_[node->id()];
  if (node->traits().flow == Flow::kExit) return context ? context->parent : nullptr;
  if (node->traits().flow == Flow::kSwitch && !IsLoopSwitch(node)) {
    ControlContext* branch = Branch(context, node->input(1), value.index);
    return branch ? branch : context;
  }
  return context;
}

void ControlFlow::Assign(const Node* node, ControlContext* context) {
  if (node->id() >= static_cast<int>(known_.size())) {
    of_.resize(node->id() + 1);
    known_.resize(node->id() + 1);
  }
  of_[node->id()] = context;
  known_[node->id()] = true;
}

void ControlFlow::Walk(const std::vector<Node*>& order) {
  for (Node* node : order) {
    ControlContext* context = nullptr;
    const Flow flow = node->traits().flow;
    if (flow == Flow::kMerge && node->num_inputs() > 0) {
      bool first = true;
      for (const Endpoint& input : node->inputs()) {
        if (IsBackEdge(input.node, node)) continue;
        context = first ? Of(input) : Common(context, Of(input));
        first = false;
      }
      // A single value comes out of its branch.
      if (node->num_inputs() == 1 && context && !context->is_loop) context = context->parent;
    } else {
      for (const Endpoint& input : node->inputs()) context = Deeper(context, Of(input));
      for (const Node* control : node->control_inputs()) {
        ControlContext* other = Of(control);
        if (control->traits().flow == Flow::kExit && other) other = other->parent;
        context = Deeper(context, other);
      }
    }
    if (flow == Flow::kEnter) {
      ControlContext* loop = Loop(node);
      if (!loop->Contains(context)) loop->parent = Deeper(loop->parent, context);
      context = loop;
    } else if (flow == Flow::kSwitch && !IsLoopSwitch(node)) {
      const Endpoint pred = Source(node->input(1));
      for (int i = 0; i < 2; ++i) {
        ControlContext*& branch = branches_[{context, pred.node->id(), pred.index, i}];
        if (branch) continue;
        branch = contexts_.emplace_back(std::make_unique<ControlContext>()).get();
        branch->parent = context;
        branch->pred = node->input(1);
        branch->branch = i;
      }
    }
    Assign(node, context);
  }
}

void ControlFlow::FindVariables(const Graph& graph) {
  for (Node* node : graph.Nodes()) {
    ControlContext* loop = Of(node);
    if (!loop) continue;
    if (node->traits().flow == Flow::kEnter) loop->enters.push_back(node);
    loop = LoopOf(loop);
    if (!loop || !IsLoopMerge(node)) continue;
    ControlContext::Variable variable;
    variable.merge = node;
    for (const Endpoint& input : node->inputs()) {
      (input.node->traits().flow == Flow::kNextIteration ? variable.next : variable.enter) = input.node;
    }
    for (const Consumer& consumer : node->consumers()) {
      if (consumer.input != 0 || !IsLoopSwitch(consumer.node)) continue;
      variable.switch_node = consumer.node;
      loop->cond = consumer.node->input(1).node;
      for (const Consumer& out : consumer.node->consumers()) {
        const bool exits = out.input == 0 && out.node->traits().flow == Flow::kExit && out.node->input(0).index == 0;
        if (exits) variable.exit = out.node;
      }
    }
    loop->variables.push_back(variable);
  }
}

}  // namespace penstock
