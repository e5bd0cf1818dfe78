// Reductions of contiguous rows, and of rows into one. Sums of floats are taken in several lanes over chunks, and
// chunks are added in double: the error does not grow with the length, and the order is always the same.
#include <limits>
#include <type_traits>

#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/vector.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// Join two accumulators (numbers or vectors of them); Map comes before. NaN wins in Min and Max.
struct Sum {
  template <class V> static V Map(V x) { return x; }
  template <class V> static V Join(V a, V b) { return static_cast<V>(a + b); }
  template <class T> static constexpr T kIdentity = T(0);
};
struct SumSquares : Sum {
  template <class V> static V Map(V x) { return static_cast<V>(x * x); }
};
struct Prod {
  template <class V> static V Map(V x) { return x; }
  template <class V> static V Join(V a, V b) { return static_cast<V>(a * b); }
  template <class T> static constexpr T kIdentity = T(1);
};
struct Max {
  template <class V> static V Map(V x) { return x; }
  template <class V> static V Join(V a, V b) { return ((a < b) | (b != b)) ? b : a; }
  template <class T> static constexpr T kIdentity =
      std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
};
struct Min {
  template <class V> static V Map(V x) { return x; }
  template <class V> static V Join(V a, V b) { return ((b < a) | (b != b)) ? b : a; }
  template <class T> static constexpr T kIdentity =
      std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
};

// The first of the lanes joined with all others, pair by pair.
template <class T, class Join>
T OfLanes(Vec<T> v, Join join) {
  constexpr int kWidth = kLanes<T>;
  T lanes[kWidth];
  Store(lanes, v);
#pragma GCC unroll 8
  for (int half = kWidth / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int j = 0; j < half; ++j) lanes[j] = join(lanes[j], lanes[j + half]);
  }
  return lanes[0];
}

// Extremes do not depend on the order, and an element may be looked at twice: the last vector of a row overlaps the one
// before. Single numbers are compared without branches, which no processor could foretell, and NaN apart from them.
template <class Op, class T>
T Extreme(const T* x, int64_t n) {
  constexpr int kWidth = kLanes<T>;
  const auto join = [](T p, T q) {
    if constexpr (std::is_same_v<Op, Max>) return q > p ? q : p;
    return q < p ? q : p;
  };
  T best = Op::template kIdentity<T>;
  int nan = 0;
  if (n >= kWidth) {
    Vec<T> a[4];
    for (auto& v : a) v = Load(x);
    int64_t i = kWidth;
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) a[j] = Op::Join(a[j], Load(x + i + j * kWidth));
    }
    for (; i + kWidth <= n; i += kWidth) a[0] = Op::Join(a[0], Load(x + i));
    a[1] = Op::Join(a[1], Load(x + n - kWidth));
    a[0] = Op::Join(Op::Join(a[0], a[1]), Op::Join(a[2], a[3]));
    const auto unequal = a[0] != a[0];
    for (int lane = 0; lane < kWidth; ++lane) nan |= unequal[lane];
    best = OfLanes<T>(a[0], join);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      best = join(best, x[i]);
      nan |= x[i] != x[i];
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (nan) return std::numeric_limits<T>::quiet_NaN();
  }
  return best;
}

