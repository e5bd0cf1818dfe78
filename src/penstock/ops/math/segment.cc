// Reductions of rows by segment: rows with the same id become one.
#include "penstock/base/threads.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

Out Rows(Out data, Out ids) { return Call("GatherV2", {data, ids, data.scope->Scalar(int32_t{0})}); }

// A vector of n ones or zeros stretched like `like` behind its first dimension is what `Where` broadcasts: [n, 1, ...].
Out AsColumn(GradContext& g, Out mask, Out like) {
  const Out rank = Call("Rank", {like}), mask_rank = Call("Rank", {mask});
  const Out ones =
      g.Call("Fill", {Reshape(rank - mask_rank, ConstVector(g.scope(), {1})), g.scope().Scalar(int32_t{1})});
  const Out shape = g.CallAll("ConcatV2", Outs{ShapeOf(mask), ones, g.scope().Scalar(int32_t{0})})[0];
  return Reshape(mask, shape);
}

// --- sorted ids

void SegmentShape(ShapeContext& c) {
  const PartialShape data = c.WithRankAtLeast(0, 1);
  c.WithRank(1, 1);
  if (!data.known_rank()) return c.out(0, PartialShape());
  std::vector<int64_t> dims = data.dims();
  dims[0] = -1;
  c.out(0, PartialShape(std::move(dims)));
}
void SegmentV2Shape(ShapeContext& c) {
  SegmentShape(c);
  PartialShape out = c.out_shape(0);
  if (const auto n = c.in_int(2); n && out.known_rank()) out.set_dim(0, *n);
  c.out(0, out);
}

void SegmentMeanGradient(GradContext& g) {
  const Out ids = g.x(1), dy = g.dy();
  const Out counts = g.Call("SegmentSum", {Cast(OnesLike(ids), dy.type()), ids});
  g.Set(0, Rows(dy / AsColumn(g, counts, dy), ids));
}
// Shared evenly between the rows' elements that are the extreme one.
void SegmentExtremeGradient(GradContext& g) {
  const Out ids = g.x(1), dy = g.dy();
  const Out chosen = Call("Equal", {g.x(0), Rows(g.y(), ids)});
  const Out counts = g.Call("SegmentSum", {Cast(chosen, dy.type()), ids});
  g.Set(0, Where(chosen, Rows(dy / counts, ids), ZerosLike(g.x(0))));
}
// The product over x, but where x is zero: the product of the others, if x is the only zero.
void ProdGradient(GradContext& g, FunctionRef<Out(const char*, Out)> reduce, FunctionRef<Out(Out)> rows) {
  const Out x = g.x(0), zero = Call("Equal", {x, ZerosLike(x)});
  const Out zeros = reduce("Sum", Cast(zero, DT_INT32));
  const Out dy = Where(Call("Greater", {zeros, OnesLike(zeros)}), ZerosLike(g.dy()), g.dy());
  const Out others = reduce("Prod", Where(zero, OnesLike(x), x));
  const Out partial = Where(zero, rows(others), rows(g.y()) / x);
  g.Set(0, rows(dy) * partial);
}
void SegmentProdGradient(GradContext& g) {
  const Out ids = g.x(1);
  ProdGradient(
      g, [&](const char* what, Out x) { return Call(StrCat("Segment", what), {x, ids}); },
      [&](Out data) { return Rows(data, ids); });
}

// --- unsorted ids; negative ones are dropped

