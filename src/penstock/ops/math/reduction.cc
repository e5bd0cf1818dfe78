// Reductions over axes, and the positions of extreme values.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// The shape of the input with 1 for each reduced axis: a constant where it is known, arithmetic on shapes elsewhere.
Out KeptDimsShape(GradContext& g) {
  const Out x = g.x(0);
  const Tensor* axes = g.scope().Constant(g.x(1));
  if (axes && x.shape().fully_known()) {
    std::vector<int32_t> dims(x.shape().dims().begin(), x.shape().dims().end());
    const int rank = static_cast<int>(dims.size());
    for (int64_t i = 0; i < axes->num_elements(); ++i) {
      const int64_t axis = axes->IntAt(i);
      dims[axis < 0 ? axis + rank : axis] = 1;
    }
    return ConstVector(g.scope(), dims);
  }
  const Out shape = ShapeOf(x), rank = Call("Size", {shape});
  const Out asked = Reshape(Cast(g.x(1), DT_INT32), ConstVector(g.scope(), {-1}));
  const Out positive = Call("FloorMod", {asked + rank, rank});
  const Outs both[] = {{g.Call("Range", {g.scope().Scalar(int32_t{0}), rank, g.scope().Scalar(int32_t{1})}), positive},
                       {shape, OnesLike(positive)}};
  Outs inputs = both[0];
  inputs.insert(inputs.end(), both[1].begin(), both[1].end());
  return g.CallAll("DynamicStitch", inputs)[0];
}
// dy stretched back over the axes that were summed.
Out Stretch(GradContext& g, Out dy) {
  return g.Call("BroadcastTo", {Reshape(dy, KeptDimsShape(g)), ShapeOf(g.x(0))});
}
// How many elements went into each result, as a scalar of x's type.
Out ReducedCount(GradContext& g) {
  const Out x = g.x(0), y = g.y();
  const int64_t in = x.shape().num_elements(), out = y.shape().num_elements();
  if (in >= 0 && out > 0) return g.scope().ScalarOf(x.type(), static_cast<double>(in / out));
  const Out one = g.scope().Scalar(int32_t{1});
  const Out quotient = Call("FloorDiv", {Call("Size", {x}), Call("Maximum", {Call("Size", {y}), one})});
  return Cast(quotient, x.type());
}

void SumGradient(GradContext& g) { g.Set(0, Stretch(g, g.dy())); }
void MeanGradient(GradContext& g) {
  const Out n = ReducedCount(g), dy = Stretch(g, g.dy());
  g.Set(0, IsInteger(dy.type()) ? Call("TruncateDiv", {dy, n}) : dy / n);
}
// Shared evenly between all elements that are the extreme one.
void ExtremeGradient(GradContext& g) {
  const Out kept = KeptDimsShape(g);
  const Out y = Reshape(g.y(), kept), dy = Reshape(g.dy(), kept);
  const Out chosen = Cast(Call("Equal", {y, g.x(0)}), g.dy().type());
  const Out count = Reshape(Sum(chosen, g.x(1)), kept);
  const Out share = IsInteger(dy.type()) ? Call("TruncateDiv", {chosen, count}) : chosen / count;
  g.Set(0, share * dy);
}
void EuclideanNormGradient(GradContext& g) {
  const Out kept = KeptDimsShape(g);
  const Out y = Reshape(g.y(), kept), dy = Reshape(g.dy(), kept);
  g.Set(0, g.x(0) * (IsInteger(y.type()) ? Call("TruncateDiv", {dy, y}) : dy / y));
}
// For each element the product of the others, by running products from both sides (right where elements are zero):
// reduced axes are moved to the front and flattened.
void ProdGradient(GradContext& g) {
  Scope& s = g.scope();
  const Out x = g.x(0);
  const Out dy = Stretch(g, g.dy());
  const Out zero = s.Scalar(int32_t{0}), one = s.Scalar(int32_t{1});
  const Out shape = ShapeOf(x), rank = Call("Rank", {x});
  const Out asked = Reshape(Cast(g.x(1), DT_INT32), ConstVector(s, {-1}));
  const Out reduced = Call("FloorMod", {asked + rank, rank});
  const Out all = Call("Range", {zero, rank, one});
  const Outs others = g.CallAll("ListDiff", Outs{all, reduced});
  const Out permutation = g.CallAll("ConcatV2", Outs{reduced, others[0], zero}, {{"N", 2}})[0];
  const Out axis0 = zero;
  const auto product = [&](Out indices) {
    return g.Call("Prod", {g.Call("GatherV2", {shape, indices, axis0}), axis0});
  };
  const Out flat_shape = g.CallAll("Pack", Outs{product(reduced), product(others[0])}, {{"axis", 0}})[0];
  const Out moved = Transpose(x, permutation);
  const Out flat = Reshape(moved, flat_shape);
  const Out left = g.Call("Cumprod", {flat, zero}, {{"exclusive", true}});
  const Out right = g.Call("Cumprod", {flat, zero}, {{"exclusive", true}, {"reverse", true}});
  const Out rest =
      Transpose(Reshape(Conj(left) * Conj(right), ShapeOf(moved)), g.Call("InvertPermutation", {permutation}));
  g.Set(0, ReshapeLike(dy * rest, x));
}

