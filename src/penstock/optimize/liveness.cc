#include "penstock/optimize/liveness.h"

#include <algorithm>

#include "penstock/graph/control_flow.h"

namespace penstock {
namespace {

// Second halves of a reason, beside the outputs of a Switch.
constexpr int kEntered = -1, kJoined = -2;

}  // namespace

Liveness::Liveness(const Graph& graph) {
  const std::vector<Node*> nodes = graph.Nodes();
  const bool any = std::ranges::any_of(nodes, [](const Node* node) {
    const Flow flow = node->traits().flow;
    return flow == Flow::kSwitch || flow == Flow::kEnter || flow == Flow::kRecv;
  });
  if (!any) return;
  of_.resize(graph.num_ids());
  Number({});
  for (const Node* node : nodes) {
    if (node->traits().flow != Flow::kEnter) continue;
    const auto& frame = node->attr<std::string>("frame_name");
    if (std::ranges::find(frames_, frame) == frames_.end()) frames_.push_back(frame);
  }
  for (const Node* node : InputsFirst(graph)) Add(*node);
}

int Liveness::Number(const Reasons& reasons) {
  const auto [it, is_new] = numbers_.try_emplace(reasons, static_cast<int>(reasons_.size()));
  if (is_new) reasons_.push_back(reasons);
  return it->second;
}

bool Liveness::LivesWithInputs(const Node& other, const Node& node) const {
  if (of_.empty()) return true;
  const Reasons inputs = Because(node, /*controls=*/false);
  return std::ranges::includes(inputs, reasons_[of_[other.id()]]);
}

void Liveness::Add(const Node& node) { of_[node.id()] = Number(Because(node, /*controls=*/true)); }

Liveness::Reasons Liveness::Because(const Node& node, bool controls) const {
  Reasons reasons;
  const auto because = [&](const Node& from, int output) {
    const Reasons& more = reasons_[of_[from.id()]];
    reasons.insert(reasons.end(), more.begin(), more.end());
    if (from.traits().flow == Flow::kSwitch && output >= 0)
      reasons.emplace_back(from.input(1).node->id(), from.input(1).index * 2 + output);
  };
  switch (node.traits().flow) {
    case Flow::kEnter: {  // whatever a loop's frame has is there when it was entered
      const auto& frame = node.attr<std::string>("frame_name");
      const auto it = std::ranges::find(frames_, frame);
      reasons.emplace_back(static_cast<int>(it - frames_.begin()), kEntered);
      break;
    }
    case Flow::kMerge: {
      // All variables of a loop live equally long.
      const bool loop = std::ranges::any_of(
          node.inputs(), [](const Endpoint& input) { return input.node->traits().flow == Flow::kNextIteration; });
      if (loop) {
        for (const Endpoint& input : node.inputs()) {
          if (input.node->traits().flow == Flow::kEnter) because(*input.node, input.index);
        }
      } else {
        reasons.emplace_back(node.id(), kJoined);
      }
      break;
    }
    case Flow::kExit:
    case Flow::kRecv: reasons.emplace_back(node.id(), kJoined); break;
    default:
      for (const Endpoint& input : node.inputs()) because(*input.node, input.index);
      if (!controls) break;
      for (const Node* control : node.control_inputs()) because(*control, -1);
  }
  std::ranges::sort(reasons);
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  return reasons;
}

}  // namespace penstock
