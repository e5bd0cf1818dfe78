#include "penstock/kernels/cpu/multiversion/householder.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace penstock::linalg {
namespace {

constexpr int64_t kPanel = 32;  // reflections that are applied together

// The vectors of the reflections of columns [first, first + count) with their ones and zeros, and the triangular T of
// their product I - V T V^H.
template <class T>
struct Reflections {
  Columns<T> v, t;

  Reflections(Block<T> factors, const T* tau, int64_t first, int64_t count)
      : v(factors.rows - first, count), t(count, count) {
    for (int64_t j = 0; j < count; ++j) {
      v(j, j) = T(1);
      std::copy(factors.column(first + j) + first + j + 1, factors.column(first + j) + factors.rows,
                v.column(j) + j + 1);
      const T own = tau[first + j];
      std::vector<T> along(j);
      const int64_t rest = v.rows() - j;
      if (j > 0) AdjointProduct(v.block(j, 0, rest, j), v.column(j) + j, along.data());
      for (int64_t i = 0; i < j; ++i) {
        T sum(0);
        for (int64_t k = i; k < j; ++k) sum += t(i, k) * along[k];
        t(i, j) = -own * sum;
      }
      t(j, j) = own;
    }
  }

  // C := (I - V T V^H) C, or its adjoint.
  void Apply(bool adjoint, Block<T> c) {
    Columns<T> along(t.rows(), c.columns), scaled(t.rows(), c.columns);
    Multiply(along.block(), Into::kSet, v.block(), true, c, false);
    Multiply(scaled.block(), Into::kSet, t.block(), adjoint, along.block(), false);
    Multiply(c, Into::kSubtract, v.block(), false, scaled.block(), false);
  }
};

// A reflection whose vector is stored in `column` below the pivot; the pivot entry holds another number.
template <class T, class F>
void WithOne(T* place, const F& fn) {
  const T kept = *place;
  *place = T(1);
  fn(place);
  *place = kept;
}

}  // namespace

template <class T>
T MakeReflection(int64_t n, T* x) {
  using R = Real<T>;
  const R rest = n > 1 ? Norm(n - 1, x + 1) : R(0);
  const R re = std::real(x[0]), im = std::imag(x[0]);
  constexpr R kTiny = std::numeric_limits<R>::min();
  if (rest * rest <= kTiny && im * im <= kTiny) {
    x[0] = T(re);
    if (n > 1) std::fill_n(x + 1, n - 1, T(0));
    return T(0);
  }
  const R size = Norm<R>(3, std::data({rest, re, im}));
  const R beta = re >= R(0) ? -size : size;
  Scale(n - 1, T(1) / (x[0] - beta), x + 1);
  const T tau = (beta - x[0]) / beta;
  x[0] = T(beta);
  return tau;
}

template <class T>
void ReflectRows(Block<T> m, T tau, const T* v) {
  if (tau == T(0)) return;
  for (int64_t j = 0; j < m.columns; ++j) AddScaled(m.rows, -tau * Dot(m.rows, v, m.column(j)), v, m.column(j));
}

template <class T>
void ReflectColumns(Block<T> m, T tau, const T* v) {
  if (tau == T(0)) return;
  std::vector<T> along(m.rows);
  AddProduct(T(1), m, v, along.data());
  AddOuter(m, -tau, along.data(), v);
}

template <class T>
std::vector<T> QrFactor(Block<T> a) {
  const int64_t p = std::min(a.rows, a.columns);
  std::vector<T> tau(p);
  for (int64_t first = 0; first < p; first += kPanel) {
    // The last panels are not worth a product.
    const int64_t end = p - first <= 3 * kPanel / 2 ? p : first + kPanel;
    for (int64_t k = first; k < end; ++k) {
      T* const x = a.column(k) + k;
      tau[k] = MakeReflection(a.rows - k, x);
      const int64_t last = end == p ? a.columns : end;
      WithOne(x, [&](const T* v) { ReflectRows(a.Part(k, k + 1, a.rows - k, last - k - 1), Conj(tau[k]), v); });
    }
    if (end == p) break;
    Reflections<T>(a, tau.data(), first, end - first).Apply(true, a.Part(first, end, a.rows - first, a.columns - end));
  }
  return tau;
}

