// How loops/*.cc write an elementwise loop from its formula. Only for those files: all of it is per instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "penstock/kernels/cpu/loops.h"

namespace penstock::PENSTOCK_ISA {

// A complex number. std::complex's operators would be shared between the copies of a file.
template <class R>
struct Pair {
  R re, im;
};

// f(i) for i < n, no matter in which order. Unrolled for floats: the loops' counting would take a tenth of the time.
template <class T, class F>
[[gnu::always_inline]] inline void ForEach(int64_t n, F f) {
  if constexpr (std::is_same_v<T, float>) {
#pragma GCC ivdep
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) f(i);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) f(i);
  }
}

// F: struct with `static R f(T)`. Flattened, since a call left in a loop keeps it from becoming vector code.
template <class F, class T>
[[gnu::flatten]] void Unary(const void* x, void* y, int64_t n) {
  using R = decltype(F::f(T()));
  const T* in = static_cast<const T*>(x);
  R* out = static_cast<R*>(y);
  ForEach<T>(n, [=](int64_t i) { out[i] = F::f(in[i]); });
}

// F: struct with `static R f(T, T)`.
template <class F, class T>
[[gnu::flatten]] void Binary(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  using R = decltype(F::f(T(), T()));
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  R* z = static_cast<R*>(out);
  if (n == 1) {
    *z = F::f(*x, *y);
  } else if (sa == 0) {
    ForEach<T>(n, [=, x0 = *x](int64_t i) { z[i] = F::f(x0, y[i * sb]); });
  } else if (sb == 0) {
    ForEach<T>(n, [=, y0 = *y](int64_t i) { z[i] = F::f(x[i], y0); });
  } else {
    ForEach<T>(n, [=](int64_t i) { z[i] = F::f(x[i], y[i]); });
  }
}

// The same for a function instead of a struct.
template <class T, T function(T)>
struct Of {
  static T f(T x) { return function(x); }
};
template <class T, T function(T, T)>
struct Of2 {
  static T f(T x, T y) { return function(x, y); }
};
template <class T, T function(T)>
inline constexpr UnaryLoop kMap = &Unary<Of<T, function>, T>;
template <class T, T function(T, T)>
inline constexpr BinaryLoop kMap2 = &Binary<Of2<T, function>, T>;

template <class F, class... Ts>
void FillUnary(Loops& loops, UnaryOp op, Types<Ts...>) {
  ((loops.unary[static_cast<int>(op)][kTypeOf<Ts>] = &Unary<F, Ts>), ...);
}
template <class F, class... Ts>
void FillBinary(Loops& loops, BinaryOp op, Types<Ts...>) {
  ((loops.binary[static_cast<int>(op)][kTypeOf<Ts>] = &Binary<F, Ts>), ...);
}

}  // namespace penstock::PENSTOCK_ISA
