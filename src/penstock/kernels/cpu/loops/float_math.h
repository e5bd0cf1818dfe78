// Branch-free float functions for loops/*.cc.
#pragma once

#include <bit>
#include <cstdint>

namespace penstock::PENSTOCK_ISA {

// a * b + c in one instruction where the processor has one; two roundings elsewhere.
inline float Fma(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline float Bits(int32_t i) { return __builtin_bit_cast(float, i); }
inline int32_t Bits(float f) { return __builtin_bit_cast(int32_t, f); }

// e^r and 2^n apart: x = n ln 2 + r, |r| <= ln 2 / 2. The polynomial is e^r - 1 - r over r^2, fitted on that interval.
struct ExpParts {
  int32_t n;   // anything if x is NaN
  float r, p;  // e^r = 1 + r + r^2 p
};
inline ExpParts SplitExp(float x) {
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, which then lies in the low bits
  const float shifted = Fma(x, 1.44269504088896341f, kMagic);
  const float n = shifted - kMagic;
  float r = Fma(n, -0.693359375f, x);
  r = Fma(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = Fma(p, r, 1.3981999507e-3f);
  p = Fma(p, r, 8.3334519073e-3f);
  p = Fma(p, r, 4.1665795894e-2f);
  p = Fma(p, r, 1.6666665459e-1f);
  p = Fma(p, r, 5.0000001201e-1f);
  return {Bits(shifted) - Bits(kMagic), r, p};
}
// 2^n for -126 <= n <= 127
inline float PowerOfTwo(int32_t n) { return Bits((n + 127) << 23); }

inline float ExpF(float x) {
  // NaN passes both tests; beyond these bounds the result is 0 or infinity anyway.
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  const ExpParts e = SplitExp(c);
  const float y = Fma(e.p * e.r, e.r, e.r) + 1.0f;
  // 2^n in two factors: n may lie beyond the exponent range on either side.
  const int32_t half = e.n >> 1;
  return y * PowerOfTwo(half) * PowerOfTwo(e.n - half);
}
// e^x for x <= 0, denormal results as 0: what softmax needs, for fewer instructions.
inline float ExpNegativeF(float x) {
  constexpr float kLeast = -87.3f;
  const float c = x < kLeast ? kLeast : x;
  const ExpParts e = SplitExp(c);
  const float y = (Fma(e.p * e.r, e.r, e.r) + 1.0f) * PowerOfTwo(e.n);
  return x < kLeast ? 0.0f : y;
}
inline float Expm1F(float x) {
  // 2^n (1 + q) - 1 = 2^n q + (2^n - 1), which keeps the digits near zero; beyond 16 the 1 no longer counts.
  float c = x > 16.0f ? 16.0f : x;
  c = c < -20.0f ? -20.0f : c;
  const ExpParts e = SplitExp(c);
  const float q = Fma(e.p * e.r, e.r, e.r);
  const float scale = PowerOfTwo(e.n);
  const float y = Fma(scale, q, scale - 1.0f);
  return x > 16.0f ? ExpF(x) : x == 0.0f ? x : y;
}
inline float SigmoidF(float x) {
  // From e^-|x|, which does not overflow.
  const float e = ExpF(-__builtin_fabsf(x));
  const float r = 1.0f / (1.0f + e);
  return x < 0.0f ? e * r : r;
}

inline float LogF(float x) {
  // Denormals are scaled up first.
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  int32_t bits = Bits(scaled);
  // m in [sqrt(1/2), sqrt(2)), x = m 2^e
  const int32_t shifted = static_cast<int32_t>(static_cast<uint32_t>(bits) - 0x3f3504f3u);
  const int32_t e = (shifted >> 23) - (tiny ? 23 : 0);
  const float m = Bits((shifted & 0x007fffff) + 0x3f3504f3);
  const float f = m - 1.0f;
  const float z = f * f;
  float p = 7.0376836292e-2f;
  p = Fma(p, f, -1.1514610310e-1f);
  p = Fma(p, f, 1.1676998740e-1f);
  p = Fma(p, f, -1.2420140846e-1f);
  p = Fma(p, f, 1.4249322787e-1f);
  p = Fma(p, f, -1.6668057665e-1f);
  p = Fma(p, f, 2.0000714765e-1f);
  p = Fma(p, f, -2.4999993993e-1f);
  p = Fma(p, f, 3.3333331174e-1f);
  const float n = static_cast<float>(e);
  float y = f * z * p;
  y = Fma(n, -2.12194440e-4f, y);
  y = Fma(z, -0.5f, y);
  float result = Fma(n, 0.693359375f, f + y);
  constexpr float kInf = __builtin_inff();
  result = x == kInf ? kInf : result;
  result = x == 0.0f ? -kInf : result;
  return x >= 0.0f ? result : __builtin_nanf("");
}
inline float Log1pF(float x) {
  // log(1 + x) corrected by what 1 + x lost in rounding.
  const float u = 1.0f + x;
  const float d = u - 1.0f;
  const float y = LogF(u);
  const bool exact = d == 0.0f;
  const float corrected = y * (x / (exact ? 1.0f : d));
  float result = exact ? x : corrected;
  result = u == __builtin_inff() ? u : result;
  return x == -1.0f ? -__builtin_inff() : result;
}

inline float TanhF(float x) {
  // t / (t + 2) with t = e^2a - 1, as Expm1F has it; from 10 on it is 1.
  const float a = __builtin_fabsf(x);
  const float c = a > 10.0f ? 10.0f : a;
  const ExpParts e = SplitExp(c + c);
  const float q = Fma(e.p * e.r, e.r, e.r);
  const float scale = PowerOfTwo(e.n);
  const float t = Fma(scale, q, scale - 1.0f);
  return Bits(static_cast<int32_t>(Bits(t / (t + 2.0f)) | (Bits(x) & INT32_MIN)));
}

// Rational approximation of erf on [-4, 4]; beyond, it is 1 to float precision.
inline float ErfF(float x) {
  const float a = __builtin_fabsf(x);
  // |x| < 1: x times a polynomial in x^2.
  const float z = x * x;
  float p = 7.853861353153693e-5f;
  p = Fma(p, z, -8.010193625184903e-4f);
  p = Fma(p, z, 5.188327685732524e-3f);
  p = Fma(p, z, -2.685381193529856e-2f);
  p = Fma(p, z, 1.128358514861418e-1f);
  p = Fma(p, z, -3.761262582423300e-1f);
  p = Fma(p, z, 1.128379165726710e+0f);
  const float near = x * p;
  // |x| >= 1: 1 - t e^(-x^2) q(t), t = 1 / (1 + x / 2), fitted over all positive x.
  const float c = a > 4.0f ? 4.0f : a;
  const float t = 1.0f / Fma(0.5f, c, 1.0f);
  float q = 0.17087277f;
  q = Fma(q, t, -0.82215223f);
  q = Fma(q, t, 1.48851587f);
  q = Fma(q, t, -1.13520398f);
  q = Fma(q, t, 0.27886807f);
  q = Fma(q, t, -0.18628806f);
  q = Fma(q, t, 0.09678418f);
  q = Fma(q, t, 0.37409196f);
  q = Fma(q, t, 1.00002368f);
  q = Fma(q, t, -1.26551223f);
  const float far = 1.0f - t * ExpF(Fma(-c, c, q));
  const float signed_far = Bits(static_cast<int32_t>(Bits(far) | (Bits(x) & INT32_MIN)));
  return a < 1.0f ? near : (x != x ? x : signed_far);
}

// sin x, or cos x, for |x| < 8192.
template <bool kCosine>
inline float SinF(float x) {
  constexpr float kMagic = 12582912.0f;
  const float n = Fma(x, 0.636619772367581f, kMagic) - kMagic;  // quarter turns
  float r = Fma(n, -1.5703125f, x);
  r = Fma(n, -4.837512969970703125e-4f, r);
  r = Fma(n, -7.549789954891886e-8f, r);
  const int32_t quadrant = static_cast<int32_t>(n) + (kCosine ? 1 : 0);
  const float z = r * r;
  float s = -1.9515295891e-4f;
  s = Fma(s, z, 8.3321608736e-3f);
  s = Fma(s, z, -1.6666654611e-1f);
  s = Fma(s * z, r, r);
  float c = 2.443315711809948e-5f;
  c = Fma(c, z, -1.388731625493765e-3f);
  c = Fma(c, z, 4.166664568298827e-2f);
  c = Fma(c * z, z, Fma(z, -0.5f, 1.0f));
  const float value = quadrant & 1 ? c : s;
  return Bits(static_cast<int32_t>(Bits(value) ^ ((quadrant & 2) << 30)));
}

}  // namespace penstock::PENSTOCK_ISA
