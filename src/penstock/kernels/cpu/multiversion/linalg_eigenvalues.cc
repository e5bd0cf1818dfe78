// Eigenvalues.
#include <numeric>

#include "penstock/base/denormals.h"
#include "penstock/kernels/cpu/multiversion/eigen.h"
#include "penstock/kernels/cpu/multiversion/linalg.h"

namespace penstock::linalg {
namespace {

template <class T>
void DecomposeSelfAdjoint(Rows<const T> x, Rows<T> values, bool want_vectors, Rows<T> vectors) {
  using W = ComputeType<T>;
  const ScopedDenormals denormals(ScopedDenormals::kKeep);  // the rotations' small parts count
  Columns<W> matrix = ToColumns<W>(x);
  std::vector<Real<W>> e;
  KernelContext::Require(AllFinite(x) && SelfAdjointEigen(matrix, want_vectors, e),
                         "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
  for (int64_t i = 0; i < x.rows; ++i) values.data[i] = T(e[i]);
  if (want_vectors) CopyTo(vectors, matrix);
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
      DecomposeSelfAdjoint(in.At(x, i), RowsAt(e, i, 1, n), vectors, RowsAt(v, vectors ? i : 0, n, n));
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
      const Rows<T> out = RowsAt(y, i, n + 1, n);
      DecomposeSelfAdjoint(in.At(x, i), out.Part(0, 0, 1, n), true, out.Part(1, 0, n, n));
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
      const ScopedDenormals denormals(ScopedDenormals::kKeep);
      using W = ComputeType<T>;
      std::vector<std::complex<Real<W>>> values;
      Columns<std::complex<Real<W>>> found;
      k.Require(AllFinite(in.At(x, i)) && Eigen(ToColumns<W>(in.At(x, i)), vectors, values, found), kMessage);
      // Those of complex matrices by modulus, of real ones in the order in which they are found, as in TensorFlow.
      std::vector<int64_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      if constexpr (kIsComplex<T>) {
        std::vector<Real<W>> size(n);
        for (int64_t j = 0; j < n; ++j) size[j] = std::abs(values[j]);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return size[a] < size[b]; });
      }
      for (int64_t j = 0; j < n; ++j) {
        e[i * n + j] = C(values[order[j]]);
        if (!vectors) continue;
        const Rows<C> to = RowsAt(v, i, n, n);
        for (int64_t r = 0; r < n; ++r) to(r, j) = C(found(r, order[j]));
      }
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
