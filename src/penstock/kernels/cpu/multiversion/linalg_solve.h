// Triangular systems and the factors of square matrices, in place and by rows.
#pragma once

#include <vector>

#include "penstock/kernels/cpu/multiversion/vector_ops.h"

namespace penstock::linalg {

enum class Diagonal { kStored, kOnes };

// x := op(A)^-1 x, where A is the lower or upper triangle of `a` and op the adjoint where wanted.
template <class T>
void SolveTriangle(Rows<T> a, bool lower, bool adjoint, Diagonal diagonal, Rows<T> x);

// The Cholesky factor of `a`, of which the lower triangle is read, with zeros above it; false where the matrix is not
// positive definite.
template <class T>
bool CholeskyFactor(Rows<T> a);

// P A = L U with exchange of rows: `a` becomes L (with ones on its diagonal) below U; row i of P A is row order[i] of
// A. Gives the determinant of P.
template <class T>
int LuFactor(Rows<T> a, std::vector<int64_t>& order);

// The same with A kept, for solving.
template <class T>
struct LuFactors {
  int64_t n;
  std::vector<T> lu;
  std::vector<int64_t> order;
  int sign;

  explicit LuFactors(Rows<const T> a, bool adjoint = false);
  Rows<T> rows() { return {lu.data(), n, n, n}; }
  T pivot(int64_t i) const { return lu[i * n + i]; }
  bool invertible() const;
  // x := A^-1 rhs.
  void Solve(Rows<const T> rhs, Rows<T> x);
  void Invert(Rows<T> inverse);
};

// The x of least length among those that minimise |a x - b| (linalg_qr.cc).
template <class W>
Columns<W> LeastSquares(Columns<W> a, Columns<W> b);  // W: double, Complex128

}  // namespace penstock::linalg
