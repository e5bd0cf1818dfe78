// Eigenvalues.
#include <Eigen/Eigenvalues>

#include "penstock/base/denormals.h"
#include "penstock/kernels/cpu/wide/linalg.h"

namespace penstock::linalg {
namespace {

template <class T>
struct SelfAdjoint {
  Columns<T> values, vectors;  // [n, 1] and, where wanted, [n, n]
};
template <class T>
SelfAdjoint<T> DecomposeSelfAdjoint(const ConstView<T>& x, bool vectors) {
  const ScopedDenormals denormals(ScopedDenormals::kKeep);  // the rotations' small parts count
  const Eigen::SelfAdjointEigenSolver<Columns<Worked<T>>> eig(
      x.template cast<Worked<T>>(), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  KernelContext::Require(eig.info() == Eigen::Success,
                         "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
  SelfAdjoint<T> result{eig.eigenvalues().template cast<Worked<T>>().template cast<T>(), {}};
  if (vectors) result.vectors = eig.eigenvectors().template cast<T>();
  return result;
}

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
      const SelfAdjoint<T> eig = DecomposeSelfAdjoint<T>(in.At(x, i), vectors);
      ViewAt(e, i, n, 1) = eig.values;
      if (vectors) ViewAt(v, i, n, n) = eig.vectors;
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
      const SelfAdjoint<T> eig = DecomposeSelfAdjoint<T>(in.At(x, i), true);
      auto out = ViewAt(y, i, n + 1, n);
      out.row(0) = eig.values.transpose();
      out.bottomRows(n) = eig.vectors;
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
      using W = Worked<T>;
      if (in.At(x, i).isZero(0)) {  // Eigen's complex solver divides by the norm
        ViewAt(e, i, n, 1).setZero();
        if (vectors) ViewAt(v, i, n, n).setIdentity();
        return;
      }
      const ScopedDenormals denormals(ScopedDenormals::kKeep);
      using Solver = std::conditional_t<Eigen::NumTraits<T>::IsComplex, Eigen::ComplexEigenSolver<Columns<W>>,
                                        Eigen::EigenSolver<Columns<W>>>;
      const Solver eig(in.At(x, i).template cast<W>(), vectors);
      k.Require(eig.info() == Eigen::Success, kMessage);
      ViewAt(e, i, n, 1) = eig.eigenvalues().template cast<C>();
      if (vectors) ViewAt(v, i, n, n) = eig.eigenvectors().template cast<C>();
    });
  }
};

}  // namespace

void RegisterEigenvalueKernels(KernelRegistry& kernels) {
  using Plain = Types<float, double>;
  kernels.Add<SelfAdjointEigV2>("SelfAdjointEigV2", MatrixTypes{});
  kernels.Add<SelfAdjointEigV2>("BatchSelfAdjointEigV2", Plain{});
  kernels.Add<SelfAdjointEig>("SelfAdjointEig", Plain{});
  kernels.Add<SelfAdjointEig>("BatchSelfAdjointEig", Plain{});
  kernels.Add<Eig>("Eig", Types<float, Complex64>{}).Only("Tout", {DT_COMPLEX64});
  kernels.Add<Eig>("Eig", Types<double, Complex128>{}).Only("Tout", {DT_COMPLEX128});
}

}  // namespace penstock::linalg
