// Solving, inverting, determinants.
#include "penstock/kernels/cpu/multiversion/linalg.h"
#include "penstock/base/behavior.h"
#include "penstock/kernels/cpu/multiversion/linalg_solve.h"

namespace penstock {
namespace linalg {

Pairs::Pairs(const Batch& a, const Batch& b) {
  const int rank = std::max(a.outer.rank(), b.outer.rank());
  const auto dim = [&](const Shape& s, int d) {
    const int i = d - (rank - s.rank());
    return i < 0 ? int64_t{1} : s[i];
  };
  a_steps_.resize(rank), b_steps_.resize(rank);
  std::vector<int64_t> dims(rank);
  int64_t a_step = 1, b_step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t x = dim(a.outer, d), y = dim(b.outer, d);
    KernelContext::Require(x == y || x == 1 || y == 1, "Incompatible shapes: ", a.outer, " vs. ", b.outer);
    dims[d] = x == 1 ? y : x;
    a_steps_[d] = x == 1 ? 0 : a_step, b_steps_[d] = y == 1 ? 0 : b_step;
    a_step *= x, b_step *= y;
  }
  outer = Shape(dims);
  count = outer.num_elements();
}

namespace {

template <class T>
struct Cholesky {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const T* x = k.in<T>(0).data();
    T* y = k.out<T>(0, k.shape(0)).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(in.rows) / 3, [&](int64_t i) {
      const Rows<T> lower = RowsAt(y, i, in.rows, in.rows);
      std::copy_n(in.At(x, i).data, in.size(), lower.data);
      if (CholeskyFactor(lower)) return;
      k.Require(BehavesAsVersionTwo(), "Cholesky decomposition was not successful. The input might not be valid.");
      for (int64_t r = 0; r < in.rows; ++r) std::fill_n(lower.row(r), r + 1, kNaN<T>);
    });
  }
};

// Where L L^T = A: the gradient of A from that of L.
template <class T>
struct CholeskyGrad {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    k.Require(k.shape(0) == k.shape(1), "Inputs L and grad must have the same shape, but have ", k.shape(0), " and ",
              k.shape(1));
    const T *l = k.in<T>(0).data(), *dy = k.in<T>(1).data();
    T* dx = k.out<T>(0, k.shape(0)).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(in.rows) * 2, [&](int64_t i) {
      const int64_t n = in.rows;
      std::vector<T> lower(in.size()), grad(in.size()), middle(in.size());
      for (int64_t r = 0; r < n; ++r) {
        std::copy_n(in.At(l, i).row(r), r + 1, &lower[r * n]);
        std::copy_n(in.At(dy, i).row(r), r + 1, &grad[r * n]);
      }
      const Rows<T> factor = RowsAt(lower.data(), 0, n, n), product = RowsAt(middle.data(), 0, n, n);
      Multiply(product, Into::kSet, factor, true, RowsAt(grad.data(), 0, n, n), false);
      for (int64_t r = 0; r < n; ++r) {
        std::fill(product.row(r) + r + 1, product.row(r) + n, T(0));
        product(r, r) *= T(0.5);
      }
      SolveTriangle(factor, true, true, Diagonal::kStored, product);  // L^-T middle
      const Rows<T> result = RowsAt(grad.data(), 0, n, n);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t c = 0; c < n; ++c) result(r, c) = product(c, r);
      }
      SolveTriangle(factor, true, true, Diagonal::kStored, result);  // L^-T (...)^T
      const Rows<T> to = RowsAt(dx, i, n, n);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t c = 0; c < n; ++c) to(r, c) = (result(r, c) + result(c, r)) * T(0.5);
      }
    });
  }
};

template <class T>
struct MatrixInverse {
  bool adjoint;
  explicit MatrixInverse(const NodeView& node) : adjoint(node.attr<bool>("adjoint")) {}
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const T* x = k.in<T>(0).data();
    T* y = k.out<T>(0, k.shape(0)).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(in.rows) * 2, [&](int64_t i) {
      LuFactors<T> lu(in.At(x, i), adjoint);
      k.Require(lu.invertible(), "Input is not invertible.");
      lu.Invert(RowsAt(y, i, in.rows, in.rows));
    });
  }
};

// Sign (of modulus 1) and logarithm of the modulus of the determinant.
template <class T>
std::pair<T, Real<T>> SignAndLog(Rows<const T> x) {
  if (x.rows == 0) return {T(1), Real<T>(0)};
  const LuFactors<T> factors(x);
  T sign(static_cast<Real<T>>(factors.sign));
  Real<T> log = 0;
  for (int64_t i = 0; i < x.rows; ++i) {
    const T pivot = factors.pivot(i);
    const Real<T> size = std::abs(pivot);
    log += std::log(size);
    if constexpr (kIsComplex<T>) {
      sign *= pivot / size;
    } else {
      sign *= std::isnan(pivot) ? pivot : std::copysign(T(1), pivot);  // infinity / infinity is no sign
    }
  }
  // A pivot of 0, or no number: TensorFlow has sign 0 and minus infinity for the former.
  if (!std::isfinite(log) && log < 0) sign = T(0);
  return {sign, log};
}

