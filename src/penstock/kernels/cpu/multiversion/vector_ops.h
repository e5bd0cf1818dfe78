// What linear algebra does with vectors and blocks of columns, for float, double and their complex types. Dot products
// conjugate their first factor.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "penstock/tensor/types.h"

namespace penstock::linalg {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

template <class T>
T Conj(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <class T>
Real<T> RealPart(T x) {
  return std::real(x);
}
template <class T>
Real<T> SquaredAbs(T x) {
  if constexpr (kIsComplex<T>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}
// |Re| + |Im|: cheap, within a factor of the modulus.
template <class T>
Real<T> AbsSum(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// Part of a matrix whose columns are contiguous.
template <class T>
struct Block {
  T* data;
  int64_t rows, columns, stride;  // between columns

  T& operator()(int64_t i, int64_t j) const { return data[i + j * stride]; }
  T* column(int64_t j) const { return data + j * stride; }
  Block Part(int64_t i, int64_t j, int64_t count_rows, int64_t count_columns) const {
    return {data + i + j * stride, count_rows, count_columns, stride};
  }
};

// Part of a matrix whose rows are contiguous, as those of tensors are.
template <class T>
struct Rows {
  T* data;
  int64_t rows, columns, stride;  // between rows

  T& operator()(int64_t i, int64_t j) const { return data[i * stride + j]; }
  T* row(int64_t i) const { return data + i * stride; }
  Rows Part(int64_t i, int64_t j, int64_t count_rows, int64_t count_columns) const {
    return {data + i * stride + j, count_rows, count_columns, stride};
  }
  // The same memory as the transpose by columns.
  Block<T> Transposed() const { return {data, columns, rows, stride}; }
};

// What only reads its arguments takes them as they come.
template <class T>
Rows<T> ReadOnly(Rows<const T> m) {
  return {const_cast<T*>(m.data), m.rows, m.columns, m.stride};
}

// A column-major matrix that owns its memory.
template <class T>
class Columns {
 public:
  Columns() = default;
  Columns(int64_t rows, int64_t columns) : rows_(rows), columns_(columns), data_(rows * columns) {}
  static Columns Identity(int64_t rows, int64_t columns) {
    Columns made(rows, columns);
    for (int64_t i = 0; i < rows && i < columns; ++i) made(i, i) = T(1);
    return made;
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  T& operator()(int64_t i, int64_t j) { return data_[i + j * rows_]; }
  T operator()(int64_t i, int64_t j) const { return data_[i + j * rows_]; }
  T* column(int64_t j) { return data_.data() + j * rows_; }
  const T* column(int64_t j) const { return data_.data() + j * rows_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  Block<T> block() { return {data_.data(), rows_, columns_, rows_}; }
  Block<T> block(int64_t i, int64_t j, int64_t rows, int64_t columns) { return block().Part(i, j, rows, columns); }

 private:
  int64_t rows_ = 0, columns_ = 0;
  std::vector<T> data_;
};

// sum of conj(x) y
template <class T>
T Dot(int64_t n, const T* x, const T* y);
// The 2-norm, where squares may overflow or underflow too.
template <class T>
Real<T> Norm(int64_t n, const T* x);
// y += a x
template <class T>
void AddScaled(int64_t n, T a, const T* x, T* y);
template <class T>
void Scale(int64_t n, T a, T* x);
// (x, y) := (c x + s y, c y - conj(s) x)
template <class T>
void Rotate(int64_t n, T* x, T* y, Real<T> c, T s);
// y += a M x
template <class T>
void AddProduct(T a, Block<T> m, const T* x, T* y);
// y = M^H x
template <class T>
void AdjointProduct(Block<T> m, const T* x, T* y);
// M += a x y^H
template <class T>
void AddOuter(Block<T> m, T a, const T* x, const T* y);
// M += x y^H + y x^H in the lower triangle
template <class T>
void AddOuterPair(Block<T> m, T a, const T* x, const T* y);
// y = H x, where the lower triangle of the self-adjoint H is read
template <class T>
void SelfAdjointProduct(Block<T> h, const T* x, T* y);

// C = op(A) op(B), or C += or -= that; op is the adjoint where wanted.
enum class Into { kSet, kAdd, kSubtract };
template <class T>
void Multiply(Block<T> c, Into into, Block<T> a, bool adjoint_a, Block<T> b, bool adjoint_b);
template <class T>
void Multiply(Rows<T> c, Into into, Rows<T> a, bool adjoint_a, Rows<T> b, bool adjoint_b) {
  Multiply(c.Transposed(), into, b.Transposed(), adjoint_b, a.Transposed(), adjoint_a);
}

}  // namespace penstock::linalg
