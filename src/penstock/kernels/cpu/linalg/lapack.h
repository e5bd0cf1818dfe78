// Debian's LAPACK, linked statically and hidden, on the products of this folder: what a decomposition of more than a
// few rows is faster with. Matrices lie by columns, without gaps.
#pragma once

#include <complex>
#include <cstdint>

namespace penstock::linalg {

// Singular values of the m x n matrix `a`, which is overwritten, by divide and conquer: values s, left vectors u and
// the adjoint of the right ones, which has `vt_rows` rows. job: 'N' none, 'S' as many as values, 'A' all vectors.
template <class T>
void LapackGesdd(char job, int64_t m, int64_t n, T* a, decltype(std::real(T()))* s, T* u, T* vt, int64_t vt_rows);

// Level 2 of BLAS on whole columns, for this machine's instruction set (vector_ops.h says what each does).
template <class T>
struct BlasLoops {
  void (*scale)(int64_t n, T a, T* x);
  void (*add_product)(T a, T* m, int64_t rows, int64_t columns, int64_t stride, const T* x, T* y);
  void (*adjoint_product)(T* m, int64_t rows, int64_t columns, int64_t stride, const T* x, T* y);
  void (*add_outer)(T* m, int64_t rows, int64_t columns, int64_t stride, T a, const T* x, const T* y);
};
struct AllBlasLoops {
  BlasLoops<float> f32;
  BlasLoops<double> f64;
  BlasLoops<std::complex<double>> c128;
};
const AllBlasLoops& BlasLoopsOfMachine();  // multiversion.cc

}  // namespace penstock::linalg
