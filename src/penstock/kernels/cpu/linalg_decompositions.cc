// QR and eigenvalue decompositions.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "penstock/kernels/cpu/linalg.h"

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
      const Eigen::HouseholderQR<Columns<T>> qr(in.At(x, i));
      ViewAt(q.data(), i, m, p) = qr.householderQ() * Columns<T>::Identity(m, p);
      const Columns<T> upper = qr.matrixQR().topRows(std::min(p, m)).template triangularView<Eigen::Upper>();
      ViewAt(r.data(), i, p, n) = upper;
    });
  }
};

constexpr char kFailed[] = "Self-adjoint eigen decomposition was not successful. The input might not be valid.";

template <class T>
struct SelfAdjointEigV2 {
  bool vectors;
  explicit SelfAdjointEigV2(const NodeView& node) : vectors(node.attr<bool>("compute_v")) {}
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const int64_t n = in.rows;
    const T* x = k.in<T>(0).data();
    T *e = k.out<T>(0, in.Of({n})).data(), *v = k.out<T>(1, vectors ? k.shape(0) : Shape({0})).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(n) * 10, [&](int64_t i) {
      const Eigen::SelfAdjointEigenSolver<Columns<T>> eig(
          in.At(x, i), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      k.Require(eig.info() == Eigen::Success, kFailed);
      ViewAt(e, i, n, 1) = eig.eigenvalues().template cast<T>();
      if (vectors) ViewAt(v, i, n, n) = eig.eigenvectors();
    });
  }
};

// Eigenvalues in the first row, vectors in those below.
template <class T>
struct SelfAdjointEig {
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const int64_t n = in.rows;
    const T* x = k.in<T>(0).data();
    T* y = k.out<T>(0, in.Of({n + 1, n})).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(n) * 10, [&](int64_t i) {
      const Eigen::SelfAdjointEigenSolver<Columns<T>> eig(in.At(x, i));
      k.Require(eig.info() == Eigen::Success, kFailed);
      auto out = ViewAt(y, i, n + 1, n);
      out.row(0) = eig.eigenvalues().transpose();
      out.bottomRows(n) = eig.eigenvectors();
    });
  }
};

template <class T>
struct Eig {
  using C = std::complex<Real<T>>;
  bool vectors;
  explicit Eig(const NodeView& node) : vectors(node.attr<bool>("compute_v")) {}
  void operator()(KernelContext& k) const {
    const Batch in = Batch::Square(k.shape(0));
    const int64_t n = in.rows;
    const T* x = k.in<T>(0).data();
    C *e = k.out<C>(0, in.Of({n})).data(), *v = k.out<C>(1, vectors ? k.shape(0) : Shape({0})).data();
    if (in.size() == 0) return;
    ForEach(k, in.count, Cube(n) * 25, [&](int64_t i) {
      constexpr char kMessage[] = "Eigen decomposition was not successful. The input might not be valid.";
      k.Require(in.At(x, i).allFinite(), kMessage);
      const Eigen::ComplexEigenSolver<Columns<C>> eig(in.At(x, i).template cast<C>(), vectors);
      k.Require(eig.info() == Eigen::Success, kMessage);
      ViewAt(e, i, n, 1) = eig.eigenvalues();
      if (vectors) ViewAt(v, i, n, n) = eig.eigenvectors();
    });
  }
};

}  // namespace

void RegisterDecompositionKernels(KernelRegistry& kernels) {
  using Plain = Types<float, double>;
  kernels.Add<Qr>("Qr", MatrixTypes{});
  kernels.Add<SelfAdjointEigV2>("SelfAdjointEigV2", MatrixTypes{});
  kernels.Add<SelfAdjointEigV2>("BatchSelfAdjointEigV2", Plain{});
  kernels.Add<SelfAdjointEig>("SelfAdjointEig", Plain{});
  kernels.Add<SelfAdjointEig>("BatchSelfAdjointEig", Plain{});
  kernels.Add<Eig>("Eig", Types<float, Complex64>{}).Only("Tout", {DT_COMPLEX64});
  kernels.Add<Eig>("Eig", Types<double, Complex128>{}).Only("Tout", {DT_COMPLEX128});
}

}  // namespace penstock::linalg
