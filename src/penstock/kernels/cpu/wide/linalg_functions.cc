// Square roots, exponentials and logarithms of matrices.
#include <unsupported/Eigen/MatrixFunctions>

#include "penstock/kernels/cpu/wide/linalg.h"

namespace penstock::linalg {
namespace {

template <class T>
void Apply(KernelContext& k, Columns<Wide<T>> (*function)(const Columns<Wide<T>>&)) {
  const Batch in = Batch::Square(k.shape(0));
  const T* x = k.in<T>(0).data();
  T* y = k.out<T>(0, k.shape(0)).data();
  if (in.size() == 0) return;
  ForEach(k, in.count, Cube(in.rows) * 30, [&](int64_t i) {
    auto out = ViewAt(y, i, in.rows, in.rows);
    if (!in.At(x, i).allFinite()) {  // Schur decompositions might not end
      out.setConstant(T(std::numeric_limits<Real<T>>::quiet_NaN()));
      return;
    }
    out = function(in.At(x, i).template cast<Wide<T>>()).template cast<T>();
  });
}

template <class W>
Columns<W> Root(const Columns<W>& x) {
  return x.sqrt();
}
template <class W>
Columns<W> Exponential(const Columns<W>& x) {
  return x.exp();
}
// NaN for singular matrices, of which Eigen takes square roots without end.
template <class W>
Columns<W> Logarithm(const Columns<W>& x) {
  const Eigen::ComplexSchur<Columns<W>> schur(x, false);
  if ((schur.matrixT().diagonal().array() == W(0)).any()) {
    return Columns<W>::Constant(x.rows(), x.cols(), W(std::numeric_limits<Real<W>>::quiet_NaN()));
  }
  return x.log();
}

template <class T>
struct MatrixSquareRoot {
  void operator()(KernelContext& k) const { Apply<T>(k, Root<Wide<T>>); }
};
template <class T>
struct MatrixExponential {
  void operator()(KernelContext& k) const { Apply<T>(k, Exponential<Wide<T>>); }
};
template <class T>
struct MatrixLogarithm {
  void operator()(KernelContext& k) const { Apply<T>(k, Logarithm<Wide<T>>); }
};

}  // namespace

void RegisterMatrixFunctionKernels(KernelRegistry& kernels) {
  kernels.Add<MatrixSquareRoot>("MatrixSquareRoot", MatrixTypes{});
  kernels.Add<MatrixExponential>("MatrixExponential", MatrixTypes{});
  kernels.Add<MatrixLogarithm>("MatrixLogarithm", Complexes{});
}

}  // namespace penstock::linalg
