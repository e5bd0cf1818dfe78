// What solving needs of Eigen, compiled once for each type (linalg_solve.cc): its templates are slow to compile.
#pragma once

#include "penstock/kernels/cpu/wide/linalg.h"

namespace penstock::linalg {

// a b.
template <class T>
Columns<T> Product(const Columns<T>& a, const Columns<T>& b);

// rhs := A^-1 rhs, where A is the lower or upper triangle of `matrix`.
template <class T>
void SolveTriangle(const Columns<T>& matrix, bool lower, Columns<T>& rhs);

// The same with the adjoint of A where wanted, on matrices as tensors have them; columns [first, first + count) of rhs.
template <class T>
void SolveTriangle(const ConstView<T>& matrix, bool lower, bool adjoint, View<T> rhs, int64_t first, int64_t count);

// The Cholesky factor of `matrix`, of which the lower triangle is read, in place and with zeros above it; false where
// the matrix is not positive definite.
template <class T>
bool CholeskyFactor(Columns<T>& matrix);

// P A = L U with exchange of rows.
template <class T>
struct LuFactors {
  Columns<T> lu;               // L (with ones on its diagonal) below U
  std::vector<int64_t> order;  // row i of P A is row order[i] of A
  int sign = 1;                // the determinant of P

  explicit LuFactors(const Columns<T>& matrix);
  bool invertible() const { return lu.diagonal().cwiseAbs().minCoeff() > Real<T>(0); }
  Columns<T> Solve(const Columns<T>& rhs) const;
};

// The x of least length among those that minimise |a x - b| (linalg_qr.cc).
template <class W>
Columns<W> LeastSquares(const Columns<W>& a, const Columns<W>& b);  // W: double, Complex128

}  // namespace penstock::linalg
