// Batches of matrices: the last two dimensions of tensors, and Eigen's view of them.
#pragma once

#include <Eigen/Core>

#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "penstock/kernel/kernel_registry.h"

namespace penstock::linalg {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;  // as tensors lie in memory
template <class T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;  // what decompositions want
template <class T>
using View = Eigen::Map<Matrix<T>>;
template <class T>
using ConstView = Eigen::Map<const Matrix<T>>;
template <class T>
using Real = typename Eigen::NumTraits<T>::Real;
// Decompositions are slow to compile: most exist for these two types only, and the others are converted.
template <class T>
using Wide = std::conditional_t<Eigen::NumTraits<T>::IsComplex, Complex128, double>;
// Those that take longest to run leave float as it is, as TensorFlow does.
template <class T>
using Worked = std::conditional_t<std::is_same_v<T, float>, float, Wide<T>>;

// What a matrix without result has for one, of complex numbers as well.
template <class T>
inline constexpr T kNaN = T(std::numeric_limits<Real<T>>::quiet_NaN());

using MatrixTypes = Types<float, double, Complex64, Complex128>;

// The matrices of input or output `shape`.
struct Batch {
  Shape outer;
  int64_t count = 1, rows = 0, columns = 0;
  int64_t size() const { return rows * columns; }

  Batch() = default;
  explicit Batch(const Shape& shape) {
    KernelContext::Require(shape.rank() >= 2, "Input tensor must have rank >= 2, but has shape ", shape);
    rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
    for (int i = 0; i < shape.rank() - 2; ++i) outer.AddDim(shape[i]), count *= shape[i];
  }
  static Batch Square(const Shape& shape) {
    const Batch batch(shape);
    KernelContext::Require(batch.rows == batch.columns, "Input matrix must be square.");
    return batch;
  }
  // [outer..., dims...]
  Shape Of(std::initializer_list<int64_t> dims) const {
    Shape shape = outer;
    for (const int64_t d : dims) shape.AddDim(d);
    return shape;
  }
  template <class T>
  ConstView<T> At(const T* data, int64_t i) const {
    return ConstView<T>(data + i * size(), rows, columns);
  }
};
template <class T>
View<T> ViewAt(T* data, int64_t i, int64_t rows, int64_t columns) {
  return View<T>(data + i * rows * columns, rows, columns);
}

// fn(i) for each matrix of a batch, in parallel where it pays; `flops` of one.
template <class F>
void ForEach(const KernelContext& k, int64_t count, double flops, const F& fn) {
  const auto cost = static_cast<int64_t>(std::min(std::max(flops, 1.0), 1e15));
  k.Parallel(count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i);
  });
}
inline double Cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

// Two batches stretched to one: which matrix of each belongs to a matrix of the result.
class Pairs {
 public:
  Pairs(const Batch& a, const Batch& b);
  Shape outer;
  int64_t count = 1;
  int64_t a(int64_t i) const { return From(i, a_steps_); }
  int64_t b(int64_t i) const { return From(i, b_steps_); }

 private:
  int64_t From(int64_t i, const std::vector<int64_t>& steps) const {
    int64_t at = 0;
    for (int d = outer.rank() - 1; d >= 0; --d) at += i % outer[d] * steps[d], i /= outer[d];
    return at;
  }
  std::vector<int64_t> a_steps_, b_steps_;
};

// The families' parts, each a file of its own since Eigen is slow to compile.
void RegisterQrKernels(KernelRegistry& kernels);
void RegisterEigenvalueKernels(KernelRegistry& kernels);
void RegisterSvdKernels(KernelRegistry& kernels);
void RegisterMatrixFunctionKernels(KernelRegistry& kernels);
void RegisterBandedKernels(KernelRegistry& kernels);

}  // namespace penstock::linalg
