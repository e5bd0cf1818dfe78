// The quantile function of the normal distribution and the inverse of erf, without branches.
#pragma once

#include "penstock/kernels/cpu/loops/exponential.h"

namespace penstock::PENSTOCK_ISA {

// The quantile of 0.5 + q, where `tail` = 0.5 - |q|: Wichura's rational functions (Applied Statistics, algorithm 241).
inline double NormalQuantile(double q, double tail) {
  const double z = 0.180625 - q * q;
  const double middle = q *
                        Polynomial(z, 2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                                   4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                   1.3314166789178437745e+2, 3.3871328727963666080e0) /
                        Polynomial(z, 5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
                                   2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                   4.2313330701600911252e+1, 1.0);
  const double r = Root(-Log(tail)), s = r - 1.6, t = r - 5.0;
  const bool far = r > 5.0;
  const double near_top = Polynomial(s, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                                     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
                                     4.63033784615654529590e0, 1.42343711074968357734e0);
  const double near_bottom = Polynomial(s, 1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                        1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1,
                                        1.67638483018380384940e0, 2.05319162663775882187e0, 1.0);
  const double far_top = Polynomial(t, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                                    2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                                    5.46378491116411436990e0, 6.65790464350110377720e0);
  const double far_bottom = Polynomial(t, 2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                       1.84631831751005468180e-5, 7.86869131145613259100e-4, 1.48753612908506148525e-2,
                                       1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0);
  const double outer = (far ? far_top : near_top) / (far ? far_bottom : near_bottom);
  const double end = tail == 0.0 ? kInfinity<double> : outer;
  return Abs(q) <= 0.425 ? middle : q < 0.0 ? -end : end;
}
inline double Ndtri(double p) {
  const double result = NormalQuantile(p - 0.5, p < 0.5 ? p : 1.0 - p);
  return p >= 0.0 && p <= 1.0 ? result : kNan<double>;
}
inline double Erfinv(double x) {
  const double result = 0.707106781186547524401 * NormalQuantile(0.5 * x, 0.5 - Abs(0.5 * x));
  return Abs(x) <= 1.0 ? result : kNan<double>;
}
inline float Ndtri(float p) { return static_cast<float>(Ndtri(double{p})); }
inline float Erfinv(float x) { return static_cast<float>(Erfinv(double{x})); }

}  // namespace penstock::PENSTOCK_ISA
