// Reference variables: their definition, assignment and counters.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// A scalar `shape` also stood for "unknown" when Variable was defined first.
void OldVariableShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  c.out(0, shape.known_rank() && shape.rank() > 0 ? shape : PartialShape());
}

void VariableShape(ShapeContext& c) { c.out(0, c.attr<PartialShape>("shape")); }

void AssignShape(ShapeContext& c) {
  c.out(0, c.attr<bool>("validate_shape") ? c.in(0).MergeWith(c.in(1)) : c.in(1));
}

void UpdateShape(ShapeContext& c) { c.out(0, c.in(0).MergeWith(c.in(1))); }

}  // namespace

void RegisterStateOps(OpRegistry& ops) {
  ops.Add("VariableV2")
      .Output("ref: Ref(dtype)").Attr("shape: shape").Attr("dtype: type").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Free().Shape(VariableShape)
      .Doc("A variable: its value lives in the device, under `container` and `shared_name` (or the node's name).");
  ops.Add("Variable")
      .Output("ref: Ref(dtype)").Attr("shape: shape").Attr("dtype: type").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Free().Shape(OldVariableShape).Doc("Use VariableV2 instead.");
  ops.Add("IsVariableInitialized")
      .Input("ref: Ref(dtype)").Output("is_initialized: bool").Attr("dtype: type").AllowsUninitializedInput()
      .Free().Shape(shapes::Scalar).Doc("Whether the variable holds a value.");
  ops.Add("TemporaryVariable")
      .Output("ref: Ref(dtype)").Attr("shape: shape").Attr("dtype: type").Attr("var_name: string = ''").Stateful()
      .Shape(VariableShape).Doc("A variable that lives within one step, until DestroyTemporaryVariable.");
  ops.Add("DestroyTemporaryVariable")
      .Input("ref: Ref(T)").Output("value: T").Attr("T: type").Attr("var_name: string")
      .Shape(shapes::SameAsInput0).Doc("The last value of a temporary variable, which ceases to exist.");
  ops.Add("Assign")
      .Input("ref: Ref(T)").Input("value: T").Output("output_ref: Ref(T)").Attr("T: type")
      .Attr("validate_shape: bool = true").Attr("use_locking: bool = true").AllowsUninitializedInput()
      .NotDifferentiable().Shape(AssignShape).Doc("Gives the variable a value; the output is the variable.");
  ops.Add("AssignAdd")
      .Input("ref: Ref(T)").Input("value: T").Output("output_ref: Ref(T)").Attr("T: numbertype")
      .Attr("use_locking: bool = false").NotDifferentiable().Shape(UpdateShape).Doc("ref += value");
  ops.Add("AssignSub")
      .Input("ref: Ref(T)").Input("value: T").Output("output_ref: Ref(T)").Attr("T: numbertype")
      .Attr("use_locking: bool = false").NotDifferentiable().Shape(UpdateShape).Doc("ref -= value");
  ops.Add("CountUpTo")
      .Input("ref: Ref(T)").Output("output: T").Attr("limit: int").Attr("T: {int32, int64}")
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 0)); })
      .Doc("The variable's value before it is raised by one; OutOfRange when it has reached `limit`.");
}

}  // namespace penstock
