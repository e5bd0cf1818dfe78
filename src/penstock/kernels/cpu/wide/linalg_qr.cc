// QR decompositions and least squares.
#include <Eigen/QR>

#include "penstock/kernels/cpu/wide/linalg_solve.h"

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
      std::fill(q.begin(), q.end(), T(0));
      for (int64_t i = 0; i < in.count && p > 0; ++i) ViewAt(q.data(), i, m, p).setIdentity();
      return;
    }
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
    ForEach(k, in.count, flops, [&](int64_t i) {
      using W = Worked<T>;
      const Eigen::HouseholderQR<Columns<W>> qr(in.At(x, i).template cast<W>());
      Columns<W> orthogonal = Columns<W>::Identity(m, p);
      orthogonal.applyOnTheLeft(qr.householderQ());
      const Columns<W> upper = qr.matrixQR().topRows(p).template triangularView<Eigen::Upper>();
      ViewAt(q.data(), i, m, p) = orthogonal.template cast<T>();
      ViewAt(r.data(), i, p, n) = upper.template cast<T>();
    });
  }
};

}  // namespace

template <class W>
Columns<W> LeastSquares(const Columns<W>& a, const Columns<W>& b) {
  return Eigen::CompleteOrthogonalDecomposition<Columns<W>>(a).solve(b);
}
template Columns<double> LeastSquares(const Columns<double>&, const Columns<double>&);
template Columns<Complex128> LeastSquares(const Columns<Complex128>&, const Columns<Complex128>&);

void RegisterQrKernels(KernelRegistry& kernels) { kernels.Add<Qr>("Qr", MatrixTypes{}); }

}  // namespace penstock::linalg
