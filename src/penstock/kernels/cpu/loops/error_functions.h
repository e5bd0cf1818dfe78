// The error function and its relatives, without branches: T is float or double.
#pragma once

#include "penstock/kernels/cpu/loops/exponential.h"

namespace penstock::PENSTOCK_ISA {

// erf x / x for z = x^2 <= 1
inline float ErfNear(float z) {
  return Polynomial(z, 7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2,
                    1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710e+0);
}
inline double ErfNear(double z) {
  return Polynomial(z, 5.945290028881834e-11, -1.1365683247102875e-9, 1.4657884472262778e-8, -1.6350025936149983e-7,
                    1.6460972886823702e-6, -1.4925593511401445e-5, 1.2055331037093945e-4, -8.5483269787477014e-4,
                    5.2239776247809649e-3, -2.6866170645072905e-2, 1.1283791670954858e-1, -3.7612638903183748e-1,
                    1.1283791670955126);
}
// e^(a^2) erfc a (1 + 2 a), for q = (a - 4) / (a + 4), a from 0.45 to where erfc ends
inline float ErfcFar(float q) {
  return Polynomial(q, 1.624155365e-4, 5.559525206e-3, -1.648915714e-2, 3.689839174e-2, -6.631061744e-2, 9.377656134e-2,
                    -1.010379348e-1, 6.809436228e-2, 1.537955616e-2, -1.396210704e-1, 1.232995119);
}
inline double ErfcFar(double q) {
  return Polynomial(q, 1.4879366461181448e-9, -9.7479466843195507e-9, -1.6900263981997413e-8, 1.0351786014041037e-7,
                    7.3379403726185115e-8, -8.1981127176868416e-7, 2.9467010653286391e-7, 5.7066891297995036e-6,
                    -1.1222393952205747e-5, -2.439813293431653e-5, 1.5062177519278379e-4, -1.9925694725159243e-4,
                    -7.5777330603171669e-4, 5.031970015842391e-3, -1.6197734055926195e-2, 3.7167515534032593e-2,
                    -6.6330365812328345e-2, 9.3732834998523257e-2, -1.0103906603630137e-1, 6.8097054254688673e-2,
                    1.537965210261972e-2, -1.3962111684056249e-1, 1.2329951186255525);
}
// erfc a for a >= 0.45
template <class T>
inline T ErfcPositive(T a) {
  constexpr T kMost = std::is_same_v<T, float> ? T(10.2) : T(27.5);
  const T c = AtMost(a, kMost);
  const T factor = ErfcFar((c - T(4)) / (c + T(4)));
  // c^2 in two parts, the first of which is exact: the exponential would magnify the rounding of a plain square.
  constexpr BitsOf<T> kUpperHalf = ~BitsOf<T>(std::is_same_v<T, float> ? 0xfff : 0x7ffffff);
  const T high = Bits(static_cast<BitsOf<T>>(Bits(c) & kUpperHalf));
  const ExpParts<T> e = SplitExp(-high * high, (high - c) * (high + c));
  return Scale(Fma(e.q, factor, factor) / (T(1) + (c + c)), e.n);
}
// erf a for a >= 1. For floats log erfc is enough, a polynomial of a between 1 and 4: little is left of its error in 1.
inline float ErfFar(float a) {
  const float t = AtMost(a, 4.0f) - 2.5f;
  return 1.0f - Exp(Polynomial(t, 1.863651878e-4, -1.520382252e-4, 2.46526061e-3, -1.071136514e-2, -9.438831822e-1,
                               -5.352693961, -7.806817892));
}
inline double ErfFar(double a) { return 1.0 - ErfcPositive(AtLeast(a, 1.0)); }
template <class T>
inline T Erf(T x) {
  const T a = Abs(x), near = x * ErfNear(x * x), far = WithSign(ErfFar(a), x);
  return a < T(1) ? near : x != x ? x : far;
}
template <class T>
inline T Erfc(T x) {
  const T a = Abs(x), near = T(1) - x * ErfNear(x * x);
  const T far = ErfcPositive(AtLeast(a, T(0.5)));
  return a < T(0.5) ? near : x != x ? x : x < T(0) ? T(2) - far : far;
}

}  // namespace penstock::PENSTOCK_ISA