// rows[i] = data[ids[i]], zero where the id is negative; `kept` tells which are not, shaped to broadcast with the rows.
struct Dropped {
  Out rows, kept;
};
Dropped RowsOrZero(GradContext& g, Out data, Out ids) {
  const Out rows = Rows(data, Call("Maximum", {ids, ZerosLike(ids)}));
  const Out kept = AsColumn(g, Call("GreaterEqual", {ids, ZerosLike(ids)}), rows);
  return {Where(kept, rows, ZerosLike(rows)), kept};
}
void UnsortedSumGradient(GradContext& g) { g.Set(0, RowsOrZero(g, g.dy(), g.x(1)).rows); }
void UnsortedExtremeGradient(GradContext& g) {
  const Out x = g.x(0), ids = g.x(1), dy = g.dy();
  const Dropped y = RowsOrZero(g, g.y(), ids);
  const Out chosen = Call("LogicalAnd", {Call("Equal", {x, y.rows}), y.kept});
  const Out counts = g.Call("UnsortedSegmentSum", {Cast(chosen, dy.type()), ids, g.x(2)});
  g.Set(0, Where(chosen, RowsOrZero(g, dy / counts, ids).rows, ZerosLike(x)));
}
void UnsortedProdGradient(GradContext& g) {
  const Out ids = g.x(1);
  ProdGradient(
      g, [&](const char* what, Out x) { return Call(StrCat("UnsortedSegment", what), {x, ids, g.x(2)}); },
      [&](Out data) { return RowsOrZero(g, data, ids).rows; });
}

// --- rows chosen by indices first

void SparseSegmentShape(ShapeContext& c) {
  const PartialShape data = c.WithRankAtLeast(0, 1), indices = c.WithRank(1, 1), ids = c.WithRank(2, 1);
  indices.MergeWith(ids);
  if (!data.known_rank()) return c.out(0, PartialShape());
  std::vector<int64_t> dims = data.dims();
  dims[0] = -1;
  if (c.num_inputs() > 3) {
    c.WithRank(3, 0);
    if (const auto n = c.in_int(3)) {
      if (*n < 0) throw InvalidArgument("Cannot specify a negative value for num_segments");
      dims[0] = *n;
    }
  }
  c.out(0, PartialShape(std::move(dims)));
}
void SparseSegmentGradShape(ShapeContext& c) {
  const PartialShape data = c.WithRankAtLeast(0, 1), indices = c.WithRank(1, 1), ids = c.WithRank(2, 1);
  c.WithRank(3, 0);
  indices.MergeWith(ids);
  if (c.num_outputs() > 1) c.out(1, PartialShape::OfRank(1));
  if (!data.known_rank()) return c.out(0, PartialShape());
  std::vector<int64_t> dims = data.dims();
  dims[0] = c.num_outputs() > 1 ? -1 : c.in_int(3).value_or(-1);
  c.out(0, PartialShape(std::move(dims)));
}
void SparseSegmentGradient(GradContext& g, const char* grad_op) {
  const Out shape = ShapeOf(g.x(0));
  const Out dim0 = g.Call("StridedSlice", {shape, ConstVector(g.scope(), {0}), ConstVector(g.scope(), {1}),
                                           ConstVector(g.scope(), {1})}, {{"shrink_axis_mask", 1}});
  g.Set(0, g.Call(grad_op, {g.dy(), g.x(1), g.x(2), dim0}));
}
// Sums of integers have no op for it; floats neither need one.
void SparseSumGradient(GradContext& g) {
  const Out shape = ShapeOf(g.x(0));
  const Out dim0 = g.Call("StridedSlice", {shape, ConstVector(g.scope(), {0}), ConstVector(g.scope(), {1}),
                                           ConstVector(g.scope(), {1})}, {{"shrink_axis_mask", 1}});
  g.Set(0, g.Call("UnsortedSegmentSum", {Rows(g.dy(), g.x(2)), g.x(1), dim0}));
}

}  // namespace

