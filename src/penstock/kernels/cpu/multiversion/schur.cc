// Schur forms by QR iterations on a Hessenberg matrix, and the eigenvectors that are read off them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/kernels/cpu/multiversion/eigen.h"
#include "penstock/kernels/cpu/multiversion/householder.h"

namespace penstock::linalg {
namespace {

// A = Q H Q^H with zeros below H's first subdiagonal.
template <class T>
void ReduceToHessenberg(Columns<T>& a, bool vectors, Columns<T>& q) {
  const int64_t n = a.rows();
  std::vector<T> tau(std::max<int64_t>(0, n - 1));
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t rest = n - k - 1;
    T* const v = a.column(k) + k + 1;
    tau[k] = MakeReflection(rest, v);
    const T kept = v[0];
    v[0] = T(1);
    ReflectRows(a.block(k + 1, k + 1, rest, rest), Conj(tau[k]), v);
    ReflectColumns(a.block(0, k + 1, n, rest), tau[k], v);
    v[0] = kept;
  }
  if (vectors) {
    q = Columns<T>::Identity(n, n);
    if (n > 1) MultiplyByQ(a.block(1, 0, n - 1, n - 1), tau, false, q.block(1, 1, n - 1, n - 1), true);
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 2; i < n; ++i) a(i, j) = T(0);
  }
}

// --- complex: single shifts

// Rotations G = [c, -conj(s); s, conj(c)] with a real c or s, so that G^H (x, y) = (length, 0).
template <class T>
struct ComplexRotation {
  T c, s;
  T length;

  ComplexRotation(T x, T y) {
    const Real<T> ax = std::abs(x), ay = std::abs(y);
    if (ay == 0) {
      c = x.real() < 0 ? T(-1) : T(1), s = T(0), length = c * x;
    } else if (ax == 0) {
      c = T(0), s = -y / ay, length = T(ay);
    } else {
      const Real<T> size = std::hypot(ax, ay), sign = x.real() < 0 ? -1 : 1;
      c = T(sign * ax / size);
      s = -sign * y * std::conj(x / ax) / size;
      length = sign * size * (x / ax);
    }
  }
  // Rows i and i + 1 of columns [first, end).
  void OnRows(Columns<T>& m, int64_t i, int64_t first, int64_t end) const {
    const Real<T> cosine = c.real();
    for (int64_t j = first; j < end; ++j) {
      T *const x = m.column(j) + i, *const y = x + 1;
      const T a = *x, b = *y;
      *x = cosine * a - std::conj(s) * b;
      *y = s * a + cosine * b;
    }
  }
  // Columns i and i + 1 of rows [first, end).
  void OnColumns(Columns<T>& m, int64_t i, int64_t first, int64_t end) const {
    Rotate(end - first, m.column(i) + first, m.column(i + 1) + first, c.real(), -s);
  }
};

template <class T>
T ComplexShift(const Columns<T>& t, int64_t last, int64_t steps) {
  using R = Real<T>;
  if ((steps == 10 || steps == 20) && last > 1) {  // an exceptional one
    return T(std::abs(t(last, last - 1).real()) + std::abs(t(last - 1, last - 2).real()));
  }
  // The eigenvalue of the last two rows that is nearer to their last element.
  T a = t(last - 1, last - 1), b = t(last - 1, last), c = t(last, last - 1), d = t(last, last);
  const R norm = AbsSum(a) + AbsSum(b) + AbsSum(c) + AbsSum(d);
  a /= norm, b /= norm, c /= norm, d /= norm;
  const T product = b * c, difference = a - d, root = std::sqrt(difference * difference + R(4) * product);
  const T determinant = a * d - product, trace = a + d;
  T first = (trace + root) / R(2), second = (trace - root) / R(2);
  if (AbsSum(first) > AbsSum(second)) {
    second = determinant / first;
  } else if (AbsSum(second) != 0) {
    first = determinant / second;
  }
  return norm * (AbsSum(first - d) < AbsSum(second - d) ? first : second);
}

