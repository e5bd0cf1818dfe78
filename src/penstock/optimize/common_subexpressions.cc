// Common subexpressions: pure nodes with the same op, attributes, inputs, control inputs and place become one.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constexpr int64_t kLargestConstant = 4096;  // bytes; larger ones are not compared

using Inputs = std::vector<std::pair<int, int>>;  // (id, output)

Inputs InputsOf(const Node& node) {
  Inputs inputs;
  for (const Endpoint& input : node.inputs()) inputs.emplace_back(input.node->id(), input.index);
  if (node.traits().commutative) std::ranges::sort(inputs);
  return inputs;
}

std::vector<int> ControlsOf(const Node& node) {
  std::vector<int> controls;
  for (const Node* control : node.control_inputs()) controls.push_back(control->id());
  std::ranges::sort(controls);
  return controls;
}

uint64_t HashOf(const Node& node) {
  uint64_t hash = std::hash<const void*>()(&node.op());
  const auto mix = [&](uint64_t x) { hash = (hash ^ x) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32; };
  for (const auto& [id, index] : InputsOf(node)) mix(static_cast<uint64_t>(id) << 16 | static_cast<uint64_t>(index));
  for (const int control : ControlsOf(node)) mix(static_cast<uint64_t>(control));
  for (const DataType type : node.output_types()) mix(static_cast<uint64_t>(type));
  if (const Tensor* value = ConstantOf({const_cast<Node*>(&node), 0})) {
    for (const int64_t d : value->shape()) mix(static_cast<uint64_t>(d));
    if (value->dtype() != DT_STRING && value->bytes() > 0) {
      mix(std::hash<std::string_view>()({static_cast<const char*>(value->raw()), value->bytes()}));
    }
  }
  return hash;
}

// Attributes that start with "_" are notes, but for colocation, which SamePlace compares.
bool SameAttrs(const Node& a, const Node& b) {
  const auto next = [](auto it, auto end) {
    while (it != end && it->first.starts_with('_')) ++it;
    return it;
  };
  auto x = next(a.attrs().begin(), a.attrs().end()), y = next(b.attrs().begin(), b.attrs().end());
  while (x != a.attrs().end() && y != b.attrs().end()) {
    if (x->first != y->first) return false;
    const Tensor *s = x->second.If<Tensor>(), *t = y->second.If<Tensor>();
    if (s && t && s->dtype() != DT_STRING) {  // bit by bit: 0.0 is not -0.0, and NaN is NaN
      if (s->dtype() != t->dtype() || !(s->shape() == t->shape())) return false;
      if (s->bytes() > 0 && std::memcmp(s->raw(), t->raw(), s->bytes()) != 0) return false;
    } else if (!(x->second == y->second)) {
      return false;
    }
    x = next(++x, a.attrs().end());
    y = next(++y, b.attrs().end());
  }
  return x == a.attrs().end() && y == b.attrs().end();
}

bool Same(const Node& a, const Node& b) {
  return &a.op() == &b.op() && a.output_types() == b.output_types() && InputsOf(a) == InputsOf(b) &&
         ControlsOf(a) == ControlsOf(b) && SamePlace(a, b) && SameAttrs(a, b);
}

// In an order in which inputs come first, as far as there is one.
std::vector<Node*> InputsFirst(const Graph& graph) {
  std::vector<int> waiting(graph.num_ids());
  std::vector<Node*> order;
  for (Node* node : graph.Nodes()) {
    waiting[node->id()] = node->num_inputs() + static_cast<int>(node->control_inputs().size());
    if (waiting[node->id()] == 0) order.push_back(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Consumer& c : order[i]->consumers()) {
      // Merge nodes are not touched and stand open at once, so that loops are walked, too.
      int& left = waiting[c.node->id()];
      if (left <= 0) continue;
      left = c.node->traits().flow == Flow::kMerge ? 0 : left - 1;
      if (left == 0) order.push_back(c.node);
    }
  }
  return order;
}

}  // namespace

int MergeCommonSubexpressions(Graph& graph) {
  std::unordered_map<uint64_t, std::vector<Node*>> seen;
  int merged = 0;
  for (Node* node : InputsFirst(graph)) {
    if (node->num_outputs() == 0 || node->consumers().empty() || !IsPure(graph, *node)) continue;
    const Tensor* value = ConstantOf({node, 0});
    if (!value && node->num_inputs() == 0) continue;
    if (value && static_cast<int64_t>(value->bytes()) > kLargestConstant) continue;
    auto& candidates = seen[HashOf(*node)];
    const auto same = std::ranges::find_if(candidates, [&](const Node* other) { return Same(*node, *other); });
    if (same == candidates.end()) {
      candidates.push_back(node);
      continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) Redirect(graph, {node, i}, {*same, i});
    MoveControlConsumers(graph, node, *same);
    graph.RemoveNode(node);
    ++merged;
  }
  return merged;
}

}  // namespace penstock
