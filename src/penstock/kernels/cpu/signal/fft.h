// Plans of Fourier transforms of lines that lie side by side (fft_loops.h), made once for each length.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/signal/fft_loops.h"

namespace penstock {

template <class T>
const FftLoops<T>& Fft() {
  if constexpr (sizeof(T) == 4) {
    return *CpuLoops().fft_f32;
  } else {
    return *CpuLoops().fft_f64;
  }
}

// Real and imaginary parts of some lines.
template <class T>
struct Planes {
  T *re, *im;
  Planes Turned() const { return {im, re}; }
};

template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);
  // The plan of length n > 0, kept for the next time; any thread.
  static std::shared_ptr<const FftPlan> For(int64_t n);

  int64_t n() const { return n_; }
  // How many elements of a line a plane must have room for.
  int64_t room() const { return convolution_ ? convolution_->n_ : n_; }
  // e^(-pi i k / n) for k <= n, as pairs: for the transform of 2n real numbers.
  const T* turns() const { return turns_.data(); }
  // The transform, not scaled, of the lines in x; it is in the planes that are returned: x or spare, both of which are
  // overwritten. The inverse: the same with planes that are Turned().
  Planes<T> Run(Planes<T> x, Planes<T> spare, int64_t lanes) const;

 private:
  struct Pass {
    int radix;
    int64_t m, before;  // n = m * radix * before
    std::vector<T> twiddles, roots;
  };
  const int64_t n_;
  std::vector<Pass> passes_;
  // Lengths with large prime factors: a convolution with a chirp (Bluestein).
  std::unique_ptr<FftPlan> convolution_;
  std::vector<T> chirp_, kernel_, scaled_chirp_;
  std::vector<T> turns_;
};

}  // namespace penstock
