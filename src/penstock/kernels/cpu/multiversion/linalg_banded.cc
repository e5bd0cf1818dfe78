// Matrices that are given by their diagonals.
#include "penstock/base/behavior.h"
#include "penstock/kernels/cpu/multiversion/linalg.h"

namespace penstock::linalg {
namespace {

template <class T>
void Divide(int64_t n, T* x, T by) {
  for (int64_t j = 0; j < n; ++j) x[j] /= by;
}

// One tridiagonal system. `diagonals` has the one above, the main and the one below as rows; row i of the matrix holds
// their elements i.
template <class T>
class Tridiagonal {
 public:
  Tridiagonal(const Rows<const T>& diagonals, const Rows<const T>& rhs, Rows<T> x)
      : d_(diagonals), rhs_(rhs), x_(x), n_(diagonals.columns), width_(x.columns) {}

  // The reason why there is no solution, if there is none.
  const char* Solve(bool pivoting) {
    if (n_ > 1) return pivoting ? SolveWithPivoting() : SolveWithout();
    if (d_(1, 0) == T(0)) return "The matrix is not invertible: it is a scalar with value zero.";
    Copy(0);
    Divide(width_, x_.row(0), d_(1, 0));
    return nullptr;
  }

 private:
  void Copy(int64_t i) { std::copy_n(rhs_.row(i), width_, x_.row(i)); }
  // Elimination with exchange of neighbouring rows, which adds a second diagonal above the main one.
  const char* SolveWithPivoting() {
    static constexpr char kMessage[] = "The matrix is not invertible.";
    std::vector<T> main(n_), first(n_, T(0)), second(n_, T(0));
    main[0] = d_(1, 0), first[0] = d_(0, 0);
    Copy(0);
    for (int64_t i = 0; i + 1 < n_; ++i) {
      const T below = d_(2, i + 1), above = i + 2 < n_ ? d_(0, i + 1) : T(0);
      if (std::abs(main[i]) >= std::abs(below)) {
        if (main[i] == T(0)) return kMessage;
        const T factor = below / main[i];
        main[i + 1] = d_(1, i + 1) - factor * first[i];
        first[i + 1] = above;
        Copy(i + 1);
        AddScaled(width_, -factor, x_.row(i), x_.row(i + 1));
      } else {
        const T factor = main[i] / below;
        main[i] = below;
        main[i + 1] = first[i] - factor * d_(1, i + 1);
        first[i] = d_(1, i + 1), second[i] = above;
        first[i + 1] = -factor * above;
        std::copy_n(x_.row(i), width_, x_.row(i + 1));
        AddScaled(width_, -factor, rhs_.row(i + 1), x_.row(i + 1));
        std::copy_n(rhs_.row(i + 1), width_, x_.row(i));
      }
    }
    if (main[n_ - 1] == T(0)) return kMessage;
    Divide(width_, x_.row(n_ - 1), main[n_ - 1]);
    for (int64_t i = n_ - 2; i >= 0; --i) {
      AddScaled(width_, -first[i], x_.row(i + 1), x_.row(i));
      if (i + 2 < n_) AddScaled(width_, -second[i], x_.row(i + 2), x_.row(i));
      Divide(width_, x_.row(i), main[i]);
    }
    return nullptr;
  }

  const char* SolveWithout() {
    static constexpr char kMessage[] =
        "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True.";
    std::vector<T> above(n_);
    if (d_(1, 0) == T(0)) return kMessage;
    above[0] = d_(0, 0) / d_(1, 0);
    Copy(0);
    Divide(width_, x_.row(0), d_(1, 0));
    for (int64_t i = 1; i < n_; ++i) {
      const T pivot = d_(1, i) - d_(2, i) * above[i - 1];
      if (pivot == T(0)) return kMessage;
      above[i] = d_(0, i) / pivot;
      Copy(i);
      AddScaled(width_, -d_(2, i), x_.row(i - 1), x_.row(i));
      Divide(width_, x_.row(i), pivot);
    }
    for (int64_t i = n_ - 2; i >= 0; --i) AddScaled(width_, -above[i], x_.row(i + 1), x_.row(i));
    return nullptr;
  }

