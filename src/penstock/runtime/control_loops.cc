#include "penstock/runtime/control_loops.h"

#include <algorithm>

namespace penstock {
namespace {

// What comes into an iteration from outside of it (from before the loop, from the iteration before) has no place in the
// numbering of iterations until it is there: it must not cross between devices on its way to the Merge.
void MoveToMerges(Graph& graph) {
  for (Node* node : graph.Nodes()) {
    const Flow flow = node->traits().flow;
    if ((flow != Flow::kEnter && flow != Flow::kNextIteration) || IsRef(node->output_type(0))) continue;
    if (flow == Flow::kEnter && node->attr_or<bool>("is_constant", false)) continue;
    for (const Consumer& c : node->consumers()) {
      if (c.input < 0) continue;
      node->set_assigned_device(c.node->assigned_device());
      break;
    }
  }
}

class LoopBuilder {
 public:
  explicit LoopBuilder(Graph& graph) : graph_(graph) {}

  ControlLoops Run() {
    ControlLoops result;
    bool has_frames = false, several = false;
    const std::vector<Node*> nodes = graph_.Nodes();
    for (const Node* node : nodes) {
      has_frames |= node->traits().flow == Flow::kEnter;
      several |= node->assigned_device() != nodes[0]->assigned_device();
    }
    if (has_frames && several) {
      MoveToMerges(graph_);
      frames_ = FindFrames(graph_, TopologicalOrder(graph_));
      for (Node* node : nodes) {
        if (node->traits().flow == Flow::kLoopCond) conditions_[frames_.of[node->id()]] = node;
      }
      const auto look = [&](Node* from, Node* to) {
        if (from->assigned_device() == to->assigned_device()) return;
        const int frame = frames_.OutputFrame(*from);
        if (frame <= 0) return;
        MergeOf(frame, from->assigned_device());
        MergeOf(frame, to->assigned_device());
      };
      for (Node* node : nodes) {
        for (const Endpoint& input : node->inputs()) look(input.node, node);
        for (Node* control : node->control_inputs()) look(control, node);
      }
      result.merges = std::move(merges_);
    }
    result.frames = FindFrames(graph_, TopologicalOrder(graph_));
    return result;
  }

 private:
  // The Merge of the loop that drives `frame` on `device`; made with those of the frames around it.
  Node* MergeOf(int frame, const std::string& device) {
    const auto found = merges_.find({frame, device});
    if (found != merges_.end()) return found->second;
    const FrameTree::Frame info = frames_.frames[frame];
    const auto condition = conditions_.find(frame);
    if (condition == conditions_.end()) {
      throw InvalidArgument("A cross-device loop must have a pivot predicate: ", info.name);
    }
    Endpoint start;
    if (info.parent == 0) {
      start = {Add("Const", info.name, device, {}, {{"value", Tensor(int32_t{0})}, {"dtype", DT_INT32}}), 0};
    } else {
      start = {MergeOf(info.parent, device), 0};
    }
    Node* enter =
        Add("Enter", info.name, device, {start},
            {{"frame_name", info.name}, {"parallel_iterations", static_cast<int64_t>(info.parallel_iterations)}});
    // The edge that closes the loop can only be drawn when its other end is there.
    Node* merge = Add("Merge", info.name, device, {{enter, 0}, {enter, 0}}, {});
    Node* go_on = Add("Switch", info.name, device, {{merge, 0}, {condition->second, 0}}, {});
    Node* next = Add("NextIteration", info.name, device, {{go_on, 1}}, {});
    graph_.UpdateInput(merge, 1, {next, 0});
    return merges_[{frame, device}] = merge;
  }

  Node* Add(std::string_view op, const std::string& frame, const std::string& device, std::vector<Endpoint> inputs,
            AttrMap attrs) {
    Node* node = graph_.AddNode({.op = std::string(op),
                                 .name = graph_.UniqueName(StrCat("_cloop_", serial_++, "/", op)),
                                 .inputs = std::move(inputs),
                                 .control_inputs = {},
                                 .attrs = std::move(attrs),
                                 .device = device});
    node->set_assigned_device(device);
    return node;
  }

  Graph& graph_;
  FrameTree frames_;
  std::map<int, Node*> conditions_;
  std::map<std::pair<int, std::string>, Node*> merges_;
  int serial_ = 0;
};

}  // namespace

ControlLoops AddControlLoops(Graph& graph) { return LoopBuilder(graph).Run(); }

ControlLoops FindControlLoops(const Graph& graph) {
  ControlLoops loops;
  loops.frames = FindFrames(graph, TopologicalOrder(graph));
  for (Node* node : graph.Nodes()) {
    const auto from_before = [](const Endpoint& input) { return input.node->traits().flow == Flow::kNextIteration; };
    if (node->traits().flow != Flow::kMerge || !std::ranges::any_of(node->inputs(), from_before)) continue;
    loops.merges.try_emplace({loops.frames.of[node->id()], node->assigned_device()}, node);
  }
  return loops;
}

}  // namespace penstock
