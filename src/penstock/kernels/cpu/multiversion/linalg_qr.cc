// QR decompositions and least squares.
#include "penstock/kernels/cpu/multiversion/householder.h"
#include "penstock/kernels/cpu/multiversion/linalg.h"
#include "penstock/kernels/cpu/multiversion/linalg_solve.h"

namespace penstock::linalg {
namespace {

template <class T>
struct Qr {
  bool full;
  explicit Qr(const NodeView& node) : full(node.attr<bool>("full_matrices")) {}
  void operator()(KernelContext& k) const {
    const Batch in(k.shape(0));
    const int64_t m = in.rows, n = in.columns, p = full ? m : std::min(m, n);
    const T* x = k.in<T>(0).data();
    const auto q = k.out<T>(0, in.Of({m, p})), r = k.out<T>(1, in.Of({p, n}));
    if (in.size() == 0) {  // of nothing: Q is a part of the identity
      for (int64_t i = 0; i < in.count; ++i) FillIdentity(RowsAt(q.data(), i, m, p));
      std::fill(r.begin(), r.end(), T(0));
      return;
    }
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
    ForEach(k, in.count, flops, [&](int64_t i) {
      using W = ComputeType<T>;
      Columns<W> factors = ToColumns<W>(in.At(x, i));
      const std::vector<W> tau = QrFactor(factors.block());
      Columns<W> orthogonal = Columns<W>::Identity(m, p);
      MultiplyByQ(factors.block(), tau, false, orthogonal.block(), true);
      CopyTo(RowsAt(q.data(), i, m, p), orthogonal);
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t below = j + 1; below < m; ++below) factors(below, j) = W(0);
      }
      CopyTo(RowsAt(r.data(), i, p, n), factors);
    });
  }
};

}  // namespace

// With A P = Q R of rank r: where r is less than the number of columns, the first r rows of R are again decomposed, as
// (Q2 R2)^H, and Q2 R2^-H c is the shortest solution.
template <class W>
Columns<W> LeastSquares(Columns<W> a, Columns<W> b) {
  const int64_t m = a.rows(), n = a.columns();
  const PivotedQr<W> qr(a.block());
  const int64_t rank = qr.rank;
  MultiplyByQ(a.block(), qr.tau, true, b.block());
  Columns<W> x(n, b.columns()), other;
  std::vector<W> tau;
  if (rank < n && rank > 0) {
    other = Columns<W>(n, rank);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < std::min(rank, j + 1); ++i) other(j, i) = Conj(a(i, j));
    }
    tau = QrFactor(other.block());
  }
  Columns<W> y(n, 1);
  for (int64_t c = 0; c < b.columns() && rank > 0; ++c) {
    std::fill_n(y.data(), n, W(0));
    std::copy_n(b.column(c), std::min(m, rank), y.data());
    if (rank == n) {
      for (int64_t i = n - 1; i >= 0; --i) {
        y(i, 0) /= a(i, i);
        AddScaled(i, -y(i, 0), a.column(i), y.data());
      }
    } else {
      for (int64_t i = 0; i < rank; ++i) y(i, 0) = (y(i, 0) - Dot(i, other.column(i), y.data())) / Conj(other(i, i));
      MultiplyByQ(other.block(), tau, false, y.block());
    }
    for (int64_t j = 0; j < n; ++j) x(qr.order[j], c) = y(j, 0);
  }
  return x;
}
template Columns<double> LeastSquares(Columns<double>, Columns<double>);
template Columns<Complex128> LeastSquares(Columns<Complex128>, Columns<Complex128>);

void RegisterQrKernels(KernelRegistry& kernels) { kernels.Add<Qr>("Qr", MatrixTypes{}); }

}  // namespace penstock::linalg
