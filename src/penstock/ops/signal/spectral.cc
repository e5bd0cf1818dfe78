// Fourier transforms along the last one, two or three dimensions.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

int RankOf(std::string_view op) { return op.ends_with("3D") ? 3 : op.ends_with("2D") ? 2 : 1; }
const char* Suffix(int rank) { return rank == 1 ? "" : rank == 2 ? "2D" : "3D"; }

void ComplexShape(ShapeContext& c) { c.out(0, c.WithRankAtLeast(0, RankOf(c.op().name))); }

// The last dimensions are those in input 1; of the very last only half, and one, are kept on the complex side.
void RealShape(ShapeContext& c) {
  const int rank = RankOf(c.op().name);
  const bool forward = c.op().name.starts_with("R");
  PartialShape shape = c.WithRankAtLeast(0, rank);
  const PartialShape length = c.WithRank(1, 1);
  if (length.known_rank()) shapes::RequireDim(length[0], rank);
  if (!shape.known_rank()) return c.out(0, shape);
  const Tensor* value = c.in_value(1);
  for (int i = 0; i < rank; ++i) {
    int64_t n = value ? value->IntAt(i) : -1;
    if (value && n < 0) throw InvalidArgument("fft_length[", i, "] must be >= 0, but got: ", n);
    if (forward && i == rank - 1 && n > 0) n = n / 2 + 1;
    shape.set_dim(shape.rank() - rank + i, n);
  }
  c.out(0, shape);
}

// How many elements one transform of x takes, as a number of `type`.
Out Count(Out x, int rank, DataType type) {
  const Out shape = ShapeOf(x), whole = Call("Size", {shape});
  const Out one = shape.scope->Scalar<int32_t>(1);
  const Out last = VectorSlice(shape, Reshape(whole - one * rank, ConstVector(*shape.scope, {1})),
                               Reshape(whole, ConstVector(*shape.scope, {1})));
  return Cast(Call("Prod", {last, shape.scope->Scalar<int32_t>(0)}), type);
}

// x cut or filled up with zeros at the end of each dimension to `shape`.
Out Fit(Out x, Out shape) {
  const Out old = ShapeOf(x), cut = Call("Minimum", {old, shape});
  const Out kept = Call("Slice", {x, ZerosLike(cut), cut});
  const Out zeros = ZerosLike(cut);
  const Out pads = CallOp("Pack", {{zeros, shape - cut}}, {{"N", int64_t{2}}, {"axis", int64_t{1}}})[0];
  return Call("Pad", {kept, pads});
}

void ComplexGradient(GradContext& g) {
  const int rank = RankOf(g.op().name);
  const bool forward = g.op().name.starts_with("F");
  const Out dy = g.dy();
  const DataType real = dy.type() == DT_COMPLEX64 ? DT_FLOAT : DT_DOUBLE;
  const Out back = g.Call(StrCat(forward ? "IFFT" : "FFT", Suffix(rank)), {dy});
  const Out n = Count(dy, rank, real);
  g.Set(0, back * Cast(forward ? n : 1.0 / n, dy.type()));
}

// What was left out of dy, the other half, has no gradient: filled up with zeros, the inverse transform gives it.
void RealToComplexGradient(GradContext& g) {
  const int rank = RankOf(g.op().name);
  Scope& scope = g.scope();
  const Out x = g.x(0), dy = g.dy();
  const Out shape = ShapeOf(x), whole = g.Call("Size", {shape});
  const Out outer = Reshape(whole - scope.Scalar<int32_t>(rank), ConstVector(scope, {1}));
  const Out full = ConcatVectors({VectorSlice(ShapeOf(dy), ConstVector(scope, {0}), outer), g.x(1)});
  const Out back = g.Call(StrCat("IFFT", Suffix(rank)), {Fit(dy, full)});
  const Out real = g.Call("Real", {back}, {{"T", dy.type()}, {"Tout", x.type()}});
  g.Set(0, Fit(real * Count(back, rank, x.type()), shape));
}

// Each element of the last dimension stands for its mirror image too, but the first and, of an even number, the middle.
void ComplexToRealGradient(GradContext& g) {
  const int rank = RankOf(g.op().name);
  Scope& scope = g.scope();
  const Out y = g.x(0), dx = g.dy(), length = g.x(1);
  const Out forward =
      g.Call(StrCat("RFFT", Suffix(rank)), {dx, length}, {{"Treal", dx.type()}, {"Tcomplex", y.type()}});
  const Out n = g.Call("Slice", {length, ConstVector(scope, {rank - 1}), ConstVector(scope, {1})});
  const Out at = g.Call("Range", {scope.Scalar<int32_t>(0),
                                  Reshape(g.Call("FloorDiv", {n, scope.Scalar<int32_t>(2)}), ConstVector(scope, {})) +
                                      scope.Scalar<int32_t>(1),
                                  scope.Scalar<int32_t>(1)});
  const Out twice = at + at;
  const Out once = g.Call("LogicalOr", {g.Call("Equal", {at, ZerosLike(at)}), g.Call("Equal", {twice, n})});
  const Out weight = Where(once, OnesLike(at), OnesLike(at) + OnesLike(at));
  const Out scaled = forward * Cast(Cast(weight, dx.type()) / Count(dx, rank, dx.type()), y.type());
  g.Set(0, Fit(scaled, ShapeOf(y)));
}

}  // namespace

void RegisterSpectralOps(OpRegistry& ops) {
  for (int rank = 1; rank <= 3; ++rank) {
    for (const char* name : {"FFT", "IFFT"}) {
      ops.Add(StrCat(name, Suffix(rank)))
          .Input("input: Tcomplex")
          .Output("output: Tcomplex")
          .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
          .Heavy()
          .Shape(ComplexShape)
          .Gradient(ComplexGradient)
          .Doc("The Fourier transform, or its inverse, along the last dimensions.");
    }
    ops.Add(StrCat("RFFT", Suffix(rank)))
        .Input("input: Treal")
        .Input("fft_length: int32")
        .Output("output: Tcomplex")
        .Attr("Treal: {float, double} = DT_FLOAT")
        .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
        .Heavy()
        .Shape(RealShape)
        .Gradient(RealToComplexGradient)
        .Doc("The Fourier transform of real numbers; of the last dimension the half that says it all.");
    ops.Add(StrCat("IRFFT", Suffix(rank)))
        .Input("input: Tcomplex")
        .Input("fft_length: int32")
        .Output("output: Treal")
        .Attr("Treal: {float, double} = DT_FLOAT")
        .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
        .Heavy()
        .Shape(RealShape)
        .Gradient(ComplexToRealGradient)
        .Doc("The inverse of RFFT.");
  }
}

}  // namespace penstock
