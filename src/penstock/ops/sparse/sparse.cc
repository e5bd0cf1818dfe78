// Sparse tensors as indices, values and shape: conversions, selections, joins.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// Checks the three parts at inputs first, first + 1, first + 2; returns the rank, or -1.
int64_t SparseRank(ShapeContext& c, int first) {
  const PartialShape indices = c.WithRank(first, 2);
  const PartialShape values = c.WithRank(first + 1, 1);
  const PartialShape shape = c.WithRank(first + 2, 1);
  ShapeContext::MergeDim(indices[0], values[0]);
  return ShapeContext::MergeDim(indices[1], shape[0]);
}

// Outputs 0, 1, 2 as a sparse tensor of so many entries.
void SparseOut(ShapeContext& c, int64_t entries, int64_t rank) {
  c.out(0, {entries, rank});
  c.out(1, {entries});
  if (c.num_outputs() > 2) c.out(2, {rank});
}

Out Entries(GradContext& g, Out indices) {
  return Reshape(g.Call("Slice", {ShapeOf(indices), ConstVector(g.scope(), {0}), ConstVector(g.scope(), {1})}),
                 ConstVector(g.scope(), {}));
}

}  // namespace

void RegisterSparseOps(OpRegistry& ops) {
  ops.Add("SparseToDense")
      .Input("sparse_indices: Tindices")
      .Input("output_shape: Tindices")
      .Input("sparse_values: T")
      .Input("default_value: T")
      .Output("dense: T")
      .Attr("validate_indices: bool = true")
      .Attr("T: type")
      .Attr("Tindices: {int32, int64}")
      .Shape([](ShapeContext& c) { c.out(0, c.in_as_shape(1)); })
      .Gradient([](GradContext& g) {
        Out indices = g.x(0);
        if (indices.shape().known_rank() && indices.shape().rank() == 1) {
          indices = g.Call("ExpandDims", {indices, g.scope().Scalar<int32_t>(1)});
        }
        const Out values = g.Call("GatherNd", {g.dy(), indices});
        // A single value stands for all.
        const bool scalar = g.x(2).shape().known_rank() && g.x(2).shape().rank() == 0;
        const Out total = Sum(values, AllAxes(values));
        g.Set(2, scalar ? total : values);
        g.Set(3, Sum(g.dy(), AllAxes(g.dy())) - total);
      })
      .Doc("A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere.");

  ops.Add("SparseReorder")
      .Input("input_indices: int64")
      .Input("input_values: T")
      .Input("input_shape: int64")
      .Output("output_indices: int64")
      .Output("output_values: T")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        SparseRank(c, 0);
        c.out(0, c.in(0));
        c.out(1, c.WithRank(1, 1));
      })
      .Gradient([](GradContext& g) {
        // The entries' own numbers go the same way, which tells the way back.
        Scope& scope = g.scope();
        const Out numbers = g.Call("Range", {scope.Scalar<int32_t>(0), Entries(g, g.x(0)), scope.Scalar<int32_t>(1)});
        const Outs ordered = g.CallAll("SparseReorder", std::vector<Out>{g.x(0), numbers, g.x(2)});
        const Out back = g.Call("InvertPermutation", {ordered[1]});
        g.Set(1, g.Call("GatherV2", {g.dy(1), back, scope.Scalar<int32_t>(0)}));
      })
      .Doc("The entries in row-major order.");

  ops.Add("SparseReshape")
      .Input("input_indices: int64")
      .Input("input_shape: int64")
      .Input("new_shape: int64")
      .Output("output_indices: int64")
      .Output("output_shape: int64")
      .Shape([](ShapeContext& c) {
        const PartialShape indices = c.WithRank(0, 2);
        c.WithRank(1, 1);
        const PartialShape shape = c.WithRank(2, 1);
        c.out(0, {indices[0], shape[0]});
        c.out(1, shape);
      })
      .Doc("The same entries, in row-major order, under another shape; one dimension may be -1.");

  ops.Add("SparseConcat")
      .Input("indices: N * int64")
      .Input("values: N * T")
      .Input("shapes: N * int64")
      .Output("output_indices: int64")
      .Output("output_values: T")
      .Output("output_shape: int64")
      .Attr("concat_dim: int")
      .Attr("N: int >= 2")
      .Attr("T: type")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const int n = c.num_inputs() / 3;
        int64_t entries = 0, rank = -1;
        for (int i = 0; i < n; ++i) {
          const PartialShape indices = c.WithRank(i, 2), values = c.WithRank(n + i, 1),
                             shape = c.WithRank(2 * n + i, 1);
          const int64_t rows = ShapeContext::MergeDim(indices[0], values[0]);
          entries = entries < 0 || rows < 0 ? -1 : entries + rows;
          rank = ShapeContext::MergeDim(rank, ShapeContext::MergeDim(indices[1], shape[0]));
        }
        SparseOut(c, entries, rank);
      })
      .Doc("Sparse tensors one after the other along `concat_dim`.");

  ops.Add("SparseSplit")
      .Input("split_dim: int64")
      .Input("indices: int64")
      .Input("values: T")
      .Input("shape: int64")
      .Output("output_indices: num_split * int64")
      .Output("output_values: num_split * T")
      .Output("output_shape: num_split * int64")
      .Attr("num_split: int >= 1")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        const int n = c.num_outputs() / 3;
        const PartialShape indices = c.WithRank(1, 2);
        for (int i = 0; i < n; ++i) {
          c.out(i, {-1, indices[1]});
          c.out(n + i, PartialShape::OfRank(1));
          c.out(2 * n + i, c.in(3));
        }
      })
      .Doc("A sparse tensor in `num_split` parts along `split_dim`.");

  ops.Add("SparseSlice")
      .Input("indices: int64")
      .Input("values: T")
      .Input("shape: int64")
      .Input("start: int64")
      .Input("size: int64")
      .Output("output_indices: int64")
      .Output("output_values: T")
      .Output("output_shape: int64")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        const int64_t rank = SparseRank(c, 0);
        c.WithRank(3, 1);
        c.WithRank(4, 1);
        SparseOut(c, -1, rank);
      })
      .Gradient([](GradContext& g) {
        g.Set(1, g.Call("SparseSliceGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)}));
      })
      .Doc("The entries in the box that starts at `start` and has size `size`.");

  ops.Add("SparseSliceGrad")
      .Input("backprop_val_grad: T")
      .Input("input_indices: int64")
      .Input("input_start: int64")
      .Input("output_indices: int64")
      .Output("val_grad: T")
      .Attr("T: numbertype")
      .Shape([](ShapeContext& c) {
        const PartialShape indices = c.WithRank(1, 2);
        c.out(0, {indices[0]});
      })
      .Doc("The gradient of SparseSlice's values.");

  ops.Add("SparseFillEmptyRows")
      .Input("indices: int64")
      .Input("values: T")
      .Input("dense_shape: int64")
      .Input("default_value: T")
      .Output("output_indices: int64")
      .Output("output_values: T")
      .Output("empty_row_indicator: bool")
      .Output("reverse_index_map: int64")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        const int64_t rank = SparseRank(c, 0);
        c.WithRank(3, 0);
        const PartialShape shape = c.in_as_shape(2);
        c.out(0, {-1, rank});
        c.out(1, PartialShape::OfRank(1));
        c.out(2, {shape.known_rank() && shape.rank() > 0 ? shape[0] : -1});
        c.out(3, {c.WithRank(0, 2)[0]});
      })
      .Gradient([](GradContext& g) {
        const Outs dx = g.CallAll("SparseFillEmptyRowsGrad", std::vector<Out>{g.y(3), g.dy(1)});
        g.Set(1, dx[0]);
        g.Set(3, dx[1]);
      })
      .Doc("The entries, with one of `default_value` at column 0 of each row that has none.");

  ops.Add("SparseFillEmptyRowsGrad")
      .Input("reverse_index_map: int64")
      .Input("grad_values: T")
      .Output("d_values: T")
      .Output("d_default_value: T")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        c.out(0, c.WithRank(0, 1));
        c.WithRank(1, 1);
        c.out(1, PartialShape(std::vector<int64_t>{}));
      })
      .Doc("The gradient of SparseFillEmptyRows.");
}

}  // namespace penstock
