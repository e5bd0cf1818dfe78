// Choice by a condition, and clipping.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

// The condition is a scalar, of the others' shape, or a vector that chooses rows.
void SelectShape(ShapeContext& c) {
  const PartialShape data = c.in(1).MergeWith(c.in(2));
  c.out(0, data);
  if (c.in_handle(1).size() && c.in_handle(1) == c.in_handle(2)) c.out_handle(0, c.in_handle(1));
  const PartialShape& condition = c.in(0);
  if (!condition.known_rank() || !data.known_rank() || condition.rank() == 0) return;
  if (condition.rank() == 1 && data.rank() >= 1) {
    ShapeContext::MergeDim(condition[0], data[0]);
    return;
  }
  c.out(0, data.MergeWith(condition));
}
void SelectV2Shape(ShapeContext& c) {
  c.out(0, shapes::BroadcastShapes(c.in(0), shapes::BroadcastShapes(c.in(1), c.in(2))));
  if (c.in_handle(1).size() && c.in_handle(1) == c.in_handle(2)) c.out_handle(0, c.in_handle(1));
}

// Sums `grad`, of the shape of the output, to the shape of input i.
void ReduceTo(GradContext& g, int i, Out grad) {
  const PartialShape &own = g.x(i).shape(), &full = grad.shape();
  if (own.fully_known() && full.fully_known() && own.dims() == full.dims()) return g.Set(i, grad);
  const Out shape = ShapeOf(g.x(i)), full_shape = ShapeOf(grad);
  const Outs axes = g.CallAll("BroadcastGradientArgs", Outs{shape, full_shape});
  g.Set(i, Reshape(Sum(grad, axes[0]), shape));
}

void ClipByValueGradient(GradContext& g) {
  const Out x = g.x(0), low = g.x(1), high = g.x(2), dy = g.dy(), zero = ZerosLike(dy);
  const Out below = Call("Less", {x, low}), above = Call("Greater", {x, high});
  ReduceTo(g, 0, Where(Call("LogicalOr", {below, above}), zero, dy));
  ReduceTo(g, 1, Where(below, dy, zero));
  ReduceTo(g, 2, Where(above, dy, zero));
}

}  // namespace

void RegisterSelectOps(OpRegistry& ops) {
  ops.Add("Select").Input("condition: bool").Input("t: T").Input("e: T").Output("output: T").Attr("T: type")
      .Shape(SelectShape).Doc("t where the condition holds, e elsewhere; a vector as condition chooses rows.")
      .Gradient([](GradContext& g) {
        const Out c = g.x(0), zero = ZerosLike(g.x(1));
        g.Set(1, g.Call("Select", {c, g.dy(), zero}));
        g.Set(2, g.Call("Select", {c, zero, g.dy()}));
      });
  ops.Add("SelectV2").Input("condition: bool").Input("t: T").Input("e: T").Output("output: T").Attr("T: type")
      .Elementwise().Shape(SelectV2Shape).Doc("t where the condition holds, e elsewhere; all are broadcast.")
      .Gradient([](GradContext& g) {
        const Out c = g.x(0), zero = ZerosLike(g.dy());
        ReduceTo(g, 1, Where(c, g.dy(), zero));
        ReduceTo(g, 2, Where(c, zero, g.dy()));
      });
  for (const char* comparison : {"Less", "LessEqual", "Equal", "NotEqual"}) {
    ops.Add(StrCat("_Select", comparison)).Input("a: T").Input("b: T").Input("t: T").Input("e: T").Output("output: T")
        .Attr("T: {float, double}").Elementwise().Shape([](ShapeContext& c) {
          c.out(0, shapes::BroadcastShapes(shapes::BroadcastShapes(c.in(0), c.in(1)),
                                           shapes::BroadcastShapes(c.in(2), c.in(3))));
        }).Doc("t where the comparison of a and b holds, e elsewhere; all are broadcast.");
  }
  ops.Add("ClipByValue").Input("t: T").Input("clip_value_min: T").Input("clip_value_max: T").Output("output: T")
      .Attr("T: numbertype").Elementwise().Gradient(ClipByValueGradient).Doc("t limited to a range.")
      .Shape([](ShapeContext& c) {
        c.out(0, shapes::BroadcastShapes(shapes::BroadcastShapes(c.in(0), c.in(1)), c.in(2)));
      });
}

}  // namespace penstock
