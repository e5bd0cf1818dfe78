#include "penstock/graph/export.h"

#include <algorithm>

namespace penstock {

std::string InputName(const Endpoint& endpoint) {
  return endpoint.index == 0 ? endpoint.node->name() : StrCat(endpoint.node->name(), ":", endpoint.index);
}

namespace {
bool (*g_is_newer)(std::string_view op, std::string_view attr) = nullptr;
}

void SetNewerAttrs(bool (*is_newer)(std::string_view op, std::string_view attr)) { g_is_newer = is_newer; }

NodeDef ToNodeDef(const Node& node, int producer) {
  NodeDef def;
  def.name = node.name();
  def.op = node.op_name();
  def.device = node.device();
  def.inputs.reserve(node.inputs().size() + node.control_inputs().size());
  for (const Endpoint& input : node.inputs()) def.inputs.push_back(InputName(input));
  for (const Node* control : node.control_inputs()) def.inputs.push_back("^" + control->name());
  def.attrs = node.attrs();
  if (producer > kGraphDefVersion || !g_is_newer) return def;
  for (const auto& [name, value] : node.attrs()) {
    const AttrDef* attr = node.op().FindAttr(name);
    if (attr && attr->has_default() && value == attr->default_value && g_is_newer(def.op, name)) def.attrs.Erase(name);
  }
  return def;
}

GraphDef ToGraphDef(const Graph& graph, int from_node, bool add_shapes) {
  GraphDef def;
  def.versions = graph.versions();
  for (int id = std::max(0, from_node); id < graph.num_ids(); ++id) {
    const Node* node = graph.node(id);
    if (!node) continue;
    NodeDef& added = def.nodes.emplace_back(ToNodeDef(*node, def.versions.producer));
    std::sort(added.inputs.begin() + node->num_inputs(), added.inputs.end());
    if (!node->assigned_device().empty()) added.device = node->assigned_device();
    if (add_shapes && node->num_outputs() > 0) {
      std::vector<PartialShape> shapes;
      for (int i = 0; i < node->num_outputs(); ++i) shapes.push_back(node->shape(i));
      added.attrs.Set("_output_shapes", std::move(shapes));
    }
  }
  const FunctionLibrary& library = *graph.library();
  for (const std::string& name : library.Names()) def.functions.push_back(library.FindShared(name));
  for (const auto& [function, gradient] : library.gradients()) def.gradients.emplace_back(function, gradient);
  return def;
}

}  // namespace penstock
