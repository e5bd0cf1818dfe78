// Functions of complex numbers, most of them of those made of floats: formulas for numbers of common sizes, within some
// units of the last place of the larger part. A block with others (infinite, NaN, or where a formula divides by 0) goes
// to libm.
#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/exponential.h"
#include "penstock/kernels/cpu/loops/trigonometry.h"

namespace penstock::PENSTOCK_ISA {
namespace {

using Z = Pair<float>;
using Libm = _Complex float;
Libm ToLibm(Z z) {
  Libm c;
  __real__ c = z.re;
  __imag__ c = z.im;
  return c;
}
Z FromLibm(Libm z) { return {__real__ z, __imag__ z}; }
// Numbers made of doubles have formulas of their own, which know no wider type.
using D = Pair<double>;
using LibmD = _Complex double;
LibmD ToLibm(D z) {
  LibmD c;
  __real__ c = z.re;
  __imag__ c = z.im;
  return c;
}
D FromLibm(LibmD z) { return {__real__ z, __imag__ z}; }

bool Finite(Z z) { return Abs(z.re) < kInfinity<float> && Abs(z.im) < kInfinity<float>; }
bool NotZero(Z z) { return z.re != 0.0f || z.im != 0.0f; }
// The angle is one that Sin takes, and no exponential of the other part is infinite.
bool Small(float angle, float exponent) { return Abs(angle) < kTurnsLimit && Abs(exponent) < 80.0f; }

struct ComplexExp {
  static bool Tame(Z z) { return Small(z.im, z.re); }
  static Z f(Z z) {
    const float size = Exp(z.re);
    return {size * Sin<true>(z.im), size * Sin<false>(z.im)};
  }
  static Libm Slow(Libm z) { return __builtin_cexpf(z); }
};
// Sums of squares are taken in double, where they neither overflow nor vanish.
double Size2(Z z) { return double{z.re} * z.re + double{z.im} * z.im; }
struct ComplexLog {
  static bool Tame(Z z) { return Finite(z); }
  static Z f(Z z) { return {static_cast<float>(0.5 * Log(Size2(z))), Atan2(z.im, z.re)}; }
  static Libm Slow(Libm z) { return __builtin_clogf(z); }
};
// The root as doubles.
Pair<double> RootOf(Z z) {
  const double re = z.re, im = z.im;
  const double t = Root(0.5 * (Root(Size2(z)) + Abs(re))), other = 0.5 * im / t;
  return {re < 0.0 ? Abs(other) : t, re < 0.0 ? WithSign(t, im) : other};
}
struct ComplexSqrt {
  static bool Tame(Z z) { return Finite(z) && NotZero(z); }
  static Z f(Z z) {
    const Pair<double> root = RootOf(z);
    return {static_cast<float>(root.re), static_cast<float>(root.im)};
  }
  static Libm Slow(Libm z) { return __builtin_csqrtf(z); }
};
struct ComplexRsqrt {
  static bool Tame(Z z) { return Finite(z) && NotZero(z); }
  static Z f(Z z) {
    const Pair<double> root = RootOf(z);
    const double over = 1.0 / Root(Size2(z));
    return {static_cast<float>(root.re * over), static_cast<float>(-root.im * over)};
  }
  static Libm Slow(Libm z) { return 1.0f / __builtin_csqrtf(z); }
};
struct Divide {
  static bool Tame(Z x) { return Finite(x); }
  static bool TameRight(Z y) { return Finite(y) && NotZero(y); }
  static Z f(Z x, Z y) {
    const double over = 1.0 / Size2(y);
    return {static_cast<float>((double{x.re} * y.re + double{x.im} * y.im) * over),
            static_cast<float>((double{x.im} * y.re - double{x.re} * y.im) * over)};
  }
  static Libm Slow(Libm x, Libm y) { return x / y; }
};
struct Reciprocal {
  static bool Tame(Z z) { return Finite(z) && NotZero(z); }
  static Z f(Z z) { return Divide::f({1.0f, 0.0f}, z); }
  static Libm Slow(Libm z) { return 1.0f / z; }
};
struct ComplexSigmoid {
  static bool Tame(Z z) { return Small(z.im, z.re); }
  static Z f(Z z) {
    const Z e = ComplexExp::f({-z.re, -z.im});
    return Reciprocal::f({1.0f + e.re, e.im});
  }
  static Libm Slow(Libm z) { return 1.0f / (1.0f + __builtin_cexpf(-z)); }
};
struct ComplexSinh {
  static bool Tame(Z z) { return Small(z.im, z.re); }
  static Z f(Z z) { return {Sinh(z.re) * Sin<true>(z.im), Cosh(z.re) * Sin<false>(z.im)}; }
  static Libm Slow(Libm z) { return __builtin_csinhf(z); }
};
struct ComplexCosh {
  static bool Tame(Z z) { return Small(z.im, z.re); }
  static Z f(Z z) { return {Cosh(z.re) * Sin<true>(z.im), Sinh(z.re) * Sin<false>(z.im)}; }
  static Libm Slow(Libm z) { return __builtin_ccoshf(z); }
};
struct ComplexSin {
  static bool Tame(Z z) { return Small(z.re, z.im); }
  static Z f(Z z) { return {Sin<false>(z.re) * Cosh(z.im), Sin<true>(z.re) * Sinh(z.im)}; }
  static Libm Slow(Libm z) { return __builtin_csinf(z); }
};
struct ComplexCos {
  static bool Tame(Z z) { return Small(z.re, z.im); }
  static Z f(Z z) { return {Sin<true>(z.re) * Cosh(z.im), -(Sin<false>(z.re) * Sinh(z.im))}; }
  static Libm Slow(Libm z) { return __builtin_ccosf(z); }
};
struct ComplexLog1p {
  static bool Tame(Z z) { return Finite(z) && (z.re != -1.0f || z.im != 0.0f); }
  static Z f(Z z) {
    // log |1 + z| from its distance to 1, so that small z keep their digits; but plainly near -1.
    const double re = z.re, im = z.im, square = (1.0 + re) * (1.0 + re) + im * im;
    const double plain = Log(square), close = Log1p(re * (2.0 + re) + im * im);
    return {static_cast<float>(0.5 * (square < 0.5 ? plain : close)), Atan2(z.im, 1.0f + z.re)};
  }
  static Libm Slow(Libm z) { return __builtin_clogf(1.0f + z); }
};
struct ComplexTanh {
  static bool Tame(Z z) { return Small(z.im, z.re) && Abs(z.re) < 8.0f; }
  static Z f(Z z) {
    // Kahan's: by the tangent of the one part and the sine of the other, of which neither cancels.
    const float t = Tan(z.im), s = Sinh(z.re), beta = 1.0f + t * t, d = 1.0f + beta * s * s;
    return {beta * Root(1.0f + s * s) * s / d, t / d};
  }
  static Libm Slow(Libm z) { return __builtin_ctanhf(z); }
};
struct ComplexTan {
  static bool Tame(Z z) { return ComplexTanh::Tame({-z.im, z.re}); }
  static Z f(Z z) {
    const Z turned = ComplexTanh::f({-z.im, z.re});
    return {turned.im, -turned.re};
  }
  static Libm Slow(Libm z) { return __builtin_ctanf(z); }
};
struct ComplexXlogy {
  static bool Tame(Z x) { return Finite(x); }
  static bool TameRight(Z y) { return Finite(y) && NotZero(y); }
  static Z f(Z x, Z y) {
    const Z l = ComplexLog::f(y);
    const bool zero = x.re == 0.0f && x.im == 0.0f;
    return {zero ? 0.0f : x.re * l.re - x.im * l.im, zero ? 0.0f : x.re * l.im + x.im * l.re};
  }
  static Libm Slow(Libm x, Libm y) { return __real__ x == 0.0f && __imag__ x == 0.0f ? 0.0f : x * __builtin_clogf(y); }
};

// Of doubles

double Size2(D z) { return z.re * z.re + z.im * z.im; }
// Neither squares of such numbers nor products of two are infinite or denormal.
bool Common(D z) { return Size2(z) > 1e-280 && Size2(z) < 1e280; }
bool CommonOrZero(D z) { return (Size2(z) > 1e-280 && Size2(z) < 1e280) || (z.re == 0.0 && z.im == 0.0); }
struct DoubleLog {
  static bool Tame(D z) { return Common(z); }
  static D f(D z) {
    const double re = Abs(z.re), im = Abs(z.im), large = re > im ? re : im, small = re > im ? im : re;
    // Near the unit circle from the distance to it.
    const double square = large * large + small * small, beyond = (large - 1.0) * (large + 1.0) + small * small;
    return {0.5 * (Abs(beyond) < 0.5 ? Log1p(beyond) : Log(square)), Atan2(z.im, z.re)};
  }
  static LibmD Slow(LibmD z) { return __builtin_clog(z); }
};
struct DoubleDivide {
  static bool Tame(D x) { return CommonOrZero(x); }
  static bool TameRight(D y) { return Common(y); }
  static D f(D x, D y) {
    // R. L. Smith, Algorithm 116 (CACM 1962): exact where a part of y is 0.
    const bool real = Abs(y.re) >= Abs(y.im);
    const double large = real ? y.re : y.im, small = real ? y.im : y.re, ratio = small / large;
    const double p = real ? x.re : x.im, q = real ? x.im : x.re, under = large + small * ratio;
    const double im = (q - p * ratio) / under;
    return {(p + q * ratio) / under, real ? im : -im};
  }
  static LibmD Slow(LibmD x, LibmD y) { return x / y; }
};
struct DoubleReciprocal {
  static bool Tame(D z) { return Common(z); }
  static D f(D z) { return DoubleDivide::f({1.0, 0.0}, z); }
  static LibmD Slow(LibmD z) { return 1.0 / z; }
};
struct DoubleXlogy {
  static bool Tame(D x) { return CommonOrZero(x); }
  static bool TameRight(D y) { return Common(y); }
  static D f(D x, D y) {
    const D l = DoubleLog::f(y);
    const bool zero = x.re == 0.0 && x.im == 0.0;
    return {zero ? 0.0 : x.re * l.re - x.im * l.im, zero ? 0.0 : x.re * l.im + x.im * l.re};
  }
  static LibmD Slow(LibmD x, LibmD y) { return __real__ x == 0.0 && __imag__ x == 0.0 ? 0.0 : x * __builtin_clog(y); }
};
// Of either: x / y, but 0 where x is, or where y is.
template <class Quotient, class Z, class Libm>
struct Xdivy : Quotient {
  static Z f(Z x, Z y) {
    const Z q = Quotient::f(x, y);
    const bool zero = x.re == 0 && x.im == 0;
    return {zero ? 0 : q.re, zero ? 0 : q.im};
  }
  static Libm Slow(Libm x, Libm y) { return __real__ x == 0 && __imag__ x == 0 ? 0 : x / y; }
};
template <class Quotient, class Z, class Libm>
struct DivNoNan : Quotient {
  static bool TameRight(Z y) { return Quotient::TameRight(y) || (y.re == 0 && y.im == 0); }
  static Z f(Z x, Z y) {
    const bool zero = y.re == 0 && y.im == 0;
    const Z q = Quotient::f(x, {zero ? 1 : y.re, y.im});
    return {zero ? 0 : q.re, zero ? 0 : q.im};
  }
  static Libm Slow(Libm x, Libm y) { return __real__ y == 0 && __imag__ y == 0 ? 0 : x / y; }
};

constexpr int64_t kBlock = 256;

template <class Z, bool tame(Z)>
bool All(const Z* x, int64_t n) {
  int wild = 0;
  for (int64_t i = 0; i < n; ++i) wild |= !tame(x[i]);
  return !wild;
}

template <class F, class Z = Pair<float>>
void OfOne(const void* in, void* out, int64_t n) {
  const Z* x = static_cast<const Z*>(in);
  Z* y = static_cast<Z*>(out);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = begin + kBlock < n ? begin + kBlock : n;
    if (!All<Z, F::Tame>(x + begin, end - begin)) {
      for (int64_t i = begin; i < end; ++i) y[i] = FromLibm(F::Slow(ToLibm(x[i])));
    } else {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) y[i] = F::f(x[i]);
    }
  }
}
template <class F, class Z = Pair<float>>
void OfTwo(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  const Z* x = static_cast<const Z*>(a);
  const Z* y = static_cast<const Z*>(b);
  Z* z = static_cast<Z*>(out);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t m = n - begin < kBlock ? n - begin : kBlock;
    const Z *p = x + begin * sa, *q = y + begin * sb;
    if (!All<Z, F::Tame>(p, sa ? m : 1) || !All<Z, F::TameRight>(q, sb ? m : 1)) {
      for (int64_t i = 0; i < m; ++i) z[begin + i] = FromLibm(F::Slow(ToLibm(p[i * sa]), ToLibm(q[i * sb])));
    } else {
      Binary<F, Z>(p, sa, q, sb, z + begin, m);
    }
  }
}

}  // namespace

