// Plain arithmetic: +, -, *, /, min, max and the like.
#include <type_traits>

#include "penstock/kernels/cpu/loops/elementwise.h"

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

struct Add { template <class T> static T f(T a, T b) { return T(W<T>(a) + W<T>(b)); } };
struct Sub { template <class T> static T f(T a, T b) { return T(W<T>(a) - W<T>(b)); } };
struct Mul { template <class T> static T f(T a, T b) { return T(W<T>(a) * W<T>(b)); } };
struct Div { template <class T> static T f(T a, T b) { return a / b; } };
struct Neg { template <class T> static T f(T a) { return std::is_integral_v<T> ? T(W<T>(0) - W<T>(a)) : T(-a); } };
struct Abs {
  template <class T> static T f(T a) {
    if constexpr (std::is_same_v<T, float>) return __builtin_fabsf(a);
    else if constexpr (std::is_same_v<T, double>) return __builtin_fabs(a);
    else return a < 0 ? Neg::f(a) : a;
  }
};
struct Square { template <class T> static T f(T a) { return Mul::f(a, a); } };
struct SquaredDifference { template <class T> static T f(T a, T b) { return Square::f(Sub::f(a, b)); } };
// A NaN on either side is the result.
struct Maximum {
  template <class T> static T f(T a, T b) { return a < b || b != b ? b : a; }
};
struct Minimum {
  template <class T> static T f(T a, T b) { return b < a || b != b ? b : a; }
};
// Complex numbers as pairs. std::complex's operators would be shared between the copies of this file.
template <class R>
struct Pair {
  R re, im;
};
struct PairAdd { template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) { return {a.re + b.re, a.im + b.im}; } };
struct PairSub { template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) { return {a.re - b.re, a.im - b.im}; } };
struct PairMul {
  template <class R> static Pair<R> f(Pair<R> a, Pair<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct PairNeg { template <class R> static Pair<R> f(Pair<R> a) { return {-a.re, -a.im}; } };

template <class F>
void FillComplexBinary(Loops& loops, BinaryOp op) {
  loops.binary[static_cast<int>(op)][DT_COMPLEX64] = &Binary<F, Pair<float>>;
  loops.binary[static_cast<int>(op)][DT_COMPLEX128] = &Binary<F, Pair<double>>;
}

struct SigmoidGrad { template <class T> static T f(T y, T dy) { return dy * (y * (T(1) - y)); } };
struct TanhGrad { template <class T> static T f(T y, T dy) { return dy * (T(1) - y * y); } };
struct SqrtGrad { template <class T> static T f(T y, T dy) { return T(0.5) * dy / y; } };
struct RsqrtGrad { template <class T> static T f(T y, T dy) { return T(-0.5) * dy * (y * y * y); } };
struct Reciprocal { template <class T> static T f(T a) { return T(1) / a; } };
struct Sqrt {
  static float f(float a) { return __builtin_sqrtf(a); }
  static double f(double a) { return __builtin_sqrt(a); }
};
struct Rsqrt { template <class T> static T f(T a) { return T(1) / Sqrt::f(a); } };
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
  FillUnary<Reciprocal>(loops, UnaryOp::kReciprocal, RealFloats{});
  FillUnary<Floor>(loops, UnaryOp::kFloor, RealFloats{});
  FillUnary<Ceil>(loops, UnaryOp::kCeil, RealFloats{});
  FillUnary<Rint>(loops, UnaryOp::kRint, RealFloats{});
  FillUnary<Sign>(loops, UnaryOp::kSign, RealFloats{});
}

}  // namespace penstock::PENSTOCK_ISA
