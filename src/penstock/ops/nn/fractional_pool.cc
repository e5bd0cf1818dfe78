// Pools over regions of slightly different, randomly chosen sizes.
#include <cmath>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"

namespace penstock {
namespace {

void PoolShape(ShapeContext& c) {
  const PartialShape input = c.WithRank(0, 4);
  const auto& ratio = c.attr<std::vector<float>>("pooling_ratio");
  if (ratio.size() != 4) throw InvalidArgument("pooling_ratio field must specify 4 dimensions");
  PartialShape out = PartialShape::OfRank(4);
  for (int i = 0; i < 4 && input.known_rank(); ++i) {
    if (input[i] < 0) continue;
    const auto size = static_cast<int64_t>(std::floor(static_cast<double>(input[i]) / ratio[i]));
    if (size < 0) throw InvalidArgument("Size computed for dim ", i, " is negative: ", size);
    out.set_dim(i, size);
  }
  c.out(0, out);
  // Where the regions begin, and where the last one ends; TensorFlow's shape function forgets the last.
  for (int i = 1; i < 3; ++i) c.out(i, PartialShape({out[i] < 0 ? -1 : out[i] + 1}));
}

OpBuilder Pool(OpRegistry& ops, const char* name) {
  return ops.Add(name).Input("value: T").Output("output: T").Output("row_pooling_sequence: int64")
      .Output("col_pooling_sequence: int64").Attr("pooling_ratio: list(float) >= 4")
      .Attr("pseudo_random: bool = false").Attr("overlapping: bool = false").Attr("deterministic: bool = false")
      .Attr("seed: int = 0").Attr("seed2: int = 0").Attr("T: {float, double, int32, int64}")
      .Shape(PoolShape);
}

}  // namespace

void RegisterFractionalPoolOps(OpRegistry& ops) {
  Pool(ops, "FractionalMaxPool")
      .Doc("The greatest values of regions of random sizes.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("FractionalMaxPoolGrad", {g.x(0), g.y(0), g.dy(0), g.y(1), g.y(2)},
                        CopyAttrs(g, {"overlapping"})));
      });
  ops.Add("FractionalMaxPoolGrad").Input("orig_input: T").Input("orig_output: T").Input("out_backprop: T")
      .Input("row_pooling_sequence: int64").Input("col_pooling_sequence: int64").Output("output: T")
      .Attr("overlapping: bool = false").Attr("T: {float, double, int32, int64}")
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 4)); });
  Pool(ops, "FractionalAvgPool")
      .Doc("The means of regions of random sizes.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("FractionalAvgPoolGrad", {ShapeOf(g.x(0), DT_INT64), g.dy(0), g.y(1), g.y(2)},
                        CopyAttrs(g, {"overlapping"})));
      });
  ops.Add("FractionalAvgPoolGrad").Input("orig_input_tensor_shape: int64").Input("out_backprop: T")
      .Input("row_pooling_sequence: int64").Input("col_pooling_sequence: int64").Output("output: T")
      .Attr("overlapping: bool = false").Attr("T: {float, double, int32, int64}")
      .Shape([](ShapeContext& c) { c.out(0, ShapeContext::WithRank(c.in_as_shape(0), 4)); });
}

}  // namespace penstock