void FillComplex(Loops& loops) {
  const auto unary = [&](UnaryOp op, UnaryLoop loop) { loops.unary[static_cast<int>(op)][DT_COMPLEX64] = loop; };
  unary(UnaryOp::kExp, &OfOne<ComplexExp>);
  unary(UnaryOp::kLog, &OfOne<ComplexLog>);
  unary(UnaryOp::kSqrt, &OfOne<ComplexSqrt>);
  unary(UnaryOp::kRsqrt, &OfOne<ComplexRsqrt>);
  unary(UnaryOp::kReciprocal, &OfOne<Reciprocal>);
  unary(UnaryOp::kSigmoid, &OfOne<ComplexSigmoid>);
  unary(UnaryOp::kSinh, &OfOne<ComplexSinh>);
  unary(UnaryOp::kCosh, &OfOne<ComplexCosh>);
  unary(UnaryOp::kSin, &OfOne<ComplexSin>);
  unary(UnaryOp::kTan, &OfOne<ComplexTan>);
  unary(UnaryOp::kTanh, &OfOne<ComplexTanh>);
  unary(UnaryOp::kLog1p, &OfOne<ComplexLog1p>);
  unary(UnaryOp::kCos, &OfOne<ComplexCos>);
  loops.unary[static_cast<int>(UnaryOp::kLog)][DT_COMPLEX128] = &OfOne<DoubleLog, D>;
  loops.unary[static_cast<int>(UnaryOp::kReciprocal)][DT_COMPLEX128] = &OfOne<DoubleReciprocal, D>;
  const auto binary = [&](BinaryOp op, BinaryLoop of_floats, BinaryLoop of_doubles) {
    loops.binary[static_cast<int>(op)][DT_COMPLEX64] = of_floats;
    loops.binary[static_cast<int>(op)][DT_COMPLEX128] = of_doubles;
  };
  binary(BinaryOp::kDiv, &OfTwo<Divide>, &OfTwo<DoubleDivide, D>);
  binary(BinaryOp::kXlogy, &OfTwo<ComplexXlogy>, &OfTwo<DoubleXlogy, D>);
  binary(BinaryOp::kXdivy, &OfTwo<Xdivy<Divide, Z, Libm>>, &OfTwo<Xdivy<DoubleDivide, D, LibmD>, D>);
  binary(BinaryOp::kDivNoNan, &OfTwo<DivNoNan<Divide, Z, Libm>>, &OfTwo<DivNoNan<DoubleDivide, D, LibmD>, D>);
}

}  // namespace penstock::PENSTOCK_ISA