template <class T>
struct MatrixDeterminant {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const T* x = k.in<T>(0).data();
    T* y = k.out<T>(0, in.outer).data();
    ForEach(k, in.count, Cube(in.rows), [&](int64_t i) {
      const auto [sign, log] = SignAndLog<T>(in.At(x, i));
      y[i] = sign * std::exp(log);
    });
  }
};

template <class T>
struct LogMatrixDeterminant {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const T* x = k.in<T>(0).data();
    T *sign = k.out<T>(0, in.outer).data(), *log = k.out<T>(1, in.outer).data();
    ForEach(k, in.count, Cube(in.rows), [&](int64_t i) {
      const auto both = SignAndLog<T>(in.At(x, i));
      sign[i] = both.first, log[i] = T(both.second);
    });
  }
};

// Matrix and right-hand sides of one batch shape, or of shapes that stretch to one.
struct Sides {
  Batch a, b;
  Sides(KernelContext& k, bool same_batch) : a(k.shape(0)), b(k.shape(1)) {
    k.Require(!same_batch || a.outer == b.outer,
              "All input tensors must have the same outer dimensions, but have shapes ", k.shape(0), " and ",
              k.shape(1));
    k.Require(a.rows == b.rows, "Input matrix and rhs are incompatible: ", k.shape(0), " and ", k.shape(1));
  }
  void RequireSquare() const { KernelContext::Require(a.rows == a.columns, "Input matrix must be square."); }
};

template <class T>
struct MatrixSolve {
  bool adjoint;
  explicit MatrixSolve(const NodeView& node) : adjoint(node.attr<bool>("adjoint")) {}
  void operator()(KernelContext& k) const {
    const Sides sides(k, true);
    sides.RequireSquare();
    const T *a = k.in<T>(0).data(), *b = k.in<T>(1).data();
    T* y = k.out<T>(0, k.shape(1)).data();
    if (sides.a.size() == 0 || sides.b.size() == 0) return;
    const double flops =
        Cube(sides.a.rows) + static_cast<double>(sides.a.size()) * static_cast<double>(sides.b.columns);
    ForEach(k, sides.a.count, flops, [&](int64_t i) {
      LuFactors<T> lu(sides.a.At(a, i), adjoint);
      k.Require(lu.invertible(), "Input matrix is not invertible.");
      lu.Solve(sides.b.At(b, i), RowsAt(y, i, sides.b.rows, sides.b.columns));
    });
  }
};

template <class T>
struct MatrixTriangularSolve {
  bool lower, adjoint;
  explicit MatrixTriangularSolve(const NodeView& node)
      : lower(node.attr<bool>("lower")), adjoint(node.attr<bool>("adjoint")) {}
  void operator()(KernelContext& k) const {
    const Sides sides(k, false);
    sides.RequireSquare();
    const Pairs pairs(sides.a, sides.b);
    const int64_t n = sides.a.rows, m = sides.b.columns;
    Shape shape = pairs.outer;
    shape.AddDim(n), shape.AddDim(m);
    const T *a = k.in<T>(0).data(), *b = k.in<T>(1).data();
    T* y = k.out<T>(0, shape).data();
    if (shape.num_elements() == 0) return;
    // Columns are solved on their own: a batch of few matrices is cut further.
    const int64_t width = pairs.count >= 8 ? m : std::max<int64_t>(32, (m + 7) / 8), pieces = (m + width - 1) / width;
    for (int64_t i = 0; i < sides.a.count && !BehavesAsVersionTwo(); ++i) {
      const Rows<const T> matrix = sides.a.At(a, i);
      for (int64_t r = 0; r < n; ++r) k.Require(std::abs(matrix(r, r)) > Real<T>(0), "Input matrix is not invertible.");
    }
    const auto flops = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(std::min(m, width));
    ForEach(k, pairs.count * pieces, flops / 8, [&](int64_t at) {
      const int64_t i = at / pieces, first = at % pieces * width, count = std::min(width, m - first);
      const Rows<T> x = RowsAt(y, i, n, m).Part(0, first, n, count);
      const Rows<const T> rhs = sides.b.At(b, pairs.b(i));
      for (int64_t r = 0; r < n; ++r) std::copy_n(rhs.row(r) + first, count, x.row(r));
      SolveTriangle(ReadOnly(sides.a.At(a, pairs.a(i))), lower, adjoint, Diagonal::kStored, x);
    });
  }
};

