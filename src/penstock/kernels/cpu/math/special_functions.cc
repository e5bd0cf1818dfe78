#include "penstock/kernels/cpu/math/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace penstock::special {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;
constexpr double kEulerGamma = std::numbers::egamma;

// Bernoulli numbers B_2, B_4, ...
constexpr double kBernoulli[] = {1.0 / 6,       -1.0 / 30,       1.0 / 42,       -1.0 / 30,
                                 5.0 / 66,      -691.0 / 2730,   7.0 / 6,        -3617.0 / 510,
                                 43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

}  // namespace

double Lgamma(double x) {
  if (std::isinf(x)) return kInf;
  int sign;
  return ::lgamma_r(x, &sign);  // the plain one writes a global
}

double Digamma(double x) {
  if (std::isnan(x) || x == -kInf) return kNan;
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    // Reflection; the tangent of the fraction alone keeps its digits.
    const double fraction = x - std::round(x);
    const double reflected = fraction == 0.5 || fraction == -0.5 ? 0 : kPi / std::tan(kPi * fraction);
    return Digamma(1 - x) - reflected;
  }
  double shift = 0;
  for (; x < 10; ++x) shift -= 1 / x;
  if (x > 1e17) return std::log(x);
  const double over = 1 / (x * x);
  double sum = 0, power = over;
  for (int k = 0; k < 8; ++k, power *= over) sum += kBernoulli[k] / (2 * (k + 1)) * power;
  return shift + std::log(x) - 0.5 / x - sum;
}

double Zeta(double x, double q, double precision) {
  if (std::isnan(x) || std::isnan(q)) return kNan;
  if (x == 1) return kInf;
  if (x < 1) return kNan;
  if (q == kInf) return 0;
  if (q <= 0) {
    if (q == std::floor(q)) return x == std::floor(x) && std::fmod(x, 2) == 0 ? kInf : kNan;
    if (x != std::floor(x)) return kNan;
  }
  // Euler and Maclaurin: terms one by one, then the integral of the rest with its corrections.
  const int direct = precision > 1e-12 ? 3 : 9;
  double sum = std::pow(q, -x), a = q;
  for (int i = 0; i < direct || a <= direct; ++i) {
    a += 1;
    const double term = std::pow(a, -x);
    sum += term;
    if (std::fabs(term) < precision * 0.1 * std::fabs(sum)) return sum;
  }
  const double last = std::pow(a, -x);
  sum += last * a / (x - 1) - 0.5 * last;
  double factor = x * last / a, factorial = 2;
  for (int k = 0; k < 12; ++k) {
    const double term = kBernoulli[k] / factorial * factor;
    sum += term;
    if (std::fabs(term) < precision * std::fabs(sum)) break;
    const int j = 2 * k + 1;
    factor *= (x + j) * (x + j + 1) / (a * a);
    factorial *= (j + 2) * (j + 3);
  }
  return sum;
}

double Polygamma(double n, double x, double precision) {
  if (!(n >= 0) || n != std::floor(n)) return kNan;
  if (n == 0) return Digamma(x);
  const double factorial = n == 1 ? 1 : n == 2 ? 2 : std::exp(Lgamma(n + 1));
  const double size = factorial * Zeta(n + 1, x, precision);
  return std::fmod(n, 2) == 1 ? size : -size;
}

// --- integrals

double Dawsn(double x) {
  const double a = std::fabs(x);
  if (std::isnan(x)) return x;
  if (a > 1e8) return 0.5 / x;
  double y;
  if (a < 0.5) {
    double term = a;
    y = term;
    for (int k = 1; std::fabs(term) > kEps * 0.1 * y && k < 60; ++k) {
      term *= -2 * a * a / (2 * k + 1);
      y += term;
    }
  } else if (a > 12) {
    const double over = 1 / (2 * a * a);
    double term = 1;
    y = 1;
    for (int k = 1; k < 30; ++k) {
      const double next = term * (2 * k - 1) * over;
      if (next > term || next < kEps * 0.1) break;
      y += term = next;
    }
    y /= 2 * a;
  } else {
    // Rybicki's sum over odd multiples of a step converges exponentially.
    constexpr double kStep = 0.2;
    const int nearest = 2 * static_cast<int>(std::round(a / (2 * kStep)));
    y = 0;
    for (int n = nearest - 41; n <= nearest + 41; n += 2) {
      const double d = a - n * kStep;
      y += std::exp(-d * d) / n;
    }
    y /= std::sqrt(kPi);
  }
  return std::copysign(y, x);
}

