// NodeDef, FunctionDef, GraphDef.
#include "penstock/io/messages.h"

namespace penstock {

NodeDef FromProto(const tensorflow::NodeDef& proto) {
  NodeDef node;
  node.name = proto.name();
  node.op = proto.op();
  node.device = proto.device();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  try {
    node.attrs = FromProto(proto.attr());
  } catch (const Error& e) {
    throw MakeError(e.code(), "node '", node.name, "' (op: ", node.op, "): ", e.what());
  }
  const auto& debug = proto.experimental_debug_info();
  node.original_node_names.assign(debug.original_node_names().begin(), debug.original_node_names().end());
  node.original_func_names.assign(debug.original_func_names().begin(), debug.original_func_names().end());
  return node;
}

void ToProto(const NodeDef& node, tensorflow::NodeDef* proto) {
  proto->set_name(node.name);
  proto->set_op(node.op);
  proto->set_device(node.device);
  for (const std::string& input : node.inputs) proto->add_input(input);
  ToProto(node.attrs, proto->mutable_attr());
  if (!node.original_node_names.empty() || !node.original_func_names.empty()) {
    auto* debug = proto->mutable_experimental_debug_info();
    for (const std::string& name : node.original_node_names) debug->add_original_node_names(name);
    for (const std::string& name : node.original_func_names) debug->add_original_func_names(name);
  }
}

std::shared_ptr<FunctionDef> FromProto(const tensorflow::FunctionDef& proto) {
  auto function = std::make_shared<FunctionDef>();
  function->signature = FromProto(proto.signature());
  function->attrs = FromProto(proto.attr());
  for (const auto& [arg, attrs] : proto.arg_attr()) {
    if (arg >= static_cast<uint32_t>(proto.signature().input_arg_size())) {
      throw InvalidArgument("function '", proto.signature().name(), "' has attributes for argument ", arg, " of ",
                            proto.signature().input_arg_size());
    }
    if (function->arg_attrs.size() <= arg) function->arg_attrs.resize(arg + 1);
    function->arg_attrs[arg] = FromProto(attrs.attr());
  }
  for (const auto& node : proto.node_def()) function->nodes.push_back(FromProto(node));
  function->ret.insert(proto.ret().begin(), proto.ret().end());
  function->control_ret.insert(proto.control_ret().begin(), proto.control_ret().end());
  return function;
}

void ToProto(const FunctionDef& function, tensorflow::FunctionDef* proto) {
  ToProto(function.signature, proto->mutable_signature());
  ToProto(function.attrs, proto->mutable_attr());
  for (size_t i = 0; i < function.arg_attrs.size(); ++i) {
    ToProto(function.arg_attrs[i], (*proto->mutable_arg_attr())[static_cast<uint32_t>(i)].mutable_attr());
  }
  for (const NodeDef& node : function.nodes) ToProto(node, proto->add_node_def());
  proto->mutable_ret()->insert(function.ret.begin(), function.ret.end());
  proto->mutable_control_ret()->insert(function.control_ret.begin(), function.control_ret.end());
}

Versions FromProto(const tensorflow::VersionDef& proto) {
  return {proto.producer(), proto.min_consumer(), {proto.bad_consumers().begin(), proto.bad_consumers().end()}};
}

void ToProto(const Versions& versions, tensorflow::VersionDef* proto) {
  proto->set_producer(versions.producer);
  proto->set_min_consumer(versions.min_consumer);
  for (const int version : versions.bad_consumers) proto->add_bad_consumers(version);
}

GraphDef FromProto(const tensorflow::GraphDef& proto) {
  GraphDef graph;
  graph.nodes.reserve(proto.node_size());
  for (const auto& node : proto.node()) graph.nodes.push_back(FromProto(node));
  graph.versions = FromProto(proto.versions());
  for (const auto& function : proto.library().function()) graph.functions.push_back(FromProto(function));
  for (const auto& gradient : proto.library().gradient()) {
    graph.gradients.emplace_back(gradient.function_name(), gradient.gradient_func());
  }
  return graph;
}

void ToProto(const GraphDef& graph, tensorflow::GraphDef* proto) {
  proto->mutable_node()->Reserve(static_cast<int>(graph.nodes.size()));
  for (const NodeDef& node : graph.nodes) ToProto(node, proto->add_node());
  ToProto(graph.versions, proto->mutable_versions());
  for (const auto& function : graph.functions) ToProto(*function, proto->mutable_library()->add_function());
  for (const auto& [function, gradient] : graph.gradients) {
    auto* added = proto->mutable_library()->add_gradient();
    added->set_function_name(function);
    added->set_gradient_func(gradient);
  }
}

}  // namespace penstock
