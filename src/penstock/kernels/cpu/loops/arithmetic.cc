// Plain arithmetic: +, -, *, /, min, max and the like.
#include <type_traits>

#include "penstock/kernels/cpu/loops/elementwise.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace penstock::PENSTOCK_ISA {
namespace {

// Integers wrap around, as two's complement does: computed unsigned, and in at least 32 bits.
template <class T, bool = std::is_integral_v<T>>
struct Wrap {
  using type = T;
};
template <class T>
struct Wrap<T, true> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <class T>
using W = typename Wrap<T>::type;

struct Add {
  template <class T> static T f(T a, T b) { return T(W<T>(a) + W<T>(b)); }
};
struct Sub {
  template <class T> static T f(T a, T b) { return T(W<T>(a) - W<T>(b)); }
};
struct Mul {
  template <class T> static T f(T a, T b) { return T(W<T>(a) * W<T>(b)); }
};
struct Div {
  template <class T> static T f(T a, T b) { return a / b; }
};
struct Neg {
  template <class T> static T f(T a) { return std::is_integral_v<T> ? T(W<T>(0) - W<T>(a)) : T(-a); }
};
struct Abs {
  template <class T> static T f(T a) {
    if constexpr (std::is_same_v<T, float>)
      return __builtin_fabsf(a);
    else if constexpr (std::is_same_v<T, double>)
      return __builtin_fabs(a);
    else
      return a < 0 ? Neg::f(a) : a;
  }
};
struct Square {
  template <class T> static T f(T a) { return Mul::f(a, a); }
};
struct SquaredDifference {
  template <class T> static T f(T a, T b) { return Square::f(Sub::f(a, b)); }
};
// A NaN on either side is the result.
struct Maximum {
  template <class T> static T f(T a, T b) { return a < b || b != b ? b : a; }
};
struct Minimum {
  template <class T> static T f(T a, T b) { return b < a || b != b ? b : a; }
};
struct PairAdd {
  template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) { return {a.re + b.re, a.im + b.im}; }
};
struct PairSub {
  template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) { return {a.re - b.re, a.im - b.im}; }
};
struct PairMul {
  template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct PairSquaredDifference {  // conj(d) d
  template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) {
    const R re = a.re - b.re, im = a.im - b.im;
    return {re * re + im * im, re * im - im * re};
  }
};
struct PairNeg {
  template <class R> static Pair<R> f(Pair<R> a) { return {-a.re, -a.im}; }
};

template <class F>
void FillComplexBinary(Loops& loops, BinaryOp op) {
  loops.binary[static_cast<int>(op)][DT_COMPLEX64] = &Binary<F, Pair<float>>;
  loops.binary[static_cast<int>(op)][DT_COMPLEX128] = &Binary<F, Pair<double>>;
}

struct SigmoidGrad {
  template <class T> static T f(T y, T dy) { return dy * (y * (T(1) - y)); }
};
struct TanhGrad {
  template <class T> static T f(T y, T dy) { return dy * (T(1) - y * y); }
};
// Without a gradient there is none at 0 or infinity either.
struct SqrtGrad {
  template <class T> static T f(T y, T dy) {
    const T slope = T(0.5) * dy / y;
    return dy == T(0) ? T(0) : slope;
  }
};
struct RsqrtGrad {
  template <class T> static T f(T y, T dy) {
    const T slope = T(-0.5) * dy * (y * y * y);
    return dy == T(0) ? T(0) : slope;
  }
};
struct Reciprocal {
  template <class T> static T f(T a) { return T(1) / a; }
};
struct Sqrt {
  static float f(float a) { return __builtin_sqrtf(a); }
  static double f(double a) { return __builtin_sqrt(a); }
};
struct Rsqrt {
  template <class T> static T f(T a) { return T(1) / Sqrt::f(a); }
};
#if defined(__AVX512F__)
// An estimate of 14 bits and one of Newton's steps, within 1.5 ulp: the division and the root take longer.
void RsqrtOfFloats(const void* in, void* out, int64_t n) {
  const float* x = static_cast<const float*>(in);
  float* y = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 some = n - i < 16 ? static_cast<__mmask16>((1u << (n - i)) - 1) : static_cast<__mmask16>(0xffff);
    const __m512 v = _mm512_maskz_loadu_ps(some, x + i), estimate = _mm512_maskz_rsqrt14_ps(some, v);
    // r + r (1 - v r^2) / 2; of 0 and infinity the estimate is right, and the step is not a number.
    const __m512 error = _mm512_fnmadd_ps(_mm512_mul_ps(v, estimate), estimate, _mm512_set1_ps(1.0f));
    const __m512 better = _mm512_fmadd_ps(_mm512_mul_ps(estimate, _mm512_set1_ps(0.5f)), error, estimate);
    const __mmask16 number = _mm512_cmp_ps_mask(error, error, _CMP_ORD_Q);
    _mm512_mask_storeu_ps(y + i, some, _mm512_mask_mov_ps(estimate, number, better));
  }
}
#endif
struct Floor {
  static float f(float a) { return __builtin_floorf(a); }
  static double f(double a) { return __builtin_floor(a); }
};
struct Ceil {
  static float f(float a) { return __builtin_ceilf(a); }
  static double f(double a) { return __builtin_ceil(a); }
};
struct Rint {  // half to even
  static float f(float a) { return __builtin_rintf(a); }
  static double f(double a) { return __builtin_rint(a); }
};
struct Sign {
  template <class T> static T f(T a) {
    const T s = T(T(a > T(0)) - T(a < T(0)));
    return a != a ? a : s;
  }
};

}  // namespace

