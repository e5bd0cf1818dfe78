#include "penstock/runtime/loop_shape.h"

#include <algorithm>

namespace penstock {
namespace {

// The only Switch on the condition that reads the variable.
const Node* FindTake(const Node& merge, const Node& condition) {
  const Node* take = nullptr;
  for (const Consumer& consumer : merge.consumers()) {
    if (consumer.input >= 0 && consumer.node->input(consumer.input).index != 0) return nullptr;  // value_index is read
    if (consumer.node->traits().flow != Flow::kSwitch || consumer.input != 0) continue;
    if (consumer.node->input(1).node != &condition) continue;
    if (take) return nullptr;
    take = consumer.node;
  }
  return take;
}

}  // namespace

std::optional<LoopShape> FindLoopShape(const std::vector<Node*>& order, const FrameTree& tree, int frame) {
  LoopShape shape;
  std::vector<const Node*> constants;
  size_t merges = 0, takes = 0, nexts = 0, exits = 0;
  for (const Node* node : order) {
    if (tree.entered[node->id()] == frame) {
      if (node->attr_or<bool>("is_constant", false)) {
        constants.push_back(node);
      } else {
        // A variable's Enter goes to its Merge and nowhere else.
        if (node->consumers().size() != 1) return {};
        const Node* merge = node->consumers()[0].node;
        if (merge->traits().flow != Flow::kMerge || merge->num_inputs() != 2 || merge->input(0).node != node ||
            merge->input(1).node->traits().flow != Flow::kNextIteration) {
          return {};
        }
        shape.variables.push_back({node, merge, nullptr, merge->input(1).node, {}});
      }
    }
    if (tree.of[node->id()] != frame) continue;
    switch (node->traits().flow) {
      case Flow::kLoopCond:
        if (shape.condition) return {};
        shape.condition = node;
        break;
      case Flow::kMerge:
        for (const Endpoint& input : node->inputs()) merges += input.node->traits().flow == Flow::kNextIteration;
        break;
      case Flow::kNextIteration:
        if (node->consumers().size() != 1) return {};
        ++nexts;
        break;
      case Flow::kExit: ++exits; break;
      case Flow::kSend:
      case Flow::kRecv:
      case Flow::kArg:
      case Flow::kRetval: return {};
      default: break;
    }
  }
  if (!shape.condition || shape.variables.empty()) return {};
  for (LoopShape::Variable& variable : shape.variables) {
    variable.take = FindTake(*variable.merge, *shape.condition);
    if (!variable.take || !variable.take->control_inputs().empty() || !variable.merge->control_inputs().empty())
      return {};
    for (const Consumer& consumer : variable.take->consumers()) {
      if (consumer.input < 0) return {};
      const bool leaves = consumer.node->input(consumer.input).index == 0;
      if (leaves != (consumer.node->traits().flow == Flow::kExit)) return {};
      if (leaves) variable.exits.push_back(consumer.node), shape.exits.push_back(consumer.node);
    }
    shape.inputs.push_back(variable.enter);
  }
  for (const Consumer& consumer : shape.condition->consumers()) {
    takes += consumer.node->traits().flow == Flow::kSwitch && consumer.input == 1;
  }
  shape.inputs.insert(shape.inputs.end(), constants.begin(), constants.end());
  const size_t variables = shape.variables.size();
  if (merges != variables || nexts != variables || takes != variables || exits != shape.exits.size()) return {};
  return shape;
}

namespace {

void Join(Outcomes& into, const Outcomes& more) {
  Outcomes joined;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(joined));
  into = std::move(joined);
}

}  // namespace

Outcomes Branches::At(const Endpoint& endpoint) const {
  Outcomes outcomes = of_[endpoint.node->id()];
  if (endpoint.node->traits().flow == Flow::kSwitch && endpoint.node->num_inputs() == 2) {
    const Endpoint predicate = endpoint.node->input(1);
    Join(outcomes, {{predicate.node->id(), predicate.index, endpoint.index}});
  }
  return outcomes;
}

void Branches::Add(const Node& node, const std::vector<Endpoint>& inputs, const std::vector<Node*>& controls,
                   bool merges) {
  Outcomes outcomes;
  if (merges) {
    // The two sides of one predicate, all else alike: what is common to both. That what it waits for is not taken does
    // not matter to a Merge.
    const Outcomes a = inputs.size() == 2 ? At(inputs[0]) : Outcomes(),
                   b = inputs.size() == 2 ? At(inputs[1]) : Outcomes();
    Outcomes only_a, only_b;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b));
    if (only_a.size() == 1 && only_b.size() == 1 && only_a[0].node == only_b[0].node && only_a[0].node >= 0 &&
        only_a[0].output == only_b[0].output && only_a[0].branch != only_b[0].branch) {
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(outcomes));
    } else {
      outcomes = {{-1, node.id(), 0}};
    }
  } else {
    for (const Endpoint& input : inputs) Join(outcomes, At(input));
    for (const Node* control : controls) Join(outcomes, of_[control->id()]);
  }
  of_[node.id()] = std::move(outcomes);
}

}  // namespace penstock
