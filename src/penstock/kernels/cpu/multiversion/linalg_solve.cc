#include "penstock/kernels/cpu/multiversion/linalg_solve.h"

#include <algorithm>

namespace penstock::linalg {
namespace {

constexpr int64_t kSmall = 16;  // what is larger is cut in two, so that most of the work is products

int64_t Half(int64_t n) { return (n / 2 + kSmall - 1) / kSmall * kSmall; }

template <class T>
void SolveSmall(Rows<T> a, bool lower, bool adjoint, Diagonal diagonal, Rows<T> x) {
  const int64_t n = a.rows;
  const bool forward = lower != adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    T* const to = x.row(i);
    for (int64_t k = forward ? 0 : i + 1, end = forward ? i : n; k < end; ++k) {
      AddScaled(x.columns, -(adjoint ? Conj(a(k, i)) : a(i, k)), x.row(k), to);
    }
    if (diagonal == Diagonal::kOnes) continue;
    const T pivot = adjoint ? Conj(a(i, i)) : a(i, i);
    for (int64_t j = 0; j < x.columns; ++j) to[j] /= pivot;
  }
}

// One right-hand side at a time, conjugated, so that dot products and sums read whole rows of A.
template <class T>
void SolveColumns(Rows<T> a, bool lower, bool adjoint, Diagonal diagonal, Rows<T> x) {
  const int64_t n = a.rows;
  const bool forward = lower != adjoint;
  std::vector<T> v(n);
  for (int64_t j = 0; j < x.columns; ++j) {
    for (int64_t i = 0; i < n; ++i) v[i] = Conj(x(i, j));
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = forward ? step : n - 1 - step;
      const int64_t first = lower ? 0 : i + 1, count = lower ? i : n - 1 - i;
      if (!adjoint) v[i] -= Dot(count, a.row(i) + first, v.data() + first);
      if (diagonal == Diagonal::kStored) v[i] /= adjoint ? a(i, i) : Conj(a(i, i));
      if (adjoint) AddScaled(count, -v[i], a.row(i) + first, v.data() + first);
    }
    for (int64_t i = 0; i < n; ++i) x(i, j) = Conj(v[i]);
  }
}

// X := X L^-H
template <class T>
void SolveFromRight(Rows<T> l, Rows<T> x) {
  const int64_t n = l.rows;
  if (n <= kSmall && x.rows < 8) {
    for (int64_t i = 0; i < x.rows; ++i) {
      T* const row = x.row(i);
      for (int64_t j = 0; j < n; ++j) row[j] = (row[j] - Dot(j, l.row(j), row)) / std::real(l(j, j));
    }
    return;
  }
  if (n <= kSmall) {  // columns are longer than rows
    Columns<T> by_columns(x.rows, n);
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t j = 0; j < n; ++j) by_columns(i, j) = x(i, j);
    }
    for (int64_t j = 0; j < n; ++j) {
      T factors[kSmall];
      for (int64_t k = 0; k < j; ++k) factors[k] = Conj(l(j, k));
      T* const column = by_columns.column(j);
      AddProduct(T(-1), by_columns.block(0, 0, x.rows, j), factors, column);
      const Real<T> pivot = std::real(l(j, j));
      for (int64_t i = 0; i < x.rows; ++i) column[i] /= pivot;
    }
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t j = 0; j < n; ++j) x(i, j) = by_columns(i, j);
    }
    return;
  }
  const int64_t half = Half(n), rest = n - half;
  const Rows<T> first = x.Part(0, 0, x.rows, half), second = x.Part(0, half, x.rows, rest);
  SolveFromRight(l.Part(0, 0, half, half), first);
  Multiply(second, Into::kSubtract, first, false, l.Part(half, 0, rest, half), true);
  SolveFromRight(l.Part(half, half, rest, rest), second);
}

// C -= A A^H, of which the lower triangle matters.
template <class T>
void SubtractGramian(Rows<T> c, Rows<T> a) {
  if (c.rows <= 96) return Multiply(c, Into::kSubtract, a, false, a, true);
  const int64_t half = Half(c.rows), rest = c.rows - half;
  const Rows<T> upper = a.Part(0, 0, half, a.columns), lower = a.Part(half, 0, rest, a.columns);
  SubtractGramian(c.Part(0, 0, half, half), upper);
  Multiply(c.Part(half, 0, rest, half), Into::kSubtract, lower, false, upper, true);
  SubtractGramian(c.Part(half, half, rest, rest), lower);
}

template <class T>
bool FactorLower(Rows<T> a) {
  const int64_t n = a.rows;
  if (n <= kSmall) {
    for (int64_t i = 0; i < n; ++i) {
      T* const row = a.row(i);
      for (int64_t j = 0; j < i; ++j) row[j] = (row[j] - Dot(j, a.row(j), row)) / std::real(a(j, j));
      const Real<T> square = std::real(row[i]) - std::real(Dot(i, row, row));
      if (square <= Real<T>(0)) return false;
      row[i] = std::sqrt(square);
    }
    return true;
  }
  const int64_t half = Half(n), rest = n - half;
  const Rows<T> first = a.Part(0, 0, half, half), below = a.Part(half, 0, rest, half);
  const Rows<T> second = a.Part(half, half, rest, rest);
  if (!FactorLower(first)) return false;
  SolveFromRight(first, below);
  SubtractGramian(second, below);
  return FactorLower(second);
}

