// Singular values of small matrices by Jacobi's two-sided rotations, as TensorFlow computes them, so that the vectors'
// signs are the same; of others by LAPACK's divide and conquer.
#include "penstock/kernels/cpu/multiversion/svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "penstock/kernels/cpu/linalg/lapack.h"
#include "penstock/kernels/cpu/multiversion/householder.h"

namespace penstock::linalg {
namespace {

// Rows or columns p and q: (x, y) := (c x + s y, -conj(s) x + conj(c) y).
template <class T>
struct PlaneRotation {
  T c, s;
  void OnRows(Columns<T>& m, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < m.columns(); ++j) {
      const T x = m(p, j), y = m(q, j);
      m(p, j) = c * x + s * y, m(q, j) = Conj(c) * y - Conj(s) * x;
    }
  }
  void OnColumns(Columns<T>& m, int64_t p, int64_t q) const {
    T *const a = m.column(p), *const b = m.column(q);
    for (int64_t i = 0; i < m.rows(); ++i) {
      const T x = a[i], y = b[i];
      a[i] = c * x + s * y, b[i] = Conj(c) * y - Conj(s) * x;
    }
  }
};

template <class T>
class Jacobi {
  using R = Real<T>;

 public:
  Jacobi(Columns<T>& work, Columns<T>* u, Columns<T>* v) : w_(work), u_(u), v_(v) {}

  void Run() {
    const int64_t n = w_.columns();
    constexpr R kPrecision = 2 * std::numeric_limits<R>::epsilon();
    for (int64_t i = 0; i < n; ++i) largest_ = std::max(largest_, std::abs(w_(i, i)));
    for (bool finished = false; !finished;) {
      finished = true;
      for (int64_t p = 1; p < n; ++p) {
        for (int64_t q = 0; q < p; ++q) {
          const R threshold = std::max(kZero, kPrecision * largest_);
          if (std::abs(w_(p, q)) <= threshold && std::abs(w_(q, p)) <= threshold) continue;
          finished = false;
          if constexpr (kIsComplex<T>) {
            MakeReal(p, q);
            const R now = std::max(kZero, kPrecision * largest_);
            if (std::abs(w_(p, q)) <= now && std::abs(w_(q, p)) <= now) continue;
          }
          Diagonalize(p, q);
          largest_ = std::max({largest_, std::abs(w_(p, p)), std::abs(w_(q, q))});
        }
      }
    }
  }

 private:
  static constexpr R kZero = std::numeric_limits<R>::min();

  static void ScaleColumn(Columns<T>* m, int64_t j, T by) {
    if (m) Scale(m->rows(), by, m->column(j));
  }
  // Row i times the number of modulus 1 that makes `element` real.
  void TurnRow(int64_t i, T element) {
    if (std::abs(std::imag(element)) <= kZero) return;
    const T by = std::abs(element) / element;
    for (int64_t j = 0; j < w_.columns(); ++j) w_(i, j) *= by;
    ScaleColumn(u_, i, Conj(by));
  }

  // Makes the elements of rows and columns p and q real, with one zero.
  void MakeReal(int64_t p, int64_t q) {
    const R n = std::hypot(std::abs(w_(p, p)), std::abs(w_(q, p)));
    if (n == 0) {
      w_(p, p) = w_(q, p) = T(0);
      TurnRow(p, w_(p, q));
    } else {
      const PlaneRotation<T> g{Conj(w_(p, p)) / n, Conj(w_(q, p)) / n};
      g.OnRows(w_, p, q);
      if (u_) PlaneRotation<T>{Conj(g.c), Conj(g.s)}.OnColumns(*u_, p, q);
      if (std::abs(std::imag(w_(p, q))) > kZero) {
        const T by = std::abs(w_(p, q)) / w_(p, q);
        ScaleColumn(&w_, q, by);
        ScaleColumn(v_, q, by);
      }
    }
    TurnRow(q, w_(q, q));
    largest_ = std::max({largest_, std::abs(w_(p, p)), std::abs(w_(q, q))});
  }

  // A rotation from the left makes the two rows and columns symmetric, one from both sides diagonal.
  void Diagonalize(int64_t p, int64_t q) {
    R a = std::real(w_(p, p)), b = std::real(w_(p, q)), c = std::real(w_(q, p)), d = std::real(w_(q, q));
    const R trace = a + d, skew = c - b;
    R c1 = 1, s1 = 0;
    if (std::abs(skew) >= kZero) {
      const R u = trace / skew, root = std::sqrt(1 + u * u);
      s1 = 1 / root, c1 = u / root;
    }
    const R x = c1 * a + s1 * c, y = c1 * b + s1 * d, z = c1 * d - s1 * b;
    // [x, y; y, z] = J D J^T
    R c2 = 1, s2 = 0;
    const R twice = 2 * std::abs(y);
    if (twice >= kZero) {
      const R tau = (x - z) / twice, w = std::sqrt(tau * tau + 1);
      const R t = tau > 0 ? 1 / (tau + w) : 1 / (tau - w);
      c2 = 1 / std::sqrt(t * t + 1);
      s2 = -(t > 0 ? R(1) : R(-1)) * (y / std::abs(y)) * std::abs(t) * c2;
    }
    // left = first times the transpose of right
    const R cl = c1 * c2 - s1 * -s2, sl = c1 * -s2 + s1 * c2;
    const PlaneRotation<T> left{T(cl), T(sl)}, right{T(c2), T(-s2)};
    left.OnRows(w_, p, q);
    if (u_) left.OnColumns(*u_, p, q);
    right.OnColumns(w_, p, q);
    if (v_) right.OnColumns(*v_, p, q);
  }

