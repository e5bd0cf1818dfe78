// The closest values that do not increase.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// Each element of a segment, whose number within its row is in output 1, has the mean of the segment's gradients.
void SegmentMeans(GradContext& g) {
  Scope& scope = g.scope();
  const Out dy = g.dy(0), zero = scope.Scalar<int32_t>(0), one = scope.Scalar<int32_t>(1);
  const Out n = g.Call("GatherV2", {ShapeOf(dy), g.Call("Rank", {dy}) - one, zero});
  const Out count = g.Call("Size", {dy});
  const Out starts = g.Call("ExpandDims", {g.Call("Range", {zero, count, n}), one});
  const Out rows = CallOp("Pack", {{scope.Scalar<int32_t>(-1), n}}, {{"N", int64_t{2}}, {"axis", int64_t{0}}})[0];
  const Out flat = ConstVector(scope, {-1});
  const Out segments = Reshape(Reshape(g.y(1), rows) + starts, flat), values = Reshape(dy, flat);
  const Out sums = g.Call("UnsortedSegmentSum", {values, segments, count});
  const Out sizes = g.Call("UnsortedSegmentSum", {OnesLike(values), segments, count});
  const Out means = g.Call("GatherV2", {g.Call("DivNoNan", {sums, sizes}), segments, zero});
  g.Set(0, Cast(Reshape(means, ShapeOf(dy)), g.x(0).type()));
}

}  // namespace

void RegisterIsotonicOps(OpRegistry& ops) {
  ops.Add("IsotonicRegression")
      .Input("input: T").Output("output: output_dtype").Output("segments: int32").Attr("T: realnumbertype")
      .Attr("output_dtype: {half, bfloat16, float, double} = DT_FLOAT").Gradient(SegmentMeans)
      .Shape([](ShapeContext& c) {
        c.out(0, c.in(0));
        c.out(1, c.in(0));
      })
      .Doc("Of each row (the last dimension) the closest one that does not increase, by the sum of squares, and for "
           "each element the number of the run of equal values that it is in.");
}

}  // namespace penstock
