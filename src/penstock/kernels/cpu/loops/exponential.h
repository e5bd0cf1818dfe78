// Exponentials, logarithms and what is made of them, without branches: T is float or double.
#pragma once

#include "penstock/kernels/cpu/loops/scalar.h"

namespace penstock::PENSTOCK_ISA {

// e^x = 2^n e^r apart: x = n ln 2 + r, |r| <= ln 2 / 2.
template <class T>
struct ExpParts {
  T n;  // whole; anything if x is NaN
  T q;  // e^r - 1
};
// Of e^(x + rest), where rest is small. The polynomials are e^r - 1 - r over r^2, fitted on that interval.
inline ExpParts<float> SplitExp(float x, float rest = -0.0f) {
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = Fma(x + rest, 1.44269504088896341f, kMagic) - kMagic;
  float r = Fma(n, -0.693359375f, x);
  r = Fma(n, 2.12194440e-4f, r) + rest;
  const float p = Polynomial(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
                             5.0000001201e-1);
  return {n, Fma(p * r, r, r)};
}
inline ExpParts<double> SplitExp(double x, double rest = -0.0) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  const double n = Fma(x + rest, 1.44269504088896340736, kMagic) - kMagic;
  double r = Fma(n, -6.93147180369123816490e-01, x);
  r = Fma(n, -1.90821492927058770002e-10, r) + rest;
  const double p = Polynomial(r, 2.5117911083483724e-8, 2.763127868190036e-7, 2.755721612283961e-6,
                              2.4801489947375365e-5, 1.98412699176061e-4, 1.388888894701036e-3, 8.3333333333070921e-3,
                              4.1666666666515442e-2, 1.6666666666666699e-1, 5.0000000000000127e-1);
  return {n, Fma(p * r, r, r)};
}
// 2^n for whole n that give a normal number
inline float PowerOfTwo(float n) { return Bits((static_cast<int32_t>(n) + 127) << 23); }
inline double PowerOfTwo(double n) {
  // Adding 2^52 leaves the number in the low bits.
  return Bits(static_cast<int64_t>(static_cast<uint64_t>(Bits(n + (0x1p52 + 1023))) << 52));
}
// y 2^n, where n may lie beyond the exponent range on either side.
inline float Scale(float y, float n) {
  const int32_t whole = static_cast<int32_t>(n), half = whole >> 1;
  return y * Bits((half + 127) << 23) * Bits((whole - half + 127) << 23);
}
inline double Scale(double y, double n) {
  constexpr double kMagic = 6755399441055744.0;
  const double half = (n * 0.5 + kMagic) - kMagic;
  return y * PowerOfTwo(half) * PowerOfTwo(n - half);
}

// Beyond these bounds e^x, or half of it, is 0 or infinity.
template <class T>
inline constexpr T kExpMost = std::is_same_v<T, float> ? T(91) : T(711);
template <class T>
inline constexpr T kExpLeast = std::is_same_v<T, float> ? T(-104) : T(-746);

template <class T>
inline T Exp(T x) {
  const ExpParts<T> e = SplitExp(AtLeast(AtMost(x, kExpMost<T>), kExpLeast<T>));
  return Scale(e.q + T(1), e.n);
}
// e^x / 2, which ends later than e^x
template <class T>
inline T HalfExp(T x) {
  const ExpParts<T> e = SplitExp(AtMost(x, kExpMost<T>));
  return Scale(e.q + T(1), e.n - T(1));
}
// e^x for x <= 0, denormal results as 0: what softmax needs, for fewer instructions.
inline float ExpNegative(float x) {
  constexpr float kLeast = -87.3f;
  const ExpParts<float> e = SplitExp(AtLeast(x, kLeast));
  const float y = (e.q + 1.0f) * PowerOfTwo(e.n);
  return x < kLeast ? 0.0f : y;
}
template <class T>
inline T Expm1(T x) {
  // 2^n (1 + q) - 1 = 2^n q + (2^n - 1), which keeps the digits near zero; beyond kMost the 1 no longer counts.
  constexpr T kMost = std::is_same_v<T, float> ? T(18) : T(40);
  const ExpParts<T> e = SplitExp(AtLeast(AtMost(x, kMost), -kMost));
  const T scale = PowerOfTwo(e.n);
  const T y = Fma(scale, e.q, scale - T(1));
  return x >= kMost ? Exp(x) : x == T(0) ? x : y;
}

