// Fourier transforms: passes over lines that lie side by side.
#include <type_traits>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/square.h"
#include "penstock/kernels/cpu/loops/vector.h"
#include "penstock/kernels/cpu/signal/fft_loops.h"

namespace penstock::PENSTOCK_ISA {
namespace {

// V: T or a vector of T.
template <class V, class T>
inline V Get(const T* p) {
  if constexpr (std::is_same_v<V, T>) {
    return *p;
  } else {
    return Load(p);
  }
}
template <class V, class T>
inline void Put(T* p, V v) {
  if constexpr (std::is_same_v<V, T>) {
    *p = v;
  } else {
    Store<T>(p, v);
  }
}

// The transform of R numbers in place. roots: e^(2 pi i j / R).
template <int R, class V, class T>
inline __attribute__((always_inline)) void Butterfly(V (&re)[R], V (&im)[R], const T* roots) {
  if constexpr (R == 2) {
    const V r = re[0] - re[1], i = im[0] - im[1];
    re[0] += re[1], im[0] += im[1];
    re[1] = r, im[1] = i;
  } else if constexpr (R == 4) {
    const V ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const V cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
    re[0] = ar + cr, im[0] = ai + ci;
    re[2] = ar - cr, im[2] = ai - ci;
    re[1] = br + di, im[1] = bi - dr;
    re[3] = br - di, im[3] = bi + dr;
  } else {
    constexpr int kHalf = (R - 1) / 2;
    const V first_re = re[0], first_im = im[0];
    V sum_re[kHalf], sum_im[kHalf], gap_re[kHalf], gap_im[kHalf];
#pragma GCC unroll 8
    for (int j = 0; j < kHalf; ++j) {
      sum_re[j] = re[j + 1] + re[R - 1 - j], sum_im[j] = im[j + 1] + im[R - 1 - j];
      gap_re[j] = re[j + 1] - re[R - 1 - j], gap_im[j] = im[j + 1] - im[R - 1 - j];
      re[0] += sum_re[j], im[0] += sum_im[j];
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      V ur = first_re, ui = first_im, vr{}, vi{};
#pragma GCC unroll 8
      for (int j = 0; j < kHalf; ++j) {
        const T c = roots[2 * ((j + 1) * k % R)], s = roots[2 * ((j + 1) * k % R) + 1];
        ur += c * sum_re[j], ui += c * sum_im[j];
        vr += s * gap_re[j], vi += s * gap_im[j];
      }
      re[k] = ur + vi, im[k] = ui - vr;
      re[R - k] = ur - vi, im[R - k] = ui + vr;
    }
  }
}

template <int R, class V, class T>
inline __attribute__((always_inline)) void Step(int64_t at_x, int64_t step_x, int64_t at_y, int64_t step_y, const T* w,
                                                const T* roots, const T* xr, const T* xi, T* yr, T* yi) {
  V re[R], im[R];
#pragma GCC unroll 16
  for (int j = 0; j < R; ++j) re[j] = Get<V>(xr + at_x + j * step_x), im[j] = Get<V>(xi + at_x + j * step_x);
  Butterfly<R>(re, im, roots);
  Put(yr + at_y, re[0]), Put(yi + at_y, im[0]);
#pragma GCC unroll 16
  for (int k = 1; k < R; ++k) {
    const T c = w[2 * (k - 1)], s = w[2 * (k - 1) + 1];
    Put<V>(yr + at_y + k * step_y, re[k] * c - im[k] * s);
    Put<V>(yi + at_y + k * step_y, re[k] * s + im[k] * c);
  }
}

template <int R, class T>
void PassOf(int64_t m, int64_t s, const T* w, const T* roots, const T* xr, const T* xi, T* yr, T* yi) {
  for (int64_t p = 0; p < m; ++p, w += 2 * (R - 1)) {
    int64_t q = 0;
    for (; q + kLanes<T> <= s; q += kLanes<T>)
      Step<R, Vec<T>>(q + s * p, s * m, q + s * R * p, s, w, roots, xr, xi, yr, yi);
    for (; q < s; ++q) Step<R, T>(q + s * p, s * m, q + s * R * p, s, w, roots, xr, xi, yr, yi);
  }
}

template <class T>
void Pass(int radix, int64_t m, int64_t s, const T* w, const T* roots, const T* xr, const T* xi, T* yr, T* yi) {
  switch (radix) {
    case 2: return PassOf<2>(m, s, w, roots, xr, xi, yr, yi);
    case 3: return PassOf<3>(m, s, w, roots, xr, xi, yr, yi);
    case 4: return PassOf<4>(m, s, w, roots, xr, xi, yr, yi);
    case 5: return PassOf<5>(m, s, w, roots, xr, xi, yr, yi);
    case 7: return PassOf<7>(m, s, w, roots, xr, xi, yr, yi);
    case 11: return PassOf<11>(m, s, w, roots, xr, xi, yr, yi);
    case 13: return PassOf<13>(m, s, w, roots, xr, xi, yr, yi);
    default: __builtin_unreachable();
  }
}

template <class T>
void Turn(int64_t n, int64_t s, const T* w, const T* xr, const T* xi, T* yr, T* yi) {
  for (int64_t i = 0; i < n; ++i, xr += s, xi += s, yr += s, yi += s) {
    const T c = w[2 * i], d = w[2 * i + 1];
#pragma GCC ivdep
    for (int64_t q = 0; q < s; ++q) {
      const T re = xr[q] * c - xi[q] * d, im = xr[q] * d + xi[q] * c;
      yr[q] = re, yi[q] = im;
    }
  }
}

// Whether the lines lie so that the elements i of all follow each other.
template <class T>
bool SideBySide(const T* const* at, int64_t step, int64_t count) {
  if (step == 2 && count > 1) return false;
  for (int64_t l = 1; l < count; ++l) {
    if (at[l] != at[0] + 2 * l) return false;
  }
  return true;
}
constexpr int64_t kBlock = 16;  // elements of a line that are moved at a time: as many as lie in some cache lines

// Whether lines along memory fill the lanes of a vector: squares of their parts are turned in registers then.
template <class T>
bool InSquares(int64_t step, int64_t count, int64_t lanes) {
  return step == 2 && count == lanes && lanes == kLanes<T>;
}
// Which of a square's rows belongs to element r / 2 of the lines: real parts at even rows, imaginary ones at odd.
template <class T, class P>
P* RowOf(P* re, P* im, int64_t first, int r) {
  return (r % 2 ? im : re) + (first + r / 2) * kLanes<T>;
}

template <class T>
void LoadLines(const T* const* from, int64_t step, int64_t n, int64_t count, int64_t lanes, T* re, T* im) {
  if (count < lanes) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t l = count; l < lanes; ++l) re[i * lanes + l] = im[i * lanes + l] = 0;
    }
  }
  if (SideBySide(from, step, count)) {
    for (int64_t i = 0; i < n; ++i) {
      const T* const x = from[0] + i * step;
#pragma GCC ivdep
      for (int64_t l = 0; l < count; ++l) re[i * lanes + l] = x[2 * l], im[i * lanes + l] = x[2 * l + 1];
    }
    return;
  }
  int64_t first = 0;
  if (InSquares<T>(step, count, lanes)) {
    constexpr int kSide = kLanes<T>;
    for (; first + kSide / 2 <= n; first += kSide / 2) {
      Vec<T> rows[kSide];
#pragma GCC unroll 16
      for (int l = 0; l < kSide; ++l) rows[l] = Load(from[l] + 2 * first);
      Square<T>::template Round<1>(rows);
#pragma GCC unroll 16
      for (int r = 0; r < kSide; ++r) Store(RowOf<T>(re, im, first, r), rows[r]);
    }
  }
  for (; first < n; first += kBlock) {
    const int64_t last = first + kBlock < n ? first + kBlock : n;
    for (int64_t l = 0; l < count; ++l) {
      const T* const x = from[l];
      for (int64_t i = first; i < last; ++i) re[i * lanes + l] = x[i * step], im[i * lanes + l] = x[i * step + 1];
    }
  }
}

