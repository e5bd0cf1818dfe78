// The innermost tiles of matrix products: a block of C held in registers while k runs.
#include <cstring>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/square.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// Accumulators fill the registers but for what two vectors of B and one element of A need.
#if defined(__AVX512F__)
constexpr int kRows = 12;
#elif defined(__AVX2__)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif

template <class T>
void Tile(int64_t k, const void* a_panel, const void* b_panel, int64_t ldb, void* c_block, int64_t ldc, int rows,
          int columns, bool accumulate) {
  constexpr int kWidth = kLanes<T>;
  const T* a = static_cast<const T*>(a_panel);
  const T* b = static_cast<const T*>(b_panel);
  T* c = static_cast<T*>(c_block);
  Vec<T> acc[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) acc[i][0] = acc[i][1] = Vec<T>{};
  for (int64_t p = 0; p < k; ++p, a += kRows, b += ldb) {
    const Vec<T> b0 = Load(b), b1 = Load(b + kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      acc[i][0] += a[i] * b0;
      acc[i][1] += a[i] * b1;
    }
  }
  if (rows == kRows && columns == 2 * kWidth) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      T* row = c + i * ldc;
      Store<T>(row, accumulate ? Load(row) + acc[i][0] : acc[i][0]);
      Store<T>(row + kWidth, accumulate ? Load(row + kWidth) + acc[i][1] : acc[i][1]);
    }
    return;
  }
  T edge[kRows][2 * kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    Store<T>(edge[i], acc[i][0]);
    Store<T>(edge[i] + kWidth, acc[i][1]);
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) c[i * ldc + j] = accumulate ? c[i * ldc + j] + edge[i][j] : edge[i][j];
  }
}

template <class T>
void RowTimesMatrix(int64_t k, int64_t n, const void* x_row, const void* b_matrix, int64_t ldb, void* y_row) {
  const T* x = static_cast<const T*>(x_row);
  const T* b = static_cast<const T*>(b_matrix);
  T* y = static_cast<T*>(y_row);
  int64_t p = 0;
  for (; p + 4 <= k; p += 4, b += 4 * ldb) {
    const T x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
    const T *b0 = b, *b1 = b + ldb, *b2 = b + 2 * ldb, *b3 = b + 3 * ldb;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) y[j] += (x0 * b0[j] + x1 * b1[j]) + (x2 * b2[j] + x3 * b3[j]);
  }
  for (; p < k; ++p, b += ldb) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) y[j] += x[p] * b[j];
  }
}

// to[p * kWidth + i] = x[i * across + p * along] for i < count, zero for the others.
template <class T, int kWidth>
void Pack(const void* panel, int64_t across, int64_t along, int64_t count, int64_t depth, void* packed) {
  constexpr int kSide = kLanes<T>;
  const T* x = static_cast<const T*>(panel);
  T* to = static_cast<T*>(packed);
  if (count < kWidth) std::memset(to, 0, depth * kWidth * sizeof(T));
  int64_t p = 0;
  if (across == 1 && count == kWidth) {
    for (; p < depth; ++p) std::memcpy(to + p * kWidth, x + p * along, kWidth * sizeof(T));
  } else if (along == 1 && count == kWidth) {
    // Squares of rows are turned in registers. The last group of rows may be short: what its stores write too much, the
    // first group of the next p overwrites, so groups go backwards, and the last p of all is left to the loop below.
    for (; p + kSide < depth; p += kSide) {
      for (int group = (kWidth - 1) / kSide * kSide; group >= 0; group -= kSide) {
        Vec<T> rows[kSide];
#pragma GCC unroll 16
        for (int r = 0; r < kSide; ++r) rows[r] = group + r < kWidth ? Load(x + (group + r) * across + p) : Vec<T>{};
        Square<T>::template Round<1>(rows);
#pragma GCC unroll 16
        for (int r = 0; r < kSide; ++r) Store(to + (p + r) * kWidth + group, rows[r]);
      }
    }
  }
  for (; p < depth; ++p) {
    for (int64_t i = 0; i < count; ++i) to[p * kWidth + i] = x[i * across + p * along];
  }
}

}  // namespace

void FillGemm(Loops& loops) {
  loops.gemm_f32 = {kRows, 2 * kLanes<float>, &Tile<float>, &Pack<float, kRows>, &Pack<float, 2 * kLanes<float>>,
                    &RowTimesMatrix<float>};
  loops.gemm_f64 = {kRows, 2 * kLanes<double>, &Tile<double>, &Pack<double, kRows>,
                    &Pack<double, 2 * kLanes<double>>, &RowTimesMatrix<double>};
}

}  // namespace penstock::PENSTOCK_ISA