template <class T>
void MultiplyByQ(Block<T> factors, const std::vector<T>& tau, bool adjoint, Block<T> c, bool identity) {
  const int64_t p = static_cast<int64_t>(tau.size());
  const auto part = [&](int64_t k) {
    const int64_t from = identity ? k : 0;
    return c.Part(k, from, c.rows - k, c.columns - from);
  };
  if (p <= kPanel || c.columns < 8) {
    for (int64_t step = 0; step < p; ++step) {
      const int64_t k = adjoint ? step : p - 1 - step;
      WithOne(factors.column(k) + k, [&](const T* v) { ReflectRows(part(k), adjoint ? Conj(tau[k]) : tau[k], v); });
    }
    return;
  }
  const int64_t panels = (p + kPanel - 1) / kPanel;
  for (int64_t step = 0; step < panels; ++step) {
    const int64_t first = (adjoint ? step : panels - 1 - step) * kPanel;
    Reflections<T>(factors, tau.data(), first, std::min(kPanel, p - first)).Apply(adjoint, part(first));
  }
}

template <class T>
PivotedQr<T>::PivotedQr(Block<T> a) : order(a.columns) {
  using R = Real<T>;
  constexpr R kEpsilon = std::numeric_limits<R>::epsilon();
  const int64_t m = a.rows, n = a.columns, p = std::min(m, n);
  tau.resize(p);
  std::iota(order.begin(), order.end(), 0);
  std::vector<R> now(n), computed(n);  // the columns' norms: updated, and as last computed
  for (int64_t j = 0; j < n; ++j) now[j] = computed[j] = Norm(m, a.column(j));
  const R longest = *std::max_element(now.begin(), now.end());
  const R negligible = (longest * kEpsilon) * (longest * kEpsilon) / static_cast<R>(m);
  int64_t nonzero = p;
  R largest = 0;
  for (int64_t k = 0; k < p; ++k) {
    const int64_t best = std::max_element(now.begin() + k, now.end()) - now.begin();
    if (nonzero == p && now[best] * now[best] < negligible * static_cast<R>(m - k)) nonzero = k;
    if (best != k) {
      std::swap_ranges(a.column(k), a.column(k) + m, a.column(best));
      std::swap(now[k], now[best]), std::swap(computed[k], computed[best]), std::swap(order[k], order[best]);
    }
    T* const x = a.column(k) + k;
    tau[k] = MakeReflection(m - k, x);
    largest = std::max(largest, std::abs(std::real(*x)));
    WithOne(x, [&](const T* v) { ReflectRows(a.Part(k, k + 1, m - k, n - k - 1), Conj(tau[k]), v); });
    for (int64_t j = k + 1; j < n; ++j) {
      if (now[j] == R(0)) continue;
      const R ratio = std::abs(a(k, j)) / now[j], left = std::max(R(0), (1 + ratio) * (1 - ratio));
      const R trust = left * (now[j] / computed[j]) * (now[j] / computed[j]);
      if (trust <= std::sqrt(kEpsilon)) {  // too much of it has cancelled
        now[j] = computed[j] = Norm(m - k - 1, a.column(j) + k + 1);
      } else {
        now[j] *= std::sqrt(left);
      }
    }
  }
  for (int64_t i = 0; i < nonzero; ++i) rank += std::abs(a(i, i)) > largest * kEpsilon * static_cast<R>(p);
}

#define PENSTOCK_HOUSEHOLDER(T)                                                     \
  template T MakeReflection(int64_t, T*);                                           \
  template void ReflectRows(Block<T>, T, const T*);                                 \
  template void ReflectColumns(Block<T>, T, const T*);                              \
  template std::vector<T> QrFactor(Block<T>);                                       \
  template void MultiplyByQ(Block<T>, const std::vector<T>&, bool, Block<T>, bool); \
  template struct PivotedQr<T>;
PENSTOCK_HOUSEHOLDER(float)
PENSTOCK_HOUSEHOLDER(double)
PENSTOCK_HOUSEHOLDER(Complex128)
#undef PENSTOCK_HOUSEHOLDER

}  // namespace penstock::linalg
