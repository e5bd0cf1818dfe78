// The gradient of a function as a function body.
#include "penstock/graph/function.h"
#include "penstock/graph/gradient.h"
#include "penstock/graph/lower.h"

namespace penstock {
namespace {

Node* Add(Graph& graph, std::string_view op, std::string_view name, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
  NodeSpec spec;
  spec.op = op;
  spec.name = graph.UniqueName(name);
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  return graph.AddNode(std::move(spec));
}

Endpoint Constant(Graph& graph, int32_t value) {
  return {Add(graph, "Const", "gradients/axis", {}, {{"value", Tensor(value)}, {"dtype", DT_INT32}}), 0};
}

// The value that a gradient has the shape of: a variable's, for the handle of one.
Endpoint ValueOf(Graph& graph, Endpoint arg) {
  if (arg.type() != DT_RESOURCE) return arg;
  const auto& data = arg.node->info(arg.index).handle_data;
  if (data.empty()) return arg;
  return {Add(graph, "ReadVariableOp", "gradients/value", {arg}, {{"dtype", data[0].dtype}}), 0};
}

Endpoint Dense(Graph& graph, const GradEndpoint& gradient, Endpoint arg) {
  if (!gradient.sparse()) return gradient.dense;
  const Endpoint shape = gradient.dense_shape
                             ? gradient.dense_shape
                             : Endpoint{Add(graph, "Shape", "gradients/shape", {ValueOf(graph, arg)}), 0};
  const Endpoint zero = Constant(graph, 0);
  const Endpoint rows = {Add(graph, "GatherV2", "gradients/rows", {shape, zero, zero}), 0};
  return {Add(graph, "UnsortedSegmentSum", "gradients/dense", {gradient.values, gradient.indices, rows}), 0};
}

// What an argument that nothing depends on gets. Types without numbers have no zeros: the argument itself stands there.
Endpoint Zeros(Graph& graph, Endpoint arg) {
  const Endpoint value = ValueOf(graph, arg);
  const DataType type = value.type();
  if (!IsNumber(type) && type != DT_BOOL) return arg;
  return {Add(graph, "ZerosLike", "gradients/zeros", {value}), 0};
}

}  // namespace

FunctionBody InstantiateGradient(const FuncRef& function, const FunctionLibraryPtr& library) {
  if (const std::string given = library->GradientOf(function.name); !given.empty()) {
    const FunctionDef* gradient = library->Find(given);
    if (!gradient) throw NotFound("Gradient function '", given, "' of '", function.name, "' is not in the library");
    return Instantiate(*gradient, function.attrs, library);
  }
  FunctionBody body = InstantiateCallee(function, library);
  Graph& graph = *body.graph;

  std::vector<Endpoint> ys, xs;
  std::vector<GradEndpoint> dys;
  for (Node* ret : body.rets) {
    const Endpoint y = ret->input(0);
    Node* dy = Add(graph, "_Arg", "gradients/dy", {},
                   {{"T", y.type()}, {"index", static_cast<int64_t>(body.args.size() + dys.size())}});
    graph.SetShape({dy, 0}, y.shape());
    ys.push_back(y);
    GradEndpoint& gradient = dys.emplace_back();
    gradient.dense = {dy, 0};
    graph.RemoveNode(ret);
  }
  for (Node* arg : body.args) xs.push_back({arg, 0});
  // Results that cannot be differentiated take a gradient as argument, but it leads nowhere.
  std::vector<Endpoint> differentiable;
  std::vector<GradEndpoint> incoming;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (!IsFloating(ys[i].type()) && !IsComplex(ys[i].type())) continue;
    differentiable.push_back(ys[i]);
    incoming.push_back(dys[i]);
  }
  const auto dxs = differentiable.empty() ? std::vector<GradEndpoint>(xs.size())
                                          : AddGradients(graph, differentiable, xs, incoming, GradientOptions());
  body.rets.clear();
  body.ret_types.clear();
  for (size_t i = 0; i < xs.size(); ++i) {
    const Endpoint dx = dxs[i].none() ? Zeros(graph, xs[i]) : Dense(graph, dxs[i], xs[i]);
    body.rets.push_back(
        Add(graph, "_Retval", "gradients/dx", {dx}, {{"T", BaseType(dx.type())}, {"index", static_cast<int64_t>(i)}}));
    body.ret_types.push_back(BaseType(dx.type()));
  }
  for (const GradEndpoint& dy : dys) {
    body.args.push_back(dy.dense.node);
    body.arg_types.push_back(dy.dense.type());
  }
  return body;
}

}  // namespace penstock
