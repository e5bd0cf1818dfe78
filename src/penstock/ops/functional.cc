// Calls of functions, and what a function's body begins and ends with.
#include "penstock/op/op_registry.h"

#include "penstock/graph/gradient.h"

namespace penstock {
namespace {

// The gradient of a call is a call of SymbolicGradient, which differentiates the function where it runs: its inputs are
// those of the call followed by the gradients of the outputs.
void CallGradient(GradContext& g) {
  Outs inputs;
  std::vector<DataType> in_types, out_types;
  for (int i = 0; i < g.num_inputs(); ++i) {
    inputs.push_back(g.x(i));
    in_types.push_back(g.x(i).type());
    out_types.push_back(g.x(i).type());
  }
  for (int i = 0; i < g.num_outputs(); ++i) {
    const Out dy = g.dy(i) ? g.dy(i) : ZerosLike(g.y(i));
    inputs.push_back(dy);
    in_types.push_back(dy.type());
  }
  if (out_types.empty()) return;
  const Outs dx = g.CallAll("SymbolicGradient", inputs, {{"Tin", in_types}, {"Tout", out_types}, {"f", g.attr("f")}});
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (IsFloating(out_types[i]) || IsComplex(out_types[i])) g.Set(i, dx[i]);
  }
}

void GradientShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs() && i < c.num_inputs(); ++i) {
    c.out(i, c.in_type(i) == DT_RESOURCE && !c.in_handle(i).empty() ? c.in_handle(i)[0].shape : c.in(i));
  }
}

}  // namespace

void RegisterFunctionalOps(OpRegistry& ops) {
  ops.Add("_Arg").Is(Flow::kArg)
      .Output("output: T").Attr("T: type").Attr("index: int >= 0").Stateful().Free().Shape(shapes::Unknown)
      .Doc("An argument of the function whose body this is in.");
  ops.Add("_Retval").Is(Flow::kRetval)
      .Input("input: T").Attr("T: type").Attr("index: int >= 0").Stateful().Free().Shape(shapes::None)
      .Doc("A result of the function whose body this is in.");
  ops.Add("PartitionedCall")
      .Input("args: Tin").Output("output: Tout").Attr("Tin: list(type) >= 0").Attr("Tout: list(type) >= 0")
      .Attr("f: func").Attr("config: string = ''").Attr("config_proto: string = ''")
      .Attr("executor_type: string = ''").Heavy().Shape(shapes::Unknown).Gradient(CallGradient)
      .Doc("Calls the function `f`, which has no side effects.");
  ops.Add("StatefulPartitionedCall")
      .Input("args: Tin").Output("output: Tout").Attr("Tin: list(type) >= 0").Attr("Tout: list(type) >= 0")
      .Attr("f: func").Attr("config: string = ''").Attr("config_proto: string = ''")
      .Attr("executor_type: string = ''").Stateful().Heavy().Shape(shapes::Unknown).Gradient(CallGradient)
      .Doc("Calls the function `f`, which may have side effects.");
  ops.Add("SymbolicGradient")
      .Input("input: Tin").Output("output: Tout").Attr("Tin: list(type) >= 1").Attr("Tout: list(type) >= 1")
      .Attr("f: func").Heavy().Shape(GradientShape)
      .Doc("The gradients of `f`'s arguments, given the arguments and the gradients of its results.");
}

}  // namespace penstock
