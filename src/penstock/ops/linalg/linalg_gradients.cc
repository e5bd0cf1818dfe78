// Gradients of linear algebra, as matrix formulas. Giles, "Collected matrix derivative results for forward and reverse
// mode algorithmic differentiation" has most; Murray that of Cholesky factors; Walter and Lehmann those of QR.
#include "penstock/ops/linalg/linalg_gradients.h"

#include "penstock/graph/gradient.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock::gradients {
namespace {

Out MatMul(Out a, Out b, bool adjoint_a = false, bool adjoint_b = false) {
  return Call("BatchMatMulV2", {a, b}, {{"adj_x", adjoint_a}, {"adj_y", adjoint_b}});
}
Out Diagonal(Out x) { return Call("MatrixDiagPart", {x}); }
Out FromDiagonal(Out x) { return Call("MatrixDiag", {x}); }
Out WithDiagonal(Out x, Out d) { return Call("MatrixSetDiag", {x, d}); }
Out Band(Out x, int64_t below, int64_t above) {
  return Call("MatrixBandPart", {x, x.scope->Scalar(below), x.scope->Scalar(above)});
}
Out Expand(Out x, int32_t axis) { return Call("ExpandDims", {x, x.scope->Scalar(axis)}); }

// x with its last two dimensions exchanged.
Out Transposed(Out x) {
  Scope& scope = *x.scope;
  if (x.shape().known_rank()) {
    std::vector<int32_t> order(x.shape().rank());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return Transpose(x, ConstVector(scope, order));
  }
  const Out rank = Call("Rank", {x}), one = scope.Scalar<int32_t>(1), two = scope.Scalar<int32_t>(2);
  const Out outer = Call("Range", {scope.Scalar<int32_t>(0), rank - two, one});
  const Out last = CallOp("Pack", {{rank - one, rank - two}}, {{"N", int64_t{2}}, {"axis", int64_t{0}}})[0];
  return Transpose(x, ConcatVectors({outer, last}));
}
Out Adjoint(Out x) { return Conj(Transposed(x)); }

// A Cast from real to complex or back; nothing between equal types.
Out As(Out x, DataType type) { return Cast(x, type); }
DataType RealOf(DataType type) { return type == DT_COMPLEX64 ? DT_FLOAT : type == DT_COMPLEX128 ? DT_DOUBLE : type; }
Out RealPart(Out x) {
  return IsComplex(x.type()) ? Call("Real", {x}, {{"T", x.type()}, {"Tout", RealOf(x.type())}}) : x;
}

// 1 / x, and 0 where x is 0.
Out SafeReciprocal(Out x) { return x / (x * x + 1e-20); }

// x [..., n] scaled up to [..., 1, 1] for products with matrices.
Out AsFactor(Out x) { return Expand(Expand(x, -1), -1); }

Out Columns(Out x, int64_t begin, int64_t end) {  // x[..., begin:end]
  Scope& scope = *x.scope;
  const Out rank = Call("Size", {ShapeOf(x)});
  const Out others = Reshape(rank - scope.Scalar<int32_t>(1), ConstVector(scope, {1}));
  const Out zeros = Call("Fill", {others, scope.Scalar<int32_t>(0)});
  const Out all = zeros - OnesLike(zeros);
  return Call("Slice", {x, ConcatVectors({zeros, ConstVector(scope, {static_cast<int32_t>(begin)})}),
                        ConcatVectors({all, ConstVector(scope, {static_cast<int32_t>(end - begin)})})});
}

// Identity matrices of the shape of x.
Out EyeLike(Out x) { return WithDiagonal(ZerosLike(x), OnesLike(Diagonal(x))); }

Out TriangularSolve(Out a, Out b, bool lower, bool adjoint) {
  return Call("MatrixTriangularSolve", {a, b}, {{"lower", lower}, {"adjoint", adjoint}});
}
// x r^-H for upper triangular r.
Out TimesInverseAdjoint(Out x, Out r) { return Adjoint(TriangularSolve(r, Adjoint(x), false, false)); }

// The shape of the batch.
Out OuterShape(Out x) {
  if (x.shape().known_rank()) return ShapePart(x, 0, x.shape().rank() - 2);
  Scope& scope = *x.scope;
  const Out shape = ShapeOf(x);
  const Out rank = Reshape(Call("Size", {shape}) - scope.Scalar<int32_t>(2), ConstVector(scope, {1}));
  return Call("Slice", {shape, ConstVector(scope, {0}), rank});
}

// Rows moved up by one, with zeros below; or down.
Out Shifted(Out x, bool up) {
  Scope& scope = *x.scope;
  const Out shape = ShapeOf(x), rank = Call("Size", {shape});
  const Out outer = Reshape(rank - scope.Scalar<int32_t>(2), ConstVector(scope, {1}));
  const Out zeros = Call("Fill", {outer, scope.Scalar<int32_t>(0)});
  const auto pair = [&](int32_t a, int32_t b) { return ConcatVectors({zeros, ConstVector(scope, {a, b})}); };
  const Out kept = Call("Slice", {x, pair(up ? 1 : 0, 0), shape - pair(1, 0)});
  const Outs sides = {pair(up ? 0 : 1, 0), pair(up ? 1 : 0, 0)};
  const Out pads = CallOp("Pack", sides, {{"N", int64_t{2}}, {"axis", int64_t{1}}})[0];
  return Call("Pad", {kept, pads});
}

// Sums `grad`, of the stretched batch, down to the batch of input i.
void SetStretched(GradContext& g, int i, Out grad) {
  const Out a = g.x(i), b = g.x(1 - i);
  const PartialShape &x = a.shape(), &y = b.shape();
  if (x.known_rank() && y.known_rank() && shapes::Subshape(x, 0, -2) == shapes::Subshape(y, 0, -2) &&
      shapes::Subshape(x, 0, -2).fully_known()) {
    return g.Set(i, grad);
  }
  const Out shape = ShapeOf(a);
  const Out axes = CallOp("BroadcastGradientArgs", {{OuterShape(a), OuterShape(b)}})[0];
  g.Set(i, Reshape(Sum(grad, axes), shape));
}

}  // namespace

