// Special functions. The common ones have loops (loops/special.cc); of the others some have formulas for floats, and
// the rest is computed in double.
#include "penstock/kernels/cpu/math/special_functions.h"

#include <cmath>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/tensor/variant.h"

// The formulas for any machine: these are too rare for a copy per instruction set.
#define PENSTOCK_ISA portable
#include "penstock/kernels/cpu/loops/bessel.h"
#undef PENSTOCK_ISA

namespace penstock {
namespace {

using RealFloats = Types<float, double>;

struct Erf {
  static constexpr UnaryOp kLoop = UnaryOp::kErf;
  using InLoop = RealFloats;
};
struct Erfc {
  static constexpr UnaryOp kLoop = UnaryOp::kErfc;
  using InLoop = RealFloats;
};

struct Ndtri {
  static constexpr UnaryOp kLoop = UnaryOp::kNdtri;
  static constexpr int64_t kPicoseconds = 4000;
  using InLoop = RealFloats;
};
struct Erfinv {
  static constexpr UnaryOp kLoop = UnaryOp::kErfinv;
  static constexpr int64_t kPicoseconds = 4000;
  using InLoop = RealFloats;
};

// A function of doubles as a formula.
template <double (*f)(double)>
struct Of {
  static constexpr int64_t kPicoseconds = 50000;
  template <class T> T operator()(T x) const { return static_cast<T>(f(static_cast<double>(x))); }
};
// A function of doubles with one of floats beside it.
template <float (*of_float)(float), double (*of_double)(double)>
struct OfEither {
  static constexpr int64_t kPicoseconds = 10000;
  [[gnu::flatten]] float operator()(float x) const { return of_float(x); }
  double operator()(double x) const { return of_double(x); }
};
template <double (*f)(double, double)>
struct Of2 {
  static constexpr int64_t kPicoseconds = 100000;
  template <class T> T operator()(T a, T x) const {
    return static_cast<T>(f(static_cast<double>(a), static_cast<double>(x)));
  }
};

struct BesselI0e : Of<special::BesselI0e> {
  static constexpr UnaryOp kLoop = UnaryOp::kBesselI0e;
  using InLoop = Types<float>;
};
struct BesselI1e : Of<special::BesselI1e> {
  static constexpr UnaryOp kLoop = UnaryOp::kBesselI1e;
  using InLoop = Types<float>;
};
// The same, with the digits that T holds.
template <class T>
constexpr double kPrecision = std::is_same_v<T, float> ? special::kForFloats : special::kForDoubles;
template <double (*f)(double, double, double)>
struct OfPrecise2 {
  static constexpr int64_t kPicoseconds = 100000;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(f(a, x, kPrecision<T>));
  }
};

double BesselI0(double x) { return std::isinf(x) ? std::nan("") : std::exp(std::fabs(x)) * special::BesselI0e(x); }
double BesselI1(double x) { return std::isinf(x) ? std::nan("") : std::exp(std::fabs(x)) * special::BesselI1e(x); }
double BesselK0(double x) { return x <= 0 ? special::BesselK0e(x) : std::exp(-x) * special::BesselK0e(x); }
double BesselK1(double x) { return x <= 0 ? special::BesselK1e(x) : std::exp(-x) * special::BesselK1e(x); }
double FresnelSin(double x) { return special::Fresnel(x).sine; }
double FresnelCos(double x) { return special::Fresnel(x).cosine; }

// a, b and x of one shape, or scalars.
template <class T>
struct Betainc {
  void operator()(KernelContext& k) const {
    const Shape* shape = &k.shape(0);
    int64_t step[3];
    constexpr const char* kNames[] = {"a", "b", "x"};
    for (int i = 0; i < 3; ++i) {
      if (k.shape(i).rank() == 0) continue;
      k.Require(shape->rank() == 0 || *shape == k.shape(i), "Shapes of ", kNames[shape == &k.shape(0) ? 0 : 1], " and ",
                kNames[i], " are inconsistent: ", *shape, " vs. ", k.shape(i));
      if (shape->rank() == 0) shape = &k.shape(i);
    }
    for (int i = 0; i < 3; ++i) step[i] = k.shape(i).rank() == 0 ? 0 : 1;
    const auto a = k.in<T>(0), b = k.in<T>(1), x = k.in<T>(2);
    const auto z = k.out<T>(0, Shape(*shape));
    ParallelElements(k, z.size(), 200000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        z[i] = static_cast<T>(special::Betainc(a[i * step[0]], b[i * step[1]], x[i * step[2]], kPrecision<T>));
      }
    });
  }
};

