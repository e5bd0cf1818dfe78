#include "penstock/kernels/cpu/multiversion/vector_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/linalg/lapack.h"
#include "penstock/kernels/cpu/loops/vector.h"

namespace penstock::linalg {
namespace {

using PENSTOCK_ISA::kLanes;
using PENSTOCK_ISA::Load;
using PENSTOCK_ISA::Splat;
using PENSTOCK_ISA::Store;
using PENSTOCK_ISA::Vec;

// Complex numbers lie in vectors as pairs of real ones.
template <class R>
Vec<R> SwapPairs(Vec<R> v) {
  if constexpr (kLanes<R> == 2) {
    return __builtin_shufflevector(v, v, 1, 0);
  } else if constexpr (kLanes<R> == 4) {
    return __builtin_shufflevector(v, v, 1, 0, 3, 2);
  } else {
    return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  }
}
template <class R>
Vec<R> MinusPlus(R x) {
  Vec<R> v = Splat<R>(x);
  for (int i = 0; i < kLanes<R>; i += 2) v[i] = -x;
  return v;
}

template <class T>
inline constexpr int kStep = kLanes<Real<T>> / (kIsComplex<T> ? 2 : 1);  // elements of a vector

template <class T>
Vec<Real<T>> LoadOf(const T* p) {
  return Load(reinterpret_cast<const Real<T>*>(p));
}
template <class T>
void StoreTo(T* p, Vec<Real<T>> v) {
  Store(reinterpret_cast<Real<T>*>(p), v);
}

// A number by which vectors are multiplied.
template <class T>
struct Factor {
  Vec<Real<T>> re, im;
  explicit Factor(T x) : re(Splat<Real<T>>(std::real(x))) {
    if constexpr (kIsComplex<T>) im = MinusPlus<Real<T>>(x.imag());
  }
  Vec<Real<T>> operator*(Vec<Real<T>> v) const {
    if constexpr (kIsComplex<T>) {
      return re * v + im * SwapPairs<Real<T>>(v);
    } else {
      return re * v;
    }
  }
};

// A sum of products conj(x) y.
template <class T>
struct DotSum {
  Vec<Real<T>> same{}, crossed{};
  void Add(Vec<Real<T>> x, Vec<Real<T>> y) {
    same += x * y;
    if constexpr (kIsComplex<T>) crossed += x * SwapPairs<Real<T>>(y);
  }
  T Total() const {
    Real<T> re = 0, im = 0;
    for (int i = 0; i < kLanes<Real<T>>; ++i) re += same[i];
    if constexpr (kIsComplex<T>) {
      for (int i = 0; i < kLanes<Real<T>>; i += 2) im += crossed[i] - crossed[i + 1];
      return T(re, im);
    } else {
      return re;
    }
  }
};

// sum of conj(x) y for kCount vectors x that lie `stride` apart.
template <class T, int kCount>
void Dots(int64_t n, const T* x, int64_t stride, const T* y, T* out) {
  DotSum<T> sums[kCount];
  int64_t i = 0;
  for (; i + kStep<T> <= n; i += kStep<T>) {
    const auto v = LoadOf(y + i);
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j) sums[j].Add(LoadOf(x + j * stride + i), v);
  }
  for (int j = 0; j < kCount; ++j) {
    T sum = sums[j].Total();
    for (int64_t r = i; r < n; ++r) sum += Conj(x[j * stride + r]) * y[r];
    out[j] = sum;
  }
}

// y += sum of a[j] x[j] for kCount vectors x that lie `stride` apart.
template <class T, int kCount>
void AddScaledSum(int64_t n, const T* a, const T* x, int64_t stride, T* y) {
  int64_t i = 0;
  if (n >= kStep<T>) {
    const auto factors = [&]<size_t... j>(std::index_sequence<j...>) {
      return std::array<Factor<T>, kCount>{Factor<T>(a[j])...};
    }(std::make_index_sequence<kCount>());
    for (; i + kStep<T> <= n; i += kStep<T>) {
      auto sum = LoadOf(y + i);
#pragma GCC unroll 4
      for (int j = 0; j < kCount; ++j) sum += factors[j] * LoadOf(x + j * stride + i);
      StoreTo(y + i, sum);
    }
  }
  for (; i < n; ++i) {
    T sum = y[i];
    for (int j = 0; j < kCount; ++j) sum += a[j] * x[j * stride + i];
    y[i] = sum;
  }
}

}  // namespace