template <class T>
bool Iterate(Columns<std::complex<T>>& t, bool vectors, Columns<std::complex<T>>& u) {
  using C = std::complex<T>;
  const int64_t n = t.rows();
  const auto negligible = [&](int64_t i) {
    if (AbsSum(t(i + 1, i)) > std::numeric_limits<T>::epsilon() * (AbsSum(t(i, i)) + AbsSum(t(i + 1, i + 1)))) {
      return false;
    }
    t(i + 1, i) = C(0);
    return true;
  };
  int64_t last = n - 1, steps = 0, total = 0;
  while (true) {
    while (last > 0 && negligible(last - 1)) --last, steps = 0;
    if (last <= 0) return true;
    if (++total > 30 * n) return false;
    int64_t first = last - 1;
    while (first > 0 && !negligible(first - 1)) --first;
    const C shift = ComplexShift(t, last, steps++);
    // Without vectors the rest of the matrix does not matter.
    const int64_t top = vectors ? 0 : first, end = vectors ? n : last + 1;
    for (int64_t i = first; i < last; ++i) {
      const ComplexRotation<C> g = i == first ? ComplexRotation<C>(t(i, i) - shift, t(i + 1, i))
                                              : ComplexRotation<C>(t(i, i - 1), t(i + 1, i - 1));
      if (i > first) t(i, i - 1) = g.length, t(i + 1, i - 1) = C(0);
      g.OnRows(t, i, i, end);
      g.OnColumns(t, i, top, std::min(i + 2, last) + 1);
      if (vectors) g.OnColumns(u, i, 0, n);
    }
  }
}

// --- real: Francis's double shifts (Golub and Van Loan, 7.5; EISPACK's hqr2)