void Cholesky(GradContext& g) {
  const Out l = g.y();
  const Out inverse = TriangularSolve(l, EyeLike(l), true, false);
  Out middle = MatMul(l, g.dy(), true);
  middle = Band(WithDiagonal(middle, Diagonal(middle) * 0.5), -1, 0);
  const Out dx = MatMul(MatMul(inverse, middle, true), inverse);
  g.Set(0, (dx + Adjoint(dx)) * 0.5);
}

void MatrixInverse(GradContext& g) {
  const Out inverse = g.y();
  const bool adjoint = g.attr<bool>("adjoint");
  g.Set(0, -MatMul(inverse, MatMul(g.dy(), inverse, adjoint, !adjoint), !adjoint));
}

void MatrixDeterminant(GradContext& g) {
  const Out inverse = g.Call("MatrixInverse", {g.x(0)}, {{"adjoint", true}});
  g.Set(0, AsFactor(g.dy() * g.y()) * inverse);
}

void LogMatrixDeterminant(GradContext& g) {
  g.Set(0, AsFactor(g.dy(1)) * g.Call("MatrixInverse", {g.x(0)}, {{"adjoint", true}}));
}

void MatrixSolve(GradContext& g) {
  const bool adjoint = g.attr<bool>("adjoint");
  const Out c = g.y(), db = g.Call("MatrixSolve", {g.x(0), g.dy()}, {{"adjoint", !adjoint}});
  g.Set(0, adjoint ? -MatMul(c, db, false, true) : -MatMul(db, c, false, true));
  g.Set(1, db);
}

void MatrixTriangularSolve(GradContext& g) {
  const bool adjoint = g.attr<bool>("adjoint"), lower = g.attr<bool>("lower");
  const Out c = g.y(), db = TriangularSolve(g.x(0), g.dy(), lower, !adjoint);
  const Out da = adjoint ? -MatMul(c, db, false, true) : -MatMul(db, c, false, true);
  SetStretched(g, 0, lower ? Band(da, -1, 0) : Band(da, 0, -1));
  SetStretched(g, 1, db);
}

