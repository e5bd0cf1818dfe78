// Special functions of doubles, by series, continued fractions, integrals and asymptotic expansions; about 1e-14
// relative accuracy, or kForFloats where a function takes a precision: most of the time goes into the last digits. What
// lies outside a function's domain gives NaN, poles give infinity or NaN as TensorFlow has it.
#pragma once

namespace penstock::special {

double Lgamma(double x);
double Digamma(double x);
// Relative error to stop at.
inline constexpr double kForFloats = 2e-9, kForDoubles = 2.2e-16;
double Polygamma(double n, double x, double precision = kForDoubles);
double Zeta(double x, double q, double precision = kForDoubles);  // Hurwitz
double Dawsn(double x);
double Expint(double x);
double Spence(double x);
struct FresnelPair {
  double sine, cosine;
};
FresnelPair Fresnel(double x);

double BesselI0e(double x);
double BesselI1e(double x);
double BesselK0e(double x);
double BesselK1e(double x);
double BesselJ0(double x);
double BesselJ1(double x);
double BesselY0(double x);
double BesselY1(double x);

double Igamma(double a, double x, double precision = kForDoubles);   // lower incomplete, regularised
double Igammac(double a, double x, double precision = kForDoubles);  // upper
double IgammaGradA(double a, double x);                              // of the lower one
double RandomGammaGrad(double a, double x);                          // -(d Igamma / da) / (d Igamma / dx)
double Betainc(double a, double b, double x, double precision = kForDoubles);

}  // namespace penstock::special
