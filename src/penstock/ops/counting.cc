// Counting values: bincounts, histograms, buckets.
#include "penstock/op/shape_inference.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

int64_t SizeInput(ShapeContext& c, int i) {
  c.WithRank(i, 0);
  const auto size = c.in_int(i);
  if (size && *size < 0) throw InvalidArgument("size (", *size, ") must be non-negative");
  return size.value_or(-1);
}

}  // namespace

void RegisterCountingOps(OpRegistry& ops) {
  ops.Add("Bincount")
      .Input("arr: int32")
      .Input("size: int32")
      .Input("weights: T")
      .Output("bins: T")
      .Attr("T: {int32, int64, float, double}")
      .Doc("How often each of 0 .. size - 1 occurs, or the sums of its weights.")
      .Shape([](ShapeContext& c) { c.out(0, PartialShape({SizeInput(c, 1)})); });
  ops.Add("DenseBincount").Input("input: Tidx").Input("size: Tidx").Input("weights: T").Output("output: T")
      .Attr("Tidx: {int32, int64}").Attr("T: {int32, int64, float, double}").Attr("binary_output: bool = false")
      .Doc("Bincount of a vector, or of each row of a matrix.").Shape([](ShapeContext& c) {
        const PartialShape in = c.WithRankAtMost(0, 2);
        const int64_t size = SizeInput(c, 1);
        if (!in.known_rank()) return c.out(0, PartialShape());
        c.out(0, in.rank() == 2 ? PartialShape({in[0], size}) : PartialShape({size}));
      });
  ops.Add("HistogramFixedWidth").Input("values: T").Input("value_range: T").Input("nbins: int32").Output("out: dtype")
      .Attr("T: {int32, int64, float, double}").Attr("dtype: {int32, int64} = DT_INT32")
      .Doc("How many values fall into each of nbins equal parts of a range; those outside count at its ends.")
      .Shape([](ShapeContext& c) {
        const PartialShape range = c.WithRank(1, 1);
        if (range.known_rank() && range[0] >= 0 && range[0] != 2) {
          throw InvalidArgument("Dimension must be 2 but is ", range[0]);
        }
        c.WithRank(2, 0);
        const auto n = c.in_int(2);
        if (n && *n <= 0) throw InvalidArgument("Requires nbins > 0: ", *n);
        c.out(0, PartialShape({n.value_or(-1)}));
      });
  ops.Add("Bucketize").Input("input: T").Output("output: int32").Attr("T: {int32, int64, float, double}")
      .Attr("boundaries: list(float)").Elementwise().Shape(shapes::SameAsInput0)
      .Doc("How many of the sorted boundaries are at most x.");
}

}  // namespace penstock
