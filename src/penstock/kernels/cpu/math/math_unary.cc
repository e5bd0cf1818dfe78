// Elementwise functions of one tensor: everything with a name from school. Special functions: math_special.cc.
#include <cmath>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

using RealFloats = Types<float, double>;
using FastComplex = Concat<RealFloats, Types<Complex64>>;  // formulas of floats alone are fast for complex ones
using AllFloats = Concat<Floats, Complexes>;
using Signed = Concat<Floats, SignedInts>;
using SignedAndComplex = Concat<Signed, Complexes>;

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
template <class T>
using Unsigned = std::make_unsigned_t<T>;

// The absolute value and the root of complex numbers of common sizes by their plain formulas; libm, which is several
// times as slow, has the others.
bool IsCommon(double squared_size) { return squared_size > 1e-280 && squared_size < 1e280; }
template <class R>
R SizeOf(std::complex<R> x) {
  const double re = x.real(), im = x.imag(), squared = re * re + im * im;
  return IsCommon(squared) ? static_cast<R>(std::sqrt(squared)) : std::abs(x);
}
Complex128 RootOf(Complex128 x) {
  const double squared = x.real() * x.real() + x.imag() * x.imag();
  if (!IsCommon(squared)) return std::sqrt(x);
  const double t = std::sqrt(0.5 * (std::sqrt(squared) + std::abs(x.real()))), other = 0.5 * x.imag() / t;
  return x.real() < 0 ? Complex128(std::abs(other), std::copysign(t, x.imag())) : Complex128(t, other);
}

// Formulas with a vectorised loop; the operator is for the types without.
struct Neg {
  static constexpr UnaryOp kLoop = UnaryOp::kNeg;
  using InLoop = Concat<Concat<RealFloats, SignedInts>, Complexes>;
};
struct Abs {
  static constexpr UnaryOp kLoop = UnaryOp::kAbs;
  using InLoop = Concat<RealFloats, SignedInts>;
};
struct Square {
  static constexpr UnaryOp kLoop = UnaryOp::kSquare;
  using InLoop = Concat<RealFloats, Ints>;
  template <class T> T operator()(T x) const { return x * x; }
};
struct Sqrt {
  static constexpr UnaryOp kLoop = UnaryOp::kSqrt;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const {
    if constexpr (std::is_same_v<T, Complex128>) return RootOf(x);
    return std::sqrt(x);
  }
};
struct Rsqrt {
  static constexpr UnaryOp kLoop = UnaryOp::kRsqrt;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return T(1) / Sqrt{}(x); }
};
struct Reciprocal {
  static constexpr UnaryOp kLoop = UnaryOp::kReciprocal;
  using InLoop = Concat<RealFloats, Complexes>;
  template <class T> T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      if (x == 0) throw InvalidArgument("Integer division by zero");
    }
    return T(1) / x;
  }
};
struct Exp {
  static constexpr UnaryOp kLoop = UnaryOp::kExp;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return std::exp(x); }
};
struct Log {
  static constexpr UnaryOp kLoop = UnaryOp::kLog;
  using InLoop = Concat<RealFloats, Complexes>;
  template <class T> T operator()(T x) const { return std::log(x); }
};
struct Tanh {
  static constexpr UnaryOp kLoop = UnaryOp::kTanh;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return std::tanh(x); }
};
struct Sigmoid {
  static constexpr UnaryOp kLoop = UnaryOp::kSigmoid;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return T(1) / (T(1) + std::exp(-x)); }
};
struct Sin {
  static constexpr UnaryOp kLoop = UnaryOp::kSin;
  using InLoop = Types<float, Complex64>;
  template <class T> T operator()(T x) const { return std::sin(x); }
};
struct Cos {
  static constexpr UnaryOp kLoop = UnaryOp::kCos;
  using InLoop = Types<float, Complex64>;
  template <class T> T operator()(T x) const { return std::cos(x); }
};
struct Log1p {
  static constexpr UnaryOp kLoop = UnaryOp::kLog1p;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const {
    // log |1 + x| from its distance to 1, so that small x keep their digits.
    const auto re = x.real(), im = x.imag();
    return T(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re));
  }
};
struct Expm1 {
  static constexpr UnaryOp kLoop = UnaryOp::kExpm1;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const {
    // e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b / 2)
    const auto e = std::expm1(x.real());
    const auto half = std::sin(x.imag() / 2);
    return T(e * std::cos(x.imag()) - 2 * half * half, (e + 1) * std::sin(x.imag()));
  }
};
struct Floor {
  static constexpr UnaryOp kLoop = UnaryOp::kFloor;
  using InLoop = RealFloats;
};
struct Ceil {
  static constexpr UnaryOp kLoop = UnaryOp::kCeil;
  using InLoop = RealFloats;
};
struct Rint {
  static constexpr UnaryOp kLoop = UnaryOp::kRint;
  using InLoop = RealFloats;
};
struct Round {  // half to even; whole numbers stay
  static constexpr UnaryOp kLoop = UnaryOp::kRint;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return T(std::rint(x.real()), std::rint(x.imag()));
    } else {
      return x;
    }
  }
};
struct Sign {
  static constexpr UnaryOp kLoop = UnaryOp::kSign;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      const auto size = SizeOf(x);
      return size == 0 ? T(0) : x / size;
    } else {
      return T((x > 0) - (x < 0));
    }
  }
};
struct Softplus {
  static constexpr UnaryOp kLoop = UnaryOp::kSoftplus;
  using InLoop = RealFloats;
};

