// Philox 4x32-10, several groups at a time: each 64-bit lane carries one 32-bit word of one group, in its lower half.
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/scalar.h"

#if defined(__AVX2__)
#include <immintrin.h>
// The intrinsics' own headers say so of values that they leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace penstock::PENSTOCK_ISA {
namespace {

constexpr uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57, kRaise0 = 0x9E3779B9, kRaise1 = 0xBB67AE85;

#if defined(__AVX512F__)
using V = __m512i;
constexpr int kLanes = 8;
inline V Splat(uint64_t v) { return _mm512_set1_epi64(static_cast<int64_t>(v)); }
inline V Count() { return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7); }
inline V Add(V a, V b) { return _mm512_add_epi64(a, b); }
inline V Multiply(V a, V b) { return _mm512_mul_epu32(a, b); }
inline V High(V a) { return _mm512_maskz_srli_epi64(0xFF, a, 32); }
inline V Xor(V a, V b, V c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
inline V Join(V low, V high) { return _mm512_mask_blend_epi32(0xAAAA, low, _mm512_maskz_slli_epi64(0xFF, high, 32)); }
inline void Store(uint32_t* out, V a, V b) {
  const V first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi64(a, first, b));
  _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(a, second, b));
}
#elif defined(__AVX2__)
using V = __m256i;
constexpr int kLanes = 4;
inline V Splat(uint64_t v) { return _mm256_set1_epi64x(static_cast<int64_t>(v)); }
inline V Count() { return _mm256_setr_epi64x(0, 1, 2, 3); }
inline V Add(V a, V b) { return _mm256_add_epi64(a, b); }
inline V Multiply(V a, V b) { return _mm256_mul_epu32(a, b); }
inline V High(V a) { return _mm256_srli_epi64(a, 32); }
inline V Xor(V a, V b, V c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }
inline V Join(V low, V high) { return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA); }
inline void Store(uint32_t* out, V a, V b) {
  const V even = _mm256_unpacklo_epi64(a, b), odd = _mm256_unpackhi_epi64(a, b);
  _mm256_storeu_si256(reinterpret_cast<V*>(out), _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(reinterpret_cast<V*>(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}
#else
using V = uint64_t;
constexpr int kLanes = 1;
inline V Splat(uint64_t v) { return v; }
inline V Count() { return 0; }
inline V Add(V a, V b) { return a + b; }
inline V Multiply(V a, V b) { return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu); }
inline V High(V a) { return a >> 32; }
inline V Xor(V a, V b, V c) { return a ^ b ^ c; }
inline V Join(V low, V high) { return (low & 0xFFFFFFFFu) | high << 32; }
inline void Store(uint32_t* out, V a, V b) {
  out[0] = static_cast<uint32_t>(a);
  out[1] = static_cast<uint32_t>(a >> 32);
  out[2] = static_cast<uint32_t>(b);
  out[3] = static_cast<uint32_t>(b >> 32);
}
#endif

struct Words {
  V c0, c1, c2, c3;
  void Round(V k0, V k1) {
    const V p0 = Multiply(Splat(kMultiply0), c0), p1 = Multiply(Splat(kMultiply1), c2);
    c0 = Xor(High(p1), c1, k0);
    c2 = Xor(High(p0), c3, k1);
    c1 = p1;
    c3 = p0;
  }
};

// Two chains at a time hide the multiplication's latency.
void PhiloxGroups(const uint32_t counter[4], const uint32_t key[2], int64_t groups, uint32_t stride, uint32_t* out) {
  uint64_t low = counter[0] | uint64_t{counter[1]} << 32, high = counter[2] | uint64_t{counter[3]} << 32;
  while (groups > 0) {
    Words w[2];
    uint32_t tail[2 * kLanes * 4];
    const bool carries = low + (2 * kLanes - 1) * uint64_t{stride} < low;
    const int64_t step = carries ? 1 : groups < 2 * kLanes ? groups : 2 * kLanes;
    for (int i = 0; i < 2; ++i) {
      const V count = Add(Splat(low + static_cast<uint64_t>(i) * kLanes * stride), Multiply(Count(), Splat(stride)));
      w[i] = {count, High(count), Splat(high), Splat(high >> 32)};
    }
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round, k0 += kRaise0, k1 += kRaise1) {
      w[0].Round(Splat(k0), Splat(k1));
      w[1].Round(Splat(k0), Splat(k1));
    }
    uint32_t* to = step == 2 * kLanes ? out : tail;
    for (int i = 0; i < 2; ++i) Store(to + i * kLanes * 4, Join(w[i].c0, w[i].c1), Join(w[i].c2, w[i].c3));
    if (to == tail) {
      for (int64_t i = 0; i < step * 4; ++i) out[i] = tail[i];
    }
    out += step * 4;
    groups -= step;
    const uint64_t raise = static_cast<uint64_t>(step) * stride;
    low += raise;
    if (low < raise) ++high;
  }
}

// Logarithm, sine and cosine exactly as the C library has them for float (computed in double, by the approximations of
// Arm's optimised routines), since TensorFlow's normal numbers are made with those: equal bit for bit.

// 1 / c and log(c) for a c near the middle of each of 16 intervals of [0.7, 1.4).
constexpr double kInverse[16] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
constexpr double kLog[16] = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

inline float Log(float u) {
  const auto bits = __builtin_bit_cast(int32_t, u);
  const int32_t above = bits - 0x3f330000;
  const int32_t interval = (above >> 19) & 15;
  const int32_t exponent = above >> 23;
  const double z = __builtin_bit_cast(float, bits - (above & static_cast<int32_t>(0xff800000)));
  const double r = Fma(z, kInverse[interval], -1.0);
  const double base = Fma(exponent, 0x1.62e42fefa39efp-1, kLog[interval]);
  const double r2 = r * r;
  double y = Fma(0x1.5575b0be00b6ap-2, r, -0x1.ffffef20a4123p-2);
  y = Fma(-0x1.00ea348b88334p-2, r2, y);
  return static_cast<float>(Fma(y, r2, base + r));
}

// For 0 <= angle < 120.
inline void SinCos(float angle, float* sine, float* cosine) {
  const int32_t n = (static_cast<int32_t>(angle * 0x1.45F306DC9C883p+23) + 0x800000) >> 24;  // quadrant
  const double x = Fma(-static_cast<double>(n), 0x1.921FB54442D18p0, static_cast<double>(angle));
  const double x2 = x * x, x4 = x2 * x2, x6 = x4 * x2;
  // Signs as factors and bits, not as conditions: those would not become vector code.
  const double signed_x = x * static_cast<double>(1 - ((n + 1) & 2));
  const double x3 = x2 * signed_x, x5 = x3 * x2;
  const double s_high = Fma(x2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7);
  const double s = Fma(x5, s_high, Fma(x3, -0x1.555545995a603p-3, signed_x));
  const double c_high = Fma(x2, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10);
  const double c_low = Fma(x4, 0x1.55553e1068f19p-5, Fma(x2, -0x1.ffffffd0c621cp-2, 1.0));
  const double c = Fma(x6, c_high, c_low);
  const float fs = static_cast<float>(s), fc = static_cast<float>(c * static_cast<double>(1 - (n & 2)));
  const uint32_t bits_s = __builtin_bit_cast(uint32_t, fs), bits_c = __builtin_bit_cast(uint32_t, fc);
  const uint32_t swap = (bits_s ^ bits_c) & (0u - static_cast<uint32_t>(n & 1));
  *sine = __builtin_bit_cast(float, bits_s ^ swap);
  *cosine = __builtin_bit_cast(float, bits_c ^ swap);
}

inline float Unit(uint32_t word) { return __builtin_bit_cast(float, (word & 0x7FFFFFu) | 0x3F800000u) - 1.0f; }

// In steps over arrays that stay in the cache, each of which is simple enough to become vector code.
void NormalPairs(const uint32_t* words, int64_t pairs, float* out) {
  constexpr int kStep = 128;
  float radius[kStep], angle[kStep], sine[kStep], cosine[kStep];
  for (; pairs > 0; pairs -= kStep, words += 2 * kStep, out += 2 * kStep) {
    const int n = pairs < kStep ? static_cast<int>(pairs) : kStep;
    for (int i = 0; i < n; ++i) {
      const float u = Unit(words[2 * i]);
      radius[i] = u < 1.0e-7f ? 1.0e-7f : u;
      angle[i] = static_cast<float>(0x1.921fb54442d18p+2 * Unit(words[2 * i + 1]));
    }
    for (int i = 0; i < n; ++i) radius[i] = __builtin_sqrtf(-2.0f * Log(radius[i]));
    for (int i = 0; i < n; ++i) SinCos(angle[i], &sine[i], &cosine[i]);
    for (int i = 0; i < n; ++i) {
      out[2 * i] = sine[i] * radius[i];
      out[2 * i + 1] = cosine[i] * radius[i];
    }
  }
}

}  // namespace

void FillRandom(Loops& loops) {
  loops.philox = PhiloxGroups;
  loops.normal_pairs = NormalPairs;
}

}  // namespace penstock::PENSTOCK_ISA