OpBuilder Reduction(OpRegistry& ops, std::string_view name, std::string_view types, std::string_view doc,
                    GradientFn gradient) {
  return ops.Add(name)
      .Input("input: T")
      .Input("reduction_indices: Tidx")
      .Output("output: T")
      .Attr("keep_dims: bool = false")
      .Attr(types)
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape(shapes::Reduction)
      .Doc(doc)
      .Gradient(gradient);
}

void ArgShape(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  c.WithRankAtMost(1, 0);
  if (!in.known_rank()) return c.out(0, PartialShape());
  if (in.rank() <= 1) return c.out(0, PartialShape({}));
  const Tensor* axis_value = c.in_value(1);
  if (!axis_value) return c.out(0, PartialShape::OfRank(in.rank() - 1));
  int64_t axis = axis_value->dtype() == DT_INT16 ? axis_value->scalar<int16_t>() : axis_value->IntAt(0);
  if (axis < -in.rank() || axis >= in.rank()) {
    throw InvalidArgument("Dimension (", axis, ") must be in the range [", -in.rank(), ", ", in.rank(),
                          "), where ", in.rank(), " is the number of dimensions in the input.");
  }
  if (axis < 0) axis += in.rank();
  std::vector<int64_t> dims = in.dims();
  dims.erase(dims.begin() + axis);
  c.out(0, PartialShape(std::move(dims)));
}

}  // namespace

void RegisterReductionOps(OpRegistry& ops) {
  constexpr char kOrdered[] =
      "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, "
      "qint32, qint16, quint16}";
  Reduction(ops, "Sum", "T: numbertype", "The sum over the axes.", SumGradient);
  Reduction(ops, "Mean", "T: numbertype", "The mean over the axes.", MeanGradient);
  Reduction(ops, "Prod", "T: numbertype", "The product over the axes.", ProdGradient);
  Reduction(ops, "Max", kOrdered, "The largest element over the axes.", ExtremeGradient);
  Reduction(ops, "Min", kOrdered, "The smallest element over the axes.", ExtremeGradient);
  Reduction(ops, "EuclideanNorm", "T: numbertype", "The square root of the sum of squares over the axes.",
            EuclideanNormGradient);
  for (const char* name : {"All", "Any"}) {
    ops.Add(name).Input("input: bool").Input("reduction_indices: Tidx").Output("output: bool")
        .Attr("keep_dims: bool = false").Attr("Tidx: {int32, int64} = DT_INT32").Shape(shapes::Reduction);
  }
  constexpr char kArg[] =
      "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, "
      "qint32, qint16, quint16, bool}";
  ops.Add("ArgMax").Input("input: T").Input("dimension: Tidx").Output("output: output_type").Attr(kArg)
      .Attr("Tidx: {int16, int32, int64} = DT_INT32").Attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
      .Shape(ArgShape).Gradient([](GradContext&) {}).Doc("Where along an axis the first of the largest elements is.");
  ops.Add("ArgMin").Input("input: T").Input("dimension: Tidx").Output("output: output_type").Attr(kArg)
      .Attr("Tidx: {int32, int64} = DT_INT32").Attr("output_type: {int32, int64} = DT_INT64")
      .Shape(ArgShape).Gradient([](GradContext&) {}).Doc("Where along an axis the first of the smallest elements is.");
}

}  // namespace penstock
