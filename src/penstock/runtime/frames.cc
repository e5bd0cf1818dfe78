#include "penstock/runtime/frames.h"

#include <algorithm>
#include <map>
#include <queue>

namespace penstock {
namespace {

// The node changes a variable, nobody reads what it gives, and whoever uses the variable and has a smaller id is
// `done`: it may run at once, so that what it changes the variable by is not kept any longer.
bool OnlyUpdates(const Node& node, const std::vector<bool>& done) {
  if (!std::ranges::all_of(node.consumers(), [](const Consumer& c) { return c.input < 0; })) return false;
  bool updates = false;
  for (const Endpoint& input : node.inputs()) {
    if (!IsRef(input.type()) && input.type() != DT_RESOURCE) continue;
    updates = true;
    for (const Consumer& other : input.node->consumers()) {
      if (other.node->id() < node.id() && !done[other.node->id()]) return false;
    }
  }
  return updates;
}

}  // namespace

std::vector<Node*> TopologicalOrder(const Graph& graph) {
  std::vector<int> waiting(graph.num_ids());
  std::vector<bool> done(graph.num_ids());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready, updates;
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
  while (!ready.empty() || !updates.empty()) {
    auto& next = updates.empty() ? ready : updates;
    Node* node = graph.node(next.top());
    next.pop();
    done[node->id()] = true;
    order.push_back(node);
    for (const Consumer& consumer : node->consumers()) {
      if (consumer.input >= 0 && back_edge(node, consumer.node)) continue;
      if (--waiting[consumer.node->id()] > 0) continue;
      (OnlyUpdates(*consumer.node, done) ? updates : ready).push(consumer.node->id());
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

FrameTree FindFrames(const Graph& graph, const std::vector<Node*>& order) {
  FrameTree tree;
  tree.of.assign(graph.num_ids(), -1);
  tree.entered.assign(graph.num_ids(), -1);
  tree.frames.push_back({});
  std::map<std::pair<int, std::string>, int> children;
  for (Node* node : order) {
    int frame = -1;
    const auto join = [&](const Node* from) {
      int f = tree.of[from->id()];
      if (f < 0) return;  // a back edge
      if (from->traits().flow == Flow::kExit) f = tree.frames[f].parent;
      if (f < 0) throw InvalidArgument("{{node ", from->name(), "}} leaves a frame that was never entered");
      if (frame >= 0 && frame != f && node->traits().flow != Flow::kMerge) {
        throw InvalidArgument("{{node ", node->name(), "}} has inputs from different frames. The input {{node ",
                              from->name(), "}} is in frame '", tree.frames[f].name, "'. Another is in frame '",
                              tree.frames[frame].name, "'.");
      }
      if (frame < 0 || f > frame) frame = f;
    };
    for (const Endpoint& input : node->inputs()) {
      int before = frame;
      if (input.node->traits().flow == Flow::kEnter) {
        const int f = tree.entered[input.node->id()];
        if (before >= 0 && before != f) {
          throw InvalidArgument("{{node ", node->name(), "}} has inputs from different frames. The input {{node ",
                                input.node->name(), "}} is in frame '", tree.frames[f].name, "'.");
        }
        frame = f;
      } else {
        join(input.node);
      }
    }
    for (const Node* control : node->control_inputs()) {
      if (control->traits().flow == Flow::kEnter) {
        frame = std::max(frame, tree.entered[control->id()]);
      } else {
        join(control);
      }
    }
    frame = std::max(frame, 0);
    tree.of[node->id()] = frame;
    if (node->traits().flow == Flow::kEnter) {
      const std::string& name = node->attr<std::string>("frame_name");
      auto [it, fresh] = children.try_emplace({frame, name}, static_cast<int>(tree.frames.size()));
      if (fresh) {
        FrameTree::Frame child;
        child.name = name;
        child.parent = frame;
        child.parallel_iterations = static_cast<int>(node->attr_or<int64_t>("parallel_iterations", 10));
        tree.frames.push_back(child);
      }
      ++tree.frames[it->second].num_enters;
      tree.entered[node->id()] = it->second;
    }
  }
  return tree;
}

}  // namespace penstock
