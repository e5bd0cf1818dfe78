// Comparisons and logic.
#include "penstock/op/shape_inference.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

// Shapes that do not fit are an answer (not equal), not an error, if the attribute says so.
void EqualShape(ShapeContext& c) {
  if (c.attr<bool>("incompatible_shape_error")) return shapes::Broadcast(c);
  try {
    shapes::Broadcast(c);
  } catch (const Error&) {
    c.out(0, PartialShape());
    return;
  }
  if (!c.in(0).fully_known() || !c.in(1).fully_known()) c.out(0, PartialShape());
}

}  // namespace

void RegisterComparisonOps(OpRegistry& ops) {
  for (const char* name : {"Equal", "NotEqual"}) {
    ops.Add(name).Input("x: T").Input("y: T").Output("z: bool").Attr("T: type")
        .Attr("incompatible_shape_error: bool = true").Commutative().Elementwise().NotDifferentiable().Shape(EqualShape)
        .Doc("Compares element by element.");
  }
  for (const char* name : {"Less", "LessEqual", "Greater", "GreaterEqual"}) {
    ops.Add(name).Input("x: T").Input("y: T").Output("z: bool").Attr("T: realnumbertype").Elementwise()
        .NotDifferentiable().Shape(shapes::Broadcast).Doc("Compares element by element.");
  }
  ops.Add("ApproximateEqual").Input("x: T").Input("y: T").Output("z: bool").Attr("T: numbertype")
      .Attr("tolerance: float = 1e-5").Commutative().Elementwise().NotDifferentiable()
      .Doc("|x - y| < tolerance.")
      .Shape([](ShapeContext& c) { c.out(0, c.in(0).MergeWith(c.in(1))); });
  for (const char* name : {"LogicalAnd", "LogicalOr"}) {
    ops.Add(name).Input("x: bool").Input("y: bool").Output("z: bool").Commutative().Elementwise().NotDifferentiable()
        .Shape(shapes::Broadcast);
  }
}

}  // namespace penstock