template <class R>
class RealSchur {
 public:
  RealSchur(Columns<R>& t, bool vectors, Columns<R>& u) : t_(t), u_(u), vectors_(vectors), n_(t.rows()) {
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < std::min(n_, j + 2); ++i) norm_ += std::abs(t(i, j));
    }
  }

  bool Run() {
    if (norm_ == R(0)) return true;
    int64_t last = n_ - 1, steps = 0, total = 0;
    R shifted = 0;  // what exceptional shifts took from the diagonal
    while (last >= 0) {
      const int64_t first = FindSmall(last);
      if (first == last) {
        t_(last, last) += shifted;
        if (last > 0) t_(last, last - 1) = 0;
        --last, steps = 0;
      } else if (first == last - 1) {
        SplitTwo(last, shifted);
        last -= 2, steps = 0;
      } else {
        if (++total > 40 * n_) return false;
        DoubleStep(first, last, steps++, shifted);
      }
    }
    return true;
  }

 private:
  int64_t FindSmall(int64_t last) const {
    int64_t i = last;
    for (; i > 0; --i) {
      R size = std::abs(t_(i - 1, i - 1)) + std::abs(t_(i, i));
      const R least = std::max(size * std::numeric_limits<R>::epsilon(), std::numeric_limits<R>::min());
      if (std::abs(t_(i, i - 1)) <= least) break;
    }
    return i;
  }

  // The last two rows are done: with real eigenvalues they become triangular.
  void SplitTwo(int64_t i, R shifted) {
    const R half = R(0.5) * (t_(i - 1, i - 1) - t_(i, i));
    const R square = half * half + t_(i, i - 1) * t_(i - 1, i);
    t_(i, i) += shifted, t_(i - 1, i - 1) += shifted;
    if (square >= R(0)) {
      const R root = std::sqrt(square), x = half >= R(0) ? half + root : half - root, y = t_(i, i - 1);
      const R size = std::hypot(x, y), c = x / size, s = y / size;
      for (int64_t j = i - 1; j < n_; ++j) {
        R* const at = t_.column(j) + i - 1;
        const R a = at[0], b = at[1];
        at[0] = c * a + s * b, at[1] = c * b - s * a;
      }
      Rotate<R>(i + 1, t_.column(i - 1), t_.column(i), c, s);
      t_(i, i - 1) = 0;
      if (vectors_) Rotate<R>(n_, u_.column(i - 1), u_.column(i), c, s);
    }
    if (i > 1) t_(i - 1, i - 2) = 0;
  }

  void DoubleStep(int64_t first, int64_t last, int64_t steps, R& shifted) {
    R x = t_(last, last), y = t_(last - 1, last - 1), w = t_(last, last - 1) * t_(last - 1, last);
    const auto take = [&](R shift) {
      shifted += shift;
      for (int64_t i = 0; i <= last; ++i) t_(i, i) -= shift;
    };
    if (steps > 0 && steps % 20 == 10) {  // Wilkinson's exceptional shift
      take(x);
      const R s = std::abs(t_(last, last - 1)) + std::abs(t_(last - 1, last - 2));
      x = y = R(0.75) * s, w = R(-0.4375) * s * s;
    } else if (steps > 0 && steps % 20 == 0) {  // MATLAB's
      R s = (y - x) / 2;
      s = s * s + w;
      if (s > R(0)) {
        s = y < x ? -std::sqrt(s) : std::sqrt(s);
        s = x - w / ((y - x) / 2 + s);
        take(s);
        x = y = w = R(0.964);
      }
    }
    // The step may begin where two subsequent elements below the diagonal are small.
    int64_t m = last - 2;
    R v[3];
    for (;; --m) {
      const R z = t_(m, m), r = x - z, s = y - z;
      v[0] = (r * s - w) / t_(m + 1, m) + t_(m, m + 1);
      v[1] = t_(m + 1, m + 1) - z - r - s;
      v[2] = t_(m + 2, m + 1);
      if (m == first) break;
      const R size = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
      const R left = std::abs(t_(m, m - 1)) * (std::abs(v[1]) + std::abs(v[2])) / size;
      const R right = std::abs(v[0]) * (std::abs(t_(m - 1, m - 1)) + std::abs(z) + std::abs(t_(m + 1, m + 1))) / size;
      if (left < std::numeric_limits<R>::epsilon() * right) break;
    }
    const int64_t top = vectors_ ? 0 : first, end = vectors_ ? n_ : last + 1;
    for (int64_t k = m; k < last; ++k) {
      const int64_t length = std::min<int64_t>(3, last - k + 1);
      if (k > m) {
        for (int64_t i = 0; i < 3; ++i) v[i] = i < length ? t_(k + i, k - 1) : R(0);
      }
      R reflection[3] = {v[0], v[1], length == 3 ? v[2] : R(0)};
      const R tau = MakeReflection(length, reflection);
      const R beta = reflection[0];
      reflection[0] = 1;
      if (k > m) {
        t_(k, k - 1) = beta;
        for (int64_t i = 1; i < length; ++i) t_(k + i, k - 1) = 0;
      } else if (k > first && tau != R(0)) {
        t_(k, k - 1) *= 1 - tau;
      }
      if (tau == R(0)) continue;
      const R v1 = reflection[1], v2 = length == 3 ? reflection[2] : R(0);
      for (int64_t j = k; j < end; ++j) {
        R* const at = t_.column(j) + k;
        if (length == 3) {
          const R sum = tau * (at[0] + v1 * at[1] + v2 * at[2]);
          at[0] -= sum, at[1] -= v1 * sum, at[2] -= v2 * sum;
        } else {
          const R sum = tau * (at[0] + v1 * at[1]);
          at[0] -= sum, at[1] -= v1 * sum;
        }
      }
      ReflectThree(t_, k, top, std::min(last, k + 3) + 1, length, tau, v1, v2);
      if (vectors_) ReflectThree(u_, k, 0, n_, length, tau, v1, v2);
    }
    for (int64_t i = m + 2; i <= last; ++i) t_(i, i - 2) = 0;
    for (int64_t i = m + 3; i <= last; ++i) t_(i, i - 3) = 0;
  }

  // Columns k to k + 2 (or k + 1) of rows [first, end).
  static void ReflectThree(Columns<R>& x, int64_t k, int64_t first, int64_t end, int64_t length, R tau, R v1, R v2) {
    R *const a = x.column(k), *const b = x.column(k + 1), *const c = length == 3 ? x.column(k + 2) : nullptr;
    if (c) {
#pragma GCC ivdep
      for (int64_t i = first; i < end; ++i) {
        const R sum = tau * (a[i] + v1 * b[i] + v2 * c[i]);
        a[i] -= sum, b[i] -= v1 * sum, c[i] -= v2 * sum;
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = first; i < end; ++i) {
        const R sum = tau * (a[i] + v1 * b[i]);
        a[i] -= sum, b[i] -= v1 * sum;
      }
    }
  }

  Columns<R>& t_;
  Columns<R>& u_;
  bool vectors_;
  int64_t n_;
  R norm_ = 0;
};

