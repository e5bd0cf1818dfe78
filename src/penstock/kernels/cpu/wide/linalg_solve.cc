#include "penstock/kernels/cpu/wide/linalg_solve.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace penstock::linalg {

template <class T>
Columns<T> Product(const Columns<T>& a, const Columns<T>& b) {
  return a * b;
}

template <class T>
void SolveTriangle(const Columns<T>& matrix, bool lower, Columns<T>& rhs) {
  lower ? matrix.template triangularView<Eigen::Lower>().solveInPlace(rhs)
        : matrix.template triangularView<Eigen::Upper>().solveInPlace(rhs);
}

template <class T>
void SolveTriangle(const ConstView<T>& matrix, bool lower, bool adjoint, View<T> rhs, int64_t first, int64_t count) {
  auto columns = rhs.middleCols(first, count);
  if (adjoint) {
    lower ? matrix.adjoint().template triangularView<Eigen::Upper>().solveInPlace(columns)
          : matrix.adjoint().template triangularView<Eigen::Lower>().solveInPlace(columns);
  } else {
    lower ? matrix.template triangularView<Eigen::Lower>().solveInPlace(columns)
          : matrix.template triangularView<Eigen::Upper>().solveInPlace(columns);
  }
}

template <class T>
bool CholeskyFactor(Columns<T>& matrix) {
  const Eigen::LLT<Eigen::Ref<Columns<T>>, Eigen::Lower> llt(matrix);
  matrix.template triangularView<Eigen::StrictlyUpper>().setZero();
  return llt.info() == Eigen::Success;
}

template <class T>
LuFactors<T>::LuFactors(const Columns<T>& matrix) : lu(matrix), order(matrix.rows()) {
  if (matrix.size() == 0) return;
  const Eigen::PartialPivLU<Eigen::Ref<Columns<T>>> factors(lu);
  const auto& to = factors.permutationP().indices();  // where each row of A goes
  for (int64_t i = 0; i < lu.rows(); ++i) order[to[i]] = i;
  sign = static_cast<int>(factors.permutationP().determinant());
}

template <class T>
Columns<T> LuFactors<T>::Solve(const Columns<T>& rhs) const {
  Columns<T> x(rhs.rows(), rhs.cols());
  for (int64_t i = 0; i < rhs.rows(); ++i) x.row(i) = rhs.row(order[i]);
  lu.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  SolveTriangle(lu, false, x);
  return x;
}

template struct LuFactors<float>;
template struct LuFactors<double>;
template struct LuFactors<Complex64>;
template struct LuFactors<Complex128>;

template Columns<float> Product(const Columns<float>&, const Columns<float>&);
template Columns<double> Product(const Columns<double>&, const Columns<double>&);
template Columns<Complex64> Product(const Columns<Complex64>&, const Columns<Complex64>&);
template Columns<Complex128> Product(const Columns<Complex128>&, const Columns<Complex128>&);

template void SolveTriangle(const Columns<float>&, bool, Columns<float>&);
template void SolveTriangle(const Columns<double>&, bool, Columns<double>&);
template void SolveTriangle(const Columns<Complex64>&, bool, Columns<Complex64>&);
template void SolveTriangle(const Columns<Complex128>&, bool, Columns<Complex128>&);

template void SolveTriangle(const ConstView<float>&, bool, bool, View<float>, int64_t, int64_t);
template void SolveTriangle(const ConstView<double>&, bool, bool, View<double>, int64_t, int64_t);
template void SolveTriangle(const ConstView<Complex64>&, bool, bool, View<Complex64>, int64_t, int64_t);
template void SolveTriangle(const ConstView<Complex128>&, bool, bool, View<Complex128>, int64_t, int64_t);

template bool CholeskyFactor(Columns<float>&);
template bool CholeskyFactor(Columns<double>&);
template bool CholeskyFactor(Columns<Complex64>&);
template bool CholeskyFactor(Columns<Complex128>&);

}  // namespace penstock::linalg