struct Tan {
  static constexpr UnaryOp kLoop = UnaryOp::kTan;
  using InLoop = Types<float, Complex64>;
  template <class T> T operator()(T x) const { return std::tan(x); }
};
struct Asin {
  static constexpr UnaryOp kLoop = UnaryOp::kAsin;
  using InLoop = Types<float>;
  template <class T> T operator()(T x) const { return std::asin(x); }
};
struct Acos {
  static constexpr UnaryOp kLoop = UnaryOp::kAcos;
  using InLoop = Types<float>;
  template <class T> T operator()(T x) const { return std::acos(x); }
};
struct Atan {
  static constexpr UnaryOp kLoop = UnaryOp::kAtan;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const { return std::atan(x); }
};
struct Sinh {
  static constexpr UnaryOp kLoop = UnaryOp::kSinh;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return std::sinh(x); }
};
struct Cosh {
  static constexpr UnaryOp kLoop = UnaryOp::kCosh;
  using InLoop = FastComplex;
  template <class T> T operator()(T x) const { return std::cosh(x); }
};
struct Asinh {
  static constexpr UnaryOp kLoop = UnaryOp::kAsinh;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const { return std::asinh(x); }
};
struct Acosh {
  static constexpr UnaryOp kLoop = UnaryOp::kAcosh;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const { return std::acosh(x); }
};
struct Atanh {
  static constexpr UnaryOp kLoop = UnaryOp::kAtanh;
  using InLoop = RealFloats;
  template <class T> T operator()(T x) const { return std::atanh(x); }
};
struct Softsign {
  template <class T> T operator()(T x) const { return x / (T(1) + std::abs(x)); }
};
struct IsNan {
  template <class T> bool operator()(T x) const { return std::isnan(x); }
};
struct IsInf {
  template <class T> bool operator()(T x) const { return std::isinf(x); }
};
struct IsFinite {
  template <class T> bool operator()(T x) const { return std::isfinite(x); }
};
struct LogicalNot {
  bool operator()(bool x) const { return !x; }
};
struct Invert {
  template <class T> T operator()(T x) const { return T(~x); }
};
// Bits are added up in pairs, in fours, in eights...: that works for a vector of numbers at once.
struct PopulationCount {
  template <class T> uint8_t operator()(T x) const {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    U n = static_cast<Unsigned<T>>(x);
    n -= n >> 1 & static_cast<U>(0x5555555555555555);
    n = (n & static_cast<U>(0x3333333333333333)) + (n >> 2 & static_cast<U>(0x3333333333333333));
    n = (n + (n >> 4)) & static_cast<U>(0x0f0f0f0f0f0f0f0f);
    n += n >> 8;
    n += n >> 16;
    if constexpr (sizeof(T) == 8) n += n >> 32;
    return static_cast<uint8_t>(n & 0x7f);
  }
};

// Gradients from the result y (or, for the activations, from the features).
// Where dy is 0 those of the roots and of the reciprocal are 0, whatever y is.
struct ReciprocalGrad {
  template <class T> T operator()(T y, T dy) const {
    const T slope = -dy * y * y;
    return dy == T(0) ? T(0) : slope;
  }
};
struct SqrtGrad {
  static constexpr BinaryOp kLoop = BinaryOp::kSqrtGrad;
  using InLoop = RealFloats;
  template <class T> T operator()(T y, T dy) const { return dy == T(0) ? T(0) : T(0.5) * dy / std::conj(y); }
};
struct RsqrtGrad {
  static constexpr BinaryOp kLoop = BinaryOp::kRsqrtGrad;
  using InLoop = RealFloats;
  template <class T> T operator()(T y, T dy) const {
    const T c = std::conj(y);
    return dy == T(0) ? T(0) : T(-0.5) * dy * (c * c * c);
  }
};
struct SigmoidGrad {
  static constexpr BinaryOp kLoop = BinaryOp::kSigmoidGrad;
  using InLoop = RealFloats;
  template <class T> T operator()(T y, T dy) const { return dy * y * (T(1) - y); }
};
struct TanhGrad {
  static constexpr BinaryOp kLoop = BinaryOp::kTanhGrad;
  using InLoop = RealFloats;
  template <class T> T operator()(T y, T dy) const { return dy * (T(1) - y * y); }
};
struct ComplexReciprocalGrad {
  template <class T> T operator()(T y, T dy) const {
    const T c = std::conj(y);
    return dy == T(0) ? T(0) : -dy * c * c;
  }
};
struct SoftplusGrad {
  static constexpr BinaryOp kLoop = BinaryOp::kSoftplusGrad;
  using InLoop = RealFloats;
};
struct SoftsignGrad {
  template <class T> T operator()(T dy, T x) const {
    const T s = T(1) + std::abs(x);
    return dy / (s * s);
  }
};

}  // namespace

