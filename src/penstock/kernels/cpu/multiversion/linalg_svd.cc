// Singular values.
#include "penstock/kernels/cpu/multiversion/linalg.h"
#include "penstock/kernels/cpu/multiversion/svd.h"

namespace penstock::linalg {
namespace {

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
      for (int64_t i = 0; i < in.count && vectors; ++i) {
        FillIdentity(RowsAt(u.data(), i, m, left));
        FillIdentity(RowsAt(v.data(), i, n, right));
      }
      return;
    }
    const SingularVectors wanted = !vectors ? SingularVectors::kNone
                                   : full   ? SingularVectors::kFull
                                            : SingularVectors::kThin;
    const double flops = 12.0 * static_cast<double>(std::max(m, n)) * static_cast<double>(p) * static_cast<double>(p);
    ForEach(k, in.count, flops, [&](int64_t i) {
      T* const values = s.data() + i * p;
      if (!AllFinite(in.At(x, i))) {  // the decomposition might not end
        const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
        std::fill_n(values, p, nan);
        if (vectors) {
          Fill(RowsAt(u.data(), i, m, left), nan);
          Fill(RowsAt(v.data(), i, n, right), nan);
        }
        return;
      }
      using W = ComputeType<T>;
      const Singular<W> svd = SingularValues(ToColumns<W>(in.At(x, i)), wanted);
      for (int64_t j = 0; j < p; ++j) values[j] = T(svd.values[j]);
      if (vectors) {
        CopyTo(RowsAt(u.data(), i, m, left), svd.u);
        CopyTo(RowsAt(v.data(), i, n, right), svd.v);
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