template <class T>
void StoreLines(const T* re, const T* im, int64_t n, int64_t count, int64_t lanes, T scale, T* const* to,
                int64_t step) {
  if (SideBySide<T>(to, step, count)) {
    for (int64_t i = 0; i < n; ++i) {
      T* const y = to[0] + i * step;
#pragma GCC ivdep
      for (int64_t l = 0; l < count; ++l)
        y[2 * l] = re[i * lanes + l] * scale, y[2 * l + 1] = im[i * lanes + l] * scale;
    }
    return;
  }
  int64_t first = 0;
  if (InSquares<T>(step, count, lanes)) {
    constexpr int kSide = kLanes<T>;
    for (; first + kSide / 2 <= n; first += kSide / 2) {
      Vec<T> rows[kSide];
#pragma GCC unroll 16
      for (int r = 0; r < kSide; ++r) rows[r] = Load(RowOf<T>(re, im, first, r)) * scale;
      Square<T>::template Round<1>(rows);
#pragma GCC unroll 16
      for (int l = 0; l < kSide; ++l) Store(to[l] + 2 * first, rows[l]);
    }
  }
  for (; first < n; first += kBlock) {
    const int64_t last = first + kBlock < n ? first + kBlock : n;
    for (int64_t l = 0; l < count; ++l) {
      T* const y = to[l];
      for (int64_t i = first; i < last; ++i) {
        y[i * step] = re[i * lanes + l] * scale, y[i * step + 1] = im[i * lanes + l] * scale;
      }
    }
  }
}

