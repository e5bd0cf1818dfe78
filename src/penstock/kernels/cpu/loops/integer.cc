// Division, powers and shifts of integers; rounded division of floats.
#include <type_traits>

#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/scalar.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// Processors divide floats by the vector, integers one by one. A quotient of floats is rounded, but never up to a whole
// number that it does not reach, where the float has twice the integer's bits, or nearly so.
template <class T>
using Through = std::conditional_t<sizeof(T) <= 2, float, double>;
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

inline float Truncate(float x) { return __builtin_truncf(x); }
inline double Truncate(double x) { return __builtin_trunc(x); }

// x / y, which wraps around for the lowest number over -1; y is not 0, and of 64 bits only numbers below kExact fit.
constexpr int64_t kExact = int64_t{1} << 51;
template <class T>
inline T Quotient(T x, T y) {
  const Through<T> q = Truncate(static_cast<Through<T>>(x) / static_cast<Through<T>>(y));
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(static_cast<int32_t>(q));
  } else {
    // Adding 1.5 * 2^52 leaves the number in the low bits.
    constexpr double kMagic = 6755399441055744.0;
    return static_cast<T>(Bits(q + kMagic) - __builtin_bit_cast(int64_t, kMagic));
  }
}
template <class T>
inline T Remainder(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(Quotient(x, y)) * static_cast<Wide<T>>(y));
}
template <class T>
inline T FloorQuotient(T x, T y) {
  const T q = Quotient(x, y);
  const T rest = static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(q) * static_cast<Wide<T>>(y));
  return std::is_signed_v<T> && (x ^ y) < 0 && rest != 0 ? static_cast<T>(q - 1) : q;
}
template <class T>
inline T FloorRemainder(T x, T y) {
  const T rest = Remainder(x, y);
  return std::is_signed_v<T> && (rest ^ y) < 0 && rest != 0 ? static_cast<T>(rest + y) : rest;
}

// The same one by one, for large numbers of 64 bits.
template <class T>
struct Slow {
  static T Quotient(T x, T y) { return y == static_cast<T>(-1) && std::is_signed_v<T> ? T(0 - uint64_t(x)) : x / y; }
  static T Remainder(T x, T y) { return static_cast<T>(uint64_t(x) - uint64_t(Quotient(x, y)) * uint64_t(y)); }
  static T FloorQuotient(T x, T y) {
    return std::is_signed_v<T> && (x ^ y) < 0 && Remainder(x, y) != 0 ? Quotient(x, y) - 1 : Quotient(x, y);
  }
  static T FloorRemainder(T x, T y) {
    const T rest = Remainder(x, y);
    return std::is_signed_v<T> && (rest ^ y) < 0 && rest != 0 ? rest + y : rest;
  }
};

template <class T>
bool Small(const T* x, int64_t n) {
  uint64_t large = 0;
  for (int64_t i = 0; i < n; ++i) large |= static_cast<uint64_t>(x[i]) + (std::is_signed_v<T> ? kExact : 0);
  return large < static_cast<uint64_t>(std::is_signed_v<T> ? 2 * kExact : kExact);
}
template <class T, T fast(T, T), T slow(T, T)>
void Long(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  constexpr int64_t kBlock = 512;
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; i += kBlock, x += kBlock * sa, y += kBlock * sb, z += kBlock) {
    const int64_t m = n - i < kBlock ? n - i : kBlock;
    if (Small(x, sa ? m : 1) && Small(y, sb ? m : 1)) {
      kMap2<T, fast>(x, sa, y, sb, z, m);
    } else {
      kMap2<T, slow>(x, sa, y, sb, z, m);
    }
  }
}

template <class T>
void FillDivision(Loops& loops) {
  const auto set = [&](BinaryOp op, BinaryLoop loop) { loops.binary[static_cast<int>(op)][kTypeOf<T>] = loop; };
  if constexpr (sizeof(T) == 8) {
    set(BinaryOp::kTruncateDiv, &Long<T, Quotient<T>, Slow<T>::Quotient>);
    set(BinaryOp::kTruncateMod, &Long<T, Remainder<T>, Slow<T>::Remainder>);
    set(BinaryOp::kFloorDiv, &Long<T, FloorQuotient<T>, Slow<T>::FloorQuotient>);
    set(BinaryOp::kFloorMod, &Long<T, FloorRemainder<T>, Slow<T>::FloorRemainder>);
  } else {
    set(BinaryOp::kTruncateDiv, kMap2<T, Quotient<T>>);
    set(BinaryOp::kTruncateMod, kMap2<T, Remainder<T>>);
    set(BinaryOp::kFloorDiv, kMap2<T, FloorQuotient<T>>);
    set(BinaryOp::kFloorMod, kMap2<T, FloorRemainder<T>>);
  }
}