void RegisterSegmentOps(OpRegistry& ops) {
  struct Kind {
    const char* name;
    const char* types;
    GradientFn sorted, unsorted;
  };
  constexpr char kNumbers[] = "T: numbertype", kReals[] = "T: realnumbertype";
  const Kind kinds[] = {
      {"Sum", kNumbers, [](GradContext& g) { g.Set(0, Rows(g.dy(), g.x(1))); }, UnsortedSumGradient},
      {"Prod", kNumbers, SegmentProdGradient, UnsortedProdGradient},
      {"Max", kReals, SegmentExtremeGradient, UnsortedExtremeGradient},
      {"Min", kReals, SegmentExtremeGradient, UnsortedExtremeGradient},
      {"Mean", kNumbers, SegmentMeanGradient, nullptr},
  };
  for (const Kind& kind : kinds) {
    ops.Add(StrCat("Segment", kind.name)).Input("data: T").Input("segment_ids: Tindices").Output("output: T")
        .Attr(kind.types).Attr("Tindices: {int32, int64}").Shape(SegmentShape).Gradient(kind.sorted)
        .Doc("Joins neighbouring rows with the same id; ids must be sorted.");
    if (!kind.unsorted) continue;
    ops.Add(StrCat("Segment", kind.name, "V2")).Input("data: T").Input("segment_ids: Tindices")
        .Input("num_segments: Tnumsegments").Output("output: T").Attr(kind.types).Attr("Tindices: {int32, int64}")
        .Attr("Tnumsegments: {int32, int64} = DT_INT32").Shape(SegmentV2Shape);
    ops.Add(StrCat("UnsortedSegment", kind.name)).Input("data: T").Input("segment_ids: Tindices")
        .Input("num_segments: Tnumsegments").Output("output: T").Attr(kind.types)
        .Attr(std::string_view(kind.name) == "Sum" ? "Tindices: {int16, int32, int64}" : "Tindices: {int32, int64}")
        .Attr("Tnumsegments: {int32, int64} = DT_INT32").Shape(shapes::UnsortedSegment).Gradient(kind.unsorted)
        .Doc("Joins rows with the same id, wherever they are; rows with negative ids are dropped.");
  }

  struct Sparse {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  constexpr char kFloats[] = "T: {bfloat16, half, float, double}";
  const Sparse sparse[] = {
      {"Sum", kReals, SparseSumGradient},
      {"Mean", kFloats, [](GradContext& g) { SparseSegmentGradient(g, "SparseSegmentMeanGrad"); }},
      {"SqrtN", kFloats, [](GradContext& g) { SparseSegmentGradient(g, "SparseSegmentSqrtNGrad"); }},
  };
  for (const Sparse& kind : sparse) {
    const std::string name = StrCat("SparseSegment", kind.name);
    const auto add = [&](std::string_view suffix, bool counted) {
      OpBuilder op =
          ops.Add(StrCat(name, suffix)).Input("data: T").Input("indices: Tidx").Input("segment_ids: Tsegmentids");
      if (counted) op.Input("num_segments: Tnumsegments");
      op.Output("output: T").Attr(kind.types).Attr("Tidx: {int32, int64} = DT_INT32");
      if (counted) op.Attr("Tnumsegments: {int32, int64} = DT_INT32");
      op.Attr("Tsegmentids: {int32, int64} = DT_INT32").Attr("sparse_gradient: bool = false").Shape(SparseSegmentShape)
          .Gradient(kind.gradient).Doc("Joins the rows `indices` of data by segment; ids must be sorted.");
    };
    add("", false);
    add("WithNumSegments", true);
    ops.Add(StrCat(name, "Grad")).Input("grad: T").Input("indices: Tidx").Input("segment_ids: Tsegmentids")
        .Input("output_dim0: int32").Output("output: T").Attr(kFloats).Attr("Tidx: {int32, int64} = DT_INT32")
        .Attr("Tsegmentids: {int32, int64} = DT_INT32").Shape(SparseSegmentGradShape);
    ops.Add(StrCat(name, "GradV2"))
        .Input("grad: T")
        .Input("indices: Tidx")
        .Input("segment_ids: Tsegmentids")
        .Input("dense_output_dim0: int32")
        .Output("output: T")
        .Output("sorted_unique_indices: Tidx")
        .Attr(kFloats)
        .Attr("Tidx: {int32, int64} = DT_INT32")
        .Attr("Tsegmentids: {int32, int64} = DT_INT32")
        .Shape(SparseSegmentGradShape);
  }
}

}  // namespace penstock
