// Distributions over Philox, element for element TensorFlow's, and filling memory with them in parallel.
//
// A distribution gives kCount elements from one call. Those with kVariable use an unknown number of 32-bit numbers;
// each call then starts at a place of its own in the stream, so that a result does not depend on how the work is split.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_context.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/tensor/types.h"

namespace penstock::random {

inline constexpr int64_t kReservedPerOutput = 256;  // part of what numbers come out

template <class T>
inline constexpr bool kIsDouble = std::is_same_v<T, double>;

template <class T>
T FromUnit(uint32_t x) {
  if constexpr (std::is_same_v<T, float>) {
    return UnitFloat(x);
  } else {
    // 10 (half) or 7 (bfloat16) random bits behind the point of a number in [1, 2).
    T one_and;
    one_and.bits = std::is_same_v<T, Half> ? 0x3C00 | (x & 0x3FF) : 0x3F80 | (x & 0x7F);
    return one_and - T(1.0f);
  }
}

template <class T>
struct Uniform {
  using Type = T;
  static constexpr bool kVariable = false;
  static constexpr int kCount = kIsDouble<T> ? 2 : 4;
  static constexpr int kCost = 4;
  void operator()(const uint32_t* g, T* out) const {
    if constexpr (kIsDouble<T>) {
      for (int i = 0; i < 2; ++i) out[i] = UnitDouble(g[2 * i], g[2 * i + 1]);
    } else {
      for (int i = 0; i < 4; ++i) out[i] = FromUnit<T>(g[i]);
    }
  }
};

template <class T>
struct Normal {
  using Type = T;
  static constexpr bool kVariable = false;
  static constexpr int kCount = kIsDouble<T> ? 2 : 4;
  static constexpr int kCost = 20;
  void operator()(const uint32_t* g, T* out) const {
    if constexpr (kIsDouble<T>) {
      NormalPair(g[0], g[1], g[2], g[3], out, out + 1);
    } else {
      float f[4];
      NormalPair(g[0], g[1], f, f + 1);
      NormalPair(g[2], g[3], f + 2, f + 3);
      for (int i = 0; i < 4; ++i) out[i] = T(f[i]);
    }
  }
};

template <class T>
struct TruncatedNormal {
  using Type = T;
  static constexpr bool kVariable = true;
  static constexpr int kCount = kIsDouble<T> ? 2 : 4;
  static constexpr int kCost = 30;
  static bool Fits(const T* four) {
    bool fits = true;
    for (int i = 0; i < kCount; ++i) fits = fits & (std::abs(four[i]) < T(2));
    return fits;
  }
  void operator()(PhiloxSingles& singles, T* out) const {
    using C = std::conditional_t<kIsDouble<T>, double, float>;
    for (int n = 0; n < kCount;) {
      C pair[2];
      const uint32_t x0 = singles(), x1 = singles();
      if constexpr (kIsDouble<T>) {
        const uint32_t x2 = singles(), x3 = singles();
        NormalPair(x0, x1, x2, x3, pair, pair + 1);
      } else {
        NormalPair(x0, x1, pair, pair + 1);
      }
      for (C value : pair) {
        if (std::abs(value) < C(2) && n < kCount) out[n++] = T(value);
      }
    }
  }
};

// Groups [begin, end) of the stream that starts at `start`, into out; the last group may be cut at `size` elements.
template <class D>
void FillGroups(const Philox& start, const D& distribution, typename D::Type* out, int64_t size, int64_t begin,
                int64_t end) {
  using T = typename D::Type;
  constexpr int kCount = D::kCount;
  T tail[kCount] = {};
  const auto target = [&](int64_t group) { return size - group * kCount >= kCount ? out + group * kCount : tail; };
  constexpr int64_t kBatch = 64, kStride = kCount * kReservedPerOutput / Philox::kGroup;
  uint32_t words[kBatch * Philox::kGroup];
  for (int64_t first = begin; first < end; first += kBatch) {
    const int64_t n = std::min(kBatch, end - first);
    const int64_t whole = std::min(n, size / kCount - first);
    Philox philox = start;
    philox.Skip(static_cast<uint64_t>(D::kVariable ? first * kStride : first));
    if constexpr (std::is_same_v<D, TruncatedNormal<float>>) {
      // Most groups need the first four words of their part of the stream only.
      CpuLoops().philox(philox.counter().data(), philox.key().data(), whole, kStride, words);
      CpuLoops().normal_pairs(words, 2 * whole, out + first * kCount);
    } else if constexpr (!D::kVariable) {
      CpuLoops().philox(philox.counter().data(), philox.key().data(), n, 1, words);
    }
    int64_t done = 0;
    if constexpr (std::is_same_v<D, Normal<float>>) {
      CpuLoops().normal_pairs(words, 2 * whole, out + first * kCount);
      done = whole;
    }
    for (int64_t i = done; i < n; ++i, philox.Skip(D::kVariable ? kStride : 0)) {
      T* to = target(first + i);
      if constexpr (std::is_same_v<D, TruncatedNormal<float>>) {
        if (i < whole && D::Fits(to)) continue;
      }
      if constexpr (D::kVariable) {
        PhiloxSingles singles(philox);
        distribution(singles, to);
      } else {
        distribution(words + 4 * i, to);
      }
    }
  }
  const int64_t rest = size % kCount;
  if (rest > 0 && end * kCount > size) std::copy(tail, tail + rest, out + size - rest);
}

template <class D>
void Fill(const KernelContext& k, const Philox& start, const D& distribution, std::span<typename D::Type> out) {
  const int64_t size = static_cast<int64_t>(out.size()), groups = (size + D::kCount - 1) / D::kCount;
  k.Parallel(groups, D::kCost * D::kCount / 2,
             [&](int64_t begin, int64_t end) { FillGroups(start, distribution, out.data(), size, begin, end); });
}

}  // namespace penstock::random