double Expint(double x) {
  if (!(x >= 0) || x == kInf) return kNan;
  if (x == 0) return -kInf;
  return std::expint(x);
}

double Spence(double x) {
  if (!(x >= 0) || x == kInf) return kNan;
  if (x == 0) return kPi * kPi / 6;
  if (x == 1) return 0;
  // Brought into [0.5, 1.5] by the function's reflections; there the series of Li2(1 - x).
  if (x > 1.5) {
    const double l = std::log(x);
    return -0.5 * l * l - Spence(1 / x);
  }
  if (x < 0.5) return kPi * kPi / 6 - std::log(x) * std::log1p(-x) - Spence(1 - x);
  // Li2(z), z = 1 - x, in powers of u = -log(1 - z) = -log x: u - u^2/4 + sum of B_2k u^(2k+1) / (2k+1)!
  const double u = -std::log(x);
  double sum = u - u * u / 4, power = u * u * u, factorial = 6;
  for (int k = 0; k < 12; ++k) {
    sum += kBernoulli[k] * power / factorial;
    power *= u * u;
    factorial *= (2 * k + 4) * (2 * k + 5);
  }
  return sum;
}

FresnelPair Fresnel(double x) {
  if (std::isnan(x)) return {x, x};
  const double a = std::fabs(x);
  double s, c;
  if (a < 1.6) {
    const double t = kPi / 2 * a * a;
    // Both power series together: terms of t^k / k!, divided by 2k + 1.
    double term = a, sine = 0, cosine = 0;
    for (int k = 0; k < 60; ++k) {
      const double part = term / (2 * k + 1) * ((k / 2) % 2 ? -1 : 1);
      (k % 2 ? sine : cosine) += part;
      term *= t / (k + 1);
      if (std::fabs(term) < kEps * 0.01 * a) break;
    }
    s = sine;
    c = cosine;
  } else if (a > 1e7) {
    s = c = 0.5;
  } else {
    // C + iS = (1 + i) / 2 (1 - e^(i pi x^2 / 2) h), h by the continued fraction of the complex error function.
    using Pair = std::pair<double, double>;
    const auto mul = [](Pair p, Pair q) {
      return Pair{p.first * q.first - p.second * q.second, p.first * q.second + p.second * q.first};
    };
    const auto inverse = [](Pair p) {
      const double n = p.first * p.first + p.second * p.second;
      return Pair{p.first / n, -p.second / n};
    };
    Pair b{1, -kPi * a * a}, continued{1e300, 0}, d = inverse(b), h = d;
    for (int k = 2, n = -1; k < 400; ++k) {
      n += 2;
      const double factor = -n * (n + 1.0);
      b.first += 4;
      d = inverse({factor * d.first + b.first, factor * d.second + b.second});
      const Pair over = inverse(continued);
      continued = {b.first + factor * over.first, b.second + factor * over.second};
      const Pair step = mul(continued, d);
      h = mul(h, step);
      if (std::fabs(step.first - 1) + std::fabs(step.second) < kEps) break;
    }
    h = mul({a, -a}, h);
    // The phase without its whole turns, which x^2 would drown.
    const double phase = kPi / 2 * std::fmod(a * a, 4.0);
    const Pair turned = mul({std::cos(phase), std::sin(phase)}, h);
    const Pair cs = mul({0.5, 0.5}, {1 - turned.first, -turned.second});
    c = cs.first;
    s = cs.second;
  }
  return {std::copysign(s, x), std::copysign(c, x)};
}

// --- Bessel functions