// Of all elements' moduli, within a factor.
template <class T>
Real<T> TotalSize(const Columns<T>& t) {
  Real<T> norm = 0;
  for (int64_t j = 0; j < t.columns(); ++j) {
    for (int64_t i = 0; i < std::min(t.rows(), j + 2); ++i) norm += AbsSum(t(i, j));
  }
  return norm;
}

// Solutions of (T - value) x = 0 with a triangular T of real numbers that may have blocks of two rows: `re` and `im`
// hold the right-hand side's first `count` elements, and become x.
template <class R>
void SolveShifted(const Columns<R>& t, int64_t count, std::complex<R> value, R least, R* re, R* im) {
  using C = std::complex<R>;
  const bool real = value.imag() == R(0);
  constexpr R kLarge = 1 / std::numeric_limits<R>::epsilon();
  const auto take = [&](int64_t i, C x, int64_t length) {
    re[i] = x.real();
    AddScaled(length, -x.real(), t.column(i), re);
    if (real) return;
    im[i] = x.imag();
    AddScaled(length, -x.imag(), t.column(i), im);
  };
  for (int64_t i = count - 1; i >= 0; --i) {
    const C b(re[i], real ? R(0) : im[i]);
    R size;
    if (i > 0 && t(i, i - 1) != R(0)) {
      const C above(re[i - 1], real ? R(0) : im[i - 1]);
      const C p = t(i - 1, i - 1) - value, q = t(i, i) - value;
      const R x = t(i - 1, i), y = t(i, i - 1);
      C determinant = p * q - x * y;
      if (determinant == C(0)) determinant = C(least * least);
      const C first = (above * q - x * b) / determinant, second = (p * b - y * above) / determinant;
      take(i, second, i - 1), take(i - 1, first, i - 1);
      size = std::max(AbsSum(first), AbsSum(second));
      --i;
    } else {
      C pivot = t(i, i) - value;
      if (pivot == C(0)) pivot = C(least);
      const C x = b / pivot;
      take(i, x, i);
      size = AbsSum(x);
    }
    if (size > kLarge) {  // keeps what follows from overflowing; the vector's length is no matter
      const int64_t all = t.rows();
      Scale(all, 1 / size, re);
      if (!real) Scale(all, 1 / size, im);
    }
  }
}

template <class T>
void Normalize(int64_t n, T* x) {
  const Real<T> norm = Norm(n, x);
  if (norm > 0) {
    for (int64_t i = 0; i < n; ++i) x[i] /= norm;
  }
}

template <class R>
void EigenOf(Columns<R>& t, Columns<R>& u, bool vectors, std::vector<std::complex<R>>& values,
             Columns<std::complex<R>>& eigenvectors) {
  using C = std::complex<R>;
  const int64_t n = t.rows();
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n && t(i + 1, i) != R(0)) {
      const R half = R(0.5) * (t(i, i) - t(i + 1, i + 1));
      // half^2 + the product of the others, which is negative, without overflow
      const R largest = std::max({std::abs(half), std::abs(t(i + 1, i)), std::abs(t(i, i + 1))});
      const R p = half / largest;
      const R im = largest * std::sqrt(std::abs(p * p + t(i + 1, i) / largest * (t(i, i + 1) / largest)));
      values[i] = C(t(i + 1, i + 1) + half, im), values[i + 1] = std::conj(values[i]);
      ++i;
    } else {
      values[i] = C(t(i, i), 0);
    }
  }
  if (!vectors) return;
  const R least = std::max(std::numeric_limits<R>::epsilon() * TotalSize(t), std::numeric_limits<R>::min());
  Columns<R> x(n, n), v(n, n);
  for (int64_t j = 0; j < n; ++j) {
    R* const re = x.column(j);
    if (values[j].imag() == R(0)) {
      re[j] = 1;
      for (int64_t i = 0; i < j; ++i) re[i] = -t(i, j);
      SolveShifted<R>(t, j, values[j], least, re, nullptr);
      continue;
    }
    // Of a pair, columns j and j + 1 hold the real and the imaginary part.
    R* const im = x.column(j + 1);
    const R above = t(j, j + 1), below = t(j + 1, j);
    const C second(0, 1);
    const C first = std::abs(below) > std::abs(above) ? second * (values[j] - t(j + 1, j + 1)) / below
                                                      : -above * second / (t(j, j) - values[j]);
    re[j] = first.real(), im[j] = first.imag(), re[j + 1] = second.real(), im[j + 1] = second.imag();
    for (int64_t i = 0; i < j; ++i) {
      const C b = -(t(i, j) * first + t(i, j + 1) * second);
      re[i] = b.real(), im[i] = b.imag();
    }
    SolveShifted<R>(t, j, values[j], least, re, im);
    ++j;
  }
  Multiply(v.block(), Into::kSet, u.block(), false, x.block(), false);
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = values[j].imag() != R(0);
    for (int64_t i = 0; i < n; ++i) eigenvectors(i, j) = C(v(i, j), pair ? v(i, j + 1) : R(0));
    Normalize(n, eigenvectors.column(j));
    if (!pair) continue;
    for (int64_t i = 0; i < n; ++i) eigenvectors(i, j + 1) = std::conj(eigenvectors(i, j));
    ++j;
  }
}