// As that of MatrixTriangularSolve; of the matrix's gradient the bands are kept.
void BandedTriangularSolve(GradContext& g) {
  const bool adjoint = g.attr<bool>("adjoint"), lower = g.attr<bool>("lower");
  Scope& scope = g.scope();
  const Out bands = g.x(0), c = g.y();
  const Out db = g.Call("BandedTriangularSolve", {bands, g.dy()}, {{"lower", lower}, {"adjoint", !adjoint}});
  const Out da = adjoint ? -MatMul(c, db, false, true) : -MatMul(db, c, false, true);
  const Out shape = ShapeOf(bands), rank = g.Call("Size", {shape});
  const Out place = Reshape(rank - scope.Scalar<int32_t>(2), ConstVector(scope, {1}));
  const Out outermost = g.Call("Slice", {shape, place, ConstVector(scope, {1})}) - ConstVector(scope, {1});
  const Out zero = ConstVector(scope, {0});
  const Out range = lower ? ConcatVectors({-outermost, zero}) : ConcatVectors({zero, outermost});
  SetStretched(g, 0, g.Call("MatrixDiagPartV3", {da, range, scope.ScalarOf(da.type(), 0)},
                            {{"align", std::string("LEFT_RIGHT")}}));
  SetStretched(g, 1, db);
}

void MatrixSolveLs(GradContext& g) {
  if (!g.attr<bool>("fast")) throw InvalidArgument("Gradient not defined for fast=False");
  const Out a = g.x(0), b = g.x(1), x = g.y(), dy = g.dy();
  const PartialShape& shape = a.shape();
  if (!shape.known_rank() || shape[shape.rank() - 2] < 0 || shape[shape.rank() - 1] < 0) {
    throw Unimplemented("The gradient of MatrixSolveLs needs to know the shape of the matrices, which is ", shape);
  }
  const bool tall = shape[shape.rank() - 2] >= shape[shape.rank() - 1];
  const Out gramian = MatMul(a, a, tall, !tall);
  const Out regularizer = As(g.x(2), a.type());
  const Out factor = g.Call("Cholesky", {gramian + regularizer * EyeLike(gramian)});
  const auto solve = [&](Out rhs) {
    return TriangularSolve(factor, TriangularSolve(factor, rhs, true, false), true, true);
  };
  if (tall) {
    const Out z = solve(dy), xz = MatMul(x, z, false, true);
    g.Set(0, MatMul(b, z, false, true) - MatMul(a, xz + Adjoint(xz)));
    g.Set(1, MatMul(a, z));
  } else {
    const Out db = solve(MatMul(a, dy)), t = solve(b);
    const Out first = -MatMul(db, MatMul(t, a, true));
    g.Set(0, first + MatMul(t, dy - MatMul(a, db, true), false, true));
    g.Set(1, db);
  }
}

namespace {

// Where there are at least as many rows as columns.
Out DeepQr(Out q, Out r, Out dq, Out dr) {
  const Out qdq = MatMul(q, dq, true), rdr = MatMul(r, dr, false, true);
  const Out lower = Band(qdq - Adjoint(qdq) + rdr - Adjoint(rdr), -1, 0);
  const Out by_r = MatMul(q, dr + TimesInverseAdjoint(lower, r));
  const Out result = by_r + TimesInverseAdjoint(dq - MatMul(q, qdq), r);
  if (!IsComplex(q.type())) return result;
  const Out m = rdr - Adjoint(qdq);
  const Out diagonal = WithDiagonal(ZerosLike(m), Diagonal(m));
  const Out correction = diagonal - As(RealPart(diagonal), q.type());
  return result + TimesInverseAdjoint(MatMul(q, Adjoint(correction)), r);
}

}  // namespace

