// What branch-free functions in loops/*.cc are made of.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace penstock::PENSTOCK_ISA {

// a * b + c in one instruction where the processor has one; two roundings elsewhere.
inline float Fma(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline double Fma(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
// The polynomial with these coefficients, the highest power's first. They may be written as doubles.
template <class T, class... C>
inline T Polynomial(T x, double first, C... rest) {
  T p = static_cast<T>(first);
  ((p = Fma(p, x, static_cast<T>(rest))), ...);
  return p;
}

inline float Bits(int32_t i) { return __builtin_bit_cast(float, i); }
inline double Bits(int64_t i) { return __builtin_bit_cast(double, i); }
inline int32_t Bits(float f) { return __builtin_bit_cast(int32_t, f); }
inline int64_t Bits(double f) { return __builtin_bit_cast(int64_t, f); }
template <class T>
using BitsOf = decltype(Bits(T()));
template <class T>
inline constexpr BitsOf<T> kSignBit = std::numeric_limits<BitsOf<T>>::min();
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

inline float Abs(float x) { return __builtin_fabsf(x); }
inline double Abs(double x) { return __builtin_fabs(x); }
inline float Root(float x) { return __builtin_sqrtf(x); }
inline double Root(double x) { return __builtin_sqrt(x); }
// `size`, which is not negative, with the sign of x.
template <class T>
inline T WithSign(T size, T x) {
  return Bits(static_cast<BitsOf<T>>(Bits(size) | (Bits(x) & kSignBit<T>)));
}
// x, but at most `most`; NaN stays.
template <class T>
inline T AtMost(T x, T most) {
  return x > most ? most : x;
}
template <class T>
inline T AtLeast(T x, T least) {
  return x < least ? least : x;
}

}  // namespace penstock::PENSTOCK_ISA
