// The largest elements of rows.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void TopKShape(ShapeContext& c, int64_t count) {
  const PartialShape in = c.WithRankAtLeast(0, 1);
  if (!in.known_rank()) return;
  const int64_t last = in[in.rank() - 1];
  if (last >= 0 && count >= 0 && last < count) {
    throw InvalidArgument("input must have last dimension >= k = ", count, " but is ", last);
  }
  PartialShape out = in;
  out.set_dim(in.rank() - 1, count);
  c.out(0, out);
  c.out(1, out);
}

// The gradient goes to where the elements came from: rows are laid end to end so that one index is enough.
void TopKGradient(GradContext& g) {
  Scope& scope = g.scope();
  const Out x = g.x(0), indices = Cast(g.y(1), DT_INT64);
  const Out shape = ShapeOf(x, DT_INT64), index_shape = ShapeOf(g.y(1), DT_INT64);
  const auto last = [&](Out s) {
    return g.Call("StridedSlice", {s, ConstVector(scope, {-1}), ConstVector(scope, {0}), ConstVector(scope, {1})},
                  {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  };
  const Out width = last(shape), k = last(index_shape), zero = ConstVector(scope, {0});
  const Out total = g.Call("Prod", {shape, zero}, {{"keep_dims", false}});
  const Out one = scope.Scalar<int64_t>(1);
  const Out rows = g.Call("FloorDiv", {total, g.Call("Maximum", {width, one})});
  const Out starts = g.Call("Range", {scope.Scalar<int64_t>(0), rows, one}) * width;
  const Out flat_shape = g.CallAll("Pack", std::vector<Out>{rows, k}, {{"axis", 0}})[0];
  const Out at = Reshape(indices, flat_shape) + g.Call("ExpandDims", {starts, scope.Scalar<int32_t>(1)});
  const Out count = Reshape(rows * k, ConstVector(scope, {1}));
  const Out column = g.Call("ExpandDims", {Reshape(at, count), scope.Scalar<int32_t>(1)});
  const Out flat = g.Call("ScatterNd", {column, Reshape(g.dy(0), count), Reshape(total, ConstVector(scope, {1}))});
  g.Set(0, Reshape(flat, shape));
}

// The same along any axis: of elements before it, along it and after it, each has one number for all three.
void ApproxTopKGradient(GradContext& g) {
  Scope& scope = g.scope();
  const int axis = static_cast<int>(g.attr<int64_t>("reduction_dimension"));
  const Out shape = ShapeOf(g.x(0), DT_INT64), zero = ConstVector(scope, {0}), one = ConstVector(scope, {1});
  const Out begin = ConstVector(scope, {axis}), all = ConstVector(scope, {-1}), start = scope.Scalar<int64_t>(0);
  const auto product = [&](Out dims) { return g.Call("Prod", {dims, zero}, {{"keep_dims", false}}); };
  const auto numbers = [&](Out n, std::vector<int32_t> as) {
    return Reshape(g.Call("Range", {start, n, scope.Scalar<int64_t>(1)}), ConstVector(scope, std::move(as)));
  };
  const Out outer = product(g.Call("StridedSlice", {shape, zero, begin, one}));
  const Out width =
      g.Call("StridedSlice", {shape, begin, zero, one}, {{"end_mask", 1}, {"shrink_axis_mask", 1}});
  const Out block = product(g.Call("StridedSlice", {shape, begin, zero, one}, {{"end_mask", 1}}));
  const Out inner = g.Call("FloorDiv", {block, g.Call("Maximum", {width, scope.Scalar<int64_t>(1)})});
  const Out k = scope.Scalar<int64_t>(g.attr<int64_t>("k"));
  const Out chosen = Reshape(Cast(g.y(1), DT_INT64), g.CallAll("Pack", std::vector<Out>{outer, k, inner}, {})[0]);
  const Out at = chosen * inner + numbers(outer, {-1, 1, 1}) * block + numbers(inner, {1, 1, -1});
  const Out column = g.Call("ExpandDims", {Reshape(at, all), scope.Scalar<int32_t>(1)});
  g.Set(0, Reshape(g.Call("ScatterNd", {column, Reshape(g.dy(0), all), Reshape(product(shape), one)}), shape));
}

}  // namespace

void RegisterTopKOps(OpRegistry& ops) {
  ops.Add("TopK")
      .Input("input: T")
      .Output("values: T")
      .Output("indices: int32")
      .Attr("k: int >= 0")
      .Attr("sorted: bool = true")
      .Attr("T: realnumbertype")
      .Deprecated(7, "")
      .Shape([](ShapeContext& c) { TopKShape(c, c.attr<int64_t>("k")); })
      .Gradient(TopKGradient)
      .Heavy()
      .Doc("The `k` largest elements of each row, and where they stand.");

  ops.Add("TopKV2")
      .Input("input: T")
      .Input("k: Tk")
      .Output("values: T")
      .Output("indices: index_type")
      .Attr("sorted: bool = true")
      .Attr("T: realnumbertype")
      .Attr("Tk: {int16, int32, int64} = DT_INT32")
      .Attr("index_type: {int16, int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        TopKShape(c, shapes::DimFromInput(c, 1));
      })
      .Gradient(TopKGradient)
      .Heavy()
      .Doc("The `k` largest elements of each row, and where they stand; of equal ones the first come first.");

  ops.Add("ApproxTopK")
      .Input("input: T")
      .Output("values: T")
      .Output("indices: int32")
      .Attr("k: int >= 0")
      .Attr("reduction_dimension: int = -1")
      .Attr("recall_target: float = 0.95")
      .Attr("is_max_k: bool = true")
      .Attr("reduction_input_size_override: int = -1")
      .Attr("aggregate_to_topk: bool = true")
      .Attr("T: {half, bfloat16, float}")
      .Shape([](ShapeContext& c) {
        const PartialShape in = c.WithRankAtLeast(0, 1);
        const float recall = c.attr<float>("recall_target");
        if (!(recall > 0 && recall <= 1)) {
          throw InvalidArgument("Invalid recall target: ", recall, ". Valid value range in : [0, 1.0].");
        }
        if (!in.known_rank()) return;
        const int64_t k = c.attr<int64_t>("k");
        int64_t axis = c.attr<int64_t>("reduction_dimension");
        if (axis < -in.rank() || axis >= in.rank()) {
          throw InvalidArgument("Invalid reduction dimension: ", axis, ". Must be within the range of [", -in.rank(),
                                ", ", in.rank() - 1, "]");
        }
        if (axis < 0) axis += in.rank();
        PartialShape out = in;
        if (out[static_cast<int>(axis)] >= 0 && out[static_cast<int>(axis)] < k) {
          throw InvalidArgument("input must have last dimension >= k = ", k, " but was ", out[static_cast<int>(axis)]);
        }
        out.set_dim(static_cast<int>(axis), k);
        c.out(0, out);
        c.out(1, out);
      })
      .Gradient(ApproxTopKGradient)
      .Heavy()
      .Doc("The `k` largest (or smallest) elements along a dimension, and where they stand; they are found exactly.");

  ops.Add("NthElement")
      .Input("input: T")
      .Input("n: int32")
      .Output("values: T")
      .Attr("reverse: bool = false")
      .Attr("T: realnumbertype")
      .Shape([](ShapeContext& c) {
        const PartialShape in = c.WithRankAtLeast(0, 1);
        const int64_t n = shapes::DimFromInput(c, 1);
        c.WithRank(1, 0);
        if (!in.known_rank()) return;
        const int64_t last = in[in.rank() - 1];
        if (last >= 0 && n >= 0 && last <= n)
          throw InvalidArgument("Input must have last dimension > n = ", n, " but is ", last);
        c.out(0, shapes::Subshape(in, 0, in.rank() - 1));
      })
      .Gradient([](GradContext& g) {
        Scope& scope = g.scope();
        const Out minus = scope.Scalar<int32_t>(-1), axis = ConstVector(scope, {-1});
        const Out y = g.Call("ExpandDims", {g.y(), minus}), dy = g.Call("ExpandDims", {g.dy(), minus});
        const Out equal = Cast(g.Call("Equal", {y, g.x(0)}, {{"incompatible_shape_error", true}}), dy.type());
        g.Set(0, equal / Sum(equal, axis, true) * dy);
      })
      .Heavy()
      .Doc("The n-th smallest (largest if `reverse`) element of each row, counted from 0.");
}

}  // namespace penstock