void Qr(GradContext& g) {
  const Out q = g.y(0), r = g.y(1), dq = g.dy(0), dr = g.dy(1);
  const PartialShape &qs = q.shape(), &rs = r.shape();
  if (!rs.known_rank() || rs[rs.rank() - 2] < 0 || rs[rs.rank() - 1] < 0 || !qs.known_rank() || qs[qs.rank() - 2] < 0) {
    throw Unimplemented("QrGrad not implemented with dynamic shapes. Received r.shape: ", rs);
  }
  const int64_t m = qs[qs.rank() - 2], p = rs[rs.rank() - 2], n = rs[rs.rank() - 1];
  if (p > n && m == p) {
    throw Unimplemented("QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape=", rs,
                        " with nrows=", p, " and ncols=", n, ".");
  }
  if (m >= n) return g.Set(0, DeepQr(q, r, dq, dr));
  // A = [X Y], X square: Y = q V does not enter into q.
  const Out y = Columns(g.x(0), m, n), dv = Columns(dr, m, n);
  const Out dx = DeepQr(q, Columns(r, 0, m), dq + MatMul(y, dv, false, true), Columns(dr, 0, m));
  g.Set(0, CallOp("ConcatV2", {{dx, MatMul(q, dv), g.scope().Scalar<int32_t>(-1)}}, {{"N", int64_t{2}}})[0]);
}

void SelfAdjointEigV2(GradContext& g) {
  const Out e = g.y(0), de = g.dy(0);
  Out dx;
  if (g.attr<bool>("compute_v")) {
    const Out v = g.y(1);
    const Out f = WithDiagonal(SafeReciprocal(Expand(e, -2) - Expand(e, -1)), ZerosLike(e));
    dx = MatMul(v, MatMul(FromDiagonal(de) + f * MatMul(v, g.dy(1), true), v, false, true));
  } else {
    const Out v = CallOp("SelfAdjointEigV2", {{g.x(0)}}, {{"compute_v", true}})[1];
    dx = MatMul(v, MatMul(FromDiagonal(de), v, false, true));
  }
  // Only the lower triangle is read.
  dx = Band(dx + Adjoint(dx), -1, 0);
  g.Set(0, WithDiagonal(dx, Diagonal(dx) * 0.5));
}

void Eig(GradContext& g) {
  const Out de = g.dy(0);
  const DataType type = g.x(0).type();
  Out dx;
  if (g.attr<bool>("compute_v")) {
    const Out e = g.y(0), v = g.y(1), vt = Adjoint(v);
    const Out f = Conj(WithDiagonal(SafeReciprocal(Expand(e, -2) - Expand(e, -1)), ZerosLike(e)));
    const Out vgv = MatMul(vt, g.dy(1));
    const Out real = FromDiagonal(Diagonal(As(RealPart(vgv), vgv.type())));
    const Out middle = FromDiagonal(de) + f * (vgv - MatMul(MatMul(vt, v), real));
    dx = g.Call("MatrixSolve", {vt, MatMul(middle, vt)});
  } else {
    const Out vt = Adjoint(CallOp("Eig", {{g.x(0)}}, {{"compute_v", true}, {"Tout", de.type()}})[1]);
    dx = g.Call("MatrixSolve", {vt, MatMul(FromDiagonal(de), vt)});
  }
  g.Set(0, IsComplex(type) ? dx : RealPart(dx));
}

void Svd(GradContext& g) {
  const Out a = g.x(0), ds = FromDiagonal(g.dy(0));
  if (!g.attr<bool>("compute_uv")) {
    const Outs suv = CallOp("Svd", {{a}}, {{"compute_uv", true}, {"full_matrices", false}});
    return g.Set(0, MatMul(suv[1], MatMul(ds, suv[2], false, true)));
  }
  const PartialShape& shape = a.shape();
  int64_t m = shape.known_rank() ? shape[shape.rank() - 2] : -1, n = shape.known_rank() ? shape[shape.rank() - 1] : -1;
  if (m < 0 || n < 0) {
    throw Unimplemented("SVD gradient has not been implemented for input with unknown inner matrix shape.");
  }
  const bool full = g.attr<bool>("full_matrices"), turned = m > n;
  const Out s = g.y(0);
  Out u = g.y(1), v = g.y(2), du = g.dy(1), dv = g.dy(2);
  if (turned) std::swap(m, n), std::swap(u, v), std::swap(du, dv);  // of the adjoint, which is wide
  if (full && n - m > 1) {
    throw Unimplemented("svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: m=",
                        m, " and n=", n);
  }
  const Out s_matrix = FromDiagonal(s), s2 = Square(s), s_inverse = FromDiagonal(SafeReciprocal(s));
  const Out f = WithDiagonal(SafeReciprocal(Expand(s2, -2) - Expand(s2, -1)), ZerosLike(s));
  const Out v1 = full && m < n ? Columns(v, 0, m) : v, dv1 = full && m < n ? Columns(dv, 0, m) : dv;
  const Out v_dv = MatMul(v1, dv1, true);
  const Out f_u = f * MatMul(u, du, true), f_v = f * v_dv;
  const Out middle = ds + MatMul(f_u + Adjoint(f_u), s_matrix) + MatMul(s_matrix, f_v + Adjoint(f_v));
  Out dx = MatMul(u, MatMul(middle, v1, false, true));
  if (m != n) {
    const Out dv1_adjoint = Adjoint(dv1);
    Out outside = dv1_adjoint - MatMul(MatMul(dv1_adjoint, v1), v1, false, true);
    if (full) {
      outside = outside - MatMul(MatMul(v1, Columns(dv, m, n), true), Columns(v, m, n), false, true);
    }
    dx = dx + MatMul(MatMul(u, s_inverse), outside);
  }
  if (IsComplex(a.type())) {
    const Out l = EyeLike(v_dv) * v_dv;
    dx = dx + MatMul(u, MatMul(MatMul(s_inverse, Adjoint(l) - l), v1, false, true)) * 0.5;
  }
  g.Set(0, turned ? Adjoint(dx) : dx);
}