namespace {

// e^-x I_n(x), x >= 0, n = 0 or 1.
double ScaledI(int n, double x) {
  if (x > 25) {
    // Asymptotic: alternating for n, with terms that shrink until about 2x.
    const double mu = 4.0 * n * n;
    double term = 1, sum = 1;
    for (int k = 1; k < 100; ++k) {
      const double odd = 2 * k - 1;
      const double next = -term * (mu - odd * odd) / (k * 8 * x);
      if (std::fabs(next) >= std::fabs(term) || std::fabs(next) < kEps * 0.1) break;
      sum += term = next;
    }
    return sum / std::sqrt(2 * kPi * x);
  }
  const double quarter = x * x / 4;
  double term = n ? x / 2 : 1, sum = term;
  for (int k = 1; term > kEps * 0.1 * sum; ++k) sum += term *= quarter / (k * (k + n));
  return std::exp(-x) * sum;
}

// e^x K_n(x), x > 0: the integral of e^(-x (cosh t - 1)) cosh(n t), by the trapezoidal rule, which converges
// exponentially for it.
double ScaledK(int n, double x) {
  if (x < 0.05) {
    const double quarter = x * x / 4, log = std::log(x / 2);
    if (n == 0) {
      double term = 1, harmonic = 0, sum = -(log + kEulerGamma);
      for (int k = 1; k < 12; ++k) {
        term *= quarter / (k * k);
        harmonic += 1.0 / k;
        sum += term * (harmonic - log - kEulerGamma);
      }
      return std::exp(x) * sum;
    }
    double term = x / 2, sum = 1 / x, psi = -2 * kEulerGamma + 1;  // psi(k + 1) + psi(k + 2)
    for (int k = 0; k < 12; ++k) {
      sum += term * (log - psi / 2);
      term *= quarter / ((k + 1) * (k + 2));
      psi += 1.0 / (k + 1) + 1.0 / (k + 2);
    }
    return std::exp(x) * sum;
  }
  // The peak at 0 is as narrow as 1 / sqrt(x).
  const double step = std::fmin(0.125, 0.6 / std::sqrt(x));
  double sum = 0.5;
  for (int i = 1; i < 200; ++i) {
    const double t = i * step, half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half) * (n ? std::cosh(t) : 1);
    sum += term;
    if (term < kEps * 0.01 * sum) break;
  }
  return sum * step;
}

}  // namespace

double BesselI0e(double x) { return std::isnan(x) ? x : std::isinf(x) ? 0 : ScaledI(0, std::fabs(x)); }
double BesselI1e(double x) {
  return std::isnan(x) ? x : std::isinf(x) ? 0 : std::copysign(ScaledI(1, std::fabs(x)), x);
}
double BesselK0e(double x) { return std::isnan(x) ? x : x <= 0 ? kInf : std::isinf(x) ? 0 : ScaledK(0, x); }
double BesselK1e(double x) { return std::isnan(x) ? x : x <= 0 ? kInf : std::isinf(x) ? 0 : ScaledK(1, x); }
double BesselJ0(double x) { return std::isinf(x) ? kNan : ::j0(x); }
double BesselJ1(double x) { return std::isinf(x) ? kNan : ::j1(x); }
double BesselY0(double x) { return std::isnan(x) ? x : x <= 0 ? -kInf : std::isinf(x) ? kNan : ::y0(x); }
double BesselY1(double x) { return std::isnan(x) ? x : x <= 0 ? -kInf : std::isinf(x) ? kNan : ::y1(x); }

// --- incomplete gamma and beta

namespace {

// A number with its derivative by a.
struct Dual {
  double v, d;
};
Dual operator+(Dual p, Dual q) { return {p.v + q.v, p.d + q.d}; }
Dual operator*(Dual p, Dual q) { return {p.v * q.v, p.d * q.v + p.v * q.d}; }
Dual operator/(Dual p, Dual q) { return {p.v / q.v, (p.d - p.v / q.v * q.d) / q.v}; }

// The lower function over x^a e^-x / Gamma(a + 1): its value, and with its derivative by a.
double LowerSeries(double a, double x, double precision) {
  double term = 1, sum = 1;
  for (int k = 1; k < 100000 && term > precision * 0.1 * sum; ++k) sum += term *= x / (a + k);
  return sum;
}
Dual LowerSeriesDual(double a, double x) {
  Dual term{1, 0}, sum{1, 0};
  for (int k = 1; k < 100000; ++k) {
    term = term * Dual{x, 0} / Dual{a + k, 1};
    sum = sum + term;
    if (std::fabs(term.v) < kEps * 0.1 * sum.v && std::fabs(term.d) < kEps * std::fabs(sum.d) + 1e-300) break;
  }
  return sum;
}
// The upper function over x^a e^-x / Gamma(a), by its continued fraction: numerators and denominators, which grow and
// are scaled down now and then; with the derivative by Lentz's method.
double UpperFraction(double a, double x, double precision) {
  constexpr double kLarge = 1e150;
  double b = x + 1 - a, top = 1, bottom = b, last_top = 0, last_bottom = 1, h = top / bottom;
  for (int k = 1; k < 100000; ++k) {
    const double factor = -k * (k - a);
    b += 2;
    const double next_top = b * top + factor * last_top, next_bottom = b * bottom + factor * last_bottom;
    last_top = top, last_bottom = bottom, top = next_top, bottom = next_bottom;
    if (bottom != 0) {
      const double next = top / bottom, step = next - h;
      h = next;
      if (std::fabs(step) < precision * std::fabs(h)) break;
    }
    if (std::fabs(top) > kLarge || std::fabs(bottom) > kLarge)
      top /= kLarge, bottom /= kLarge, last_top /= kLarge, last_bottom /= kLarge;
  }
  return h;
}
Dual UpperFractionDual(double a, double x) {
  const Dual tiny{1e-300, 0};
  Dual b{x + 1 - a, -1}, c = Dual{1, 0} / tiny, d = Dual{1, 0} / b, h = d;
  for (int k = 1; k < 100000; ++k) {
    const Dual factor{-k * (k - a), static_cast<double>(k)};
    b.v += 2;
    d = factor * d + b;
    if (std::fabs(d.v) < 1e-300) d = tiny;
    c = b + factor / c;
    if (std::fabs(c.v) < 1e-300) c = tiny;
    d = Dual{1, 0} / d;
    const Dual step = d * c;
    h = h * step;
    if (std::fabs(step.v - 1) < kEps && std::fabs(step.d) < kEps * (1 + std::fabs(h.d))) break;
  }
  return h;
}
// log(x^a e^-x / Gamma(a)); for large a near x by the distance to the peak, where the plain sum would cancel.
double LogPrefix(double a, double x) {
  if (a > 50 && std::fabs(x - a) < 0.4 * a) {
    const double mu = (x - a) / a;
    const double over = 1 / a;
    // Stirling's series of lgamma(a) with the large parts taken out.
    const double stirling = over / 12 - over * over * over / 360 + std::pow(over, 5) / 1260;
    return a * (std::log1p(mu) - mu) + 0.5 * std::log(a / (2 * kPi)) - stirling;
  }
  return a * std::log(x) - x - Lgamma(a);
}
bool UseSeries(double a, double x) { return x < a + 1 || x < 1; }

}  // namespace

