// Linear algebra on batches of matrices: solving, decompositions, functions of matrices.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/linalg/linalg_gradients.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

PartialShape Outer(const PartialShape& shape) { return shapes::Subshape(shape, 0, -2); }
int64_t DimAt(const PartialShape& shape, int from_end) {
  return shape.known_rank() ? shape[shape.rank() - from_end] : -1;
}
PartialShape WithDims(const PartialShape& outer, std::vector<int64_t> dims) {
  return shapes::Concatenate(outer, PartialShape(std::move(dims)));
}

// Input i, found to hold square matrices.
PartialShape Square(ShapeContext& c, int i) {
  const PartialShape shape = c.WithRankAtLeast(i, 2);
  const int64_t n = ShapeContext::MergeDim(DimAt(shape, 2), DimAt(shape, 1));
  return WithDims(Outer(shape), {n, n});
}
void SquareShape(ShapeContext& c) { c.out(0, Square(c, 0)); }
void DeterminantShape(ShapeContext& c) {
  const PartialShape outer = Outer(Square(c, 0));
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, outer);
}

void SolveShape(ShapeContext& c, bool square, bool stretched) {
  const PartialShape a = square ? Square(c, 0) : c.WithRankAtLeast(0, 2), b = c.WithRankAtLeast(1, 2);
  const PartialShape outer =
      stretched ? shapes::BroadcastShapes(Outer(a), Outer(b)) : shapes::Merge(Outer(a), Outer(b));
  const int64_t rows = ShapeContext::MergeDim(DimAt(a, 2), DimAt(b, 2));
  c.out(0, WithDims(outer, {square ? ShapeContext::MergeDim(rows, DimAt(a, 1)) : DimAt(a, 1), DimAt(b, 1)}));
}

void EigShape(ShapeContext& c) {
  const PartialShape in = Square(c, 0);
  c.out(0, WithDims(Outer(in), {DimAt(in, 1)}));
  c.out(1, c.attr<bool>("compute_v") ? in : PartialShape({0}));
}
void OldEigShape(ShapeContext& c) {
  const PartialShape in = Square(c, 0);
  const int64_t n = DimAt(in, 1);
  c.out(0, WithDims(Outer(in), {n < 0 ? -1 : n + 1, n}));
}

int64_t Least(int64_t a, int64_t b) { return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : std::min(a, b); }

void QrShape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 2), outer = Outer(in);
  const int64_t m = DimAt(in, 2), n = DimAt(in, 1), p = c.attr<bool>("full_matrices") ? m : Least(m, n);
  c.out(0, WithDims(outer, {m, p}));
  c.out(1, WithDims(outer, {p, n}));
}
void SvdShape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 2), outer = Outer(in);
  const int64_t m = DimAt(in, 2), n = DimAt(in, 1), p = Least(m, n);
  const bool full = c.attr<bool>("full_matrices"), vectors = c.attr<bool>("compute_uv");
  c.out(0, WithDims(outer, {p}));
  c.out(1, vectors ? WithDims(outer, {m, full ? m : p}) : PartialShape({0}));
  c.out(2, vectors ? WithDims(outer, {n, full ? n : p}) : PartialShape({0}));
}
void LuShape(ShapeContext& c) {
  const PartialShape in = Square(c, 0);
  c.out(0, in);
  c.out(1, WithDims(Outer(in), {DimAt(in, 1)}));
}

void TridiagonalSolveShape(ShapeContext& c) {
  const PartialShape d = c.WithRankAtLeast(0, 2), rhs = c.WithRankAtLeast(1, 2);
  shapes::RequireDim(DimAt(d, 2), 3);
  const PartialShape outer = shapes::Merge(Outer(d), Outer(rhs));
  c.out(0, WithDims(outer, {ShapeContext::MergeDim(DimAt(d, 1), DimAt(rhs, 2)), DimAt(rhs, 1)}));
}
void TridiagonalMatMulShape(ShapeContext& c) {
  const PartialShape rhs = c.WithRankAtLeast(3, 2);
  PartialShape outer = Outer(rhs);
  int64_t n = DimAt(rhs, 2);
  for (int i = 0; i < 3; ++i) {
    const PartialShape d = c.WithRankAtLeast(i, 2);
    outer = shapes::Merge(outer, Outer(d));
    shapes::RequireDim(DimAt(d, 2), 1);
    n = ShapeContext::MergeDim(n, DimAt(d, 1));
  }
  c.out(0, WithDims(outer, {n, DimAt(rhs, 1)}));
}
void BandedShape(ShapeContext& c) {
  const PartialShape bands = c.WithRankAtLeast(0, 2), rhs = c.WithRankAtLeast(1, 2);
  if (DimAt(bands, 2) == 0) throw InvalidArgument("Number of bands must be positive, but is 0");
  c.out(0, WithDims(shapes::BroadcastShapes(Outer(bands), Outer(rhs)),
                    {ShapeContext::MergeDim(DimAt(bands, 1), DimAt(rhs, 2)), DimAt(rhs, 1)}));
}

