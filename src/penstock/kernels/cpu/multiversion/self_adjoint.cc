// Eigenvalues of self-adjoint matrices: Householder's reduction to a tridiagonal matrix, then the implicit QR iteration
// with Wilkinson's shift (Golub and Van Loan, 8.3).
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/kernels/cpu/multiversion/eigen.h"
#include "penstock/kernels/cpu/multiversion/householder.h"

namespace penstock::linalg {
namespace {

template <class R>
struct Rotation {
  int64_t column;  // this and the next one
  R c, s;
};

// c, s so that c x - s y is the length of (x, y) and s x + c y is 0.
template <class R>
Rotation<R> Givens(int64_t column, R x, R y) {
  if (y == R(0)) return {column, x < R(0) ? R(-1) : R(1), R(0)};
  if (x == R(0)) return {column, R(0), y < R(0) ? R(1) : R(-1)};
  if (std::abs(x) > std::abs(y)) {
    const R t = y / x, u = std::copysign(std::sqrt(1 + t * t), x);
    return {column, 1 / u, -t / u};
  }
  const R t = x / y, u = std::copysign(std::sqrt(1 + t * t), y);
  return {column, t / u, -1 / u};
}

// Rotations of columns, applied many at a time to some rows after the other, so that these stay in the cache.
template <class T>
class Rotations {
 public:
  explicit Rotations(Columns<T>* v) : v_(v) {}
  void Add(const Rotation<Real<T>>& rotation) {
    if (!v_) return;
    waiting_.push_back(rotation);
    if (static_cast<int64_t>(waiting_.size()) >= 16 * v_->columns()) Apply();
  }
  void Apply() {
    using R = Real<T>;
    constexpr int64_t kReals = sizeof(T) / sizeof(R), kRows = 64;
    if (!v_) return;
    const int64_t rows = v_->rows() * kReals;
    for (int64_t i = 0; i < rows; i += kRows) {
      for (const Rotation<R>& g : waiting_) {
        R* const x = reinterpret_cast<R*>(v_->column(g.column)) + i;
        Rotate<R>(std::min(kRows, rows - i), x, x + rows, g.c, -g.s);
      }
    }
    waiting_.clear();
  }

 private:
  Columns<T>* v_;
  std::vector<Rotation<Real<T>>> waiting_;
};

// One step on rows [first, last] of the tridiagonal matrix with the diagonal d and, beside it, e.
template <class R, class T>
void QrStep(std::vector<R>& d, std::vector<R>& e, int64_t first, int64_t last, Rotations<T>& rotations) {
  const R half = (d[last - 1] - d[last]) / 2, beside = e[last - 1];
  R shift = d[last];
  if (half == R(0)) {
    shift -= std::abs(beside);
  } else if (beside != R(0)) {
    const R sum = half + std::copysign(std::hypot(half, beside), half), square = beside * beside;
    shift -= square == R(0) ? beside / (sum / beside) : square / sum;
  }
  R x = d[first] - shift, z = e[first];
  for (int64_t k = first; k < last && z != R(0); ++k) {
    const Rotation<R> g = Givens(k, x, z);
    const R c = g.c, s = g.s;
    const R sd = s * d[k] + c * e[k], next = s * e[k] + c * d[k + 1];
    d[k] = c * (c * d[k] - s * e[k]) - s * (c * e[k] - s * d[k + 1]);
    d[k + 1] = s * sd + c * next;
    e[k] = c * sd - s * next;
    if (k > first) e[k - 1] = c * e[k - 1] - s * z;
    x = e[k];
    if (k < last - 1) {
      z = -s * e[k + 1];
      e[k + 1] *= c;
    }
    rotations.Add(g);
  }
}

template <class R, class T>
bool Diagonalize(std::vector<R>& d, std::vector<R>& e, Columns<T>* v) {
  constexpr R kInverseEpsilon = 1 / std::numeric_limits<R>::epsilon();
  const int64_t n = static_cast<int64_t>(d.size());
  Rotations<T> rotations(v);
  int64_t first = 0, last = n - 1, steps = 0;
  while (last > 0) {
    for (int64_t i = first; i < last; ++i) {
      const R scaled = kInverseEpsilon * e[i];
      if (std::abs(e[i]) < std::numeric_limits<R>::min() || scaled * scaled <= std::abs(d[i]) + std::abs(d[i + 1])) {
        e[i] = 0;
      }
    }
    while (last > 0 && e[last - 1] == R(0)) --last;
    if (last == 0) break;
    if (++steps > 30 * n) return false;
    first = last - 1;
    while (first > 0 && e[first - 1] != R(0)) --first;
    QrStep(d, e, first, last, rotations);
  }
  rotations.Apply();
  return true;
}

}  // namespace

template <class T>
bool SelfAdjointEigen(Columns<T>& a, bool vectors, std::vector<Real<T>>& values) {
  using R = Real<T>;
  const int64_t n = a.rows();
  R scale = 0;
  for (int64_t j = 0; j < n; ++j) {
    a(j, j) = T(std::real(a(j, j)));
    for (int64_t i = j; i < n; ++i) scale = std::max(scale, std::abs(a(i, j)));
  }
  if (scale == R(0)) scale = 1;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) a(i, j) /= scale;
  }
  std::vector<R> d(n), e(std::max<int64_t>(0, n - 1));
  std::vector<T> tau(e.size()), w(n);
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t rest = n - k - 1;
    T* const v = a.column(k) + k + 1;
    tau[k] = MakeReflection(rest, v);
    e[k] = std::real(v[0]);
    if (tau[k] != T(0)) {
      v[0] = T(1);
      const Block<T> below = a.block(k + 1, k + 1, rest, rest);
      SelfAdjointProduct(below, v, w.data());
      Scale(rest, tau[k], w.data());
      AddScaled(rest, R(-0.5) * tau[k] * Dot(rest, w.data(), v), v, w.data());
      AddOuterPair(below, T(-1), v, w.data());
      v[0] = T(e[k]);
    }
  }
  for (int64_t k = 0; k < n; ++k) d[k] = std::real(a(k, k));
  if (vectors) {
    Columns<T> v = Columns<T>::Identity(n, n);
    if (n > 1) MultiplyByQ(a.block(1, 0, n - 1, n - 1), tau, false, v.block(1, 1, n - 1, n - 1), true);
    a = std::move(v);
  }
  if (!Diagonalize(d, e, vectors ? &a : nullptr)) return false;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t least = std::min_element(d.begin() + i, d.end()) - d.begin();
    if (least == i) continue;
    std::swap(d[i], d[least]);
    if (vectors) std::swap_ranges(a.column(i), a.column(i) + n, a.column(least));
  }
  for (R& value : d) value *= scale;
  values = std::move(d);
  return true;
}

template bool SelfAdjointEigen(Columns<float>&, bool, std::vector<float>&);
template bool SelfAdjointEigen(Columns<double>&, bool, std::vector<double>&);
template bool SelfAdjointEigen(Columns<Complex128>&, bool, std::vector<double>&);

}  // namespace penstock::linalg