template <class R>
void EigenOf(Columns<std::complex<R>>& t, Columns<std::complex<R>>& u, bool vectors,
             std::vector<std::complex<R>>& values, Columns<std::complex<R>>& eigenvectors) {
  using C = std::complex<R>;
  const int64_t n = t.rows();
  for (int64_t i = 0; i < n; ++i) values[i] = t(i, i);
  if (!vectors) return;
  const R least = std::max(std::numeric_limits<R>::epsilon() * TotalSize(t), std::numeric_limits<R>::min());
  Columns<C> x(n, n);
  for (int64_t j = 0; j < n; ++j) {
    C* const to = x.column(j);
    to[j] = C(1);
    for (int64_t i = 0; i < j; ++i) to[i] = -t(i, j);
    for (int64_t i = j - 1; i >= 0; --i) {
      C pivot = t(i, i) - t(j, j);
      if (pivot == C(0)) pivot = C(least);
      to[i] /= pivot;
      AddScaled(i, -to[i], t.column(i), to);
      if (AbsSum(to[i]) > 1 / std::numeric_limits<R>::epsilon()) Scale(n, C(1 / AbsSum(to[i])), to);
    }
  }
  Multiply(eigenvectors.block(), Into::kSet, u.block(), false, x.block(), false);
  for (int64_t j = 0; j < n; ++j) Normalize(n, eigenvectors.column(j));
}

}  // namespace

template <class T>
bool Schur(Columns<T>& a, bool vectors, Columns<T>& u) {
  ReduceToHessenberg(a, vectors, u);
  if constexpr (kIsComplex<T>) {
    return Iterate(a, vectors, u);
  } else {
    return RealSchur<T>(a, vectors, u).Run();
  }
}

template <class T>
bool Eigen(Columns<T> a, bool vectors, std::vector<std::complex<Real<T>>>& values,
           Columns<std::complex<Real<T>>>& eigenvectors) {
  using C = std::complex<Real<T>>;
  const int64_t n = a.rows();
  Real<T> scale = 0;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) scale = std::max(scale, std::abs(a(i, j)));
  }
  values.assign(n, C(0));
  eigenvectors = Columns<C>::Identity(vectors ? n : 0, vectors ? n : 0);
  if (scale == Real<T>(0)) return true;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) a(i, j) /= scale;
  }
  Columns<T> u;
  if (!Schur(a, vectors, u)) return false;
  EigenOf(a, u, vectors, values, eigenvectors);
  for (C& value : values) value *= scale;
  return true;
}

template bool Schur(Columns<float>&, bool, Columns<float>&);
template bool Schur(Columns<double>&, bool, Columns<double>&);
template bool Schur(Columns<Complex128>&, bool, Columns<Complex128>&);
template bool Eigen(Columns<float>, bool, std::vector<Complex64>&, Columns<Complex64>&);
template bool Eigen(Columns<double>, bool, std::vector<Complex128>&, Columns<Complex128>&);
template bool Eigen(Columns<Complex128>, bool, std::vector<Complex128>&, Columns<Complex128>&);

}  // namespace penstock::linalg
