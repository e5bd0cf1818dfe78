// Pools on raw memory, channels last; pool.cc makes kernels of them. C: the type computed in.
#pragma once

#include <algorithm>

#include "penstock/kernels/cpu/nn/windows.h"

namespace penstock {

// Leaves out what lies outside of the image in every window: a window of any size takes no longer than the image.
inline void DropOuterTaps(Windows& w) {
  for (int d = 0; d < 3; ++d) {
    const int64_t first = std::max<int64_t>(0, w.pad[d] - (w.out[d] - 1) * w.stride[d]);
    const int64_t end = std::min(w.filter[d], w.in[d] + w.pad[d]);
    if (first >= end) continue;
    w.filter[d] = end - first;
    w.pad[d] -= first;
  }
}

// y: the largest of each window; the lowest number where a window lies outside altogether.
template <class C>
void MaxPool(const KernelContext& k, const Windows& w, const C* x, C* y);

// For each output element, which pixel of the image (offset of its first channel) holds the first largest value of the
// window; -1 if none does. Calls fn(batch, offset of the output pixel, pixels[channels]) for every output pixel, in
// parallel over the images.
template <class C, class Fn>
void ForEachArgmax(const KernelContext& k, const Windows& w, const C* x, Fn fn) {
  const int64_t n = w.channels, pixels = w.OutPixels();
  k.Parallel(w.batch, std::max<int64_t>(1, pixels * n * w.Taps() / 4), [&](int64_t first, int64_t last) {
    std::vector<C> best(n);
    std::vector<int64_t> where(n);
    for (int64_t b = first; b < last; ++b) {
      const C* image = x + b * w.InPixels() * n;
      for (int64_t p = 0; p < pixels; ++p) {
        bool any = false;
        for (int64_t t = 0; t < w.Taps(); ++t) {
          const int64_t under = w.PixelUnder(p, t);
          if (under < 0) continue;
          const int64_t offset = under * n;
          const C* v = image + offset;
          if (!any) {
            std::copy_n(v, n, best.data());
            std::fill_n(where.data(), n, offset);
            any = true;
          } else {
            for (int64_t c = 0; c < n; ++c) {
              const bool larger = v[c] > best[c];
              best[c] = larger ? v[c] : best[c];
              where[c] = larger ? offset : where[c];
            }
          }
        }
        if (!any) std::fill_n(where.data(), n, -1);
        fn(b, (b * pixels + p) * n, where.data());
      }
    }
  });
}

// dx: each window's gradient, at the first of its largest elements.
template <class C>
void MaxPoolGradient(const KernelContext& k, const Windows& w, const C* x, const C* dy, C* dx);

// The rule of three dimensions: each window's gradient, at all of its elements that equal its result y.
void MaxPool3DGradient(const KernelContext& k, const Windows& w, const float* x, const float* y, const float* dy,
                       float* dx);

// y: the mean of what lies inside of each window.
template <class C>
void AvgPool(const KernelContext& k, const Windows& w, const C* x, C* y);
template <class C>
void AvgPoolGrad(const KernelContext& k, const Windows& w, const C* dy, C* dx);

}  // namespace penstock
