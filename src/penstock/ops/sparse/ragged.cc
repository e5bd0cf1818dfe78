// Ragged tensors: values and, for each ragged dimension, where its rows begin.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void RangeShape(ShapeContext& c) {
  int64_t rows = -1;
  bool scalars = true;
  for (int i = 0; i < 3; ++i) {
    const PartialShape in = c.WithRankAtMost(i, 1);
    scalars = scalars && in.rank() == 0;
    if (in.rank() == 1) rows = ShapeContext::MergeDim(rows, in[0]);
  }
  c.out(0, PartialShape({scalars ? 2 : rows < 0 ? -1 : rows + 1}));
  c.out(1, PartialShape({-1}));
}

void GatherShape(ShapeContext& c) {
  const auto levels = c.attr<int64_t>("PARAMS_RAGGED_RANK"), out_levels = c.attr<int64_t>("OUTPUT_RAGGED_RANK");
  const PartialShape &values = c.in(static_cast<int>(levels)), &indices = c.in(static_cast<int>(levels) + 1);
  if (indices.known_rank() && out_levels != levels + indices.rank() - 1) {
    throw InvalidArgument("OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + indices.rank - 1");
  }
  for (int i = 0; i < levels; ++i) c.WithRank(i, 1);
  for (int i = 0; i < out_levels; ++i) c.out(i, PartialShape({-1}));
  if (!values.known_rank()) return;
  c.WithRankAtLeast(static_cast<int>(levels), 1);
  const PartialShape inner = shapes::Subshape(values, 1, values.rank());
  c.out(static_cast<int>(out_levels), shapes::Concatenate(PartialShape({-1}), inner));
}

// A row of the result is a range of the values: these rows' values take its gradient.
void GatherGradient(GradContext& g) {
  const int levels = static_cast<int>(g.attr<int64_t>("PARAMS_RAGGED_RANK"));
  Scope& scope = g.scope();
  const Out zero = scope.Scalar<int32_t>(0);
  Out splits = g.x(0);
  for (int i = 1; i < levels; ++i) splits = g.Call("GatherV2", {g.x(i), splits, zero});
  const Out indices = Reshape(g.x(levels + 1), ConstVector(scope, {-1}));
  const Out begins = g.Call("GatherV2", {splits, indices, zero});
  const Out ends = g.Call("GatherV2", {splits, indices + OnesLike(indices), zero});
  const Out one = Cast(scope.Scalar<int32_t>(1), splits.type());
  const Out rows = g.CallAll("RaggedRange", std::vector<Out>{begins, ends, one})[1];
  const auto values = static_cast<int>(g.attr<int64_t>("OUTPUT_RAGGED_RANK"));
  g.Set(levels, Grad::Slices(g.dy(values), rows, ShapeOf(g.x(levels))));
}

void ToSparseShape(ShapeContext& c) {
  const auto levels = static_cast<int>(c.attr<int64_t>("RAGGED_RANK"));
  for (int i = 0; i < levels; ++i) c.WithRank(i, 1);
  const PartialShape values = c.WithRankAtLeast(levels, 1);
  const int64_t rank = values.known_rank() ? levels + values.rank() : -1, n = values.num_elements();
  c.out(0, {n, rank});
  c.out(1, PartialShape({n}));
  c.out(2, PartialShape({rank}));
}

void ToSparseGradient(GradContext& g) {
  const auto levels = static_cast<int>(g.attr<int64_t>("RAGGED_RANK"));
  g.Set(levels, Reshape(g.dy(1), ShapeOf(g.x(levels))));
}

// InvalidArgument unless a default of this shape can stand in the place of a value.
void RequireDefaultFits(const PartialShape& fallback, const PartialShape& values) {
  if (!fallback.known_rank() || !values.known_rank()) return;
  const auto incompatible = [&](const auto&... why) {
    throw InvalidArgument("default_value.shape=", fallback, " and rt_input.flat_values.shape=", values,
                          " are incompatible: ", why...);
  };
  if (fallback.rank() >= values.rank()) {
    incompatible("default_value.rank = ", fallback.rank(), "  must be less than rt_input.flat_values.rank = ",
                 values.rank());
  }
  for (int d = 1; d <= fallback.rank(); ++d) {
    const int64_t a = fallback[fallback.rank() - d], b = values[values.rank() - d];
    if (a < 0 || b < 0 || a == 1 || a == b) continue;
    incompatible("default_value.shape[", -d, "] = ", a, " but rt_input.flat_values.shape[", -d, "] = ", b);
  }
}