template <class T>
T Dot(int64_t n, const T* x, const T* y) {
  using R = Real<T>;
  DotSum<T> first, second;
  int64_t i = 0;
  for (; i + 2 * kStep<T> <= n; i += 2 * kStep<T>) {
    first.Add(LoadOf(x + i), LoadOf(y + i));
    second.Add(LoadOf(x + i + kStep<T>), LoadOf(y + i + kStep<T>));
  }
  T sum(R(0));
  if (i > 0) {
    first.same += second.same, first.crossed += second.crossed;
    sum = first.Total();
  }
  for (; i < n; ++i) sum += Conj(x[i]) * y[i];
  return sum;
}

template <class T>
Real<T> Norm(int64_t n, const T* x) {
  using R = Real<T>;
  const R squares = std::real(Dot(n, x, x));
  constexpr R kSmall = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (squares > kSmall && squares < std::numeric_limits<R>::infinity()) return std::sqrt(squares);
  R largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max({largest, std::abs(std::real(x[i])), std::abs(std::imag(x[i]))});
  if (!(largest > 0) || !std::isfinite(largest)) return squares == 0 ? R(0) : std::sqrt(squares);
  R sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += SquaredAbs(x[i] / largest);
  return largest * std::sqrt(sum);
}

template <class T>
void AddScaled(int64_t n, T a, const T* x, T* y) {
  AddScaledSum<T, 1>(n, &a, x, 0, y);
}

template <class T>
void Scale(int64_t n, T a, T* x) {
  const Factor<T> factor(a);
  int64_t i = 0;
  for (; i + kStep<T> <= n; i += kStep<T>) StoreTo(x + i, factor * LoadOf(x + i));
  for (; i < n; ++i) x[i] *= a;
}

template <class T>
void Rotate(int64_t n, T* x, T* y, Real<T> c, T s) {
  const auto cosine = Splat<Real<T>>(c);
  const Factor<T> sine(s), minus(-Conj(s));
  int64_t i = 0;
  for (; i + kStep<T> <= n; i += kStep<T>) {
    const auto a = LoadOf(x + i), b = LoadOf(y + i);
    StoreTo(x + i, cosine * a + sine * b);
    StoreTo(y + i, cosine * b + minus * a);
  }
  for (; i < n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - Conj(s) * a;
  }
}

template <class T>
void AddProduct(T a, Block<T> m, const T* x, T* y) {
  int64_t j = 0;
  for (; j + 4 <= m.columns; j += 4) {
    const T factors[4] = {a * x[j], a * x[j + 1], a * x[j + 2], a * x[j + 3]};
    AddScaledSum<T, 4>(m.rows, factors, m.column(j), m.stride, y);
  }
  for (; j < m.columns; ++j) AddScaled(m.rows, a * x[j], m.column(j), y);
}

template <class T>
void AdjointProduct(Block<T> m, const T* x, T* y) {
  int64_t j = 0;
  for (; j + 4 <= m.columns; j += 4) Dots<T, 4>(m.rows, m.column(j), m.stride, x, y + j);
  for (; j < m.columns; ++j) y[j] = Dot(m.rows, m.column(j), x);
}

template <class T>
void AddOuter(Block<T> m, T a, const T* x, const T* y) {
  for (int64_t j = 0; j < m.columns; ++j) AddScaled(m.rows, a * Conj(y[j]), x, m.column(j));
}

template <class T>
void AddOuterPair(Block<T> m, T a, const T* x, const T* y) {
  for (int64_t j = 0; j < m.columns; ++j) {
    const Factor<T> fx(a * Conj(y[j])), fy(a * Conj(x[j]));
    T* const to = m.column(j);
    int64_t i = j;
    for (; i + kStep<T> <= m.rows; i += kStep<T>) {
      StoreTo(to + i, LoadOf(to + i) + fx * LoadOf(x + i) + fy * LoadOf(y + i));
    }
    const T sx = a * Conj(y[j]), sy = a * Conj(x[j]);
    for (; i < m.rows; ++i) to[i] += sx * x[i] + sy * y[i];
  }
}

template <class T>
void SelfAdjointProduct(Block<T> h, const T* x, T* y) {
  const int64_t n = h.rows;
  std::fill_n(y, n, T(0));
  for (int64_t j = 0; j < n; ++j) {
    const T* const from = h.column(j);
    const T own = x[j];
    DotSum<T> sum;
    const Factor<T> factor(own);
    y[j] += std::real(from[j]) * own;
    int64_t i = j + 1;
    for (; i + kStep<T> <= n; i += kStep<T>) {
      const auto v = LoadOf(from + i);
      StoreTo(y + i, LoadOf(y + i) + factor * v);
      sum.Add(v, LoadOf(x + i));
    }
    T total = sum.Total();
    for (; i < n; ++i) {
      y[i] += own * from[i];
      total += Conj(from[i]) * x[i];
    }
    y[j] += total;
  }
}

