// Singular values.
#include <Eigen/SVD>

#include "penstock/kernels/cpu/wide/linalg.h"

namespace penstock::linalg {
namespace {

template <class W>
struct Decomposed {
  Eigen::Matrix<Real<W>, Eigen::Dynamic, 1> s;
  Columns<W> u, v;
};
template <class W>
Decomposed<W> Decompose(const Columns<W>& x, unsigned options) {
  const Eigen::BDCSVD<Columns<W>> svd(x, options);
  if (options == 0) return {svd.singularValues(), {}, {}};
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

template <class T>
struct Svd {
  bool vectors, full;
  explicit Svd(const NodeView& node) : vectors(node.attr<bool>("compute_uv")), full(node.attr<bool>("full_matrices")) {}
  void operator()(KernelContext& k) const {
    const Batch in(k.shape(0));
    const int64_t m = in.rows, n = in.columns, p = std::min(m, n);
    const int64_t left = full ? m : p, right = full ? n : p;
    const T* x = k.in<T>(0).data();
    const auto s = k.out<T>(0, in.Of({p}));
    const auto u = k.out<T>(1, vectors ? in.Of({m, left}) : Shape({0}));
    const auto v = k.out<T>(2, vectors ? in.Of({n, right}) : Shape({0}));
    if (in.size() == 0) {  // of nothing: U and V are parts of identities
      std::fill(u.begin(), u.end(), T(0));
      std::fill(v.begin(), v.end(), T(0));
      for (int64_t i = 0; i < in.count && vectors; ++i) {
        ViewAt(u.data(), i, m, left).setIdentity();
        ViewAt(v.data(), i, n, right).setIdentity();
      }
      return;
    }
    const unsigned options = !vectors ? 0
                             : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                      : Eigen::ComputeThinU | Eigen::ComputeThinV;
    const double flops = 12.0 * static_cast<double>(std::max(m, n)) * static_cast<double>(p) * static_cast<double>(p);
    ForEach(k, in.count, flops, [&](int64_t i) {
      auto values = ViewAt(s.data(), i, p, 1);
      if (!in.At(x, i).allFinite()) {  // the decomposition might not end
        const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
        values.setConstant(nan);
        if (vectors) {
          ViewAt(u.data(), i, m, left).setConstant(nan);
          ViewAt(v.data(), i, n, right).setConstant(nan);
        }
        return;
      }
      const Decomposed<Worked<T>> svd = Decompose<Worked<T>>(in.At(x, i).template cast<Worked<T>>(), options);
      values = svd.s.template cast<Real<T>>().template cast<T>();
      if (vectors) {
        ViewAt(u.data(), i, m, left) = svd.u.template cast<T>();
        ViewAt(v.data(), i, n, right) = svd.v.template cast<T>();
      }
    });
  }
};

}  // namespace

void RegisterSvdKernels(KernelRegistry& kernels) {
  kernels.Add<Svd>("Svd", MatrixTypes{});
  kernels.Add<Svd>("BatchSvd", MatrixTypes{});
}

}  // namespace penstock::linalg