void RegisterMathUnaryKernels(KernelRegistry& kernels) {
  AddUnary<Neg>(kernels, "Neg", SignedAndComplex{});
  AddUnary<Abs>(kernels, "Abs", Signed{});
  AddUnary<Square>(kernels, "Square", Numbers{});
  AddUnary<Sqrt>(kernels, "Sqrt", AllFloats{});
  AddUnary<Rsqrt>(kernels, "Rsqrt", AllFloats{});
  for (const char* name : {"Inv", "Reciprocal"}) AddUnary<Reciprocal>(kernels, name, SignedAndComplex{});
  AddUnary<Exp>(kernels, "Exp", AllFloats{});
  AddUnary<Log>(kernels, "Log", AllFloats{});
  AddUnary<Tanh>(kernels, "Tanh", AllFloats{});
  AddUnary<Sigmoid>(kernels, "Sigmoid", AllFloats{});
  AddUnary<Sin>(kernels, "Sin", AllFloats{});
  AddUnary<Cos>(kernels, "Cos", AllFloats{});
  AddUnary<Log1p>(kernels, "Log1p", AllFloats{});
  AddUnary<Expm1>(kernels, "Expm1", AllFloats{});
  AddUnary<Floor>(kernels, "Floor", Floats{});
  AddUnary<Ceil>(kernels, "Ceil", Floats{});
  AddUnary<Rint>(kernels, "Rint", Floats{});
  AddUnary<Round>(kernels, "Round", SignedAndComplex{});
  AddUnary<Sign>(kernels, "Sign", SignedAndComplex{});
  AddUnary<Softplus>(kernels, "Softplus", Floats{});
  AddUnary<Softsign>(kernels, "Softsign", Floats{});
  AddUnary<Tan>(kernels, "Tan", AllFloats{});
  AddUnary<Asin>(kernels, "Asin", AllFloats{});
  AddUnary<Acos>(kernels, "Acos", AllFloats{});
  AddUnary<Atan>(kernels, "Atan", AllFloats{});
  AddUnary<Sinh>(kernels, "Sinh", AllFloats{});
  AddUnary<Cosh>(kernels, "Cosh", AllFloats{});
  AddUnary<Asinh>(kernels, "Asinh", AllFloats{});
  AddUnary<Acosh>(kernels, "Acosh", AllFloats{});
  AddUnary<Atanh>(kernels, "Atanh", AllFloats{});
  AddUnary<IsNan>(kernels, "IsNan", Floats{});
  AddUnary<IsInf>(kernels, "IsInf", Floats{});
  AddUnary<IsFinite>(kernels, "IsFinite", Floats{});
  AddUnary<Invert>(kernels, "Invert", Ints{});
  AddUnary<PopulationCount>(kernels, "PopulationCount", Ints{});
  kernels.Add<elementwise::Unary<LogicalNot, bool>>("LogicalNot");

  for (const char* name : {"InvGrad", "ReciprocalGrad"}) {
    AddBinary<ReciprocalGrad>(kernels, name, Floats{});
    AddBinary<ComplexReciprocalGrad>(kernels, name, Complexes{});
  }
  AddBinary<SqrtGrad>(kernels, "SqrtGrad", AllFloats{});
  AddBinary<RsqrtGrad>(kernels, "RsqrtGrad", AllFloats{});
  AddBinary<SigmoidGrad>(kernels, "SigmoidGrad", AllFloats{});
  AddBinary<TanhGrad>(kernels, "TanhGrad", AllFloats{});
  AddBinary<SoftplusGrad>(kernels, "SoftplusGrad", Floats{});
  AddBinary<SoftsignGrad>(kernels, "SoftsignGrad", Floats{});
}

}  // namespace penstock
