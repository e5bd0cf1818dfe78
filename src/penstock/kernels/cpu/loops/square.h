// Squares of elements in registers, turned over their diagonal.
#pragma once

#include <type_traits>

#include "penstock/kernels/cpu/loops/vector.h"

namespace penstock::PENSTOCK_ISA {

template <class T>
struct Square {
  static constexpr int kSide = kLanes<T>;
  using V = Vec<T>;
  using Lane = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Indices = Vec<Lane>;

  // Indices into two rows: blocks of `w` of the first beside those of the second that have their places, the ones at
  // even and the ones at odd places.
  template <int w>
  static void Exchange(Indices& low, Indices& high) {
    for (int i = 0; i < kSide; ++i) {
      low[i] = i & w ? kSide + i - w : i;
      high[i] = i & w ? kSide + i : i + w;
    }
  }
  // Turns kSide rows: in each round, blocks of `w` change places between rows w apart.
  template <int w>
  static void Round(V (&rows)[kSide]) {
    if constexpr (w < kSide) {
      Indices low, high;
      Exchange<w>(low, high);
#pragma GCC unroll 16
      for (int r = 0; r < kSide; ++r) {
        if (r & w) continue;
        const V a = rows[r], b = rows[r + w];
        rows[r] = __builtin_shuffle(a, b, low);
        rows[r + w] = __builtin_shuffle(a, b, high);
      }
      Round<w * 2>(rows);
    }
  }
  // kStream: past the caches; see Stream.
  template <bool kStream = false>
  static void Turn(T* to, int64_t ts, const T* from, int64_t fs) {
    V rows[kSide];
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) rows[r] = Load(from + r * fs);
    Round<1>(rows);
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      if constexpr (kStream) {
        Stream(to + r * ts, rows[r]);
      } else {
        Store(to + r * ts, rows[r]);
      }
    }
  }
};

}  // namespace penstock::PENSTOCK_ISA
