// Modified Bessel functions and Dawson's integral of floats, without branches; within 10 ulp.
#pragma once

#include "penstock/kernels/cpu/loops/exponential.h"

namespace penstock::PENSTOCK_ISA {

// e^-|x| I_0(x) and e^-|x| I_1(x): I_n in powers of x^2 up to 8, beyond it in those of 1 / x.
inline float BesselI0e(float x) {
  const float a = Abs(x), c = AtMost(a, 8.0f), z = c * c * 0.015625f, u = 8.0f / AtLeast(a, 8.0f);
  const float near =
      Exp(-c) * Polynomial(z, 1.564139819e-1, 3.587106155e-1, 2.834357611, 1.043275398e+1, 3.242184896e+1,
                           7.280221982e+1, 1.137802379e+2, 1.13777564e+2, 6.400000885e+1, 1.599999987e+1, 1.0);
  const float far = Polynomial(u, 1.31774682e-5, -2.767426476e-5, 4.106890377e-5, 4.292182396e-5, 4.413366637e-4,
                               6.233231351e-3, 3.989422835e-1) /
                    Root(a);
  return a > 8.0f ? far : near;
}
inline float BesselI1e(float x) {
  const float a = Abs(x), c = AtMost(a, 8.0f), z = c * c * 0.015625f, u = 8.0f / AtLeast(a, 8.0f);
  const float near = Exp(-c) * x *
                     Polynomial(z, 6.880215816e-3, 1.896459651e-2, 1.555272105e-1, 6.540380336e-1, 2.314628865,
                                6.067304785, 1.137792283e+1, 1.422220825e+1, 1.066666732e+1, 3.999999989, 0.5);
  const float far = Polynomial(u, -2.638630089e-5, 6.553756871e-5, -8.716514704e-5, -4.353144524e-5, -7.387380094e-4,
                               -1.869972983e-2, 3.98942271e-1) /
                    Root(a);
  return a > 8.0f ? WithSign(far, x) : near;
}
// The exponential in two factors, since it is infinite before its product is. Of infinity: NaN, as in TensorFlow.
inline float BesselI0(float x) {
  const float e = Exp(0.5f * Abs(x));
  return e * BesselI0e(x) * e;
}
inline float BesselI1(float x) {
  const float e = Exp(0.5f * Abs(x));
  return e * BesselI1e(x) * e;
}

// e^x K_0(x) and e^x K_1(x): up to 1 or 2 by the series around the logarithm, beyond in powers of 1 / x.
inline float BesselK0e(float x) {
  const float c = AtMost(x, 1.0f), z = 0.25f * c * c, u = 1.0f / AtLeast(x, 1.0f);
  const float i0 = Polynomial(z, 7.525183951e-5, 1.729769931e-3, 2.778091421e-2, 2.499993117e-1, 1.000000054, 1.0);
  const float rest = Polynomial(z, 3.928077016e-6, 1.179904567e-4, 2.615173527e-3, 3.489199485e-2, 2.306961188e-1,
                                4.227843318e-1, -5.772156648e-1);
  const float near = Exp(c) * (rest - (Log(c) - 0.693147181f) * i0);
  const float far =
      Polynomial(u, -1.178676652e-2, 7.385028972e-2, -2.069777537e-1, 3.453379111e-1, -3.879451309e-1, 3.197510947e-1,
                 -2.126971836e-1, 1.312141881e-1, -9.102327806e-2, 8.808922368e-2, -1.566636519e-1, 1.253314135) /
      Root(x);
  return x > 1.0f ? far : x <= 0.0f ? kInfinity<float> : near;
}
inline float BesselK1e(float x) {
  const float c = AtMost(x, 2.0f), z = 0.25f * c * c, u = 2.0f / AtLeast(x, 2.0f);
  const float i1 = Polynomial(z, 6.206346252e-6, 1.731452545e-4, 3.472458036e-3, 4.166661329e-2, 2.500000044e-1, 0.5);
  const float rest =
      Polynomial(z, -4.475746479e-5, -1.11156064e-3, -1.918417259e-2, -1.815747002e-1, -6.727843752e-1, 1.544313304e-1);
  const float near = Exp(c) * (1.0f + z * (4.0f * i1 * (Log(c) - 0.693147181f) + rest)) / c;
  const float far = Polynomial(u, -3.588004688e-4, 1.905279854e-3, -4.694679861e-3, 7.619384737e-3, -1.044667266e-2,
                               1.592925074e-2, -3.670696461e-2, 2.349960342e-1, 1.253314139) /
                    Root(x);
  return x > 2.0f ? far : x <= 0.0f ? kInfinity<float> : near;
}
inline float BesselK0(float x) { return x <= 0.0f ? kInfinity<float> : Exp(-x) * BesselK0e(x); }
inline float BesselK1(float x) { return x <= 0.0f ? kInfinity<float> : Exp(-x) * BesselK1e(x); }

// e^(-x^2) times the integral of e^(t^2) from 0 to x
inline float Dawson(float x) {
  const float a = Abs(x), c = AtMost(a, 1.5f), t = AtMost(a, 4.0f) - 2.75f, over = 1.0f / AtLeast(a, 4.0f);
  const float near = c * Polynomial(c * c, 2.560860266e-6, -4.579767174e-5, 4.365921779e-4, -3.030089573e-3,
                                    1.689304064e-2, -7.617312994e-2, 2.666626283e-1, -6.666662952e-1, 9.999999942e-1);
  const float middle =
      Polynomial(t, -1.752281972e-8, -2.390501486e-6, 7.670504573e-6, 8.788505046e-6, -7.860627127e-5, 1.352849335e-4,
                 6.909828175e-5, -8.360170729e-4, 1.979719245e-3, -2.11758951e-3, -1.101572743e-3, 9.387153795e-3,
                 -2.306167219e-2, 4.464465338e-2, -8.818020999e-2, 1.978509469e-1);
  const float far = over * Polynomial(16.0f * over * over, 4.411302236e-5, -6.295494128e-5, 1.119101349e-4,
                                      2.051786322e-4, 1.469024185e-3, 1.562472809e-2, 5.000000029e-1);
  const float size = a < 1.5f ? near : a < 4.0f ? middle : far;
  return x != x ? x : WithSign(size, x);
}

}  // namespace penstock::PENSTOCK_ISA
