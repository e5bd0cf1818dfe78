#include "penstock/kernels/cpu/linalg/lapack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/kernels/cpu/linalg/gemm.h"

using penstock::Complex128;

extern "C" {

#define PENSTOCK_GESDD(name, T)                                                                                   \
  void name(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt, \
            const int* ldvt, T* work, const int* lwork, int* iwork, int* info, size_t)
PENSTOCK_GESDD(sgesdd_, float);
PENSTOCK_GESDD(dgesdd_, double);
#undef PENSTOCK_GESDD
void zgesdd_(const char* job, const int* m, const int* n, Complex128* a, const int* lda, double* s, Complex128* u,
             const int* ldu, Complex128* vt, const int* ldvt, Complex128* work, const int* lwork, double* rwork,
             int* iwork, int* info, size_t);

// --- what LAPACK needs of Fortran's runtime: its routines' names and options are joined for ilaenv

void _gfortran_concat_string(size_t to_size, char* to, size_t a_size, const char* a, size_t b_size, const char* b) {
  std::memset(to, ' ', to_size);
  std::memcpy(to, a, std::min(to_size, a_size));
  if (a_size < to_size) std::memcpy(to + a_size, b, std::min(to_size - a_size, b_size));
}
// An argument that LAPACK does not accept: a mistake of this file.
void xerbla_(const char* name, const int* argument, size_t size) {
  throw penstock::Internal("LAPACK refuses argument ", *argument, " of ", std::string(name, size));
}

}  // extern "C"

namespace penstock::linalg {
namespace {

template <class T>
T Conj(T x) {
  if constexpr (std::is_same_v<T, Complex128>) {
    return std::conj(x);
  } else {
    return x;
  }
}

const BlasLoops<float>& LoopsOf(float) { return BlasLoopsOfMachine().f32; }
const BlasLoops<double>& LoopsOf(double) { return BlasLoopsOfMachine().f64; }
const BlasLoops<Complex128>& LoopsOf(Complex128) { return BlasLoopsOfMachine().c128; }

bool Is(const char* option, char letter) { return (*option & ~0x20) == letter; }

// C = alpha op(A) op(B) + beta C. A column-major C has the memory layout of a row-major C^T = op(B)^T op(A)^T.
template <class T>
void Gemm(const char* op_a, const char* op_b, int64_t m, int64_t n, int64_t depth, T alpha, const T* a, int64_t lda,
          const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (m == 0 || n == 0) return;
  for (int64_t j = 0; j < n && beta != T(1); ++j) {
    T* const column = c + j * ldc;
    beta == T(0) ? void(std::fill_n(column, m, T(0))) : LoopsOf(T()).scale(m, beta, column);
  }
  if (alpha == T(0) || depth == 0) return;
  std::vector<T> scaled;  // alpha A
  if (alpha != T(1)) {
    const int64_t rows = Is(op_a, 'N') ? m : depth, columns = Is(op_a, 'N') ? depth : m;
    scaled.resize(rows * columns);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        scaled[j * rows + i] = (Is(op_a, 'C') ? Conj(alpha) : alpha) * a[j * lda + i];
      }
    }
    a = scaled.data(), lda = rows;
  }
  const auto transposed = [](const T* x, int64_t ld, const char* op) {
    return Is(op, 'N') ? MatrixView{x, ld, 1} : MatrixView{x, 1, ld, Is(op, 'C') && std::is_same_v<T, Complex128>};
  };
  GemmSerial(kTypeOf<T>, n, m, depth, transposed(b, ldb, op_b), transposed(a, lda, op_a), c, ldc, true);
}

// Elements 0 to n - 1 of a vector with steps, which begins at its end where they are negative.
template <class T>
int64_t At(int64_t i, int64_t n, int64_t step) {
  return step < 0 ? (i - n + 1) * step : i * step;
}
template <class T>
std::vector<T> Gather(int64_t n, const T* x, int64_t step) {
  std::vector<T> made(n);
  for (int64_t i = 0; i < n; ++i) made[i] = x[At<T>(i, n, step)];
  return made;
}