void ToTensorShape(ShapeContext& c) {
  const auto& kinds = c.attr<std::vector<std::string>>("row_partition_types");
  const PartialShape& values = c.in(1);
  const bool first = !kinds.empty() && kinds[0] == "FIRST_DIM_SIZE";
  const int levels = static_cast<int>(kinds.size()) - first;
  const PartialShape wanted = c.in(0).rank() == 0 ? PartialShape() : c.in_as_shape(0);
  if (!values.known_rank()) c.out(0, wanted);
  if (!values.known_rank() || levels < 0) return;
  RequireDefaultFits(c.in(2), values);
  std::vector<int64_t> dims(levels + values.rank(), -1);
  if (wanted.known_rank() && wanted.rank() != static_cast<int>(dims.size())) {
    throw InvalidArgument("rt_input.shape and shape=", wanted, " are incompatible: rt_input.rank = ", dims.size(),
                          " but shape.rank = ", wanted.rank());
  }
  for (int d = 1; d < values.rank(); ++d) dims[levels + d] = values[d];
  if (!c.in_value(0)) {
    // The shape may ask for another number of rows.
  } else if (first) {
    if (const auto rows = c.in_int(3); rows && *rows >= 0) dims[0] = *rows;
  } else if (!kinds.empty() && c.in(3).rank() == 1 && c.in(3)[0] > 0) {
    dims[0] = c.in(3)[0] - 1;
  }
  for (int d = 0; d < wanted.rank(); ++d) {
    if (wanted[d] >= 0) dims[d] = wanted[d];
  }
  c.out(0, PartialShape(std::move(dims)));
}

// The same op puts the values' numbers (0: the default) where the values went; what lies at one number is added up.
void ToTensorGradient(GradContext& g) {
  Scope& scope = g.scope();
  const Out values = g.x(1), fallback = g.x(2);
  const Out zero = scope.Scalar<int32_t>(0), one = scope.Scalar<int32_t>(1), all = ConstVector(scope, {-1});
  const Out count = Reshape(ShapePart(values, 0, 1), ConstVector(scope, std::vector<int32_t>{}));
  const auto& kinds = g.attr<std::vector<std::string>>("row_partition_types");
  if (kinds.empty()) throw InvalidArgument("No row_partition_types given.");
  const int levels = static_cast<int>(kinds.size()) - (kinds[0] == "FIRST_DIM_SIZE" ? 1 : 0);
  Outs inputs = {g.x(0), g.Call("Range", {one, count + one, one}), zero};
  if (g.x(0).shape().rank() != 0) inputs[0] = VectorSlice(g.x(0), zero, scope.Scalar<int32_t>(levels + 1));
  const auto partitions = static_cast<int>(g.attr<int64_t>("num_row_partition_tensors"));
  for (int i = 0; i < partitions; ++i) inputs.push_back(g.x(3 + i));
  const Out numbers = g.CallAll("RaggedTensorToTensor", inputs, {{"row_partition_types", kinds}})[0];
  const Out inner = ShapePart(values, 1, -1);
  const Out rows = Reshape(g.dy(), ConcatVectors({all, inner}));
  const Out sums = g.Call("UnsortedSegmentSum", {rows, Reshape(numbers, all), count + one});
  const Out index = g.Call("Range", {one, count + one, one});
  g.Set(1, Reshape(g.Call("GatherV2", {sums, index, zero}), ShapeOf(values)));
  const Out unused = g.Call("GatherV2", {sums, zero, zero});
  const Out axes = g.CallAll("BroadcastGradientArgs", Outs{ShapeOf(fallback), inner})[0];
  g.Set(2, Reshape(Sum(unused, axes), ShapeOf(fallback)));
}

}  // namespace