constexpr char kTypes[] = "T: {double, float, half, complex64, complex128}";

// The ops that go by a name of their own and, from before matrices came in batches, by another with "Batch" before it.
struct Both {
  OpRegistry& ops;
  const char *types, *old_types;
  int deprecated;
  template <class F>
  void Add(const char* name, const F& define) {
    define(ops.Add(name), types);
    const std::string old = name == std::string_view("SelfAdjointEig") ? "SelfAdjointEigV2" : name;
    define(ops.Add(StrCat("Batch", name)), old_types).Deprecated(deprecated, StrCat("Use ", old, " instead."));
  }
};

void RegisterSolvers(OpRegistry& ops) {
  constexpr char kPlain[] = "T: {double, float}";
  Both both{ops, kTypes, kPlain, 13};
  both.Add("Cholesky", [](OpBuilder op, const char* types) {
    return op.Input("input: T").Output("output: T").Attr(types).Heavy().Shape(SquareShape)
        .Gradient(gradients::Cholesky).Doc("The lower triangular L with L L^H = input.");
  });
  Both{ops, "T: {half, float, double}", "T: {float, double}", 13}.Add(
      "CholeskyGrad", [](OpBuilder op, const char* types) {
        return op.Input("l: T").Input("grad: T").Output("output: T").Attr(types).Heavy().Shape(SquareShape);
      });
  both.Add("MatrixInverse", [](OpBuilder op, const char* types) {
    return op.Input("input: T").Output("output: T").Attr("adjoint: bool = false").Attr(types).Heavy()
        .Shape(SquareShape).Gradient(gradients::MatrixInverse).Doc("The inverses of matrices, or of their adjoints.");
  });
  Both{ops, "T: {half, float, double, complex64, complex128}", "T: {float, double, complex64, complex128}", 13}.Add(
      "MatrixDeterminant", [](OpBuilder op, const char* types) {
        return op.Input("input: T").Output("output: T").Attr(types).Heavy().Shape(DeterminantShape)
            .Gradient(gradients::MatrixDeterminant).Doc("Determinants.");
      });
  ops.Add("LogMatrixDeterminant").Input("input: T").Output("sign: T").Output("log_abs_determinant: T")
      .Attr("T: {half, float, double, complex64, complex128}").Heavy().Shape(DeterminantShape)
      .Gradient(gradients::LogMatrixDeterminant).Doc("Determinants as signs and logarithms of absolute values.");
  both.Add("MatrixSolve", [](OpBuilder op, const char* types) {
    return op.Input("matrix: T").Input("rhs: T").Output("output: T").Attr("adjoint: bool = false").Attr(types).Heavy()
        .Shape([](ShapeContext& c) { SolveShape(c, true, false); }).Gradient(gradients::MatrixSolve)
        .Doc("Solves matrix x = rhs.");
  });
  Both{ops, "T: {bfloat16, double, float, half, complex64, complex128}", kPlain, 13}.Add(
      "MatrixTriangularSolve", [](OpBuilder op, const char* types) {
        return op.Input("matrix: T").Input("rhs: T").Output("output: T").Attr("lower: bool = true")
            .Attr("adjoint: bool = false").Attr(types).Heavy()
            .Shape([](ShapeContext& c) { SolveShape(c, true, true); }).Gradient(gradients::MatrixTriangularSolve)
            .Doc("Solves matrix x = rhs with triangular matrices.");
      });
  both.Add("MatrixSolveLs", [](OpBuilder op, const char* types) {
    return op.Input("matrix: T").Input("rhs: T").Input("l2_regularizer: double").Output("output: T").Attr(types)
        .Attr("fast: bool = true").Heavy().Shape([](ShapeContext& c) {
          c.WithRank(2, 0);
          SolveShape(c, false, false);
        }).Gradient(gradients::MatrixSolveLs).Doc("Solves least squares problems.");
  });
  ops.Add("Lu").Input("input: T").Output("lu: T").Output("p: output_idx_type").Attr(kTypes)
      .Attr("output_idx_type: {int32, int64} = DT_INT32").Heavy().Shape(LuShape)
      .Doc("P input = L U, with L's diagonal of ones left out.");
  ops.Add("TridiagonalSolve").Input("diagonals: T").Input("rhs: T").Output("output: T")
      .Attr("partial_pivoting: bool = true").Attr("perturb_singular: bool = false")
      .Attr("T: {double, float, complex64, complex128}").Shape(TridiagonalSolveShape)
      .Gradient(gradients::TridiagonalSolve).Doc("Solves systems with tridiagonal matrices.");
  ops.Add("TridiagonalMatMul").Input("superdiag: T").Input("maindiag: T").Input("subdiag: T").Input("rhs: T")
      .Output("output: T").Attr("T: {double, float, complex64, complex128}").Shape(TridiagonalMatMulShape)
      .Gradient(gradients::TridiagonalMatMul).Doc("Multiplies by tridiagonal matrices.");
  ops.Add("BandedTriangularSolve").Input("matrix: T").Input("rhs: T").Output("output: T").Attr("lower: bool = true")
      .Attr("adjoint: bool = false").Attr(kTypes).Shape(BandedShape).Gradient(gradients::BandedTriangularSolve)
      .Doc("Solves systems with triangular matrices that are given by their diagonals.");
}