// y = alpha op(A) x + beta y
template <class T>
void Gemv(const char* op, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, int64_t x_step, T beta,
          T* y, int64_t y_step) {
  const bool plain = Is(op, 'N');
  const int64_t in = plain ? n : m, out = plain ? m : n;
  if (out == 0) return;
  T* const matrix = const_cast<T*>(a);  // which is only read
  std::vector<T> from = Gather(in, x, x_step), to(out);
  if (plain) {
    LoopsOf(T()).add_product(alpha, matrix, m, n, lda, from.data(), to.data());
  } else {
    // The transpose's product is the conjugate of the adjoint's with the conjugate vector.
    const bool transpose = Is(op, 'T') && std::is_same_v<T, Complex128>;
    for (T& value : from) value = transpose ? Conj(value) : value;
    LoopsOf(T()).adjoint_product(matrix, m, n, lda, from.data(), to.data());
    for (T& value : to) value = alpha * (transpose ? Conj(value) : value);
  }
  for (int64_t i = 0; i < out; ++i) {
    T& element = y[At<T>(i, out, y_step)];
    element = beta == T(0) ? to[i] : to[i] + beta * element;
  }
}

// A += alpha x y^H
template <class T>
void Ger(int64_t m, int64_t n, T alpha, const T* x, int64_t x_step, const T* y, int64_t y_step, T* a, int64_t lda) {
  const std::vector<T> from = Gather(m, x, x_step), across = Gather(n, y, y_step);
  LoopsOf(T()).add_outer(a, m, n, lda, alpha, from.data(), across.data());
}

}  // namespace
}  // namespace penstock::linalg

// BLAS's products take the place of the reference library's: LAPACK spends its time in them.
extern "C" {
#define PENSTOCK_BLAS(T, gemm, gemv, ger)                                                                            \
  void gemm(const char* op_a, const char* op_b, const int* m, const int* n, const int* depth, const T* alpha,        \
            const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc, size_t,     \
            size_t) {                                                                                                \
    penstock::linalg::Gemm<T>(op_a, op_b, *m, *n, *depth, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                 \
  }                                                                                                                  \
  void gemv(const char* op, const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* x,      \
            const int* x_step, const T* beta, T* y, const int* y_step, size_t) {                                     \
    penstock::linalg::Gemv<T>(op, *m, *n, *alpha, a, *lda, x, *x_step, *beta, y, *y_step);                           \
  }                                                                                                                  \
  void ger(const int* m, const int* n, const T* alpha, const T* x, const int* x_step, const T* y, const int* y_step, \
           T* a, const int* lda) {                                                                                   \
    penstock::linalg::Ger<T>(*m, *n, *alpha, x, *x_step, y, *y_step, a, *lda);                                       \
  }
PENSTOCK_BLAS(float, sgemm_, sgemv_, sger_)
PENSTOCK_BLAS(double, dgemm_, dgemv_, dger_)
PENSTOCK_BLAS(Complex128, zgemm_, zgemv_, zgerc_)
#undef PENSTOCK_BLAS
}  // extern "C"

namespace penstock::linalg {

template <class T>
void LapackGesdd(char job, int64_t m, int64_t n, T* a, decltype(std::real(T()))* s, T* u, T* vt, int64_t vt_rows) {
  using R = decltype(std::real(T()));
  const int64_t p = std::min(m, n), most = std::max(m, n);
  if (most > INT32_MAX / 4) throw InvalidArgument("The matrix is too large: ", m, " rows, ", n, " columns");
  const int rows = static_cast<int>(m), columns = static_cast<int>(n),
            ldvt = static_cast<int>(std::max<int64_t>(1, vt_rows));
  std::vector<int> iwork(8 * p);
  std::vector<R> rwork(std::is_same_v<T, R> ? 0 : std::max(5 * p * p + 5 * p, 2 * most * p + 2 * p * p + p));
  int info = 0;
  const auto call = [&](T* work, int size) {
    if constexpr (std::is_same_v<T, float>) {
      sgesdd_(&job, &rows, &columns, a, &rows, s, u, &rows, vt, &ldvt, work, &size, iwork.data(), &info, 1);
    } else if constexpr (std::is_same_v<T, double>) {
      dgesdd_(&job, &rows, &columns, a, &rows, s, u, &rows, vt, &ldvt, work, &size, iwork.data(), &info, 1);
    } else {
      zgesdd_(&job, &rows, &columns, a, &rows, s, u, &rows, vt, &ldvt, work, &size, rwork.data(), iwork.data(), &info,
              1);
    }
  };
  T size(0);
  call(&size, -1);
  std::vector<T> work(static_cast<size_t>(std::real(size)) + 1);
  call(work.data(), static_cast<int>(work.size()));
  if (info > 0) throw InvalidArgument("The singular value decomposition was not successful.");
}
template void LapackGesdd(char, int64_t, int64_t, float*, float*, float*, float*, int64_t);
template void LapackGesdd(char, int64_t, int64_t, double*, double*, double*, double*, int64_t);
template void LapackGesdd(char, int64_t, int64_t, Complex128*, double*, Complex128*, Complex128*, int64_t);

}  // namespace penstock::linalg