// d(R R) = dR R + R dR: a linear system for the columns of dR, one after the other, whose matrix is a sum of Kronecker
// products.
void MatrixSquareRoot(GradContext& g) {
  const Out root = g.y(), eye = EyeLike(root), transposed = Transposed(root);
  const Out shape = ShapeOf(root), outer = OuterShape(root);
  const Out n = g.Call("Slice", {shape, g.Call("Shape", {outer}), ConstVector(g.scope(), {1})});
  const Out one = OnesLike(n), square = n * n;
  const auto kronecker = [&](Out x, Out y) {
    const Out product = Reshape(x, ConcatVectors({outer, n, one, n, one})) *
                        Reshape(y, ConcatVectors({outer, one, n, one, n}));
    return Reshape(product, ConcatVectors({outer, square, square}));
  };
  const Out sum = kronecker(eye, transposed) + kronecker(root, eye);
  const Out rhs = Reshape(Transposed(g.dy()), ConcatVectors({outer, square, one}));
  g.Set(0, Transposed(Reshape(g.Call("MatrixSolve", {sum, rhs}), shape)));
}

void TridiagonalMatMul(GradContext& g) {
  const Out dy = g.dy(), rhs = Conj(g.x(3));
  const Out last = ConstVector(g.scope(), {-1});
  const auto diagonal = [&](Out x) { return Expand(Sum(x * dy, last), -2); };
  g.Set(0, diagonal(Shifted(rhs, true)));
  g.Set(1, diagonal(rhs));
  g.Set(2, diagonal(Shifted(rhs, false)));
  const Out above = Adjoint(g.x(0)), main = Adjoint(g.x(1)), below = Adjoint(g.x(2));
  g.Set(3, Shifted(above * dy, false) + main * dy + Shifted(below * dy, true));
}

void TridiagonalSolve(GradContext& g) {
  const Out d = g.x(0), x = g.y(), last = ConstVector(g.scope(), {-1});
  // The diagonals of the transposed matrix: that below comes above, moved by one.
  const Outs rows = CallOp("Unpack", {{d}}, {{"num", int64_t{3}}, {"axis", int64_t{-2}}});
  const auto moved = [&](Out row, bool up) {
    const Out column = Shifted(Expand(row, -1), up);
    return g.Call("Squeeze", {column}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
  };
  const auto stack = [&](Out above, Out main, Out below) {
    return CallOp("Pack", {{above, main, below}}, {{"N", int64_t{3}}, {"axis", int64_t{-2}}})[0];
  };
  const Out db = g.Call("TridiagonalSolve", {stack(moved(rows[2], true), rows[1], moved(rows[0], false)), g.dy()},
                        {{"partial_pivoting", g.attr<bool>("partial_pivoting")}});
  g.Set(0, -stack(Sum(db * Shifted(x, true), last), Sum(db * x, last), Sum(db * Shifted(x, false), last)));
  g.Set(1, db);
}

}  // namespace penstock::gradients
