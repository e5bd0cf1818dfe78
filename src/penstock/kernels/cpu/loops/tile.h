// A tile of a product of matrices, held in registers while the depth runs.
#pragma once

#include "penstock/kernels/cpu/loops/vector.h"

namespace penstock::PENSTOCK_ISA {

// Accumulators fill the registers but for what two vectors of B and one element of A need.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 12;
#elif defined(__AVX2__)
inline constexpr int kTileRows = 6;
#else
inline constexpr int kTileRows = 4;
#endif
template <class T>
inline constexpr int kTileColumns = 2 * kLanes<T>;

// acc[i][.] += sum over p of a(i, p) * b[p * ldb + .], where a(i, p) is a[i * lda + p], or a[p * lda + i] if turned.
template <class T, int kM, bool kTurned>
inline __attribute__((always_inline)) void Accumulate(int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb,
                                                      Vec<T> (&acc)[kM][2]) {
  // Rows are reached from every third one: three share a register, with 0, 1 and 2 times lda in the address.
  const T* groups[4] = {a, a + 3 * lda, a + 6 * lda, a + 9 * lda};
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    const Vec<T> b0 = Load(b), b1 = Load(b + kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
      const T x = kTurned ? a[i] : groups[i / 3][i % 3 * lda + p];
      acc[i][0] += x * b0;
      acc[i][1] += x * b1;
    }
    if constexpr (kTurned) a += lda;
  }
}

}  // namespace penstock::PENSTOCK_ISA