template <class Op, class T>
T Run(const T* x, int64_t n) {
  if constexpr (std::is_same_v<Op, Max> || std::is_same_v<Op, Min>) return Extreme<Op>(x, n);
  constexpr int kWidth = kLanes<T>;
  int64_t i = 0;
  T total = Op::template kIdentity<T>;
  if (n >= 4 * kWidth) {
    Vec<T> a0 = Op::Map(Load(x)), a1 = Op::Map(Load(x + kWidth)), a2 = Op::Map(Load(x + 2 * kWidth)),
           a3 = Op::Map(Load(x + 3 * kWidth));
    for (i = 4 * kWidth; i + 4 * kWidth <= n; i += 4 * kWidth) {
      a0 = Op::Join(a0, Op::Map(Load(x + i)));
      a1 = Op::Join(a1, Op::Map(Load(x + i + kWidth)));
      a2 = Op::Join(a2, Op::Map(Load(x + i + 2 * kWidth)));
      a3 = Op::Join(a3, Op::Map(Load(x + i + 3 * kWidth)));
    }
    a0 = Op::Join(Op::Join(a0, a1), Op::Join(a2, a3));
    for (; i + kWidth <= n; i += kWidth) a0 = Op::Join(a0, Op::Map(Load(x + i)));
    total = OfLanes<T>(a0, [](T p, T q) { return Op::Join(p, q); });
  }
  for (; i < n; ++i) total = Op::Join(total, Op::Map(x[i]));
  return total;
}

template <class Op, class T>
void Rows(const void* in, int64_t rows, int64_t n, void* out) {
  constexpr int64_t kChunk = 4096;
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, x += n) {
    if (n <= kChunk) {
      y[r] = Run<Op>(x, n);
    } else if constexpr (std::is_same_v<T, float> && std::is_base_of_v<Sum, Op>) {
      double total = 0;
      for (int64_t i = 0; i < n; i += kChunk) total += Run<Op>(x + i, n - i < kChunk ? n - i : kChunk);
      y[r] = static_cast<float>(total);
    } else {
      T total = Op::template kIdentity<T>;
      for (int64_t i = 0; i < n; i += kChunk) total = Op::Join(total, Run<Op>(x + i, n - i < kChunk ? n - i : kChunk));
      y[r] = total;
    }
  }
}

// The accumulators of kVectors * kLanes columns stay in registers while the rows go by.
template <class Op, class T, int kVectors>
void Strip(const T* x, int64_t rows, int64_t stride, T* out) {
  constexpr int kWidth = kLanes<T>;
  Vec<T> acc[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) acc[v] = Load(out + v * kWidth);
  for (int64_t r = 0; r < rows; ++r, x += stride) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) acc[v] = Op::Join(acc[v], Op::Map(Load(x + v * kWidth)));
  }
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) Store(out + v * kWidth, acc[v]);
}

template <class Op, class T>
void Columns(const void* in, int64_t rows, int64_t n, int64_t stride, void* out) {
  const T* x = static_cast<const T*>(in);
  T* acc = static_cast<T*>(out);
  // Short rows are read one after the other, as they lie in memory.
  constexpr int kWide = kVectorBytes == 64 ? 16 : 8;  // leaves registers for the rest
  if (n % (kWide * kLanes<T>) == 0 && n <= 2 * kWide * kLanes<T>) {
    for (int64_t i = 0; i < n; i += kWide * kLanes<T>) Strip<Op, T, kWide>(x + i, rows, stride, acc + i);
    return;
  }
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    const T *x0 = x, *x1 = x + stride, *x2 = x + 2 * stride, *x3 = x + 3 * stride;
    int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>) {
      const Vec<T> a = Op::Join(Op::Map(Load(x0 + i)), Op::Map(Load(x1 + i)));
      const Vec<T> b = Op::Join(Op::Map(Load(x2 + i)), Op::Map(Load(x3 + i)));
      Store(acc + i, Op::Join(Load(acc + i), Op::Join(a, b)));
    }
    for (; i < n; ++i) {
      acc[i] = Op::Join(acc[i],
                        Op::Join(Op::Join(Op::Map(x0[i]), Op::Map(x1[i])), Op::Join(Op::Map(x2[i]), Op::Map(x3[i]))));
    }
  }
  for (; r < rows; ++r, x += stride) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) acc[i] = Op::Join(acc[i], Op::Map(x[i]));
  }
}

template <class Op, class T>
void Fill(Loops& loops, ReduceOp op, DataType type) {
  loops.reduce[static_cast<int>(op)][type] = {&Rows<Op, T>, &Columns<Op, T>};
}