template <class T>
void Multiply(Block<T> c, Into into, Block<T> a, bool adjoint_a, Block<T> b, bool adjoint_b) {
  const int64_t depth = adjoint_a ? a.rows : a.columns;
  if (c.rows == 0 || c.columns == 0) return;
  const bool small = c.rows * c.columns * depth <= 16 * 16 * 16;
  if (into == Into::kSet && (small || depth == 0)) {
    for (int64_t j = 0; j < c.columns; ++j) std::fill_n(c.column(j), c.rows, T(0));
  }
  if (depth == 0) return;
  if (small) {
    const T sign(into == Into::kSubtract ? Real<T>(-1) : Real<T>(1));
    for (int64_t j = 0; j < c.columns; ++j) {
      if (adjoint_a) {
        std::vector<T> row(adjoint_b ? depth : 0);
        for (int64_t p = 0; p < depth && adjoint_b; ++p) row[p] = Conj(b(j, p));
        const T* const from = adjoint_b ? row.data() : b.column(j);
        for (int64_t i = 0; i < c.rows; ++i) c(i, j) += sign * Dot(depth, a.column(i), from);
      } else {
        for (int64_t p = 0; p < depth; ++p) {
          AddScaled(c.rows, sign * (adjoint_b ? Conj(b(j, p)) : b(p, j)), a.column(p), c.column(j));
        }
      }
    }
    return;
  }
  std::vector<T> negative;  // of A: there is no product that subtracts
  if (into == Into::kSubtract) {
    negative.resize(a.rows * a.columns);
    for (int64_t j = 0; j < a.columns; ++j) {
      for (int64_t i = 0; i < a.rows; ++i) negative[j * a.rows + i] = -a(i, j);
    }
    a = {negative.data(), a.rows, a.columns, a.rows};
  }
  // A column-major C has the memory layout of a row-major C^T = op(B)^T op(A)^T.
  const auto transposed = [](const Block<T>& m, bool adjoint) {
    return adjoint ? MatrixView{m.data, 1, m.stride, kIsComplex<T>} : MatrixView{m.data, m.stride, 1};
  };
  GemmSerial(kTypeOf<T>, c.columns, c.rows, depth, transposed(b, adjoint_b), transposed(a, adjoint_a), c.data, c.stride,
             into != Into::kSet);
}

#define PENSTOCK_VECTOR_OPS(T)                                 \
  template T Dot(int64_t, const T*, const T*);                 \
  template Real<T> Norm(int64_t, const T*);                    \
  template void AddScaled(int64_t, T, const T*, T*);           \
  template void Scale(int64_t, T, T*);                         \
  template void Rotate(int64_t, T*, T*, Real<T>, T);           \
  template void AddProduct(T, Block<T>, const T*, T*);         \
  template void AdjointProduct(Block<T>, const T*, T*);        \
  template void AddOuter(Block<T>, T, const T*, const T*);     \
  template void AddOuterPair(Block<T>, T, const T*, const T*); \
  template void SelfAdjointProduct(Block<T>, const T*, T*);    \
  template void Multiply(Block<T>, Into, Block<T>, bool, Block<T>, bool);
PENSTOCK_VECTOR_OPS(float)
PENSTOCK_VECTOR_OPS(double)
PENSTOCK_VECTOR_OPS(Complex64)
PENSTOCK_VECTOR_OPS(Complex128)
#undef PENSTOCK_VECTOR_OPS

namespace {
template <class T>
constexpr BlasLoops<T> kBlas = {&Scale<T>,
                                [](T a, T* m, int64_t rows, int64_t columns, int64_t stride, const T* x, T* y) {
                                  AddProduct<T>(a, {m, rows, columns, stride}, x, y);
                                },
                                [](T* m, int64_t rows, int64_t columns, int64_t stride, const T* x, T* y) {
                                  AdjointProduct<T>({m, rows, columns, stride}, x, y);
                                },
                                [](T* m, int64_t rows, int64_t columns, int64_t stride, T a, const T* x, const T* y) {
                                  AddOuter<T>({m, rows, columns, stride}, a, x, y);
                                }};
}  // namespace
}  // namespace penstock::linalg

namespace penstock::PENSTOCK_ISA {
const linalg::AllBlasLoops& BlasLoops() {
  static constexpr linalg::AllBlasLoops kLoops{linalg::kBlas<float>, linalg::kBlas<double>, linalg::kBlas<Complex128>};
  return kLoops;
}
}  // namespace penstock::PENSTOCK_ISA
