#include <algorithm>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"
#include "penstock/kernels/cpu/nn/pool.h"

namespace penstock {
namespace {

enum class Largest { kManyChannels, kFewChannels, kFewChannelsWithStride };
constinit BranchTable<3> largest_of{"pool/max", {"many channels", "few channels", "few channels with stride"}};
constinit BranchTable<2> means{"pool/average", {"stride 1", "strides"}};
constinit BranchTable<2> mean_grads{"pool/average_gradient", {"stride 1", "strides"}};

template <class C>
void MaxOf(const std::vector<const C*>& x, int64_t n, C* y) {
  if constexpr (std::is_same_v<C, float>) {
    CpuLoops().nn->max_of(x.data(), static_cast<int64_t>(x.size()), n, y);
  } else {
    std::copy_n(x[0], n, y);
    for (size_t t = 1; t < x.size(); ++t) {
      for (int64_t i = 0; i < n; ++i) y[i] = x[t][i] > y[i] || x[t][i] != x[t][i] ? x[t][i] : y[i];
    }
  }
}
template <class C>
void AddInto(C* acc, const C* x, int64_t n) {
  if constexpr (std::is_same_v<C, float>) {
    CpuLoops().nn->add_into(acc, x, n);
  } else {
    for (int64_t i = 0; i < n; ++i) acc[i] += x[i];
  }
}

// The taps of window `o` along dimension d that lie inside: [first, last).
struct Range {
  int64_t first, last;
};
Range Inside(const Windows& w, int d, int64_t o) {
  const int64_t start = o * w.stride[d] - w.pad[d], step = w.dilation[d];
  const int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
  const int64_t last = start >= w.in[d] ? 0 : std::min(w.filter[d], (w.in[d] - 1 - start) / step + 1);
  return {first, std::max(first, last)};
}
// With a stride of one along the last dimension: the windows [first, last) whose tap t lies inside, and how far their
// pixels are from where they are themselves.
struct ShiftedRange {
  int64_t first, last, shift;
};
ShiftedRange Shifted(const Windows& w, int64_t t) {
  const int64_t shift = t * w.dilation[2] - w.pad[2];
  return {std::max<int64_t>(0, -shift), std::min(w.out[2], w.in[2] - shift), shift};
}

template <class C>
void Divide(C* x, C by, int64_t n) {
  CpuLoops()(BinaryOp::kDiv, kTypeOf<C>)(x, 1, &by, 0, x, n);
}

}  // namespace

namespace {

// Of few channels, whose pixels are short: the rows of pixels that a row of windows sees first, then along the row.
template <class C>
void MaxPoolOfFewChannels(const KernelContext& k, const Windows& w, const C* x, C* y) {
  const int64_t n = w.channels, line = w.in[2] * n;
  const C none =
      std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();
  k.Parallel(w.batch * w.out[0] * w.out[1],
             std::max<int64_t>(1, (line * w.filter[0] * w.filter[1] + w.out[2] * n * w.filter[2] * 4) / 8),
             [&](int64_t begin, int64_t end) {
               std::vector<const C*> lines;
               std::vector<C> largest(line);
               for (int64_t row = begin; row < end; ++row) {
                 const int64_t o1 = row % w.out[1], o0 = row / w.out[1] % w.out[0], b = row / w.out[1] / w.out[0];
                 const Range r0 = Inside(w, 0, o0), r1 = Inside(w, 1, o1);
                 lines.clear();
                 for (int64_t a = r0.first; a < r0.last; ++a) {
                   const int64_t i0 = o0 * w.stride[0] - w.pad[0] + a * w.dilation[0];
                   for (int64_t c = r1.first; c < r1.last; ++c) {
                     const int64_t i1 = o1 * w.stride[1] - w.pad[1] + c * w.dilation[1];
                     lines.push_back(x + ((b * w.in[0] + i0) * w.in[1] + i1) * line);
                   }
                 }
                 C* const to = y + row * w.out[2] * n;
                 std::fill_n(to, w.out[2] * n, lines.empty() ? std::numeric_limits<C>::lowest() : none);
                 if (lines.empty()) continue;
                 MaxOf(lines, line, largest.data());
                 const C* const from = largest.data();
                 for (int64_t t = 0; t < w.filter[2] && w.stride[2] == 1; ++t) {
                   const auto [first, last, shift] = Shifted(w, t);
                   if (first < last)
                     MaxOf({to + first * n, from + (first + shift) * n}, (last - first) * n, to + first * n);
                 }
                 for (int64_t o2 = 0; o2 < w.out[2]; ++o2) {
                   const Range r2 = Inside(w, 2, o2);
                   C* const pixel = to + o2 * n;
                   if (r2.first == r2.last) std::fill_n(pixel, n, std::numeric_limits<C>::lowest());
                   for (int64_t t = r2.first; t < r2.last && w.stride[2] != 1; ++t) {
                     const C* const seen = from + (o2 * w.stride[2] - w.pad[2] + t * w.dilation[2]) * n;
                     for (int64_t i = 0; i < n; ++i)
                       pixel[i] = seen[i] > pixel[i] || seen[i] != seen[i] ? seen[i] : pixel[i];
                   }
                 }
               }
             });
}

}  // namespace

template <class C>
void MaxPool(const KernelContext& k, const Windows& w, const C* x, C* y) {
  const int64_t n = w.channels, line = w.in[2] * n;
  constexpr int64_t kFewChannels = 12;
  if (w.out[2] == 0 || n == 0) return;
  largest_of.Enter(n > kFewChannels   ? Largest::kManyChannels
                   : w.stride[2] == 1 ? Largest::kFewChannels
                                      : Largest::kFewChannelsWithStride);
  if (n <= kFewChannels) return MaxPoolOfFewChannels(k, w, x, y);
  k.Parallel(w.batch * w.out[0] * w.out[1], std::max<int64_t>(1, w.out[2] * n * w.Taps() / 8),
             [&](int64_t begin, int64_t end) {
               std::vector<const C*> lines, pixels;
               for (int64_t row = begin; row < end; ++row) {
                 const int64_t o1 = row % w.out[1], o0 = row / w.out[1] % w.out[0], b = row / w.out[1] / w.out[0];
                 const Range r0 = Inside(w, 0, o0), r1 = Inside(w, 1, o1);
                 lines.clear();
                 for (int64_t a = r0.first; a < r0.last; ++a) {
                   const int64_t i0 = o0 * w.stride[0] - w.pad[0] + a * w.dilation[0];
                   for (int64_t c = r1.first; c < r1.last; ++c) {
                     const int64_t i1 = o1 * w.stride[1] - w.pad[1] + c * w.dilation[1];
                     lines.push_back(x + ((b * w.in[0] + i0) * w.in[1] + i1) * line);
                   }
                 }
                 for (int64_t o2 = 0; o2 < w.out[2]; ++o2) {
                   C* to = y + (row * w.out[2] + o2) * n;
                   const Range r2 = Inside(w, 2, o2);
                   pixels.clear();
                   for (const C* from : lines) {
                     for (int64_t t = r2.first; t < r2.last; ++t)
                       pixels.push_back(from + (o2 * w.stride[2] - w.pad[2] + t * w.dilation[2]) * n);
                   }
                   if (pixels.empty()) {
                     std::fill_n(to, n, std::numeric_limits<C>::lowest());
                   } else {
                     MaxOf(pixels, n, to);
                   }
                 }
               }
             });
}

// Rows of windows are added up over their rows of pixels first, which lie side by side, then along the row.
template <class C>
void AvgPool(const KernelContext& k, const Windows& w, const C* x, C* y) {
  const int64_t n = w.channels, line = w.in[2] * n;
  const int64_t rows = w.batch * w.out[0] * w.out[1];
  if (w.out[2] == 0 || n == 0) return;
  means.Enter(w.stride[2] == 1 ? 0 : 1);
  k.Parallel(rows, std::max<int64_t>(1, (line * w.filter[0] * w.filter[1] + w.out[2] * n * w.filter[2]) / 8),
             [&](int64_t begin, int64_t end) {
               std::vector<C> gathered(line);
               for (int64_t row = begin; row < end; ++row) {
                 const int64_t o1 = row % w.out[1], o0 = row / w.out[1] % w.out[0], b = row / w.out[1] / w.out[0];
                 const Range r0 = Inside(w, 0, o0), r1 = Inside(w, 1, o1);
                 const int64_t count = (r0.last - r0.first) * (r1.last - r1.first);
                 const C* from = nullptr;  // a single row needs no copy
                 for (int64_t a = r0.first; a < r0.last; ++a) {
                   const int64_t i0 = o0 * w.stride[0] - w.pad[0] + a * w.dilation[0];
                   for (int64_t c = r1.first; c < r1.last; ++c) {
                     const int64_t i1 = o1 * w.stride[1] - w.pad[1] + c * w.dilation[1];
                     const C* source = x + ((b * w.in[0] + i0) * w.in[1] + i1) * line;
                     if (!from) {
                       from = source;
                     } else {
                       if (from != gathered.data()) std::copy_n(from, line, gathered.data()), from = gathered.data();
                       AddInto(gathered.data(), source, line);
                     }
                   }
                 }
                 if (from && w.stride[2] == 1) {  // under a tap, windows beside each other see pixels beside each other
                   C* const to = y + row * w.out[2] * n;
                   std::fill_n(to, w.out[2] * n, C(0));
                   for (int64_t t = 0; t < w.filter[2]; ++t) {
                     const auto [first, last, shift] = Shifted(w, t);
                     if (first < last) AddInto(to + first * n, from + (first + shift) * n, (last - first) * n);
                   }
                   const auto taps = [&](int64_t o2) { return Inside(w, 2, o2).last - Inside(w, 2, o2).first; };
                   for (int64_t first = 0, last; first < w.out[2]; first = last) {
                     for (last = first + 1; last < w.out[2] && taps(last) == taps(first);) ++last;
                     if (taps(first)) Divide(to + first * n, static_cast<C>(count * taps(first)), (last - first) * n);
                   }
                   continue;
                 }
                 for (int64_t o2 = 0; o2 < w.out[2]; ++o2) {
                   C* to = y + (row * w.out[2] + o2) * n;
                   const Range r2 = Inside(w, 2, o2);
                   if (!from || r2.first == r2.last) {
                     std::fill_n(to, n, C(0));
                     continue;
                   }
                   const C* at = from + (o2 * w.stride[2] - w.pad[2] + r2.first * w.dilation[2]) * n;
                   std::copy_n(at, n, to);
                   for (int64_t t = r2.first + 1; t < r2.last; ++t)
                     AddInto(to, at + (t - r2.first) * w.dilation[2] * n, n);
                   Divide(to, static_cast<C>(count * (r2.last - r2.first)), n);
                 }
               }
             });
}

template <class C>
void AvgPoolGrad(const KernelContext& k, const Windows& w, const C* dy, C* dx) {
  const int64_t n = w.channels, line = w.in[2] * n, rows = w.batch * w.in[0] * w.in[1];
  if (line == 0) return;
  mean_grads.Enter(w.stride[2] == 1 ? 0 : 1);
  // What each pixel of a window gets.
  const int64_t windows = w.batch * w.out[0] * w.out[1];
  Tensor shares = k.Temp(kTypeOf<C>, Shape({windows * w.out[2] * n}));
  C* const share = shares.template mutable_data<C>();
  k.Parallel(windows, std::max<int64_t>(1, w.out[2] * n / 4), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Range r0 = Inside(w, 0, row / w.out[1] % w.out[0]), r1 = Inside(w, 1, row % w.out[1]);
      const int64_t count = (r0.last - r0.first) * (r1.last - r1.first);
      for (int64_t o2 = 0; o2 < w.out[2]; ++o2) {
        const Range r2 = Inside(w, 2, o2);
        const C scale = C(1) / static_cast<C>(std::max<int64_t>(1, count * (r2.last - r2.first)));
        const int64_t at = (row * w.out[2] + o2) * n;
        for (int64_t c = 0; c < n; ++c) share[at + c] = dy[at + c] * scale;
      }
    }
  });
  // Each row of the image collects from the rows of windows that see it.
  k.Parallel(rows, std::max<int64_t>(1, line * w.Taps() / 8), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      C* to = dx + row * line;
      std::fill_n(to, line, C(0));
      const int64_t at[2] = {row / w.in[1] % w.in[0], row % w.in[1]}, b = row / w.in[1] / w.in[0];
      // The windows along dimension d that have position `at[d]` under tap t.
      const auto window = [&](int d, int64_t t) {
        const int64_t from = at[d] + w.pad[d] - t * w.dilation[d];
        return from >= 0 && from % w.stride[d] == 0 && from / w.stride[d] < w.out[d] ? from / w.stride[d] : -1;
      };
      for (int64_t t0 = 0; t0 < w.filter[0]; ++t0) {
        const int64_t o0 = window(0, t0);
        if (o0 < 0) continue;
        for (int64_t t1 = 0; t1 < w.filter[1]; ++t1) {
          const int64_t o1 = window(1, t1);
          if (o1 < 0) continue;
          const C* from = share + ((b * w.out[0] + o0) * w.out[1] + o1) * w.out[2] * n;
          if (w.stride[2] == 1) {  // windows beside each other have pixels beside each other under a tap
            for (int64_t t = w.filter[2] - 1; t >= 0; --t) {
              const auto [first, last, shift] = Shifted(w, t);
              if (first < last) AddInto(to + (first + shift) * n, from + first * n, (last - first) * n);
            }
            continue;
          }
          for (int64_t o2 = 0; o2 < w.out[2]; ++o2) {
            const Range r2 = Inside(w, 2, o2);
            for (int64_t t = r2.first; t < r2.last; ++t) {
              AddInto(to + (o2 * w.stride[2] - w.pad[2] + t * w.dilation[2]) * n, from + o2 * n, n);
            }
          }
        }
      }
    }
  });
}

