// Values put, added, ... at positions of a new tensor.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void TensorScatterShape(ShapeContext& c) {
  c.WithRankAtLeast(0, 1);
  c.WithRankAtLeast(1, 1);
  shapes::CheckScatter(c.in(0), c.in(1), c.in(2), "input");
  c.out(0, c.in(0));
}

// What lies at the op's indices; zeros at bad ones if the op ignores those.
Out Gathered(GradContext& g, Out from, Out indices) {
  return g.Call("GatherNd", {from, indices}, {{"bad_indices_policy", g.attr<std::string>("bad_indices_policy")}});
}

void AddedGradient(GradContext& g) {
  g.Set(0, g.dy());
  g.Set(2, Gathered(g, g.dy(), g.x(1)));
}

// y = max(x, updates) gets its gradient from whichever gave the value; equal ones share it.
void ExtremeGradient(GradContext& g) {
  const Out x = g.x(0), indices = g.x(1), updates = g.x(2), y = g.y(), dy = g.dy();
  const DataType type = dy.type();
  const AttrMap equal{{"incompatible_shape_error", true}};
  const Out from_x = Cast(g.Call("Equal", {x, y}, equal), type);
  const Out from_updates = Cast(g.Call("Equal", {updates, Gathered(g, y, indices)}, equal), type);
  const Out several = from_x + g.Call(
      "ScatterNd", {indices, from_updates, ShapeOf(x, indices.type())},
      {{"bad_indices_policy", g.attr<std::string>("bad_indices_policy")}});
  g.Set(0, dy * from_x / several);
  g.Set(2, Gathered(g, dy / several, indices) * from_updates);
}

}  // namespace

void RegisterScatterNdOps(OpRegistry& ops) {
  ops.Add("ScatterNd")
      .Input("indices: Tindices")
      .Input("updates: T")
      .Input("shape: Tindices")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tindices: {int16, int32, int64}")
      .Attr("bad_indices_policy: string = ''")
      .Shape([](ShapeContext& c) {
        c.WithRankAtLeast(0, 1);
        c.WithRankAtLeast(1, 1);
        c.WithRank(2, 1);
        const PartialShape shape = c.in_as_shape(2);
        shapes::CheckScatter(shape, c.in(0), c.in(1), "output");
        c.out(0, shape);
      })
      .Gradient([](GradContext& g) {
        g.Set(1, Gathered(g, g.dy(), g.x(0)));
      })
      .Doc(
          "Zeros of shape `shape` with `updates` added at the positions that the last dimension of `indices` spells "
          "out.");

  ops.Add("ScatterNdNonAliasingAdd")
      .Input("input: T")
      .Input("indices: Tindices")
      .Input("updates: T")
      .Output("output: T")
      .Attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
          "quint16, uint16, complex128, half, uint32, uint64, bool}")
      .Attr("Tindices: {int32, int64}")
      .Attr("bad_indices_policy: string = ''")
      .Shape(TensorScatterShape)
      .Gradient(AddedGradient)
      .Doc("`input` with `updates` added at `indices`.");

  ops.Add("TensorScatterUpdate")
      .Input("tensor: T")
      .Input("indices: Tindices")
      .Input("updates: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tindices: {int16, int32, int64, uint16}")
      .Attr("bad_indices_policy: string = ''")
      .Shape(TensorScatterShape)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("TensorScatterUpdate", {g.dy(), g.x(1), ZerosLike(g.x(2))},
                        {{"bad_indices_policy", g.attr<std::string>("bad_indices_policy")}}));
        g.Set(2, Gathered(g, g.dy(), g.x(1)));
      })
      .Doc("`tensor` with `updates` in place of what is at `indices`.");

  struct Combination {
    const char *name, *doc;
    void (*gradient)(GradContext&);
  };
  const Combination combinations[] = {
      {"TensorScatterAdd", "`tensor` with `updates` added at `indices`.", AddedGradient},
      {"TensorScatterSub", "`tensor` with `updates` subtracted at `indices`.",
       [](GradContext& g) {
         g.Set(0, g.dy());
         g.Set(2, -Gathered(g, g.dy(), g.x(1)));
       }},
      {"TensorScatterMin", "`tensor` with the smaller of itself and `updates` at `indices`.", ExtremeGradient},
      {"TensorScatterMax", "`tensor` with the larger of itself and `updates` at `indices`.", ExtremeGradient}};
  for (const Combination& combination : combinations) {
    ops.Add(combination.name)
        .Input("tensor: T")
        .Input("indices: Tindices")
        .Input("updates: T")
        .Output("output: T")
        .Attr("T: type")
        .Attr("Tindices: {int32, int64}")
        .Attr("bad_indices_policy: string = ''")
        .Shape(TensorScatterShape)
        .Gradient(combination.gradient)
        .Doc(combination.doc);
  }
}

}  // namespace penstock
