// How far the vectorised functions of loops/ lie from the exact values, for each instruction set that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tests/cc/kernels/cpu/all_loops.h"

#define PENSTOCK_ISA portable
#include "penstock/kernels/cpu/loops/bessel.h"
#undef PENSTOCK_ISA

namespace penstock {
namespace {

// Distance in units of the last place of the exact value, rounded to T.
template <class T, class Exact>
double Ulps(T got, Exact exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) && std::isnan(rounded) ? 0 : 1e9;
  if (got == rounded) return rounded == 0 && std::signbit(got) != std::signbit(rounded) ? 1e9 : 0;
  constexpr Exact kMost = std::numeric_limits<T>::max();
  if (std::isinf(rounded)) exact = std::copysign(kMost, exact);  // as the largest number is no great mistake
  if (std::isinf(got)) got = std::copysign(std::numeric_limits<T>::max(), got);
  const Exact unit = std::max(std::ldexp(Exact{1}, std::ilogb(exact) - std::numeric_limits<T>::digits + 1),
                              Exact{std::numeric_limits<T>::denorm_min()});
  return static_cast<double>(std::fabs(got - exact) / unit);
}

// Numbers of all sizes, more of them where functions bend, and the special ones.
template <class T>
std::vector<T> Samples() {
  using Bits = std::conditional_t<std::is_same_v<T, float>, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {0,
                      T(-0.0),
                      1,
                      -1,
                      T(0.5),
                      T(-0.5),
                      2,
                      -2,
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      Limits::min(),
                      Limits::max(),
                      Limits::lowest()};
  constexpr int kAll = 120000, kNear = 40000;
  constexpr Bits kStep = static_cast<Bits>(~Bits{0} / kAll) | 1;
  for (int i = 0; i < kAll; ++i) x.push_back(std::bit_cast<T>(static_cast<Bits>(kStep * i)));
  for (int i = 0; i < kNear; ++i) {
    const T t = static_cast<T>((i + 0.5) / kNear * 2 - 1);
    for (const T scale : {T(1), T(3), T(12), T(100), T(800)}) x.push_back(t * scale);
  }
  return x;
}

template <class Exact>
struct Function {
  UnaryOp op;
  const char* name;
  Exact (*exact)(Exact);
  double limit;
};
template <class Exact>
struct Function2 {
  BinaryOp op;
  const char* name;
  Exact (*exact)(Exact, Exact);
  double limit;
};

template <class E>
E ExactSigmoid(E x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class E>
E ExactSoftplus(E x) {
  return std::isnan(x) ? x : std::fmax(x, E{0}) + std::log1p(std::exp(-std::fabs(x)));
}

// x such that f(x) = y, for an increasing f, by halving.
template <class E>
E Inverse(E (*f)(E), E y, E low, E high) {
  for (int i = 0; i < 80; ++i) {
    const E middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}
// Both by erfc where there is a tail, whose digits it keeps.
template <class E>
E ExactErfinv(E x) {
  if (!(std::fabs(x) <= 1)) return NAN;
  if (x == 0 || std::fabs(x) == 1) return x == 0 ? x : std::copysign(E(INFINITY), x);
  const E a = std::fabs(x);
  if (a < E(1e-5)) return x * std::sqrt(std::numbers::pi_v<E>) / 2 * (1 + std::numbers::pi_v<E> / 12 * x * x);
  const E y = a < E(0.5) ? Inverse<E>([](E v) { return std::erf(v); }, a, 0, 1)
                         : -Inverse<E>([](E v) { return std::erfc(-v); }, 1 - a, -28, 0);
  return std::copysign(y, x);
}
template <class E>
E ExactNdtri(E p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  if (p > E(0.25) && p < E(0.75)) return std::numbers::sqrt2_v<E> * ExactErfinv(2 * p - 1);
  if (p > E(0.5)) return -ExactNdtri(1 - p);
  return Inverse<E>([](E x) { return std::erfc(-x * std::numbers::sqrt2_v<E> / 2) / 2; }, p, -40, 0);
}
double ExactBesselI(double n, double x) {
  const double a = std::fabs(x);
  if (std::isnan(x) || std::isinf(x)) return std::isnan(x) ? x : std::copysign(0.0, n == 0 ? 1 : x);
  if (a < 1e-300) return n == 0 ? 1 : x;
  double size;
  if (a < 300) {
    size = std::exp(-a) * std::cyl_bessel_i(n, a);
  } else {
    const double m = 4 * n * n, over = 1 / (8 * a);
    size = (1 - (m - 1) * over * (1 - (m - 9) * over / 2 * (1 - (m - 25) * over / 3))) /
           std::sqrt(2 * std::numbers::pi * a);
  }
  return n == 0 ? size : std::copysign(size, x);
}

double ExactBesselK(double n, double x) {
  if (std::isnan(x)) return x;
  return x <= 0 ? INFINITY : x < 1e-40 && n == 0 ? -std::log(x / 2) - std::numbers::egamma : std::cyl_bessel_k(n, x);
}
// e^x K_n(x); x below 600, where the function itself is not yet 0.
double ExactBesselKe(double n, double x) { return x <= 0 ? INFINITY : std::exp(x) * ExactBesselK(n, x); }
// All terms of the series have one sign; beyond 5 the asymptotic one has its digits.
double ExactDawson(double x) {
  const long double a = std::fabs(x), z = a * a;
  if (!(a < 1e15)) return std::isnan(x) ? x : std::copysign(0.5 / double(a), x);
  long double sum = 0;
  if (a < 5) {
    long double term = a;
    for (int n = 0; n < 200; term *= z / ++n) sum += term / (2 * n + 1);
    sum *= std::exp(-z);
  } else {
    long double term = 1 / (2 * a);
    for (int n = 1; n < 20; term *= (2 * n - 1) / (2 * z), ++n) sum += term;
  }
  return std::copysign(static_cast<double>(sum), x);
}

template <class E>
std::vector<Function<E>> FunctionsOfBoth() {
  return {{UnaryOp::kExp, "exp", [](E x) { return std::exp(x); }, 1},
          {UnaryOp::kExpm1, "expm1", [](E x) { return std::expm1(x); }, 2},
          {UnaryOp::kLog, "log", [](E x) { return std::log(x); }, 1.5},
          {UnaryOp::kLog1p, "log1p", [](E x) { return std::log1p(x); }, 2},
          {UnaryOp::kSqrt, "sqrt", [](E x) { return std::sqrt(x); }, 0.501},
          {UnaryOp::kRsqrt, "rsqrt", [](E x) { return 1 / std::sqrt(x); }, 1.5},
          {UnaryOp::kSigmoid, "sigmoid", [](E x) { return ExactSigmoid(x); }, 2.5},
          {UnaryOp::kSoftplus, "softplus", [](E x) { return ExactSoftplus(x); }, 2},
          {UnaryOp::kTanh, "tanh", [](E x) { return std::tanh(x); }, 2.5},
          {UnaryOp::kSinh, "sinh", [](E x) { return std::sinh(x); }, 2},
          {UnaryOp::kCosh, "cosh", [](E x) { return std::cosh(x); }, 2},
          {UnaryOp::kAsinh, "asinh", [](E x) { return std::asinh(x); }, 2},
          {UnaryOp::kAcosh, "acosh", [](E x) { return std::acosh(x); }, 2},
          {UnaryOp::kAtanh, "atanh", [](E x) { return std::atanh(x); }, 2.5},
          {UnaryOp::kAtan, "atan", [](E x) { return std::atan(x); }, 2},
          {UnaryOp::kErf, "erf", [](E x) { return std::erf(x); }, 2.5},
          {UnaryOp::kNdtri, "ndtri", [](E x) { return ExactNdtri(x); }, 8},
          {UnaryOp::kErfinv, "erfinv", [](E x) { return ExactErfinv(x); }, 8},
          {UnaryOp::kErfc, "erfc", [](E x) { return std::erfc(x); }, 3.5}};
}

template <class T, class E>
void CheckUnary(const std::vector<Function<E>>& functions) {
  const std::vector<T> x = Samples<T>();
  const std::vector<Loops> all = AllLoops();
  std::vector<T> y(x.size());
  std::vector<E> exact(x.size());
  for (const Function<E>& f : functions) {
    std::transform(x.begin(), x.end(), exact.begin(), [&](T v) { return f.exact(v); });
    for (const Loops& loops : all) {
      loops(f.op, kTypeOf<T>)(x.data(), y.data(), static_cast<int64_t>(x.size()));
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (const double error = Ulps<T, E>(y[i], exact[i]); error > worst) worst = error, at = i;
      }
      EXPECT_LE(worst, f.limit) << worst << " ulp: " << f.name << " at " << x[at] << " is " << y[at] << ", not "
                                << exact[at] << ": " << loops.isa;
    }
  }
}
template <class T, class E>
void CheckBinary(const std::vector<Function2<E>>& functions) {
  const std::vector<T> samples = Samples<T>();
  std::vector<T> x, y;
  for (size_t i = 0; i < samples.size(); ++i) {
    x.push_back(samples[i]);
    y.push_back(samples[i * 7919 % samples.size()]);
    if (i % 3 == 0) x.push_back(samples[i] * T(1.25)), y.push_back(samples[i]);
  }
  for (size_t i = 0; i < 16; ++i) {  // the special ones with each other
    for (size_t j = 0; j < 16; ++j) x.push_back(samples[i]), y.push_back(samples[j]);
  }
  std::vector<T> z(x.size());
  for (const Function2<E>& f : functions) {
    for (const Loops& loops : AllLoops()) {
      loops(f.op, kTypeOf<T>)(x.data(), 1, y.data(), 1, z.data(), static_cast<int64_t>(x.size()));
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (const double error = Ulps<T, E>(z[i], f.exact(x[i], y[i])); error > worst) worst = error, at = i;
      }
      EXPECT_LE(worst, f.limit) << worst << " ulp: " << f.name << " of " << x[at] << " and " << y[at] << " is " << z[at]
                                << ", not " << f.exact(x[at], y[at]) << ": " << loops.isa;
    }
  }
}

template <class E>
std::vector<Function2<E>> Functions2OfBoth() {
  return {{BinaryOp::kAtan2, "atan2", [](E y, E x) { return std::atan2(y, x); }, 2},
          {BinaryOp::kXlogy, "xlogy", [](E x, E y) { return x == 0 ? 0 : x * std::log(y); }, 2.5},
          {BinaryOp::kXlog1py, "xlog1py", [](E x, E y) { return x == 0 ? 0 : x * std::log1p(y); }, 2.5}};
}

TEST(Accuracy, FunctionsOfFloats) {
  std::vector<Function<double>> functions = FunctionsOfBoth<double>();
  functions.push_back({UnaryOp::kAsin, "asin", [](double x) { return std::asin(x); }, 2.5});
  functions.push_back({UnaryOp::kAcos, "acos", [](double x) { return std::acos(x); }, 2});
  functions.push_back({UnaryOp::kTan, "tan", [](double x) { return std::tan(x); }, 1});
  functions.push_back({UnaryOp::kBesselI0e, "i0e", [](double x) { return ExactBesselI(0, x); }, 4});
  functions.push_back({UnaryOp::kBesselI1e, "i1e", [](double x) { return ExactBesselI(1, x); }, 4});
  CheckUnary<float, double>(functions);
  std::vector<Function2<double>> functions2 = Functions2OfBoth<double>();
  functions2.push_back({BinaryOp::kPow, "pow", [](double x, double y) { return std::pow(x, y); }, 0.51});
  CheckBinary<float, double>(functions2);
}

// Near a zero what counts is the distance itself.
TEST(Accuracy, SineAndCosineOfFloats) {
  const std::vector<float> x = Samples<float>();
  std::vector<float> y(x.size());
  for (const Loops& loops : AllLoops()) {
    for (const UnaryOp op : {UnaryOp::kSin, UnaryOp::kCos}) {
      loops(op, DT_FLOAT)(x.data(), y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const double exact = op == UnaryOp::kSin ? std::sin(double{x[i]}) : std::cos(double{x[i]});
        if (std::isnan(exact)) {
          EXPECT_TRUE(std::isnan(y[i])) << x[i];
        } else {
          EXPECT_LE(std::fabs(y[i] - exact), 0x1p-21) << x[i] << " " << loops.isa;
        }
      }
    }
  }
}

TEST(Accuracy, RareFunctionsOfFloats) {
  struct Case {
    const char* name;
    float (*f)(float);
    double (*exact)(double);
    float most;
  };
  const Case cases[] = {
      {"i0", portable::BesselI0, [](double x) { return std::cyl_bessel_i(0, std::fabs(x)); }, 600},
      {"i1", portable::BesselI1, [](double x) { return std::copysign(std::cyl_bessel_i(1, std::fabs(x)), x); }, 600},
      {"k0", portable::BesselK0, [](double x) { return ExactBesselK(0, x); }, 600},
      {"k1", portable::BesselK1, [](double x) { return ExactBesselK(1, x); }, 600},
      {"k0e", portable::BesselK0e, [](double x) { return ExactBesselKe(0, x); }, 600},
      {"k1e", portable::BesselK1e, [](double x) { return ExactBesselKe(1, x); }, 600},
      {"dawson", portable::Dawson, ExactDawson, INFINITY},
  };
  const std::vector<float> samples = Samples<float>();
  for (const Case& c : cases) {
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < samples.size(); i += i < 16 ? 1 : 7) {
      const float x = samples[i];
      if (std::fabs(x) > c.most) continue;
      const double exact = std::isnan(x) ? x : c.exact(x);
      if (const double error = Ulps<float, double>(c.f(x), exact); error > worst) worst = error, at = x;
    }
    EXPECT_LE(worst, 10) << worst << " ulp: " << c.name << " at " << at << " is " << c.f(at) << ", not " << c.exact(at);
  }
}

TEST(Accuracy, FunctionsOfDoubles) {
  CheckUnary<double, long double>(FunctionsOfBoth<long double>());
  CheckBinary<double, long double>(Functions2OfBoth<long double>());
}

}  // namespace
}  // namespace penstock
