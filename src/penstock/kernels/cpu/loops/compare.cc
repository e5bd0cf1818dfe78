// Comparisons, and choice by a condition.
#include "penstock/kernels/cpu/loops/elementwise.h"

namespace penstock::PENSTOCK_ISA {
namespace {

struct Equal {
  template <class T> static bool f(T a, T b) { return a == b; }
};
struct NotEqual {
  template <class T> static bool f(T a, T b) { return a != b; }
};
struct Less {
  template <class T> static bool f(T a, T b) { return a < b; }
};
struct LessEqual {
  template <class T> static bool f(T a, T b) { return a <= b; }
};
struct Greater {
  template <class T> static bool f(T a, T b) { return a > b; }
};
struct GreaterEqual {
  template <class T> static bool f(T a, T b) { return a >= b; }
};

template <class T>
void Select(const bool* condition, const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  const uint8_t* c = reinterpret_cast<const uint8_t*>(condition);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if (sa == 1 && sb == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T u = x[i], v = y[i];
      z[i] = c[i] ? u : v;
    }
  } else if (sa == 1) {
    const T v = *y;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T u = x[i];
      z[i] = c[i] ? u : v;
    }
  } else {
    const T u = *x;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T v = y[i * sb];
      z[i] = c[i] ? u : v;
    }
  }
}

}  // namespace

void FillCompare(Loops& loops) {
  using Real = Concat<Types<float, double>, Ints>;
  FillBinary<Equal>(loops, BinaryOp::kEqual, Concat<Real, Types<bool>>{});
  FillBinary<NotEqual>(loops, BinaryOp::kNotEqual, Concat<Real, Types<bool>>{});
  FillBinary<Less>(loops, BinaryOp::kLess, Real{});
  FillBinary<LessEqual>(loops, BinaryOp::kLessEqual, Real{});
  FillBinary<Greater>(loops, BinaryOp::kGreater, Real{});
  FillBinary<GreaterEqual>(loops, BinaryOp::kGreaterEqual, Real{});
  loops.select[1] = &Select<uint8_t>;
  loops.select[2] = &Select<uint16_t>;
  loops.select[4] = &Select<uint32_t>;
  loops.select[8] = &Select<uint64_t>;
}

}  // namespace penstock::PENSTOCK_ISA