void RegisterRaggedOps(OpRegistry& ops) {
  ops.Add("RaggedRange").Input("starts: T").Input("limits: T").Input("deltas: T").Output("rt_nested_splits: Tsplits")
      .Output("rt_dense_values: T").Attr("T: {bfloat16, float, double, int32, int64} = DT_INT32")
      .Attr("Tsplits: {int32, int64} = DT_INT64").NotDifferentiable().Shape(RangeShape)
      .Doc("A ragged tensor of ranges.");
  ops.Add("RaggedGather").Input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
      .Input("params_dense_values: Tvalues").Input("indices: Tindices")
      .Output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits").Output("output_dense_values: Tvalues")
      .Attr("Tvalues: type").Attr("Tindices: {int32, int64}").Attr("Tsplits: {int32, int64} = DT_INT64")
      .Attr("PARAMS_RAGGED_RANK: int >= 1").Attr("OUTPUT_RAGGED_RANK: int >= 0").Shape(GatherShape)
      .Gradient(GatherGradient).Doc("Rows of a ragged tensor.");
  ops.Add("RaggedTensorToSparse").Input("rt_nested_splits: RAGGED_RANK * Tsplits").Input("rt_dense_values: T")
      .Output("sparse_indices: int64").Output("sparse_values: T").Output("sparse_dense_shape: int64")
      .Attr("RAGGED_RANK: int >= 1").Attr("T: type").Attr("Tsplits: {int32, int64} = DT_INT64").Shape(ToSparseShape)
      .Gradient(ToSparseGradient).Doc("A ragged tensor as a sparse one.");
  ops.Add("RaggedTensorToTensor").Input("shape: Tshape").Input("values: T").Input("default_value: T")
      .Input("row_partition_tensors: num_row_partition_tensors * Tindex").Output("result: T").Attr("T: type")
      .Attr("Tindex: {int64, int32}").Attr("Tshape: {int64, int32}").Attr("num_row_partition_tensors: int >= 1")
      .Attr("row_partition_types: list(string)").Shape(ToTensorShape).Gradient(ToTensorGradient)
      .Doc("A ragged tensor as a dense one, filled up with a default.");
  ops.Add("RaggedFillEmptyRows").Input("value_rowids: int64").Input("values: T").Input("nrows: int64")
      .Input("default_value: T").Output("output_value_rowids: int64").Output("output_values: T")
      .Output("empty_row_indicator: bool").Output("reverse_index_map: int64").Attr("T: type")
      .Shape([](ShapeContext& c) {
        const PartialShape rows = c.WithRank(0, 1), values = c.WithRank(1, 1);
        c.WithRank(2, 0);
        c.WithRank(3, 0);
        c.out(0, PartialShape({-1}));
        c.out(1, PartialShape({-1}));
        c.out(2, PartialShape({shapes::DimFromInput(c, 2)}));
        c.out(3, PartialShape({ShapeContext::MergeDim(rows.known_rank() ? rows[0] : -1,
                                                      values.known_rank() ? values[0] : -1)}));
      })
      .Gradient([](GradContext& g) {
        const Outs dx = g.CallAll("RaggedFillEmptyRowsGrad", std::vector<Out>{g.y(3), g.dy(1)});
        g.Set(1, dx[0]);
        g.Set(3, dx[1]);
      })
      .Doc("The values of the rows, row by row, with one of `default_value` for each row that has none.");
  ops.Add("RaggedFillEmptyRowsGrad").Input("reverse_index_map: int64").Input("grad_values: T").Output("d_values: T")
      .Output("d_default_value: T").Attr("T: type")
      .Shape([](ShapeContext& c) {
        c.out(0, c.WithRank(0, 1));
        c.WithRank(1, 1);
        c.out(1, PartialShape(std::vector<int64_t>{}));
      })
      .Doc("The gradient of RaggedFillEmptyRows.");
}

}  // namespace penstock