// With E and O the transforms of the numbers at even and at odd places, z = E + i O and y = E + w O.
template <class T>
void Join(int64_t h, int64_t lanes, const T* w, const T* zr, const T* zi, T* yr, T* yi) {
  for (int64_t k = 0; k <= h; ++k) {
    const int64_t a = k % h * lanes, b = (h - k) % h * lanes;
    const T c = w[2 * k], s = w[2 * k + 1];
#pragma GCC ivdep
    for (int64_t l = 0; l < lanes; ++l) {
      const T er = (zr[a + l] + zr[b + l]) * T(0.5), ei = (zi[a + l] - zi[b + l]) * T(0.5);
      const T odd_r = (zi[a + l] + zi[b + l]) * T(0.5), odd_i = (zr[b + l] - zr[a + l]) * T(0.5);
      yr[k * lanes + l] = er + (c * odd_r - s * odd_i);
      yi[k * lanes + l] = ei + (c * odd_i + s * odd_r);
    }
  }
}

template <class T>
void Part(int64_t h, int64_t lanes, const T* w, const T* yr, const T* yi, T* zr, T* zi) {
  for (int64_t k = 0; k < h; ++k) {
    const int64_t a = k * lanes, b = (h - k) * lanes;
    const T c = w[2 * k], s = w[2 * k + 1];
#pragma GCC ivdep
    for (int64_t l = 0; l < lanes; ++l) {
      const T er = (yr[a + l] + yr[b + l]) * T(0.5), ei = (yi[a + l] - yi[b + l]) * T(0.5);
      const T gap_r = (yr[a + l] - yr[b + l]) * T(0.5), gap_i = (yi[a + l] + yi[b + l]) * T(0.5);
      const T odd_r = gap_r * c + gap_i * s, odd_i = gap_i * c - gap_r * s;
      zr[a + l] = er - odd_i;
      zi[a + l] = ei + odd_r;
    }
  }
}

template <class T>
constexpr FftLoops<T> kLoops = {kLanes<T>, &Pass<T>, &Turn<T>, &LoadLines<T>, &StoreLines<T>, &Join<T>, &Part<T>};

}  // namespace

void FillFft(Loops& loops) {
  loops.fft_f32 = &kLoops<float>;
  loops.fft_f64 = &kLoops<double>;
}

}  // namespace penstock::PENSTOCK_ISA