// Powers with exponents that are not negative, which wrap around: block by block, as many squarings as the largest of
// the block's exponents takes.
template <class T>
void Power(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  constexpr int64_t kBlock = 256;
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  Wide<T> base[kBlock], result[kBlock], exponent[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = n - begin < kBlock ? n - begin : kBlock;
    Wide<T> all = 0;
    for (int64_t i = 0; i < m; ++i) {
      base[i] = static_cast<Wide<T>>(x[(begin + i) * sa]);
      exponent[i] = static_cast<Wide<T>>(y[(begin + i) * sb]);
      result[i] = 1;
      all |= exponent[i];
    }
    for (; all; all >>= 1) {
      for (int64_t i = 0; i < m; ++i) {
        result[i] *= exponent[i] & 1 ? base[i] : 1;
        base[i] *= base[i];
        exponent[i] >>= 1;
      }
    }
    for (int64_t i = 0; i < m; ++i) z[begin + i] = static_cast<T>(result[i]);
  }
}

// Shifts by more than there are bits, or by less than none, are clamped: the processor would do something else.
template <class T>
inline uint32_t ShiftBy(T y) {
  constexpr T kMost = sizeof(T) * 8 - 1;
  const T least = std::is_signed_v<T> && y < T(0) ? T(0) : y;
  return static_cast<uint32_t>(least > kMost ? kMost : least);
}
template <class T>
inline T LeftShift(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) << ShiftBy(y));
}
template <class T>
inline T RightShift(T x, T y) {
  return static_cast<T>(x >> ShiftBy(y));
}

template <class... Ts>
void FillAll(Loops& loops, Types<Ts...>) {
  (FillDivision<Ts>(loops), ...);
  ((loops.binary[static_cast<int>(BinaryOp::kPow)][kTypeOf<Ts>] = &Power<Ts>), ...);
  ((loops.binary[static_cast<int>(BinaryOp::kLeftShift)][kTypeOf<Ts>] = kMap2<Ts, LeftShift<Ts>>), ...);
  ((loops.binary[static_cast<int>(BinaryOp::kRightShift)][kTypeOf<Ts>] = kMap2<Ts, RightShift<Ts>>), ...);
}

inline float FloorOf(float x) { return __builtin_floorf(x); }
inline double FloorOf(double x) { return __builtin_floor(x); }
struct FloorDiv {
  template <class T> static T f(T x, T y) { return FloorOf(x / y); }
};
struct TruncateDiv {
  template <class T> static T f(T x, T y) { return Truncate(x / y); }
};

struct FloatQuotient {
  static float f(float x, float y) { return x / y; }
};
// The rest of a division of floats, in double: exact where the quotient is below 2^26, other blocks go to libm.
template <bool kFloor>
inline float Rest(float x, float y) {
  const double q = Truncate(double{x} / double{y}), rest = double{x} - q * double{y};
  const float r = WithSign(static_cast<float>(Abs(rest)), x);
  return kFloor && r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r;
}
template <bool kFloor>
float LibmRest(float x, float y) {
  const float r = __builtin_fmodf(x, y);
  return kFloor && r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r;
}
template <bool kFloor>
void FloatRemainder(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  constexpr int64_t kBlock = 256;
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  float* z = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += kBlock, x += kBlock * sa, y += kBlock * sb, z += kBlock) {
    const int64_t m = n - i < kBlock ? n - i : kBlock;
    float quotients[kBlock];
    Binary<FloatQuotient, float>(x, sa, y, sb, quotients, m);
    int wild = 0;
    for (int64_t j = 0; j < m; ++j) wild |= !(Abs(quotients[j]) < 0x1p26f);
    // A finite number over an infinite one leaves itself, which 0 times infinity would not.
    for (int64_t j = 0; j < (sb ? m : 1); ++j) wild |= !(Abs(y[j]) < kInfinity<float>);
    (wild ? kMap2<float, LibmRest<kFloor>> : kMap2<float, Rest<kFloor>>)(x, sa, y, sb, z, m);
  }
}

}  // namespace

void FillInteger(Loops& loops) {
  FillAll(loops, Ints{});
  FillBinary<FloorDiv>(loops, BinaryOp::kFloorDiv, Types<float, double>{});
  FillBinary<TruncateDiv>(loops, BinaryOp::kTruncateDiv, Types<float, double>{});
  loops.binary[static_cast<int>(BinaryOp::kFloorMod)][DT_FLOAT] = &FloatRemainder<true>;
  loops.binary[static_cast<int>(BinaryOp::kTruncateMod)][DT_FLOAT] = &FloatRemainder<false>;
}

}  // namespace penstock::PENSTOCK_ISA