namespace {

template <class C>
void MaxGrad(const C* const* x, int64_t count, int64_t n, const C* dy, C* const* dx) {
  if constexpr (std::is_same_v<C, float>) {
    CpuLoops().nn->max_grad(x, count, n, dy, dx);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      int64_t largest = 0;
      for (int64_t p = 1; p < count; ++p) largest = x[p][i] > x[largest][i] ? p : largest;
      dx[largest][i] += dy[i];
    }
  }
}

}  // namespace

template <class C>
void MaxPoolGradient(const KernelContext& k, const Windows& w, const C* x, const C* dy, C* dx) {
  const int64_t n = w.channels, pixels = w.OutPixels(), image = w.InPixels() * n;
  k.Parallel(w.batch, std::max<int64_t>(1, pixels * n * w.Taps() / 4), [&](int64_t first, int64_t last) {
    std::vector<const C*> seen(w.Taps());  // the window's pixels
    std::vector<C*> to(w.Taps());
    for (int64_t b = first; b < last; ++b) {
      std::fill_n(dx + b * image, image, C(0));
      for (int64_t p = 0; p < pixels; ++p) {
        int64_t count = 0;
        for (int64_t t = 0; t < w.Taps(); ++t) {
          const int64_t under = w.PixelUnder(p, t);
          if (under < 0) continue;
          seen[count] = x + b * image + under * n;
          to[count++] = dx + b * image + under * n;
        }
        if (count > 0) MaxGrad(seen.data(), count, n, dy + (b * pixels + p) * n, to.data());
      }
    }
  });
}