void RegisterDecompositions(OpRegistry& ops) {
  ops.Add("Qr").Input("input: T").Output("q: T").Output("r: T").Attr("full_matrices: bool = false").Attr(kTypes)
      .Heavy().Shape(QrShape).Gradient(gradients::Qr).Doc("input = q r, q orthogonal and r upper triangular.");
  const auto svd = [](OpBuilder op, const char* types) {
    return op.Input("input: T").Output("s: T").Output("u: T").Output("v: T").Attr("compute_uv: bool = true")
        .Attr("full_matrices: bool = false").Attr(types).Heavy().Shape(SvdShape).Gradient(gradients::Svd)
        .Doc("input = u diag(s) v^H.");
  };
  Both{ops, kTypes, "T: {double, float, complex64, complex128}", 13}.Add("Svd", svd);
  Both{ops, kTypes, "T: {double, float}", 13}.Add("SelfAdjointEigV2", [](OpBuilder op, const char* types) {
    return op.Input("input: T").Output("e: T").Output("v: T").Attr("compute_v: bool = true").Attr(types).Heavy()
        .Shape(EigShape).Gradient(gradients::SelfAdjointEigV2)
        .Doc("Eigenvalues in ascending order, and vectors, of self-adjoint matrices.");
  });
  ops.Add("SelfAdjointEig").Input("input: T").Output("output: T").Attr("T: {double, float, half}")
      .Deprecated(11, "Use SelfAdjointEigV2 instead.").Heavy().Shape(OldEigShape)
      .Doc("Eigenvalues, and below them vectors, of self-adjoint matrices.");
  ops.Add("BatchSelfAdjointEig").Input("input: T").Output("output: T").Attr("T: {double, float}")
      .Deprecated(11, "Use SelfAdjointEigV2 instead.").Heavy().Shape(OldEigShape)
      .Doc("Eigenvalues, and below them vectors, of self-adjoint matrices.");
  ops.Add("Eig").Input("input: T").Output("e: Tout").Output("v: Tout").Attr("compute_v: bool = true")
      .Attr("T: {float, double, complex64, complex128}").Attr("Tout: {complex64, complex128}").Heavy().Shape(EigShape)
      .Gradient(gradients::Eig).Doc("Eigenvalues and vectors of any square matrices.");
  ops.Add("MatrixSquareRoot").Input("input: T").Output("output: T").Attr(kTypes).Heavy().Shape(SquareShape)
      .Gradient(gradients::MatrixSquareRoot).Doc("The matrices that, multiplied with themselves, give input.");
  ops.Add("MatrixExponential").Input("input: T").Output("output: T").Attr(kTypes)
      .Deprecated(27, "Use Python implementation tf.linalg.matrix_exponential instead.").Heavy().Shape(SquareShape)
      .Doc("The sum of input^k / k!.");
  ops.Add("MatrixLogarithm").Input("input: T").Output("output: T").Attr("T: {complex64, complex128}").Heavy()
      .Shape(SquareShape).Doc("The inverse of the exponential.");
}

}  // namespace

void RegisterLinalgOps(OpRegistry& ops) {
  RegisterSolvers(ops);
  RegisterDecompositions(ops);
}

}  // namespace penstock
