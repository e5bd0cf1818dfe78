// Batches of matrices: the last two dimensions of tensors.
#pragma once

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/multiversion/vector_ops.h"

namespace penstock::linalg {

// The type in which what is sensitive to rounding is computed: functions of matrices, least squares.
template <class T>
using DoublePrecision = std::conditional_t<kIsComplex<T>, Complex128, double>;
// Decompositions leave float as it is, as TensorFlow does.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, float>, float, DoublePrecision<T>>;

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
  Rows<const T> At(const T* data, int64_t i) const {
    return {data + i * size(), rows, columns, columns};
  }
};
template <class T>
Rows<T> RowsAt(T* data, int64_t i, int64_t rows, int64_t columns) {
  return {data + i * rows * columns, rows, columns, columns};
}

template <class T>
bool AllFinite(Rows<const T> x) {
  for (int64_t i = 0; i < x.rows * x.columns; ++i) {
    if (!std::isfinite(std::real(x.data[i])) || !std::isfinite(std::imag(x.data[i]))) return false;
  }
  return true;
}
template <class T>
void Fill(Rows<T> x, T value) {
  for (int64_t i = 0; i < x.rows; ++i) std::fill_n(x.row(i), x.columns, value);
}
template <class T>
void FillIdentity(Rows<T> x) {
  Fill(x, T(0));
  for (int64_t i = 0; i < x.rows && i < x.columns; ++i) x(i, i) = T(1);
}

// A tensor's matrix by columns, in another type, and back.
template <class W, class T>
Columns<W> ToColumns(Rows<const T> x) {
  Columns<W> made(x.rows, x.columns);
  constexpr int64_t kTile = 16;
  for (int64_t i = 0; i < x.rows; i += kTile) {
    for (int64_t j = 0; j < x.columns; ++j) {
      for (int64_t r = i; r < std::min(x.rows, i + kTile); ++r) made(r, j) = W(x(r, j));
    }
  }
  return made;
}
template <class W, class T>
void CopyTo(Rows<T> to, const Columns<W>& x) {
  constexpr int64_t kTile = 16;
  for (int64_t j = 0; j < to.columns; j += kTile) {
    for (int64_t i = 0; i < to.rows; ++i) {
      for (int64_t c = j; c < std::min(to.columns, j + kTile); ++c) to(i, c) = T(x(i, c));
    }
  }
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

// The families' parts, each a file.
void RegisterQrKernels(KernelRegistry& kernels);
void RegisterEigenvalueKernels(KernelRegistry& kernels);
void RegisterSvdKernels(KernelRegistry& kernels);
void RegisterMatrixFunctionKernels(KernelRegistry& kernels);
void RegisterBandedKernels(KernelRegistry& kernels);

}  // namespace penstock::linalg
