// Square roots, exponentials and logarithms of matrices. Functions of a matrix commute with transposing it.
#include <cmath>

#include "penstock/base/denormals.h"
#include "penstock/kernels/cpu/multiversion/eigen.h"
#include "penstock/kernels/cpu/multiversion/linalg.h"
#include "penstock/kernels/cpu/multiversion/linalg_solve.h"

namespace penstock::linalg {
namespace {

template <class W>
Columns<W> Product(Columns<W>& a, Columns<W>& b) {
  Columns<W> c(a.rows(), b.columns());
  Multiply(c.block(), Into::kSet, a.block(), false, b.block(), false);
  return c;
}
template <class W>
void AddTo(Columns<W>& to, Real<W> factor, const Columns<W>& x) {
  AddScaled(x.rows() * x.columns(), W(factor), x.data(), to.data());
}
template <class W>
void AddToDiagonal(Columns<W>& to, Real<W> value) {
  for (int64_t i = 0; i < to.rows(); ++i) to(i, i) += W(value);
}
template <class W>
Real<W> OneNorm(const Columns<W>& x) {
  Real<W> largest = 0;
  for (int64_t j = 0; j < x.columns(); ++j) {
    Real<W> sum = 0;
    for (int64_t i = 0; i < x.rows(); ++i) sum += std::abs(x(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}
// a^-1 b
template <class W>
Columns<W> Quotient(Columns<W>& a, Columns<W>& b) {
  // By rows both are transposed; what is wanted of a commutes with b.
  const int64_t n = a.rows();
  LuFactors<W> lu(Rows<const W>{a.data(), n, n, n});
  Columns<W> x(n, n);
  lu.Solve(Rows<const W>{b.data(), n, n, n}, Rows<W>{x.data(), n, n, n});
  return x;
}

// Higham's scaling and squaring (SIAM J. Matrix Anal. Appl. 26, 2005): the Pade approximant of the least degree that is
// exact to double precision.
template <class W>
Columns<W> Exponential(Columns<W> a) {
  using R = Real<W>;
  static constexpr R kCoefficients[5][14] = {
      {120, 60, 12, 1},
      {30240, 15120, 3360, 420, 30, 1},
      {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1},
      {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1},
      {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
       670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}};
  static constexpr R kBounds[] = {1.495585217958292e-2, 2.539398330063230e-1, 9.504178996162932e-1, 2.097847961257068e0,
                                  5.371920351148152e0};
  const int64_t n = a.rows();
  const R norm = OneNorm(a);
  int which = 0, squarings = 0;
  while (which < 4 && norm > kBounds[which]) ++which;
  if (norm > kBounds[4]) {
    std::frexp(norm / kBounds[4], &squarings);
    Scale(n * n, W(std::ldexp(R(1), -squarings)), a.data());
  }
  const R* const b = kCoefficients[which];
  const int degree = which < 4 ? 2 * which + 3 : 13;
  Columns<W> odd(n, n), even(n, n);  // odd is multiplied by A in the end
  Columns<W> square = Product(a, a);
  if (degree < 13) {
    AddToDiagonal(odd, b[1]), AddToDiagonal(even, b[0]);
    Columns<W> power = square;
    for (int k = 2; k < degree; k += 2) {
      AddTo(even, b[k], power), AddTo(odd, b[k + 1], power);
      if (k + 2 < degree) power = Product(power, square);
    }
  } else {
    Columns<W> fourth = Product(square, square), sixth = Product(fourth, square);
    const auto sum = [&](int k) {  // b[k + 2] A^2 + b[k + 4] A^4 + b[k + 6] A^6
      Columns<W> made(n, n);
      AddTo(made, b[k + 2], square), AddTo(made, b[k + 4], fourth), AddTo(made, b[k + 6], sixth);
      return made;
    };
    Columns<W> high_odd = sum(7), high_even = sum(6);
    odd = Product(sixth, high_odd), even = Product(sixth, high_even);
    AddTo(odd, R(1), sum(1)), AddTo(even, R(1), sum(0));
    AddToDiagonal(odd, b[1]), AddToDiagonal(even, b[0]);
  }
  odd = Product(a, odd);
  Columns<W> numerator = even, denominator = even;
  AddTo(numerator, R(1), odd), AddTo(denominator, R(-1), odd);
  Columns<W> result = Quotient(denominator, numerator);
  for (; squarings > 0; --squarings) result = Product(result, result);
  return result;
}

// The root of the triangular T of a Schur form, column by column (Bjorck and Hammarling); of real numbers, T may have
// blocks of two rows (Higham 1987).
template <class W>
Columns<W> TriangularRoot(const Columns<W>& t) {
  using R = Real<W>;
  const int64_t n = t.rows();
  Columns<W> root(n, n);
  std::vector<int64_t> begins;  // of the blocks
  for (int64_t i = 0; i < n; i += i + 1 < n && t(i + 1, i) != W(0) ? 2 : 1) begins.push_back(i);
  begins.push_back(n);
  const int64_t blocks = static_cast<int64_t>(begins.size()) - 1;
  std::vector<W> rows(n * n);  // the root by rows, for dot products along both
  const auto set = [&](int64_t i, int64_t j, W value) { root(i, j) = value, rows[i * n + j] = Conj(value); };
  for (int64_t at = 0; at < blocks; ++at) {
    const int64_t j = begins[at], wide = begins[at + 1] - j;
    if (wide == 1) {
      set(j, j, std::sqrt(t(j, j)));
    } else {
      // (B + sqrt(det B)) / sqrt(trace B + 2 sqrt(det B)), by the eigenvalues' root a + ib
      const R mean = R(0.5) * (std::real(t(j, j)) + std::real(t(j + 1, j + 1)));
      const R half = R(0.5) * (std::real(t(j, j)) - std::real(t(j + 1, j + 1)));
      const R im = std::sqrt(std::max(R(0), -(half * half + std::real(t(j + 1, j)) * std::real(t(j, j + 1)))));
      const std::complex<R> value = std::sqrt(std::complex<R>(mean, im));
      const R a = value.real();
      for (int64_t r = 0; r < 2; ++r) {
        for (int64_t c = 0; c < 2; ++c) {
          const W centred = t(j + r, j + c) - (r == c ? W(mean) : W(0));
          set(j + r, j + c, (r == c ? W(a) : W(0)) + centred / (2 * a));
        }
      }
    }
    for (int64_t above = at - 1; above >= 0; --above) {
      const int64_t i = begins[above], high = begins[above + 1] - i, inner = i + high;
      W b[2][2];
      for (int64_t r = 0; r < high; ++r) {
        for (int64_t c = 0; c < wide; ++c) {
          b[r][c] = t(i + r, j + c) - Dot(j - inner, &rows[(i + r) * n + inner], root.column(j + c) + inner);
        }
      }
      // X with P X + X Q = b, where P and Q are the root's blocks on the diagonal
      if (high == 1 && wide == 1) {
        const W sum = root(i, i) + root(j, j);
        set(i, j, sum == W(0) ? (b[0][0] == W(0) ? W(0) : b[0][0] / sum) : b[0][0] / sum);
        continue;
      }
      const int64_t size = high * wide;
      std::vector<W> system(size * size), x(size), rhs(size);
      for (int64_t r = 0; r < high; ++r) {
        for (int64_t c = 0; c < wide; ++c) {
          W* const row = &system[(r * wide + c) * size];
          for (int64_t k = 0; k < high; ++k) row[k * wide + c] += root(i + r, i + k);
          for (int64_t k = 0; k < wide; ++k) row[r * wide + k] += root(j + k, j + c);
          rhs[r * wide + c] = b[r][c];
        }
      }
      LuFactors<W>(Rows<const W>{system.data(), size, size, size})
          .Solve({rhs.data(), size, 1, 1}, {x.data(), size, 1, 1});
      for (int64_t r = 0; r < high; ++r) {
        for (int64_t c = 0; c < wide; ++c) set(i + r, j + c, x[r * wide + c]);
      }
    }
  }
  return root;
}

// U T U^H
template <class W>
Columns<W> FromSchur(Columns<W>& u, Columns<W>& t) {
  Columns<W> left = Product(u, t), result(u.rows(), u.rows());
  Multiply(result.block(), Into::kSet, left.block(), false, u.block(), true);
  return result;
}

template <class W>
Columns<W> NotANumber(int64_t n) {
  Columns<W> made(n, n);
  std::fill_n(made.data(), n * n, kNaN<W>);
  return made;
}

template <class W>
Columns<W> Root(Columns<W> x) {
  Columns<W> u;
  if (!Schur(x, true, u)) return NotANumber<W>(x.rows());
  Columns<W> root = TriangularRoot(x);
  return FromSchur(u, root);
}

// Nodes on [0, 1] and weights of the Gauss-Legendre rule with `count` points, by Newton's iteration.
template <class R>
void GaussLegendre(int count, std::vector<R>& nodes, std::vector<R>& weights) {
  nodes.resize(count), weights.resize(count);
  for (int i = 0; i < count; ++i) {
    R x = std::cos(R(3.141592653589793) * (i + R(0.75)) / (count + R(0.5))), slope = 1;
    for (int step = 0; step < 20; ++step) {
      R last = 1, now = x;
      for (int k = 2; k <= count; ++k) {
        const R next = ((2 * k - 1) * x * now - (k - 1) * last) / k;
        last = now, now = next;
      }
      if (count == 1) last = 1;
      slope = count * (x * now - last) / (x * x - 1);
      const R change = now / slope;
      x -= change;
      if (std::abs(change) < R(1e-16)) break;
    }
    nodes[i] = (1 + x) / 2;
    weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
}

// The logarithm by inverse scaling and squaring (Higham, Functions of Matrices, 11.5): square roots of the triangular
// T until it is near to I, then the Pade approximant of log(I + X), which is a sum of X (I + node X)^-1.
template <class W>
Columns<W> Logarithm(Columns<W> x) {
  using R = Real<W>;
  static constexpr R kBounds[] = {1.6206284795015669e-2, 5.3873532631381268e-2, 1.1352802267628663e-1,
                                  1.8662860613541296e-1, 2.642960831111435e-1};  // for the degrees 3 to 7
  const int64_t n = x.rows();
  Columns<W> u;
  if (!Schur(x, true, u)) return NotANumber<W>(n);
  for (int64_t i = 0; i < n; ++i) {
    if (x(i, i) == W(0)) return NotANumber<W>(n);  // singular
  }
  const Columns<W> t = x;
  int roots = 0, degree = 3;
  for (int extra = 0;; ++roots) {
    Columns<W> difference = x;
    AddToDiagonal(difference, R(-1));
    const R norm = OneNorm(difference);
    const auto least = [&](R size) {
      int d = 0;
      while (d < 4 && size > kBounds[d]) ++d;
      return d + 3;
    };
    if (norm < kBounds[4]) {
      degree = least(norm);
      // A further root is worth it if it saves more than one degree.
      if (degree - least(norm / 2) <= 1 || ++extra == 2) break;
    }
    if (!std::isfinite(norm) || roots > 100) return NotANumber<W>(n);
    x = TriangularRoot(x);
  }
  AddToDiagonal(x, R(-1));
  std::vector<R> nodes, weights;
  GaussLegendre(degree, nodes, weights);
  Columns<W> sum(n, n);
  for (int k = 0; k < degree; ++k) {
    // (I + node X) Y = weight X, column by column
    for (int64_t j = 0; j < n; ++j) {
      std::vector<W> y(x.column(j), x.column(j) + j + 1);
      for (int64_t i = j; i >= 0; --i) {
        y[i] /= W(1) + nodes[k] * x(i, i);
        AddScaled(i, -nodes[k] * y[i], x.column(i), y.data());
      }
      AddScaled(j + 1, W(weights[k]), y.data(), sum.column(j));
    }
  }
  Scale(n * n, W(std::ldexp(R(1), roots)), sum.data());
  // The diagonal is known better.
  for (int64_t i = 0; i < n; ++i) sum(i, i) = std::log(t(i, i));
  return FromSchur(u, sum);
}

template <class T>
void Apply(KernelContext& k, Columns<DoublePrecision<T>> (*function)(Columns<DoublePrecision<T>>)) {
  const Batch in = Batch::Square(k.shape(0));
  const T* x = k.in<T>(0).data();
  T* y = k.out<T>(0, k.shape(0)).data();
  if (in.size() == 0) return;
  ForEach(k, in.count, Cube(in.rows) * 30, [&](int64_t i) {
    const Rows<T> out = RowsAt(y, i, in.rows, in.rows);
    if (!AllFinite(in.At(x, i))) return Fill(out, kNaN<T>);  // iterations might not end
    const ScopedDenormals denormals(ScopedDenormals::kKeep);
    CopyTo(out, function(ToColumns<DoublePrecision<T>>(in.At(x, i))));
  });
}

template <class T>
struct MatrixSquareRoot {
  void operator()(KernelContext& k) const { Apply<T>(k, Root<DoublePrecision<T>>); }
};
template <class T>
struct MatrixExponential {
  void operator()(KernelContext& k) const { Apply<T>(k, Exponential<DoublePrecision<T>>); }
};
template <class T>
struct MatrixLogarithm {
  void operator()(KernelContext& k) const { Apply<T>(k, Logarithm<DoublePrecision<T>>); }
};

}  // namespace

void RegisterMatrixFunctionKernels(KernelRegistry& kernels) {
  kernels.Add<MatrixSquareRoot>("MatrixSquareRoot", MatrixTypes{});
  kernels.Add<MatrixExponential>("MatrixExponential", MatrixTypes{});
  kernels.Add<MatrixLogarithm>("MatrixLogarithm", Complexes{});
}

}  // namespace penstock::linalg