// Sums and products of signed integers wrap around: taken as unsigned ones, whose bits are the same.
template <class Op>
void FillIntegers(Loops& loops, ReduceOp op) {
  Fill<Op, uint8_t>(loops, op, DT_UINT8);
  Fill<Op, uint16_t>(loops, op, DT_UINT16);
  Fill<Op, uint32_t>(loops, op, DT_UINT32);
  Fill<Op, uint64_t>(loops, op, DT_UINT64);
}
template <class Op>
void FillWrapping(Loops& loops, ReduceOp op) {
  FillIntegers<Op>(loops, op);
  auto& of = loops.reduce[static_cast<int>(op)];
  of[DT_INT8] = of[DT_UINT8];
  of[DT_INT16] = of[DT_UINT16];
  of[DT_INT32] = of[DT_UINT32];
  of[DT_INT64] = of[DT_UINT64];
}
template <class Op>
void FillOrdered(Loops& loops, ReduceOp op) {
  FillIntegers<Op>(loops, op);
  Fill<Op, int8_t>(loops, op, DT_INT8);
  Fill<Op, int16_t>(loops, op, DT_INT16);
  Fill<Op, int32_t>(loops, op, DT_INT32);
  Fill<Op, int64_t>(loops, op, DT_INT64);
}
template <class Op>
void FillFloats(Loops& loops, ReduceOp op) {
  Fill<Op, float>(loops, op, DT_FLOAT);
  Fill<Op, double>(loops, op, DT_DOUBLE);
}

// The extreme value first, in lanes; then where it first occurs.
template <bool kMax>
int64_t ArgExtreme(const float* x, int64_t n) {
  constexpr int kWidth = kLanes<float>;
  constexpr float kWorst = kMax ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max();
  const auto better = [](auto v, auto a) { return (kMax ? v > a : v < a) ? v : a; };
  float best = kWorst;
  int64_t i = 0;
  if (n >= kWidth) {
    Vec<float> a[4];
    for (auto& v : a) v = Splat(kWorst);
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) a[j] = better(Load(x + i + j * kWidth), a[j]);
    }
    for (; i + kWidth <= n; i += kWidth) a[0] = better(Load(x + i), a[0]);
    a[1] = better(Load(x + n - kWidth), a[1]);
    best = OfLanes<float>(better(better(a[0], a[1]), better(a[2], a[3])), better);
  } else {
    for (; i < n; ++i) best = better(x[i], best);
  }
  if (best == kWorst) return 0;
  i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const auto equal = Load(x + i) == Splat(best);
    int any = 0;
    for (int lane = 0; lane < kWidth; ++lane) any |= equal[lane];
    if (any) break;
  }
  if (n - i <= kWidth) {  // without branches, which no processor could foretell
    int64_t at = 0;
    for (int64_t j = n - 1; j >= i; --j) at = x[j] == best ? j : at;
    return at;
  }
  for (; i < n; ++i) {
    if (x[i] == best) return i;
  }
  return 0;
}

}  // namespace

void FillReduce(Loops& loops) {
  FillFloats<Sum>(loops, ReduceOp::kSum);
  FillWrapping<Sum>(loops, ReduceOp::kSum);
  FillFloats<SumSquares>(loops, ReduceOp::kSumSquares);
  FillWrapping<SumSquares>(loops, ReduceOp::kSumSquares);
  FillFloats<Prod>(loops, ReduceOp::kProd);
  FillWrapping<Prod>(loops, ReduceOp::kProd);
  FillFloats<Max>(loops, ReduceOp::kMax);
  FillOrdered<Max>(loops, ReduceOp::kMax);
  FillFloats<Min>(loops, ReduceOp::kMin);
  FillOrdered<Min>(loops, ReduceOp::kMin);
  loops.argmax_f32 = &ArgExtreme<true>;
  loops.argmin_f32 = &ArgExtreme<false>;
}

}  // namespace penstock::PENSTOCK_ISA