// Columns [first, first + count) of `a` from row `first` on; rows are exchanged whole.
template <class T>
void FactorColumns(Rows<T> a, int64_t first, int64_t count, std::vector<int64_t>& order, int& sign) {
  const int64_t n = a.rows, end = first + count;
  if (count > kSmall) {
    const int64_t half = Half(count), middle = first + half;
    FactorColumns(a, first, half, order, sign);
    const Rows<T> right = a.Part(first, middle, half, end - middle);
    SolveTriangle(a.Part(first, first, half, half), true, false, Diagonal::kOnes, right);
    Multiply(a.Part(middle, middle, n - middle, end - middle), Into::kSubtract, a.Part(middle, first, n - middle, half),
             false, right, false);
    return FactorColumns(a, middle, end - middle, order, sign);
  }
  for (int64_t k = first; k < end; ++k) {
    int64_t best = k;
    Real<T> size = std::abs(a(k, k));
    for (int64_t i = k + 1; i < n; ++i) {
      const Real<T> other = std::abs(a(i, k));
      if (other > size) best = i, size = other;
    }
    if (best != k) {
      std::swap_ranges(a.row(k), a.row(k) + a.columns, a.row(best));
      std::swap(order[k], order[best]);
      sign = -sign;
    }
    if (size == Real<T>(0)) continue;
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a(i, k) /= a(k, k);
      AddScaled(end - k - 1, -factor, a.row(k) + k + 1, a.row(i) + k + 1);
    }
  }
}

}  // namespace

template <class T>
void SolveTriangle(Rows<T> a, bool lower, bool adjoint, Diagonal diagonal, Rows<T> x) {
  if (x.columns < 4) return SolveColumns(a, lower, adjoint, diagonal, x);
  const int64_t n = a.rows;
  if (n <= kSmall) return SolveSmall(a, lower, adjoint, diagonal, x);
  const int64_t half = Half(n), rest = n - half;
  const Rows<T> top = x.Part(0, 0, half, x.columns), bottom = x.Part(half, 0, rest, x.columns);
  const Rows<T> first = a.Part(0, 0, half, half), last = a.Part(half, half, rest, rest);
  const Rows<T> beside = lower ? a.Part(half, 0, rest, half) : a.Part(0, half, half, rest);
  if (lower != adjoint) {
    SolveTriangle(first, lower, adjoint, diagonal, top);
    Multiply(bottom, Into::kSubtract, beside, adjoint, top, false);
    SolveTriangle(last, lower, adjoint, diagonal, bottom);
  } else {
    SolveTriangle(last, lower, adjoint, diagonal, bottom);
    Multiply(top, Into::kSubtract, beside, adjoint, bottom, false);
    SolveTriangle(first, lower, adjoint, diagonal, top);
  }
}

template <class T>
bool CholeskyFactor(Rows<T> a) {
  const bool done = FactorLower(a);
  for (int64_t i = 0; i < a.rows; ++i) std::fill(a.row(i) + i + 1, a.row(i) + a.columns, T(0));
  return done;
}

template <class T>
int LuFactor(Rows<T> a, std::vector<int64_t>& order) {
  order.resize(a.rows);
  for (int64_t i = 0; i < a.rows; ++i) order[i] = i;
  int sign = 1;
  FactorColumns(a, 0, a.columns, order, sign);
  return sign;
}

template <class T>
LuFactors<T>::LuFactors(Rows<const T> a, bool adjoint) : n(a.rows), lu(n * n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) lu[i * n + j] = adjoint ? Conj(a(j, i)) : a(i, j);
  }
  sign = LuFactor(rows(), order);
}

template <class T>
bool LuFactors<T>::invertible() const {
  Real<T> smallest = n > 0 ? std::abs(pivot(0)) : Real<T>(1);
  for (int64_t i = 1; i < n; ++i) smallest = std::min(smallest, std::abs(pivot(i)));
  return smallest > Real<T>(0);
}

template <class T>
void LuFactors<T>::Solve(Rows<const T> rhs, Rows<T> x) {
  for (int64_t i = 0; i < n; ++i) std::copy_n(rhs.row(order[i]), rhs.columns, x.row(i));
  SolveTriangle(rows(), true, false, Diagonal::kOnes, x);
  SolveTriangle(rows(), false, false, Diagonal::kStored, x);
}

template <class T>
void LuFactors<T>::Invert(Rows<T> inverse) {
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(inverse.row(i), n, T(0));
    inverse(i, order[i]) = T(1);
  }
  SolveTriangle(rows(), true, false, Diagonal::kOnes, inverse);
  SolveTriangle(rows(), false, false, Diagonal::kStored, inverse);
}

#define PENSTOCK_SOLVING(T)                                            \
  template void SolveTriangle(Rows<T>, bool, bool, Diagonal, Rows<T>); \
  template bool CholeskyFactor(Rows<T>);                               \
  template int LuFactor(Rows<T>, std::vector<int64_t>&);               \
  template struct LuFactors<T>;
PENSTOCK_SOLVING(float)
PENSTOCK_SOLVING(double)
PENSTOCK_SOLVING(Complex64)
PENSTOCK_SOLVING(Complex128)
#undef PENSTOCK_SOLVING

}  // namespace penstock::linalg
