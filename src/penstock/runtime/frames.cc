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

void CheckBackEdges(const FrameTree& tree, const std::vector<Node*>& order) {
  for (const Node* node : order) {
    if (node->traits().flow != Flow::kNextIteration) continue;
    for (const Consumer& consumer : node->consumers()) {
      const int frame = tree.of[node->id()], other = tree.of[consumer.node->id()];
      if (frame == other) continue;
      throw InvalidArgument("{{node ", node->name(), "}} of frame '", tree.frames[frame].name,
                            "' goes on in another one, in {{node ", consumer.node->name(), "}} of frame '",
                            tree.frames[other].name, "'");
    }
  }
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
      if (tree.of[from->id()] < 0) return;  // a back edge: CheckBackEdges looks at it
      const int f = tree.OutputFrame(*from);
      if (frame >= 0 && frame != f) {
        throw InvalidArgument("{{node ", node->name(), "}} has inputs from different frames. The input {{node ",
                              from->name(), "}} is in frame '", tree.frames[f].name, "'. Another is in frame '",
                              tree.frames[frame].name, "'.");
      }
      frame = f;
    };
    for (const Endpoint& input : node->inputs()) join(input.node);
    for (const Node* control : node->control_inputs()) join(control);
    frame = std::max(frame, 0);
    tree.of[node->id()] = frame;
    const Flow flow = node->traits().flow;
    if (frame == 0 && (flow == Flow::kExit || flow == Flow::kNextIteration)) {
      throw InvalidArgument("{{node ", node->name(), "}} is in no frame: it belongs into a loop, behind an Enter");
    }
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
  CheckBackEdges(tree, order);
  return tree;
}

}  // namespace penstock