double Igamma(double a, double x, double precision) {
  if (x == 0) return 0;  // whatever a is, as in TensorFlow
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0;
  if (std::isinf(x)) return 1;
  if (UseSeries(a, x)) return std::exp(LogPrefix(a, x)) / a * LowerSeries(a, x, precision);
  return 1 - std::exp(LogPrefix(a, x)) * UpperFraction(a, x, precision);
}
double Igammac(double a, double x, double precision) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1;
  if (x == 0) return 1;
  if (std::isinf(x)) return 0;
  // Where the difference is small, the digits that it loses have to be there first.
  if (UseSeries(a, x)) return 1 - std::exp(LogPrefix(a, x)) / a * LowerSeries(a, x, a < 1 ? kForDoubles : precision);
  return std::exp(LogPrefix(a, x)) * UpperFraction(a, x, precision);
}
double IgammaGradA(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0 || std::isinf(a) || std::isinf(x)) return 0;
  if (UseSeries(a, x)) {
    const Dual s = LowerSeriesDual(a, x);
    return std::exp(LogPrefix(a, x)) / a * ((std::log(x) - Digamma(a + 1)) * s.v + s.d);
  }
  const Dual f = UpperFractionDual(a, x);
  return -std::exp(LogPrefix(a, x)) * ((std::log(x) - Digamma(a)) * f.v + f.d);
}
double RandomGammaGrad(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0) return 0;
  if (UseSeries(a, x)) {
    const Dual s = LowerSeriesDual(a, x);
    return -x / a * ((std::log(x) - Digamma(a + 1)) * s.v + s.d);
  }
  const Dual f = UpperFractionDual(a, x);
  return x * ((std::log(x) - Digamma(a)) * f.v + f.d);
}

double Betainc(double a, double b, double x, double precision) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return kNan;
  if (x == 0 || x == 1) return x;
  // The fraction converges fast below the mean; above, the complement is taken.
  if (x > (a + 1) / (a + b + 2)) return 1 - Betainc(b, a, 1 - x, precision);
  const double prefix = std::exp(a * std::log(x) + b * std::log1p(-x) + Lgamma(a + b) - Lgamma(a) - Lgamma(b)) / a;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < 1e-300) d = 1e-300;
  d = 1 / d;
  double h = d;
  for (int m = 1; m < 10000; ++m) {
    double step = 1;
    for (const double factor : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + factor * d;
      if (std::fabs(d) < 1e-300) d = 1e-300;
      c = 1 + factor / c;
      if (std::fabs(c) < 1e-300) c = 1e-300;
      d = 1 / d;
      step = c * d;
      h *= step;
    }
    if (std::fabs(step - 1) < precision) break;
  }
  return prefix * h;
}

}  // namespace penstock::special