struct MakeComplex {
  template <class T> std::complex<T> operator()(T re, T im) const { return {re, im}; }
};
struct Real {
  template <class T> auto operator()(T z) const { return z.real(); }
};
struct Imag {
  template <class T> auto operator()(T z) const { return z.imag(); }
};
struct Angle {
  template <class T> auto operator()(T z) const { return std::arg(z); }
};
struct ComplexAbs {
  template <class T> auto operator()(T z) const { return std::abs(z); }
};
struct Conjugate {
  template <class T> T operator()(T z) const { return std::conj(z); }
};

struct ForwardInput {
  void operator()(KernelContext& k) const { k.Forward(0, 0); }
};

}  // namespace

void RegisterMathSpecialKernels(KernelRegistry& kernels) {
  AddUnary<Erf>(kernels, "Erf", Floats{});
  AddUnary<Erfc>(kernels, "Erfc", Floats{});
  AddUnary<Of<special::Lgamma>>(kernels, "Lgamma", Floats{});
  AddUnary<Of<special::Digamma>>(kernels, "Digamma", Floats{});
  AddUnary<Erfinv>(kernels, "Erfinv", Floats{});
  AddUnary<Ndtri>(kernels, "Ndtri", Floats{});
  AddUnary<OfEither<portable::Dawson, special::Dawsn>>(kernels, "Dawsn", Floats{});
  AddUnary<Of<special::Expint>>(kernels, "Expint", Floats{});
  AddUnary<Of<special::Spence>>(kernels, "Spence", Floats{});
  AddUnary<Of<FresnelSin>>(kernels, "FresnelSin", Floats{});
  AddUnary<Of<FresnelCos>>(kernels, "FresnelCos", Floats{});
  AddUnary<OfEither<portable::BesselI0, BesselI0>>(kernels, "BesselI0", Floats{});
  AddUnary<OfEither<portable::BesselI1, BesselI1>>(kernels, "BesselI1", Floats{});
  AddUnary<BesselI0e>(kernels, "BesselI0e", Floats{});
  AddUnary<BesselI1e>(kernels, "BesselI1e", Floats{});
  AddUnary<OfEither<portable::BesselK0, BesselK0>>(kernels, "BesselK0", Floats{});
  AddUnary<OfEither<portable::BesselK1, BesselK1>>(kernels, "BesselK1", Floats{});
  AddUnary<OfEither<portable::BesselK0e, special::BesselK0e>>(kernels, "BesselK0e", Floats{});
  AddUnary<OfEither<portable::BesselK1e, special::BesselK1e>>(kernels, "BesselK1e", Floats{});
  AddUnary<Of<special::BesselJ0>>(kernels, "BesselJ0", Floats{});
  AddUnary<Of<special::BesselJ1>>(kernels, "BesselJ1", Floats{});
  AddUnary<Of<special::BesselY0>>(kernels, "BesselY0", Floats{});
  AddUnary<Of<special::BesselY1>>(kernels, "BesselY1", Floats{});
  AddBinary<OfPrecise2<special::Igamma>>(kernels, "Igamma", Floats{});
  AddBinary<OfPrecise2<special::Igammac>>(kernels, "Igammac", Floats{});
  AddBinary<Of2<special::IgammaGradA>>(kernels, "IgammaGradA", RealFloats{});
  AddBinary<Of2<special::RandomGammaGrad>>(kernels, "RandomGammaGrad", RealFloats{});
  AddBinary<OfPrecise2<special::Zeta>>(kernels, "Zeta", RealFloats{});
  AddBinary<OfPrecise2<special::Polygamma>>(kernels, "Polygamma", RealFloats{});
  kernels.Add<Betainc>("Betainc", RealFloats{});

  // Two type attributes that must go together: each kernel is for one pair.
  const auto add_parts = [&]<class R>(R) {
    using Complexes1 = Types<std::complex<R>>;
    AddBinary<MakeComplex>(kernels, "Complex", Types<R>{}).Only("Tout", {kTypeOf<std::complex<R>>});
    AddUnary<Real>(kernels, "Real", Complexes1{}).Only("Tout", {kTypeOf<R>});
    AddUnary<Imag>(kernels, "Imag", Complexes1{}).Only("Tout", {kTypeOf<R>});
    AddUnary<Angle>(kernels, "Angle", Complexes1{}).Only("Tout", {kTypeOf<R>});
    AddUnary<ComplexAbs>(kernels, "ComplexAbs", Complexes1{}).Only("Tout", {kTypeOf<R>});
  };
  add_parts(float{});
  add_parts(double{});
  AddUnary<Conjugate>(kernels, "Conj", Complexes{});
  kernels.Add<ForwardInput>("Conj", Types<Variant>{});
}

}  // namespace penstock
