// Trigonometric functions and their inverses, without branches: T is float or double.
#pragma once

#include "penstock/kernels/cpu/loops/scalar.h"

namespace penstock::PENSTOCK_ISA {

template <class T>
inline constexpr T kPi = T(3.141592653589793238463);
// What kPi lacks.
template <class T>
inline constexpr T kPiRest = std::is_same_v<T, float> ? T(-8.74227765734758577e-8) : T(1.22464679914735317636e-16);

inline constexpr float kTurnsLimit = 8192;  // largest |x| of Sin and Tan

// sin x, or cos x, for |x| < kTurnsLimit.
template <bool kCosine>
inline float Sin(float x) {
  constexpr float kMagic = 12582912.0f;
  const float n = Fma(x, 0.636619772367581f, kMagic) - kMagic;  // quarter turns
  float r = Fma(n, -1.5703125f, x);
  r = Fma(n, -4.837512969970703125e-4f, r);
  r = Fma(n, -7.549789954891886e-8f, r);
  const int32_t quadrant = static_cast<int32_t>(n) + (kCosine ? 1 : 0);
  const float z = r * r;
  float s = Polynomial(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1);
  s = Fma(s * z, r, r);
  if constexpr (!kCosine) s = WithSign(s, r);  // -0 of -0
  float c = Polynomial(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2);
  c = Fma(c * z, z, Fma(z, -0.5f, 1.0f));
  const float value = quadrant & 1 ? c : s;
  return Bits(static_cast<int32_t>(Bits(value) ^ ((quadrant & 2) << 30)));
}
// tan x, for |x| < kTurnsLimit. In double: near the poles each lost bit of the angle would show.
inline float Tan(float x) {
  constexpr double kMagic = 6755399441055744.0;
  const double shifted = Fma(double{x}, 0.63661977236758134308, kMagic), n = shifted - kMagic;
  double r = Fma(n, -1.57079632673412561417e+00, double{x});
  r = Fma(n, -6.07710050650619224932e-11, r);
  const double z = r * r;
  const double p = Polynomial(z, 4.387116724e-3, 6.812136098e-5, 1.085224523e-2, 2.127603204e-2, 5.406107162e-2,
                              1.333265348e-1, 3.333335003e-1);
  const double t = Fma(r * z, p, r);
  return static_cast<float>(Bits(shifted) & 1 ? -1.0 / t : t);
}

// (asin s - s) / s^3 for z = s^2 <= 1/4
inline float AsinTail(float z) {
  return Polynomial(z, 3.751640091e-2, 1.443864025e-2, 3.180770931e-2, 4.451695619e-2, 7.50050418e-2, 1.666665999e-1);
}
// Both halves of [0, 1] come down to |s| <= 1/2: asin a = pi / 2 - 2 asin sqrt((1 - a) / 2).
inline float Asin(float x) {
  const float a = Abs(x);
  const bool small = a < 0.5f;
  const float z = small ? a * a : 0.5f * (1.0f - a), s = small ? a : Root(z);
  const float r = Fma(s * z, AsinTail(z), s);
  return WithSign(small ? r : kPi<float> / 2 - (r + r - kPiRest<float> / 2), x);
}
inline float Acos(float x) {
  const float a = Abs(x);
  const bool small = a < 0.5f;
  const float z = small ? a * a : 0.5f * (1.0f - a), s = small ? x : Root(z);
  const float r = Fma(s * z, AsinTail(z), s);
  return small ? kPi<float> / 2 - (r - kPiRest<float> / 2) : x < 0.0f ? kPi<float> - (r + r - kPiRest<float>) : r + r;
}

// atan t, 0 <= t <= 1
inline float AtanUnit(float t) {
  const float z = t * t;
  const float p = Polynomial(z, -1.793645389e-3, 1.091472094e-2, -3.117808121e-2, 5.795785536e-2, -8.403467463e-2,
                             1.09521924e-1, -1.426424311e-1, 1.999854843e-1, -3.333329909e-1);
  return Fma(p * z, t, t);
}
inline double AtanUnit(double t) {
  const double z = t * t;
  const double p =
      Polynomial(z, -8.6538452884344479e-6, 1.0386798716908471e-4, -5.9287355158657015e-4, 2.1515267384698571e-3,
                 -5.6122555375785992e-3, 1.1317442990665749e-2, -1.861395172555812e-2, 2.6151439748710189e-2,
                 -3.2785266347221231e-2, 3.8209972763779938e-2, -4.2863868837346818e-2, 4.7449247148811212e-2,
                 -5.2594334098531311e-2, 5.8817160755902703e-2, -6.6665837106023291e-2, 7.6922997103890877e-2,
                 -9.0909085471437148e-2, 1.1111111086441283e-1, -1.4285714285036418e-1, 1.9999999999990443e-1,
                 -3.3333333333333286e-1);
  return Fma(p * z, t, t);
}
template <class T>
inline T Atan(T x) {
  const T a = Abs(x);
  const bool large = a > T(1);
  const T r = AtanUnit(large ? T(1) / a : a);
  return WithSign(large ? kPi<T> / 2 - (r - kPiRest<T> / 2) : r, x);
}
template <class T>
inline T Atan2(T y, T x) {
  const T ax = Abs(x), ay = Abs(y);
  const bool steep = ay > ax;
  const T large = steep ? ay : ax, small = steep ? ax : ay;
  // 0 / 0 counts as 0, infinity / infinity as 1.
  const T t = ax == ay ? (ax == T(0) ? T(0) : T(1)) : small / large;
  T r = AtanUnit(t);
  r = steep ? kPi<T> / 2 - (r - kPiRest<T> / 2) : r;
  r = Bits(x) < 0 ? kPi<T> - (r - kPiRest<T>) : r;
  return x != x || y != y ? x + y : WithSign(r, y);
}

}  // namespace penstock::PENSTOCK_ISA
