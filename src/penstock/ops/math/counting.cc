// Counting values: bincounts, histograms, buckets.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

int64_t SizeInput(ShapeContext& c, int i) {
  c.WithRank(i, 0);
  const auto size = c.in_int(i);
  if (size && *size < 0) throw InvalidArgument("size (", *size, ") must be non-negative");
  return size.value_or(-1);
}

// A row of `size` counts for each row of a batch.
void RowsOfCounts(ShapeContext& c, int64_t rows, int size_input) {
  c.out(0, PartialShape({rows, SizeInput(c, size_input)}));
}

// Counts as a sparse tensor; `rank` of its dense shape, -1 if unknown.
void SparseCounts(ShapeContext& c, int64_t rank) {
  c.out(0, PartialShape({-1, rank}));
  c.out(1, PartialShape({-1}));
  c.out(2, PartialShape({rank}));
}

OpBuilder CountSparseOutput(OpBuilder op) {
  return op.Input("weights: output_type")
      .Output("output_indices: int64")
      .Output("output_values: output_type")
      .Output("output_dense_shape: int64")
      .Attr("T: {int32, int64}")
      .Attr("minlength: int >= -1 = -1")
      .Attr("maxlength: int >= -1 = -1")
      .Attr("binary_output: bool")
      .Attr("output_type: {int32, int64, float, double}");
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
  ops.Add("SparseBincount")
      .Input("indices: int64")
      .Input("values: Tidx")
      .Input("dense_shape: int64")
      .Input("size: Tidx")
      .Input("weights: T")
      .Output("output: T")
      .Attr("Tidx: {int32, int64}")
      .Attr("T: {int32, int64, float, double}")
      .Attr("binary_output: bool = false")
      .Doc("Bincount of the values of a sparse vector, or of each row of a sparse matrix.")
      .Shape([](ShapeContext& c) {
        const PartialShape dense = c.in_as_shape(2);
        if (!dense.known_rank()) return c.out(0, PartialShape());
        if (dense.rank() == 1) return c.out(0, PartialShape({SizeInput(c, 3)}));
        RowsOfCounts(c, dense.rank() == 0 ? -1 : dense[0], 3);
      });
  ops.Add("RaggedBincount")
      .Input("splits: int64")
      .Input("values: Tidx")
      .Input("size: Tidx")
      .Input("weights: T")
      .Output("output: T")
      .Attr("Tidx: {int32, int64}")
      .Attr("T: {int32, int64, float, double}")
      .Attr("binary_output: bool = false")
      .Doc("Bincount of each row of a ragged matrix.")
      .Shape([](ShapeContext& c) {
        const PartialShape splits = c.WithRank(0, 1);
        RowsOfCounts(c, splits.known_rank() && splits[0] > 0 ? splits[0] - 1 : -1, 2);
      });
  CountSparseOutput(ops.Add("DenseCountSparseOutput").Input("values: T"))
      .Shape([](ShapeContext& c) {
        const PartialShape values = c.WithRankAtMost(0, 2);
        SparseCounts(c, values.known_rank() ? values.rank() : -1);
      })
      .Doc("How often each value occurs in a vector, or in each row of a matrix, as a sparse tensor.");
  CountSparseOutput(
      ops.Add("SparseCountSparseOutput").Input("indices: int64").Input("values: T").Input("dense_shape: int64"))
      .Shape([](ShapeContext& c) {
        const PartialShape dense = c.WithRank(2, 1);
        SparseCounts(c, dense.known_rank() ? dense[0] : -1);
      })
      .Doc("DenseCountSparseOutput of a sparse vector or matrix.");
  CountSparseOutput(ops.Add("RaggedCountSparseOutput").Input("splits: int64").Input("values: T"))
      .Shape([](ShapeContext& c) { SparseCounts(c, 2); })
      .Doc("DenseCountSparseOutput of a ragged matrix.");
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
