// Calls of functions, and what a function's body begins and ends with.
#include "penstock/op/op_registry.h"

#include "penstock/graph/gradient.h"

namespace penstock {
namespace {

// The gradient of a call is a call of SymbolicGradient, which differentiates the callee where it runs: its inputs are
// those of the call followed by the gradients of the outputs.
void GradientOfCall(GradContext& g, FuncRef callee) {
  Outs inputs;
  std::vector<DataType> in_types, out_types;
  for (int i = 0; i < g.num_inputs(); ++i) {
    inputs.push_back(g.x(i));
    in_types.push_back(g.x(i).type());
    // The gradient of a variable is one of its value.
    const DataType behind = g.scope().TypeBehind(g.x(i));
    out_types.push_back(behind == DT_INVALID ? g.x(i).type() : behind);
  }
  for (int i = 0; i < g.num_outputs(); ++i) {
    inputs.push_back(g.dy(i) ? g.dy(i) : ZerosLike(g.y(i)));
    in_types.push_back(inputs.back().type());
  }
  if (out_types.empty()) return;
  const Outs dx =
      g.CallAll("SymbolicGradient", inputs, {{"Tin", in_types}, {"Tout", out_types}, {"f", std::move(callee)}});
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (IsFloating(out_types[i]) || IsComplex(out_types[i]) || out_types[i] == DT_VARIANT) g.Set(i, dx[i]);
  }
}

void CallGradient(GradContext& g) { GradientOfCall(g, g.attr<FuncRef>("f")); }

// The callee is the gradient itself.
void GradientOfGradient(GradContext& g) { GradientOfCall(g, {"SymbolicGradient", {{"f", g.attr("f")}}}); }

// If, While, Case: the op is called as a function of its inputs.
void ControlFlowGradient(GradContext& g) {
  FuncRef callee{g.op().name, {}};
  for (const auto& [name, value] : g.attrs()) {
    if (!name.starts_with("_")) callee.attrs.Set(name, value);
  }
  GradientOfCall(g, std::move(callee));
}

// As `output_shapes` says, if it does.
void StatedShapes(ShapeContext& c) {
  const auto& stated = c.attr<std::vector<PartialShape>>("output_shapes");
  if (stated.empty()) return;
  if (static_cast<int>(stated.size()) != c.num_outputs()) {
    throw InvalidArgument("`output_shapes` must be the same length as num outputs (", stated.size(), " vs. ",
                          c.num_outputs(), ")");
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, stated[i]);
}

void WhileShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.out(i, c.in(i));
    c.out_handle(i, c.in_handle(i));
  }
  StatedShapes(c);
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
  ops.Add("RemoteCall")
      .Input("target: string").Input("args: Tin").Output("output: Tout").Attr("Tin: list(type) >= 1")
      .Attr("Tout: list(type) >= 1").Attr("f: func").Stateful().Heavy().NotDifferentiable().Shape(shapes::Unknown)
      .Doc("Calls the function `f` on the device `target` of this process.");
  ops.Add("SymbolicGradient")
      .Input("input: Tin").Output("output: Tout").Attr("Tin: list(type) >= 1").Attr("Tout: list(type) >= 1")
      .Attr("f: func").Heavy().Shape(GradientShape).Gradient(GradientOfGradient)
      .Doc("The gradients of `f`'s arguments, given the arguments and the gradients of its results.");
  ops.Add("If")
      .Input("cond: Tcond").Input("input: Tin").Output("output: Tout").Attr("Tcond: type").Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0").Attr("then_branch: func").Attr("else_branch: func")
      .Attr("output_shapes: list(shape) = []").Stateful().Heavy().Shape(StatedShapes).Gradient(ControlFlowGradient)
      .Doc("Calls `then_branch` or `else_branch` with the inputs.");
  ops.Add("StatelessIf")
      .Input("cond: Tcond").Input("input: Tin").Output("output: Tout").Attr("Tcond: type").Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0").Attr("then_branch: func").Attr("else_branch: func")
      .Attr("output_shapes: list(shape) = []").Heavy().Shape(StatedShapes).Gradient(ControlFlowGradient)
      .Doc("As If, of functions without side effects.");
  ops.Add("Case")
      .Input("branch_index: int32")
      .Input("input: Tin")
      .Output("output: Tout")
      .Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0")
      .Attr("branches: list(func) >= 1")
      .Attr("output_shapes: list(shape) = []")
      .Stateful()
      .Heavy()
      .Shape(StatedShapes)
      .Gradient(ControlFlowGradient)
      .Doc("Calls one of `branches` with the inputs: the last if the index is out of range.");
  ops.Add("StatelessCase")
      .Input("branch_index: int32").Input("input: Tin").Output("output: Tout").Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0").Attr("branches: list(func) >= 1").Attr("output_shapes: list(shape) = []").Heavy()
      .Shape(StatedShapes).Gradient(ControlFlowGradient).Doc("As Case, of functions without side effects.");
  ops.Add("While")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: list(type) >= 0")
      .Attr("cond: func")
      .Attr("body: func")
      .Attr("output_shapes: list(shape) = []")
      .Attr("parallel_iterations: int = 10")
      .Stateful()
      .Heavy()
      .Shape(WhileShape)
      .Gradient(ControlFlowGradient)
      .Doc("Calls `body` with its own results for as long as `cond` of them holds.");
  ops.Add("StatelessWhile")
      .Input("input: T").Output("output: T").Attr("T: list(type) >= 0").Attr("cond: func").Attr("body: func")
      .Attr("output_shapes: list(shape) = []").Attr("parallel_iterations: int = 10").Heavy().Shape(WhileShape)
      .Gradient(ControlFlowGradient).Doc("As While, of functions without side effects.");
  ops.Add("For")
      .Input("start: int32").Input("limit: int32").Input("delta: int32").Input("input: T").Output("output: T")
      .Attr("T: list(type) >= 0").Attr("body: func").Heavy().Shape(shapes::Unknown).Gradient(ControlFlowGradient)
      .Doc("Calls `body` with i and its own results for i = start, start + delta, ... before limit.");
  ops.Add("FakeParam")
      .Output("output: dtype").Attr("dtype: type").Attr("shape: shape").NotDifferentiable()
      .Shape([](ShapeContext& c) { c.out(0, c.attr<PartialShape>("shape")); })
      .Doc("Stands for a value that is not there; it must not be read.");
  ops.Add("ToBool")
      .Input("input: T").Output("output: bool").Attr("T: type").NotDifferentiable().Shape(shapes::Scalar)
      .Doc("Whether a scalar is not zero or not the empty string; of other tensors, whether they have elements.");
}

}  // namespace penstock
