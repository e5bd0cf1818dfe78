// Inner loops of convolutions of floats, compiled for each instruction set; CpuLoops().conv has this machine's.
#pragma once

#include <cstdint>

namespace penstock {

// What is done to results before they are stored: (y - mean) * scale + bias, each of an output channel, then no less
// than `least` and no more than `most`; NaN stays. Null: nothing of it.
struct TileEpilogue {
  const float *bias = nullptr, *mean = nullptr, *scale = nullptr;  // mean and scale: both or none
  float least = 0, most = 0;
};

// Winograd's convolutions with 3 x 3 filters: `side` x `side` results of one tile come from the elementwise products of
// (side + 2)^2 transformed elements of input and filter. `stride` lies between the transformed elements.
struct WinogradLoops {
  int side = 0;
  // Filters of n outputs, one for each tap `taps` apart, contiguous; n is a multiple of a vector's length.
  void (*filter)(const float* x, int64_t taps, int64_t n, float* to, int64_t stride) = nullptr;
  // x: the pixels of a tile, (side + 2)^2 of them, with n channels each.
  void (*input)(const float* const* x, int64_t n, float* to, int64_t stride) = nullptr;
  // y: the pixels of results, side^2 of them, null for those that are not wanted. False if some are not finite before
  // the epilogue.
  bool (*output)(const float* x, int64_t stride, int64_t n, const TileEpilogue* epilogue, float* const* y) = nullptr;
};

inline constexpr int kMostThinVectors = 8;

struct ConvLoops {
  int rows = 0, columns = 0;  // of the largest tile
  // c[i * ldc + j] (+)= sum over p of a[i * lda + p] * b[p * ldb + j], for i < m <= rows, j < n <= columns.
  void (*tile)(int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int m, int n,
               bool add, const TileEpilogue* epilogue) = nullptr;
  WinogradLoops winograd[2];  // of side 2 and 4
  int lanes = 0;              // of a vector
  // y[i] = sum over t of x[offsets[t] + i] * w[t * n + i] for i < n, which is 1 to kMostThinVectors times `lanes`.
  void (*taps)(const float* x, const int64_t* offsets, int64_t taps, const float* w, int64_t n, float* y) = nullptr;
  // y[i] (+)= sum over t of a[t][i] * b[t][i] for i < n.
  void (*products_f32)(int64_t terms, const float* const* a, const float* const* b, int64_t n, float* y,
                       bool add) = nullptr;
  void (*products_f64)(int64_t terms, const double* const* a, const double* const* b, int64_t n, double* y,
                       bool add) = nullptr;
  // c[i * ldc + j] (+)= sum over p of a[i * lda + p] * b[j * ldb + p], for i < rows, j < columns.
  void (*dots_f32)(int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
                   int64_t rows, int64_t columns, bool add) = nullptr;
  void (*dots_f64)(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc,
                   int64_t rows, int64_t columns, bool add) = nullptr;
};

}  // namespace penstock
