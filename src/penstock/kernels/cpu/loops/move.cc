// Squares of elements turned over their diagonal, and sums of picked rows.
#include <cstring>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/square.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// Blocks of 64 bytes a side: whole cache lines are read, along memory, and written.
template <class T, bool kStream>
void TurnBlocks(T* to, int64_t ts, const T* from, int64_t fs, int64_t n, int64_t m) {
  constexpr int64_t kBlock = 64 / sizeof(T), kSide = Square<T>::kSide;
  for (int64_t i = 0; i < n; i += kBlock) {
    for (int64_t j = 0; j < m; j += kBlock) {
      if (i + kBlock <= n && j + kBlock <= m) {
        for (int64_t a = i; a < i + kBlock; a += kSide) {
          for (int64_t b = j; b < j + kBlock; b += kSide) {
            Square<T>::template Turn<kStream>(to + b * ts + a, ts, from + a * fs + b, fs);
          }
        }
        continue;
      }
      for (int64_t b = j; b < m && b < j + kBlock; ++b) {
        for (int64_t a = i; a < n && a < i + kBlock; ++a) {
          std::memcpy(to + b * ts + a, from + a * fs + b, sizeof(T));
        }
      }
    }
  }
}
template <class T>
void Turn(char* to_bytes, int64_t ts, const char* from_bytes, int64_t fs, int64_t n, int64_t m) {
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  const int64_t size = static_cast<int64_t>(sizeof(T));
  // What is too large for the second-level cache goes past it, if its lines are whole.
  if (kCanStream && n * m * size >= 1 << 19 && reinterpret_cast<uintptr_t>(to) % 64 == 0 && ts * size % 64 == 0) {
    TurnBlocks<T, true>(to, ts, from, fs, n, m);
    StreamEnd();
  } else {
    TurnBlocks<T, false>(to, ts, from, fs, n, m);
  }
}

typedef float Wide __attribute__((vector_size(64)));
typedef float WideUnaligned __attribute__((vector_size(64), aligned(1), may_alias));

// kVectors * 16 columns at once, whose sums stay in registers.
template <int kVectors>
void Columns(int64_t entries, const float* weights, const int64_t* rows, int64_t step, const float* b, int64_t ldb,
             float* y) {
  Wide sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = *reinterpret_cast<const WideUnaligned*>(y + v * 16);
  for (int64_t e = 0; e < entries; ++e) {
    const float* row = b + rows[e * step] * ldb;
    const float w = weights[e];
    for (int v = 0; v < kVectors; ++v) sums[v] += w * *reinterpret_cast<const WideUnaligned*>(row + v * 16);
  }
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<WideUnaligned*>(y + v * 16) = sums[v];
}

void WeightedRows(int64_t entries, const float* weights, const int64_t* rows, int64_t step, const float* b, int64_t n,
                  float* y) {
  int64_t j = 0;
  for (; j + 64 <= n; j += 64) Columns<4>(entries, weights, rows, step, b + j, n, y + j);
  for (; j + 32 <= n; j += 32) Columns<2>(entries, weights, rows, step, b + j, n, y + j);
  for (; j + 16 <= n; j += 16) Columns<1>(entries, weights, rows, step, b + j, n, y + j);
  if (j == n) return;
  for (int64_t e = 0; e < entries; ++e) {
    const float* row = b + rows[e * step] * n;
    for (int64_t c = j; c < n; ++c) y[c] += weights[e] * row[c];
  }
}

// kVectors * 16 columns of AddRows.
template <int kVectors>
void AddColumns(int64_t count, const int64_t* rows, const int64_t* to, int64_t first, int64_t last, const float* x,
                float* y, int64_t ld) {
  constexpr int64_t kAhead = 8;  // rows that are asked for before they are read
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const float* next = x + (rows ? rows[i + kAhead] : i + kAhead) * ld;
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(next + v * 16);
    }
    if (to[i] < first || to[i] >= last) continue;
    const float* from = x + (rows ? rows[i] : i) * ld;
    float* sums = y + to[i] * ld;
    for (int v = 0; v < kVectors; ++v)
      *reinterpret_cast<WideUnaligned*>(sums + v * 16) += *reinterpret_cast<const WideUnaligned*>(from + v * 16);
  }
}

void AddRows(int64_t count, const int64_t* rows, const int64_t* to, int64_t first, int64_t last, const float* x,
             float* y, int64_t ld, int64_t n) {
  int64_t j = 0;
  for (; j + 64 <= n; j += 64) AddColumns<4>(count, rows, to, first, last, x + j, y + j, ld);
  for (; j + 32 <= n; j += 32) AddColumns<2>(count, rows, to, first, last, x + j, y + j, ld);
  for (; j + 16 <= n; j += 16) AddColumns<1>(count, rows, to, first, last, x + j, y + j, ld);
  if (j == n) return;
  for (int64_t i = 0; i < count; ++i) {
    if (to[i] < first || to[i] >= last) continue;
    const float* from = x + (rows ? rows[i] : i) * ld;
    for (int64_t c = j; c < n; ++c) y[to[i] * ld + c] += from[c];
  }
}

}  // namespace

void FillMove(Loops& loops) {
  loops.turn_4 = &Turn<int32_t>;
  loops.turn_8 = &Turn<int64_t>;
  loops.weighted_rows_f32 = &WeightedRows;
  loops.add_rows_f32 = &AddRows;
}

}  // namespace penstock::PENSTOCK_ISA
