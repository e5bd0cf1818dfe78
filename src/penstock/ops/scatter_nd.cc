// Values put, added, ... at positions of a new tensor.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// indices [..., depth] and updates [..., inner] must fit a target of shape `shape`.
void CheckScatter(const PartialShape& shape, const PartialShape& indices, const PartialShape& updates,
                  std::string_view source) {
  if (shape.known_rank() && shape.num_elements() == 0 && indices.num_elements() > 0 && updates.num_elements() > 0) {
    throw InvalidArgument("Indices and updates specified for empty output shape");
  }
  if (!indices.known_rank() || !updates.known_rank()) return;
  if (indices.rank() < 1) throw InvalidArgument("Shape must be at least rank 1 but is rank 0");
  const int outer = indices.rank() - 1;
  const int64_t depth = indices[outer];
  if (updates.rank() < outer) {
    throw InvalidArgument("The outer ", outer, " dimensions of indices.shape=", indices, " must match the outer ",
                          outer, " dimensions of updates.shape=", updates);
  }
  if (!shapes::Subshape(indices, 0, outer).IsCompatibleWith(shapes::Subshape(updates, 0, outer))) {
    throw InvalidArgument("The outer ", outer, " dimensions of indices.shape=", indices, " must match the outer ",
                          outer, " dimensions of updates.shape=", updates);
  }
  if (depth < 0 || !shape.known_rank()) return;
  if (depth > shape.rank()) {
    throw InvalidArgument("The innermost dimension of indices is larger than the rank of the output: indices shape ",
                          indices, ", updates shape ", updates, ", output shape ", shape);
  }
  const int d = static_cast<int>(depth), inner = shape.rank() - d;
  const PartialShape have = shapes::Subshape(updates, outer, updates.rank());
  if (!shapes::Subshape(shape, d, shape.rank()).IsCompatibleWith(have)) {
    throw InvalidArgument("The inner ", inner, " dimensions of ", source, ".shape=", shape, " must match the inner ",
                          updates.rank() - outer, " dimensions of updates.shape=", updates);
  }
}

void TensorScatterShape(ShapeContext& c) {
  c.WithRankAtLeast(0, 1);
  c.WithRankAtLeast(1, 1);
  CheckScatter(c.in(0), c.in(1), c.in(2), "input");
  c.out(0, c.in(0));
}

void AddedGradient(GradContext& g) {
  g.Set(0, g.dy());
  g.Set(2, g.Call("GatherNd", {g.dy(), g.x(1)}));
}

// y = max(x, updates) gets its gradient from whichever gave the value; equal ones share it.
void ExtremeGradient(GradContext& g) {
  const Out x = g.x(0), indices = g.x(1), updates = g.x(2), y = g.y(), dy = g.dy();
  const DataType type = dy.type();
  const AttrMap equal{{"incompatible_shape_error", true}};
  const Out from_x = Cast(g.Call("Equal", {x, y}, equal), type);
  const Out from_updates = Cast(g.Call("Equal", {updates, g.Call("GatherNd", {y, indices})}, equal), type);
  const Out several = from_x + g.Call("ScatterNd", {indices, from_updates, ShapeOf(x, indices.type())});
  g.Set(0, dy * from_x / several);
  g.Set(2, g.Call("GatherNd", {dy / several, indices}) * from_updates);
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
        CheckScatter(shape, c.in(0), c.in(1), "output");
        c.out(0, shape);
      })
      .Gradient([](GradContext& g) {
        g.Set(1, g.Call("GatherNd", {g.dy(), g.x(0)}));
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
        g.Set(0, g.Call("TensorScatterUpdate", {g.dy(), g.x(1), ZerosLike(g.x(2))}));
        g.Set(2, g.Call("GatherNd", {g.dy(), g.x(1)}));
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
         g.Set(2, -g.Call("GatherNd", {g.dy(), g.x(1)}));
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