  Rows<const T> d_, rhs_;
  Rows<T> x_;
  int64_t n_, width_;
};

template <class T>
struct TridiagonalSolve {
  bool pivoting;
  explicit TridiagonalSolve(const NodeView& node) : pivoting(node.attr<bool>("partial_pivoting")) {
    KernelContext::Require(!node.attr_or<bool>("perturb_singular", false), "PerturbSingular not implemented on CPU.");
  }
  void operator()(KernelContext& k) const {
    const Batch d(k.shape(0)), rhs(k.shape(1));
    k.Require(d.outer == rhs.outer, "All input tensors must have the same outer dimensions, but have shapes ",
              k.shape(0), " and ", k.shape(1));
    k.Require(d.rows == 3, "Expected diagonals to be provided as a matrix with 3 rows, got ", d.rows, " rows.");
    k.Require(d.columns == rhs.rows, "Expected the same number of left-hand sides and right-hand sides, got ",
              d.columns, " and ", rhs.rows, ".");
    const T *diagonals = k.in<T>(0).data(), *b = k.in<T>(1).data();
    T* y = k.out<T>(0, k.shape(1)).data();
    if (rhs.size() == 0) return;
    ForEach(k, d.count, static_cast<double>(rhs.size()) * 8, [&](int64_t i) {
      const Rows<T> x = RowsAt(y, i, rhs.rows, rhs.columns);
      if (const char* reason = Tridiagonal<T>(d.At(diagonals, i), rhs.At(b, i), x).Solve(pivoting)) {
        k.Require(BehavesAsVersionTwo(), reason);
        Fill(x, kNaN<T>);
      }
    });
  }
};

template <class T>
struct TridiagonalMatMul {
  void operator()(KernelContext& k) const {
    const Batch rhs(k.shape(3));
    for (int i = 0; i < 3; ++i) {
      const Batch d(k.shape(i));
      k.Require(d.outer == rhs.outer, "All input tensors must have the same outer dimensions, but have shapes ",
                k.shape(i), " and ", k.shape(3));
      k.Require(d.rows == 1 && d.columns == rhs.rows, "Expected diagonal ", i, " to have shape [1, ", rhs.rows,
                "], got [", d.rows, ", ", d.columns, "].");
    }
    const T *above = k.in<T>(0).data(), *main = k.in<T>(1).data(), *below = k.in<T>(2).data();
    const T* b = k.in<T>(3).data();
    T* y = k.out<T>(0, k.shape(3)).data();
    if (rhs.size() == 0) return;
    const int64_t n = rhs.rows;
    ForEach(k, rhs.count, static_cast<double>(rhs.size()) * 3, [&](int64_t i) {
      const Rows<const T> x = rhs.At(b, i);
      const Rows<T> out = RowsAt(y, i, n, rhs.columns);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t j = 0; j < rhs.columns; ++j) out(r, j) = main[i * n + r] * x(r, j);
        if (r > 0) AddScaled(rhs.columns, below[i * n + r], x.row(r - 1), out.row(r));
        if (r + 1 < n) AddScaled(rhs.columns, above[i * n + r], x.row(r + 1), out.row(r));
      }
    });
  }
};

// The rows of the matrix hold its diagonals: the main one first if lower, last if upper. Element i of each lies in
// row i.
template <class T>
struct BandedTriangularSolve {
  bool lower, adjoint;
  explicit BandedTriangularSolve(const NodeView& node)
      : lower(node.attr<bool>("lower")), adjoint(node.attr<bool>("adjoint")) {}
  void operator()(KernelContext& k) const {
    const Batch bands(k.shape(0)), rhs(k.shape(1));
    const int64_t n = bands.columns, width = bands.rows, columns = rhs.columns;
    k.Require(width > 0 || n == 0, "Number of bands is zero");
    k.Require(n == rhs.rows, "Input matrix and rhs are incompatible: ", k.shape(0), " and ", k.shape(1));
    k.Require(width <= n || n == 0, "Number of bands must be at most the number of rows, but is ", width);
    const Pairs pairs(bands, rhs);
    Shape shape = pairs.outer;
    shape.AddDim(n), shape.AddDim(columns);
    const T *a = k.in<T>(0).data(), *b = k.in<T>(1).data();
    T* y = k.out<T>(0, shape).data();
    if (shape.num_elements() == 0) return;
    ForEach(k, pairs.count, static_cast<double>(n * width) * static_cast<double>(columns), [&](int64_t i) {
      const Rows<const T> band = bands.At(a, pairs.a(i));
      const T* const main = band.row(lower ? 0 : width - 1);
      k.Require(std::none_of(main, main + n, [](T x) { return x == T(0); }), "Input matrix is not invertible.");
      // Element (r, c) of the matrix; |r - c| < width on its side of the diagonal.
      const auto element = [&](int64_t r, int64_t c) { return band(lower ? r - c : width - 1 - (c - r), r); };
      const Rows<T> x = RowsAt(y, i, n, columns);
      std::copy_n(rhs.At(b, pairs.b(i)).data, rhs.size(), x.data);
      const bool forward = lower != adjoint;
      for (int64_t step = 0; step < n; ++step) {
        const int64_t r = forward ? step : n - 1 - step;
        for (int64_t j = 1; j < width; ++j) {
          const int64_t c = forward ? r - j : r + j;
          if (c < 0 || c >= n) break;
          AddScaled(columns, -(adjoint ? Conj(element(c, r)) : element(r, c)), x.row(c), x.row(r));
        }
        Divide(columns, x.row(r), adjoint ? Conj(element(r, r)) : element(r, r));
      }
    });
  }
};

}  // namespace

void RegisterBandedKernels(KernelRegistry& kernels) {
  kernels.Add<TridiagonalSolve>("TridiagonalSolve", MatrixTypes{});
  kernels.Add<TridiagonalMatMul>("TridiagonalMatMul", MatrixTypes{});
  kernels.Add<BandedTriangularSolve>("BandedTriangularSolve", MatrixTypes{});
}

}  // namespace penstock::linalg
