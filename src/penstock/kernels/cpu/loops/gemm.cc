// The innermost tiles of matrix products: a block of C held in registers while k runs.
#include <array>
#include <cstring>
#include <utility>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/square.h"
#include "penstock/kernels/cpu/loops/tile.h"

namespace penstock::PENSTOCK_ISA {
namespace {

template <class T, int kM, bool kTurned>
void TileOf(const GemmPart* parts, int count, void* c_block, int64_t ldc, int columns, bool add) {
  constexpr int kWidth = kLanes<T>;
  T* c = static_cast<T*>(c_block);
  // Where the result goes is fetched while it is computed.
#pragma GCC unroll 16
  for (int i = 0; i < kM; ++i) {
    __builtin_prefetch(c + i * ldc, 1);
    __builtin_prefetch(c + i * ldc + kWidth, 1);
  }
  Vec<T> acc[kM][2];
#pragma GCC unroll 16
  for (int i = 0; i < kM; ++i) acc[i][0] = acc[i][1] = Vec<T>{};
  for (const GemmPart *part = parts, *end = parts + count; part != end; ++part) {
    Accumulate<T, kM, kTurned>(part->depth, static_cast<const T*>(part->a), part->lda, static_cast<const T*>(part->b),
                               part->ldb, acc);
  }
  if (columns == 2 * kWidth) {
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
      T* row = c + i * ldc;
      Store<T>(row, add ? Load(row) + acc[i][0] : acc[i][0]);
      Store<T>(row + kWidth, add ? Load(row + kWidth) + acc[i][1] : acc[i][1]);
    }
    return;
  }
  T edge[kM][2 * kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < kM; ++i) {
    Store<T>(edge[i], acc[i][0]);
    Store<T>(edge[i] + kWidth, acc[i][1]);
  }
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < columns; ++j) c[i * ldc + j] = add ? c[i * ldc + j] + edge[i][j] : edge[i][j];
  }
}

using TileFn = void (*)(const GemmPart*, int, void*, int64_t, int, bool);
template <class T, bool kTurned, int... kM>
constexpr std::array<TileFn, sizeof...(kM)> TilesOf(std::integer_sequence<int, kM...>) {
  return {&TileOf<T, kM + 1, kTurned>...};
}
template <class T, bool kTurned>
inline constexpr auto kTiles = TilesOf<T, kTurned>(std::make_integer_sequence<int, kTileRows>());

template <class T, bool kTurned>
void Tile(int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, int rows,
          int columns, bool add) {
  const GemmPart part{k, a, lda, b, ldb};
  kTiles<T, kTurned>[rows - 1](&part, 1, c, ldc, columns, add);
}
template <class T>
void AddTurned(const GemmPart* parts, int count, void* c, int64_t ldc, int rows, int columns) {
  kTiles<T, true>[rows - 1](parts, count, c, ldc, columns, true);
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

template <class T>
constexpr GemmLoops kGemm = {kTileRows,     kTileColumns<T>,     &Tile<T, false>,           &Tile<T, true>,
                             &AddTurned<T>, &Pack<T, kTileRows>, &Pack<T, kTileColumns<T>>, &RowTimesMatrix<T>};

void FillGemm(Loops& loops) {
  loops.gemm_f32 = kGemm<float>;
  loops.gemm_f64 = kGemm<double>;
  loops.gemm_u32 = kGemm<uint32_t>;
  loops.gemm_u64 = kGemm<uint64_t>;
}

}  // namespace penstock::PENSTOCK_ISA
