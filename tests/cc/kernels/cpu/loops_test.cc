// Loops over integers, quantized and complex numbers against the plain formulas, for each instruction set that this
// machine has.
#include "penstock/kernels/cpu/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "penstock/kernels/cpu/quantization/quantize_loops.h"
#include "tests/cc/kernels/cpu/all_loops.h"

namespace penstock {
namespace {

// --- integers

// Division of any two integers of T, exactly: 128 bits hold all that happens.
using Wide = __int128;
Wide FloorOf(Wide x, Wide y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

template <class T>
T Clamped(T y) {
  constexpr T kMost = sizeof(T) * 8 - 1;
  return y < 0 ? T(0) : std::min(y, kMost);
}

template <class T>
void CheckIntegers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special = {1,
                            2,
                            3,
                            7,
                            100,
                            Limits::max(),
                            T(Limits::max() - 1),
                            Limits::min(),
                            T(Limits::min() + 1),
                            T(-1),
                            T(-2),
                            T(-7),
                            T(Limits::max() / 2),
                            T(Limits::max() / 2 + 1),
                            T(sizeof(T) * 8),
                            0};
  if (sizeof(T) == 8) {
    for (const int64_t near : {int64_t{1} << 51, int64_t{1} << 53}) {
      for (int d = -1; d <= 1; ++d) special.push_back(T(near + d)), special.push_back(T(-near + d));
    }
  }
  std::vector<T> x, y;
  for (const T a : special) {
    for (const T b : special) x.push_back(a), y.push_back(b ? b : T(1));
  }
  while (x.size() % 512) x.push_back(5), y.push_back(3);  // what follows is in blocks of its own
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    // Numbers of all sizes.
    const auto next = [&] {
      const uint64_t bits = random();
      return T(static_cast<int64_t>(bits) >> (bits % (i < 50000 ? 64 : 30) + (i < 50000 ? 0 : 13)));
    };
    const T a = next(), b = next();
    x.push_back(a), y.push_back(b ? b : T(1));
  }
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<T> z(n);
  for (const Loops& loops : AllLoops()) {
    const auto check = [&](BinaryOp op, const char* name, auto formula) {
      loops(op, kTypeOf<T>)(x.data(), 1, y.data(), 1, z.data(), n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(z[i], T(formula(x[i], y[i]))) << name << " " << +x[i] << " " << +y[i] << " " << loops.isa;
      loops(op, kTypeOf<T>)(&x[3], 0, y.data(), 1, z.data(), n);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(z[i], T(formula(x[3], y[i]))) << name << " " << loops.isa;
    };
    check(BinaryOp::kTruncateDiv, "/", [](T a, T b) { return Wide{a} / Wide{b}; });
    check(BinaryOp::kTruncateMod, "%", [](T a, T b) { return Wide{a} % Wide{b}; });
    check(BinaryOp::kFloorDiv, "floor /", [](T a, T b) { return FloorOf(a, b); });
    check(BinaryOp::kFloorMod, "floor %", [](T a, T b) { return Wide{a} - FloorOf(a, b) * Wide{b}; });
    check(BinaryOp::kLeftShift, "<<", [](T a, T b) { return static_cast<uint64_t>(a) << Clamped(b); });
    check(BinaryOp::kRightShift, ">>", [](T a, T b) { return a >> Clamped(b); });
  }
}

TEST(IntegerLoops, PowersWrapAround) {
  std::vector<int32_t> x, y;
  for (int32_t a = -40; a < 40; ++a) {
    for (int32_t b = 0; b < 40; ++b) x.push_back(a), y.push_back(b);
  }
  std::vector<int32_t> z(x.size());
  for (const Loops& loops : AllLoops()) {
    loops(BinaryOp::kPow, DT_INT32)(x.data(), 1, y.data(), 1, z.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      uint32_t power = 1;
      for (int32_t k = 0; k < y[i]; ++k) power *= static_cast<uint32_t>(x[i]);
      ASSERT_EQ(z[i], static_cast<int32_t>(power)) << x[i] << " " << y[i] << " " << loops.isa;
    }
  }
}

TEST(FloatRemainders, AreExact) {
  std::vector<float> x = {0, -0.0f, INFINITY, -INFINITY, NAN, 1, -1, 1e-40f, 3e38f, 5.5f}, y = x;
  std::vector<float> a, b;
  for (const float p : x) {
    for (const float q : y) a.insert(a.end(), 256, p), b.insert(b.end(), 256, q);
  }
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 50000; ++i) a.push_back(normal(random) * (i % 1000)), b.push_back(normal(random));
  std::vector<float> z(a.size());
  const int64_t n = static_cast<int64_t>(a.size());
  for (const Loops& loops : AllLoops()) {
    for (const bool floor : {false, true}) {
      loops(floor ? BinaryOp::kFloorMod : BinaryOp::kTruncateMod, DT_FLOAT)(a.data(), 1, b.data(), 1, z.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        float rest = std::fmod(a[i], b[i]);
        if (floor && rest != 0 && (rest < 0) != (b[i] < 0)) rest += b[i];
        ASSERT_TRUE(z[i] == rest || (std::isnan(z[i]) && std::isnan(rest)))
            << a[i] << " " << b[i] << ": " << z[i] << ", not " << rest << " " << loops.isa;
      }
    }
  }
}

TEST(IntegerLoops, DivideAndShiftExactly) {
  CheckIntegers<int8_t>();
  CheckIntegers<uint8_t>();
  CheckIntegers<int16_t>();
  CheckIntegers<uint16_t>();
  CheckIntegers<int32_t>();
  CheckIntegers<uint32_t>();
  CheckIntegers<int64_t>();
  CheckIntegers<uint64_t>();
}

// --- quantized numbers

TEST(QuantizeLoops, RoundAndLimit) {
  std::vector<float> x = {0,   -0.0f,   0.5f, -0.5f, 1.5f,     2.5f,      -2.5f, 0.49999997f, 127.5f,
                          128, -128.5f, 300,  -300,  INFINITY, -INFINITY, NAN,   1e30f,       -1e30f};
  for (int i = 0; i < 1000; ++i) x.push_back(static_cast<float>(i - 500) / 7);
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<int8_t> y(n);
  for (const Loops& loops : AllLoops()) {
    for (const Rounding rounding : {Rounding::kAwayFromZero, Rounding::kToEven, Rounding::kUp}) {
      (*loops.quantize)(Quantizer{-200, 200, 0.25f, 2, 0.5f, 3, rounding}, x.data(), y.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        const float v = (std::max(std::min(x[i], 200.0f), -200.0f) - 0.25f) * 2 - 0.5f;
        const float whole = rounding == Rounding::kUp       ? std::floor(v + 0.5f)
                            : rounding == Rounding::kToEven ? std::nearbyint(v)
                                                            : std::round(v);
        const float expected = std::isnan(v) ? 0 : std::max(std::min(whole - 3, 127.0f), -128.0f);
        ASSERT_EQ(y[i], static_cast<int8_t>(expected)) << x[i] << " " << loops.isa;
      }
    }
  }
}

// --- complex numbers

using Complex = std::complex<float>;

template <class F, class G>
void CheckComplex(UnaryOp op, const char* name, F exact, G of_float, double limit) {
  const float special[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 100, -100, 1e-30f, 1e30f, 3e38f};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const Loops& loops : AllLoops()) {
    // One by one, what libm has for special numbers.
    for (const float re : special) {
      for (const float im : special) {
        const Complex x(re, im), expected = of_float(x);
        Complex y;
        loops(op, DT_COMPLEX64)(&x, &y, 1);
        const auto same = [](float a, float b) {
          return (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= 2e-6f * std::fabs(b) + 1e-37f;
        };
        if (std::isfinite(re) && std::isfinite(im) && std::isfinite(expected.real()) &&
            std::isfinite(expected.imag())) {
          EXPECT_LE(std::abs(y - expected), 1e-6f * std::abs(expected) + 1e-37f) << name << x << y << expected;
        } else if (!std::isnan(expected.real()) && !std::isnan(expected.imag())) {
          EXPECT_TRUE(same(y.real(), expected.real()) && same(y.imag(), expected.imag())) << name << x << y << expected;
        }
      }
    }
    std::vector<Complex> x(5000), y(x.size());
    for (Complex& z : x) {
      const float size = std::exp(normal(random));
      z = {normal(random) * size, normal(random) * size};
    }
    loops(op, DT_COMPLEX64)(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const std::complex<double> expected = exact(std::complex<double>(x[i]));
      EXPECT_LE(std::abs(std::complex<double>(y[i]) - expected), limit * std::abs(expected))
          << name << x[i] << y[i] << expected << loops.isa;
    }
  }
}

TEST(ComplexLoops, AgreeWithTheStandardLibrary) {
  const auto check = [](UnaryOp op, const char* name, auto f, double limit = 4e-7) {
    CheckComplex(op, name, f, f, limit);
  };
  check(UnaryOp::kExp, "exp", [](auto z) { return std::exp(z); });
  check(UnaryOp::kLog, "log", [](auto z) { return std::log(z); });
  check(UnaryOp::kSqrt, "sqrt", [](auto z) { return std::sqrt(z); });
  check(UnaryOp::kSinh, "sinh", [](auto z) { return std::sinh(z); });
  check(UnaryOp::kCosh, "cosh", [](auto z) { return std::cosh(z); }, 1e-6);
  check(UnaryOp::kSin, "sin", [](auto z) { return std::sin(z); });
  check(UnaryOp::kCos, "cos", [](auto z) { return std::cos(z); }, 1e-6);
  check(UnaryOp::kTan, "tan", [](auto z) { return std::tan(z); }, 1e-6);
  check(UnaryOp::kTanh, "tanh", [](auto z) { return std::tanh(z); }, 1e-6);
  const auto log1p = [](auto z) {
    return std::abs(z) < 1e-10f ? z : decltype(z)(std::log(std::complex<double>(1.0 + z.real(), z.imag())));
  };
  check(UnaryOp::kLog1p, "log1p", log1p, 1e-6);
  check(UnaryOp::kReciprocal, "reciprocal", [](auto z) { return decltype(z)(1) / z; });
  check(UnaryOp::kRsqrt, "rsqrt", [](auto z) { return decltype(z)(1) / std::sqrt(z); });
  check(UnaryOp::kSigmoid, "sigmoid", [](auto z) { return decltype(z)(1) / (decltype(z)(1) + std::exp(-z)); }, 1e-5);
}

TEST(ComplexLoops, DivideLargeAndSmallNumbers) {
  for (const Loops& loops : AllLoops()) {
    const Complex x[] = {{3e38f, 3e38f}, {1e-40f, 0}, {6, 8}, {1, 2}};
    const Complex y[] = {{3e38f, 0}, {1e-40f, 1e-40f}, {0, 2}, {3, 4}};
    Complex z[4];
    loops(BinaryOp::kDiv, DT_COMPLEX64)(x, 1, y, 1, z, 4);
    const Complex expected[] = {{1, 1}, {0.5f, -0.5f}, {4, -3}, {0.44f, 0.08f}};
    for (int i = 0; i < 4; ++i) EXPECT_LE(std::abs(z[i] - expected[i]), 1e-6f) << z[i];
    const Complex zero = 0;
    loops(BinaryOp::kDiv, DT_COMPLEX64)(x, 1, &zero, 0, z, 4);
    EXPECT_TRUE(std::isinf(z[0].real()) || std::isnan(z[0].real()));
  }
}

}  // namespace
}  // namespace penstock