  Columns<T>& w_;
  Columns<T>*u_, *v_;
  R largest_ = 0;
};

template <class T>
Singular<T> ByJacobi(Columns<T> a, SingularVectors vectors) {
  using R = Real<T>;
  const int64_t m = a.rows(), n = a.columns(), p = std::min(m, n);
  const bool want = vectors != SingularVectors::kNone, full = vectors == SingularVectors::kFull;
  R scale = 0;
  for (int64_t i = 0; i < m * n; ++i) scale = std::max(scale, std::abs(a.data()[i]));
  if (scale == R(0)) scale = 1;
  Singular<T> made;
  Columns<T> work(p, p);
  if (want) {
    made.u = Columns<T>::Identity(m, full ? m : p);
    made.v = Columns<T>::Identity(n, full ? n : p);
  }
  if (m == n) {
    for (int64_t i = 0; i < m * n; ++i) work.data()[i] = a.data()[i] / scale;
  } else {
    // The QR decomposition of A, or of its adjoint, leaves a square matrix.
    const bool tall = m > n;
    Columns<T> factors(tall ? m : n, p);
    for (int64_t j = 0; j < p; ++j) {
      for (int64_t i = 0; i < factors.rows(); ++i) factors(i, j) = (tall ? a(i, j) : Conj(a(j, i))) / scale;
    }
    const PivotedQr<T> qr(factors.block());
    for (int64_t j = 0; j < p; ++j) {
      for (int64_t i = 0; i <= j; ++i) (tall ? work(i, j) : work(j, i)) = tall ? factors(i, j) : Conj(factors(i, j));
    }
    if (want) {
      MultiplyByQ(factors.block(), qr.tau, false, (tall ? made.u : made.v).block());
      Columns<T>& other = tall ? made.v : made.u;
      std::fill_n(other.data(), p * p, T(0));
      for (int64_t j = 0; j < p; ++j) other(qr.order[j], j) = T(1);
    }
  }
  Jacobi<T>(work, want ? &made.u : nullptr, want ? &made.v : nullptr).Run();
  made.values.resize(p);
  for (int64_t i = 0; i < p; ++i) {
    const T element = work(i, i);
    const R size = std::abs(element);
    made.values[i] = size * scale;
    if (!want || size == R(0)) continue;
    const T by = element / size;
    if (by != T(1)) Scale(m, by, made.u.column(i));
  }
  for (int64_t i = 0; i < p; ++i) {
    const int64_t best = std::max_element(made.values.begin() + i, made.values.end()) - made.values.begin();
    if (best == i) continue;
    std::swap(made.values[i], made.values[best]);
    if (!want) continue;
    std::swap_ranges(made.u.column(i), made.u.column(i) + m, made.u.column(best));
    std::swap_ranges(made.v.column(i), made.v.column(i) + n, made.v.column(best));
  }
  return made;
}

template <class T>
Singular<T> ByLapack(Columns<T> a, SingularVectors vectors) {
  const int64_t m = a.rows(), n = a.columns(), p = std::min(m, n);
  const bool want = vectors != SingularVectors::kNone, full = vectors == SingularVectors::kFull;
  Singular<T> made;
  made.values.resize(p);
  Columns<T> adjoint;  // of v
  if (want) {
    made.u = Columns<T>(m, full ? m : p);
    adjoint = Columns<T>(full ? n : p, n);
  }
  LapackGesdd(want ? full ? 'A' : 'S' : 'N', m, n, a.data(), made.values.data(), made.u.data(), adjoint.data(),
              adjoint.rows());
  if (want) {
    made.v = Columns<T>(n, adjoint.rows());
    for (int64_t j = 0; j < made.v.columns(); ++j) {
      for (int64_t i = 0; i < n; ++i) made.v(i, j) = Conj(adjoint(j, i));
    }
  }
  return made;
}

}  // namespace

template <class T>
Singular<T> SingularValues(Columns<T> a, SingularVectors vectors) {
  return std::min(a.rows(), a.columns()) < 16 ? ByJacobi(std::move(a), vectors) : ByLapack(std::move(a), vectors);
}

template Singular<float> SingularValues(Columns<float>, SingularVectors);
template Singular<double> SingularValues(Columns<double>, SingularVectors);
template Singular<Complex128> SingularValues(Columns<Complex128>, SingularVectors);

}  // namespace penstock::linalg