template <class T>
inline T Sigmoid(T x) {
  // From e^-|x|, which does not overflow.
  const T e = Exp(-Abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

// x = m 2^e, m in [sqrt(1/2), sqrt(2)). Positive normal numbers only.
inline float SplitLog(float x, float* e) {
  const int32_t shifted = static_cast<int32_t>(static_cast<uint32_t>(Bits(x)) - 0x3f3504f3u);
  *e = static_cast<float>(shifted >> 23);
  return Bits((shifted & 0x007fffff) + 0x3f3504f3);
}
inline double SplitLog(double x, double* e) {
  constexpr uint64_t kHalf = 0x3fe6a09e667f3bcd, kBias = 1023;
  const uint64_t shifted = static_cast<uint64_t>(Bits(x)) - kHalf + (kBias << 52);
  *e = Bits(static_cast<int64_t>((shifted >> 52) | 0x4330000000000000u)) - (0x1p52 + kBias);
  return Bits(static_cast<int64_t>((shifted & 0x000fffffffffffffu) + kHalf));
}
// f + the returned number = log(1 + f) + n ln 2, but for the large part of n ln 2; 1 + f is SplitLog's m.
inline float LogTail(float f, float n) {
  const float z = f * f;
  const float p = Polynomial(f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                             -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1);
  return Fma(z, -0.5f, Fma(n, -2.12194440e-4f, f * z * p));
}
inline double LogTail(double f, double n) {
  // log((1 + s) / (1 - s)) with s = f / (2 + f); 2 s is f - s f.
  const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  const double p =
      z * Polynomial(z, 1.4762779164630006e-1, 1.5317636872235612e-1, 1.818341076140193e-1, 2.2222201867260869e-1,
                     2.8571428705675072e-1, 3.9999999999611273e-1, 6.6666666666666964e-1);
  return Fma(s, half + p, n * 1.90821492927058770002e-10) - half;
}
// log(x / 2^shift) of a positive normal number.
template <class T>
inline T LogOfNormal(T x, T shift = T(0)) {
  T e;
  const T f = SplitLog(x, &e) - T(1), n = e - shift;
  const T large = std::is_same_v<T, float> ? T(0.693359375) : T(6.93147180369123816490e-01);
  return Fma(n, large, f + LogTail(f, n));
}
template <class T>
inline bool IsPositiveNormal(T x) {
  return (x >= std::numeric_limits<T>::min()) & (x < kInfinity<T>);
}
template <class T>
inline T Log(T x) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  // Denormals are scaled up first.
  const bool tiny = x < std::numeric_limits<T>::min();
  T result = LogOfNormal(tiny ? x * (kFloat ? T(0x1p23) : T(0x1p52)) : x, tiny ? (kFloat ? T(23) : T(52)) : T(0));
  result = x == kInfinity<T> ? kInfinity<T> : result;
  result = x == T(0) ? -kInfinity<T> : result;
  return x >= T(0) ? result : kNan<T>;
}
template <class T>
inline T Log1p(T x) {
  // log(1 + x) corrected by what 1 + x lost in rounding.
  const T u = T(1) + x;
  const T lost = x < T(1) ? x - (u - T(1)) : T(1) - (u - x);
  T result = Log(u) + lost / u;
  result = x == T(0) || x == kInfinity<T> ? x : result;
  return x == T(-1) ? -kInfinity<T> : result;
}
template <class T>
inline T Softplus(T x) {
  // max(x, 0) + log1p(exp(-|x|)): neither part overflows or cancels.
  const T tail = Log1p(Exp(-Abs(x)));
  return (x > T(0) ? x : T(0)) + tail + (x != x ? x : T(0));
}

// --- hyperbolic functions

template <class T>
inline T Tanh(T x) {
  // t / (t + 2) with t = e^2a - 1, as Expm1 has it; beyond kMost it is 1.
  constexpr T kMost = std::is_same_v<T, float> ? T(10) : T(20);
  const T a = AtMost(Abs(x), kMost);
  const ExpParts<T> e = SplitExp(a + a);
  const T scale = PowerOfTwo(e.n);
  const T t = Fma(scale, e.q, scale - T(1));
  return WithSign(t / (t + T(2)), x);
}
template <class T>
inline T Sinh(T x) {
  const T a = Abs(x), z = x * x;
  const T p = std::is_same_v<T, float> ? Polynomial(z, 2.816951562e-6, 1.983615971e-4, 8.333350059e-3, 1.66666665e-1)
                                       : Polynomial(z, 7.75874823955807e-13, 1.6057259789634377e-10,
                                                    2.505212313641804e-8, 2.7557319157074064e-6, 1.9841269841431865e-4,
                                                    8.3333333333331478e-3, 1.6666666666666667e-1);
  const T half = HalfExp(a);
  return a < T(1) ? Fma(x * z, p, x) : WithSign(half - T(0.25) / half, x);
}
template <class T>
inline T Cosh(T x) {
  const T half = HalfExp(Abs(x));
  return half + T(0.25) / half;
}
// From here on log(x + 1) is log x, and squares still have room.
template <class T>
inline constexpr T kPlainLog = std::is_same_v<T, float> ? T(0x1p26) : T(0x1p54);
template <class T>
inline T Asinh(T x) {
  // log(a + sqrt(a^2 + 1)); of large a it is log 2a.
  const T a = Abs(x), c = AtMost(a, kPlainLog<T>), z = c * c;
  const T near = c + z / (T(1) + Root(z + T(1)));
  const bool large = a > kPlainLog<T>;
  return WithSign(Log1p(large ? a : near) + (large ? T(0.693147180559945309417) : T(0)), x);
}
template <class T>
inline T Acosh(T x) {
  // log(x + sqrt(x^2 - 1)) from the distance to 1, so that numbers near it keep their digits.
  const T t = AtMost(x, kPlainLog<T>) - T(1);
  const T near = t + Root(t * (t + T(2)));
  const bool large = x > kPlainLog<T>;
  const T result = Log1p(large ? x : near) + (large ? T(0.693147180559945309417) : T(0));
  return x < T(1) ? kNan<T> : result;
}
template <class T>
inline T Atanh(T x) {
  const T a = Abs(x);
  return WithSign(T(0.5) * Log1p((a + a) / (T(1) - a)), x);
}

// --- products with logarithms: 0 where x is 0, whatever y is

template <class T>
inline T Xlogy(T x, T y) {
  const T product = x * Log(y);
  return x == T(0) ? T(0) : product;
}
template <class T>
inline T Xlog1py(T x, T y) {
  const T product = x * Log1p(y);
  return x == T(0) ? T(0) : product;
}

}  // namespace penstock::PENSTOCK_ISA
