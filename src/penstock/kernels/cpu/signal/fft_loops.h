// Inner loops of Fourier transforms, compiled for each instruction set; CpuLoops().fft_f32 and fft_f64 have this
// machine's. Numbers lie in planes, real and imaginary parts apart, and several lines side by side: element i of line l
// is at [i * lanes + l]. Twiddles are pairs of a real and an imaginary part.
#pragma once

#include <cstdint>

namespace penstock {

inline constexpr int kMostFftLanes = 16;

template <class T>
struct FftLoops {
  int lanes = 1;  // how many lines fill a vector; a power of two, at most kMostFftLanes
  // One pass of Stockham's algorithm, for a radix of 2, 3, 4, 5, 7, 11 or 13: with x_j = x[q + s * (p + m * j)], for
  // all p < m and q < s, y[q + s * (radix * p + k)] = (sum over j of x_j e^(-2 pi i j k / radix)) * w_pk, where w_p0 is
  // 1 and w_pk is pair p * (radix - 1) + k - 1 of `w`. roots: e^(2 pi i j / radix), for odd ones.
  void (*pass)(int radix, int64_t m, int64_t s, const T* w, const T* roots, const T* xr, const T* xi, T* yr, T* yi);
  // y[i] = x[i] * w[i] for i < n, in each of s lines; y may be x.
  void (*turn)(int64_t n, int64_t s, const T* w, const T* xr, const T* xi, T* yr, T* yi);
  // Element i of line l from (to) from[l][i * step], a real and an imaginary part; lines behind `count` are zeros.
  void (*load)(const T* const* from, int64_t step, int64_t n, int64_t count, int64_t lanes, T* re, T* im);
  void (*store)(const T* re, const T* im, int64_t n, int64_t count, int64_t lanes, T scale, T* const* to, int64_t step);
  // The transform y[0..h] of 2h real numbers from the transform z[0..h-1] of h complex ones that are pairs of them, and
  // back. w[k]: e^(-pi i k / h).
  void (*join)(int64_t h, int64_t lanes, const T* w, const T* zr, const T* zi, T* yr, T* yi);
  void (*part)(int64_t h, int64_t lanes, const T* w, const T* yr, const T* yi, T* zr, T* zi);
};

}  // namespace penstock