void FillArithmetic(Loops& loops) {
  using RealFloats = Types<float, double>;
  using Real = Concat<RealFloats, Ints>;
  FillBinary<Add>(loops, BinaryOp::kAdd, Real{});
  FillBinary<Sub>(loops, BinaryOp::kSub, Real{});
  FillBinary<Mul>(loops, BinaryOp::kMul, Real{});
  FillComplexBinary<PairAdd>(loops, BinaryOp::kAdd);
  FillComplexBinary<PairSub>(loops, BinaryOp::kSub);
  FillComplexBinary<PairMul>(loops, BinaryOp::kMul);
  FillComplexBinary<PairSquaredDifference>(loops, BinaryOp::kSquaredDifference);
  loops.unary[static_cast<int>(UnaryOp::kNeg)][DT_COMPLEX64] = &Unary<PairNeg, Pair<float>>;
  loops.unary[static_cast<int>(UnaryOp::kNeg)][DT_COMPLEX128] = &Unary<PairNeg, Pair<double>>;
  FillBinary<Div>(loops, BinaryOp::kDiv, RealFloats{});
  FillBinary<Maximum>(loops, BinaryOp::kMaximum, Real{});
  FillBinary<Minimum>(loops, BinaryOp::kMinimum, Real{});
  FillBinary<SquaredDifference>(loops, BinaryOp::kSquaredDifference, Types<float, double, int32_t, int64_t>{});
  FillBinary<SigmoidGrad>(loops, BinaryOp::kSigmoidGrad, RealFloats{});
  FillBinary<TanhGrad>(loops, BinaryOp::kTanhGrad, RealFloats{});
  FillBinary<SqrtGrad>(loops, BinaryOp::kSqrtGrad, RealFloats{});
  FillBinary<RsqrtGrad>(loops, BinaryOp::kRsqrtGrad, RealFloats{});
  FillUnary<Neg>(loops, UnaryOp::kNeg, Concat<RealFloats, SignedInts>{});
  FillUnary<Abs>(loops, UnaryOp::kAbs, Concat<RealFloats, SignedInts>{});
  FillUnary<Square>(loops, UnaryOp::kSquare, Real{});
  FillUnary<Sqrt>(loops, UnaryOp::kSqrt, RealFloats{});
  FillUnary<Rsqrt>(loops, UnaryOp::kRsqrt, RealFloats{});
#if defined(__AVX512F__)
  loops.unary[static_cast<int>(UnaryOp::kRsqrt)][DT_FLOAT] = &RsqrtOfFloats;
#endif
  FillUnary<Reciprocal>(loops, UnaryOp::kReciprocal, RealFloats{});
  FillUnary<Floor>(loops, UnaryOp::kFloor, RealFloats{});
  FillUnary<Ceil>(loops, UnaryOp::kCeil, RealFloats{});
  FillUnary<Rint>(loops, UnaryOp::kRint, RealFloats{});
  FillUnary<Sign>(loops, UnaryOp::kSign, RealFloats{});
}

}  // namespace penstock::PENSTOCK_ISA