void MaxPool3DGradient(const KernelContext& k, const Windows& w, const float* x, const float* y, const float* dy,
                       float* dx) {
  const int64_t n = w.channels, pixels = w.OutPixels(), image = w.InPixels() * n;
  k.Parallel(w.batch, std::max<int64_t>(1, pixels * n * w.Taps() / 4), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      std::fill_n(dx + b * image, image, 0.0f);
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t at = (b * pixels + p) * n;
        for (int64_t t = 0; t < w.Taps(); ++t) {
          const int64_t under = w.PixelUnder(p, t);
          if (under < 0) continue;
          const int64_t to = b * image + under * n;
          CpuLoops().nn->add_where_equal(x + to, y + at, dy + at, n, dx + to);
        }
      }
    }
  });
}

#define PENSTOCK_POOL(C)                                                        \
  template void MaxPool<C>(const KernelContext&, const Windows&, const C*, C*); \
  template void MaxPoolGradient<C>(const KernelContext&, const Windows&, const C*, const C*, C*);
PENSTOCK_POOL(float)
// clang-format off
PENSTOCK_POOL(double) PENSTOCK_POOL(int8_t) PENSTOCK_POOL(int16_t) PENSTOCK_POOL(int32_t) PENSTOCK_POOL(int64_t)
    PENSTOCK_POOL(uint8_t) PENSTOCK_POOL(uint16_t) PENSTOCK_POOL(uint32_t) PENSTOCK_POOL(uint64_t)
// clang-format on
#undef PENSTOCK_POOL
        template void AvgPool<float>(const KernelContext&, const Windows&, const float*, float*);
template void AvgPool<double>(const KernelContext&, const Windows&, const double*, double*);
template void AvgPoolGrad<float>(const KernelContext&, const Windows&, const float*, float*);
template void AvgPoolGrad<double>(const KernelContext&, const Windows&, const double*, double*);

}  // namespace penstock
