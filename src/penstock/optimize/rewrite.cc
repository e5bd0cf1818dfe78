#include "penstock/optimize/rewrite.h"

#include <algorithm>
#include <cstring>

namespace penstock {
namespace {

bool Plain(DataType type) { return !IsRef(type) && type != DT_RESOURCE && type != DT_VARIANT && type != DT_INVALID; }

}  // namespace

bool IsPure(const Graph& graph, const Node& node) {
  const OpTraits& t = node.traits();
  if (t.stateful || t.reads_variable || t.order_dependent || t.distributed_communication || t.control_trigger ||
      t.flow != Flow::kNone || node.op().known_by_name_only) {
    return false;
  }
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!Plain(node.input(i).type()) || IsRef(node.input_type(i))) return false;
  }
  for (const DataType type : node.output_types()) {
    if (!Plain(type)) return false;
  }
  for (const auto& [name, value] : node.attrs()) {
    if (value.If<FuncRef>() || std::holds_alternative<std::vector<FuncRef>>(value.v)) return false;
  }
  return graph.ops().Find(node.op_name()) == &node.op();  // a function's op is its own
}

bool SamePlace(const Node& a, const Node& b) {
  return a.device() == b.device() && a.ColocationGroups() == b.ColocationGroups();
}

const Tensor* ConstantOf(Endpoint value) {
  const Node& node = *value.node;
  return node.num_inputs() == 0 && !node.traits().stateful ? HeldConstant(node) : nullptr;
}

bool IsAll(const Tensor& constant, double number) {
  const auto all = [&](auto one) {
    using T = decltype(one);
    const T* p = constant.data<T>();
    return std::all_of(p, p + constant.num_elements(),
                       [&](const T& x) { return std::memcmp(&x, &one, sizeof(T)) == 0; });
  };
  switch (constant.dtype()) {
    case DT_FLOAT: return all(static_cast<float>(number));
    case DT_DOUBLE: return all(number);
    case DT_INT8:
    case DT_UINT8: return all(static_cast<int8_t>(number));
    case DT_INT16:
    case DT_UINT16: return all(static_cast<int16_t>(number));
    case DT_INT32:
    case DT_UINT32: return all(static_cast<int32_t>(number));
    case DT_INT64:
    case DT_UINT64: return all(static_cast<int64_t>(number));
    default: return false;
  }
}

std::optional<std::vector<int64_t>> IntsOf(Endpoint value) {
  const Tensor* t = ConstantOf(value);
  if (!t || (t->dtype() != DT_INT32 && t->dtype() != DT_INT64)) return std::nullopt;
  std::vector<int64_t> ints(t->num_elements());
  for (size_t i = 0; i < ints.size(); ++i) ints[i] = t->IntAt(static_cast<int64_t>(i));
  return ints;
}

Node* AddConstant(Graph& graph, const Node& like, Tensor value, const std::vector<Node*>& controls) {
  const DataType type = value.dtype();
  NodeSpec spec{.op = "Const",
                .name = graph.UniqueName(like.name() + "/folded"),
                .inputs = {},
                .control_inputs = controls,
                .attrs = {{"value", std::move(value)}, {"dtype", type}},
                .device = like.device()};
  if (const AttrValue* place = like.attrs().Find("_class")) spec.attrs.Set("_class", *place);
  return graph.AddNode(std::move(spec));
}

void Redirect(Graph& graph, Endpoint from, Endpoint to) {
  const std::vector<Consumer> consumers = from.node->consumers();
  for (const Consumer& c : consumers) {
    if (c.input >= 0 && c.node->input(c.input).index == from.index) graph.UpdateInput(c.node, c.input, to);
  }
}

void MoveControlConsumers(Graph& graph, Node* from, Node* to) {
  const std::vector<Consumer> consumers = from->consumers();
  for (const Consumer& c : consumers) {
    if (c.input >= 0) continue;
    graph.RemoveControlEdge(from, c.node);
    if (c.node != to) graph.AddControlEdge(to, c.node);
  }
}

bool HasControlConsumers(const Node& node) {
  return std::ranges::any_of(node.consumers(), [](const Consumer& c) { return c.input < 0; });
}

void RemoveUnused(Graph& graph, Node* node) {
  std::vector<int> stack = {node->id()};  // a node may be in it twice, and gone when it is met again
  while (!stack.empty()) {
    Node* one = graph.node(stack.back());
    stack.pop_back();
    if (!one || !one->consumers().empty() || !IsPure(graph, *one)) continue;
    // What it waited for is wanted for itself, or it would not have been in the graph: only its data goes with it.
    for (const Endpoint& input : one->inputs()) stack.push_back(input.node->id());
    graph.RemoveNode(one);
  }
}

void ForEachNode(const Graph& graph, FunctionRef<void(Node*)> fn) {
  for (int id = 0, end = graph.num_ids(); id < end; ++id) {
    if (Node* node = graph.node(id)) fn(node);
  }
}

bool Bypass(Graph& graph, Node* node, Endpoint value) {
  if (IsRef(value.type()) || !node->control_inputs().empty()) return false;
  if (!node->device().empty() && node->device() != value.node->device()) return false;
  const Flow flow = value.node->traits().flow;
  const bool is_flow = flow != Flow::kNone && flow != Flow::kArg;
  bool changed = false;
  const std::vector<Consumer> consumers = node->consumers();
  for (const Consumer& c : consumers) {
    if (c.input < 0) continue;
    // A dead result is reported at the node that was fetched; a loop's own edges keep their form.
    if (is_flow && c.node->traits().flow != Flow::kNone) continue;
    graph.UpdateInput(c.node, c.input, value);
    changed = true;
  }
  // One output of a Switch may be dead while the Switch itself is not: who waits for the node goes on waiting for it.
  if (!is_flow) {
    changed |= HasControlConsumers(*node);
    MoveControlConsumers(graph, node, value.node);
  }
  if (changed) RemoveUnused(graph, node);
  return changed;
}

}  // namespace penstock
