// Products of matrices on raw memory: the one place that decides how to multiply. Kernels (MatMul, Einsum, convolutions
// that are products) call it; large products may be handed to a library behind it.
#pragma once

#include <span>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// A matrix in memory: element (i, j) at data[i * rows + j * columns], in elements. One of the strides is 1 for speed.
struct MatrixView {
  const void* data = nullptr;
  int64_t row_stride = 0, column_stride = 0;
  bool conjugate = false;  // complex types only
};

struct Epilogue;  // nn/convolve.h

// C = A B (or C += A B), where C is m x n with rows `ldc` apart, A is m x k and B is k x n. `type`: any number type;
// half and bfloat16 are added up in float and rounded once; integers wrap around. Runs in parallel; the result does not
// depend on how. `epilogue`: what is done to C in the end, of floats and doubles; its channels are C's columns.
void Gemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
          const MatrixView& b, void* c, int64_t ldc, bool accumulate = false, const Epilogue* epilogue = nullptr);
// The same on the calling thread, for callers that are parallel themselves.
void GemmSerial(DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, void* c,
                int64_t ldc, bool accumulate = false);

// A^T B, where A is depth x m and B depth x n, of floats that lie row by row.
struct GemmTerm {
  int64_t depth;
  const float *a, *b;
};
// C (m x n) += the sum of all terms, tile by tile of C: each is read and written once.
void AddProducts(const KernelContext& k, int64_t m, int64_t n, std::span<const GemmTerm> terms, float* c);

}  // namespace penstock