template <class T>
struct MatrixSolveLs {
  bool fast;
  explicit MatrixSolveLs(const NodeView& node) : fast(node.attr<bool>("fast")) {}
  void operator()(KernelContext& k) const {
    const Sides sides(k, true);
    k.Require(k.shape(2).rank() == 0, "l2_regularizer must be a scalar, but has shape ", k.shape(2));
    const double regularizer = k.Scalar<double>(2);
    k.Require(regularizer >= 0, "l2_regularizer must be >= 0.");
    const int64_t m = sides.a.rows, n = sides.a.columns, columns = sides.b.columns;
    const T *a = k.in<T>(0).data(), *b = k.in<T>(1).data();
    const auto out = k.out<T>(0, sides.a.Of({n, columns}));
    if (m == 0 || n == 0 || columns == 0) {
      std::fill(out.begin(), out.end(), T(0));
      return;
    }
    const auto added = static_cast<Real<T>>(regularizer);
    const double flops = static_cast<double>(std::max(m, n)) * static_cast<double>(std::min(m, n)) *
                         static_cast<double>(std::min(m, n) + columns);
    ForEach(k, sides.a.count, flops, [&](int64_t i) {
      const Rows<T> y = RowsAt(out.data(), i, n, columns);
      if (!fast) {
        using W = DoublePrecision<T>;
        CopyTo(y, LeastSquares(ToColumns<W>(sides.a.At(a, i)), ToColumns<W>(sides.b.At(b, i))));
        return;
      }
      // The smaller of A^H A and A A^H.
      const bool tall = m >= n;
      const int64_t size = std::min(m, n);
      const Rows<T> matrix = ReadOnly(sides.a.At(a, i)), rhs = ReadOnly(sides.b.At(b, i));
      std::vector<T> memory(size * size), other(tall ? 0 : m * columns);
      const Rows<T> gramian = RowsAt(memory.data(), 0, size, size);
      Multiply(gramian, Into::kSet, matrix, tall, matrix, !tall);
      for (int64_t r = 0; r < size; ++r) gramian(r, r) += T(added);
      k.Require(CholeskyFactor(gramian),
                "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
                "l2_regularizer > 0.");
      const Rows<T> x = tall ? y : RowsAt(other.data(), 0, m, columns);
      tall ? Multiply(x, Into::kSet, matrix, true, rhs, false) : void(std::copy_n(rhs.data, m * columns, x.data));
      SolveTriangle(gramian, true, false, Diagonal::kStored, x);
      SolveTriangle(gramian, true, true, Diagonal::kStored, x);
      if (!tall) Multiply(y, Into::kSet, matrix, true, x, false);
    });
  }
};

template <class T>
struct Lu {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const T* x = k.in<T>(0).data();
    T* y = k.out<T>(0, k.shape(0)).data();
    Tensor& order = k.Output(1, in.Of({in.rows}));
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(in.rows), [&](int64_t i) {
      const LuFactors<T> factors(in.At(x, i));
      k.Require(factors.invertible(), "Input is not invertible.");
      std::copy(factors.lu.begin(), factors.lu.end(), RowsAt(y, i, in.rows, in.rows).data);
      for (int64_t r = 0; r < in.rows; ++r) {
        const int64_t row = factors.order[r];
        if (order.dtype() == DT_INT32) {
          order.mutable_data<int32_t>()[i * in.rows + r] = static_cast<int32_t>(row);
        } else {
          order.mutable_data<int64_t>()[i * in.rows + r] = row;
        }
      }
    });
  }
};

}  // namespace
}  // namespace linalg

namespace PENSTOCK_ISA {
void RegisterLinalgKernels(KernelRegistry& kernels) {
  using namespace linalg;  // NOLINT: its own family
  using Plain = Types<float, double>;
  kernels.Add<Cholesky>("Cholesky", MatrixTypes{});
  kernels.Add<Cholesky>("BatchCholesky", Plain{});
  kernels.Add<CholeskyGrad>("CholeskyGrad", Plain{});
  kernels.Add<CholeskyGrad>("BatchCholeskyGrad", Plain{});
  kernels.Add<MatrixInverse>("MatrixInverse", MatrixTypes{});
  kernels.Add<MatrixInverse>("BatchMatrixInverse", Plain{});
  kernels.Add<MatrixDeterminant>("MatrixDeterminant", MatrixTypes{});
  kernels.Add<MatrixDeterminant>("BatchMatrixDeterminant", MatrixTypes{});
  kernels.Add<LogMatrixDeterminant>("LogMatrixDeterminant", MatrixTypes{});
  kernels.Add<MatrixSolve>("MatrixSolve", MatrixTypes{});
  kernels.Add<MatrixSolve>("BatchMatrixSolve", Plain{});
  kernels.Add<MatrixTriangularSolve>("MatrixTriangularSolve", MatrixTypes{});
  kernels.Add<MatrixTriangularSolve>("BatchMatrixTriangularSolve", Plain{});
  kernels.Add<MatrixSolveLs>("MatrixSolveLs", MatrixTypes{}).HostInput(2);
  kernels.Add<MatrixSolveLs>("BatchMatrixSolveLs", Plain{}).HostInput(2);
  kernels.Add<Lu>("Lu", MatrixTypes{});
  RegisterQrKernels(kernels);
  RegisterEigenvalueKernels(kernels);
  RegisterSvdKernels(kernels);
  RegisterMatrixFunctionKernels(kernels);
  RegisterBandedKernels(kernels);
}
}  // namespace PENSTOCK_ISA

}  // namespace penstock
