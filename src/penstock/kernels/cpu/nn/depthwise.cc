#include "penstock/kernels/cpu/nn/depthwise.h"

#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_loops.h"

namespace penstock {
namespace {

constinit BranchTable<2> repeats{"convolution/depthwise", {"one result a channel", "several results a channel"}};

void Products(int64_t terms, const float* const* a, const float* const* b, int64_t n, float* y, bool add) {
  CpuLoops().conv->products_f32(terms, a, b, n, y, add);
}
void Products(int64_t terms, const double* const* a, const double* const* b, int64_t n, double* y, bool add) {
  CpuLoops().conv->products_f64(terms, a, b, n, y, add);
}

// What is multiplied: terms[i] of `a` by that of `b`.
template <class T>
struct Terms {
  std::vector<const T*> a, b;
  void Add(const T* p, const T* q) {
    a.push_back(p);
    b.push_back(q);
  }
  // Their sum to y, and none are left.
  void SumTo(T* y, int64_t n, bool add) {
    Products(static_cast<int64_t>(a.size()), a.data(), b.data(), n, y, add);
    a.clear();
    b.clear();
  }
};

// Pixels of which each channel stands there as often as it has results.
template <class T>
const T* Repeated(const KernelContext& k, const Convolution& c, const T* x, Tensor* keep) {
  const int64_t repeat = c.GroupOut(), n = c.w.batch * c.w.InPixels() * c.w.channels;
  repeats.Enter(repeat == 1 ? 0 : 1);
  if (repeat == 1) return x;
  *keep = k.Temp(kTypeOf<T>, Shape({n, repeat}));
  T* const to = keep->mutable_data<T>();
  k.Parallel(n, repeat, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::fill_n(to + i * repeat, repeat, x[i]);
  });
  return to;
}

// A line of pixels of the input or output: its image and the positions of the first two dimensions.
struct Line {
  int64_t image, at[2];
  Line(int64_t number, const int64_t* size)
      : image(number / size[1] / size[0]), at{number / size[1] % size[0], number % size[1]} {}
  // The number of the pixel of another line of this image, at `i0`, `i1`, that comes first in it.
  int64_t First(const int64_t* size, int64_t i0, int64_t i1) const {
    return ((image * size[0] + i0) * size[1] + i1) * size[2];
  }
};
int64_t Cost(const Convolution& c, int64_t pixels) {
  return std::max<int64_t>(1, pixels * c.w.Taps() * c.out_channels / 16);
}

template <class T>
void Forward(const KernelContext& k, const Convolution& c, const T* x, const T* filter, T* y,
             const Epilogue& epilogue) {
  const Windows& w = c.w;
  const int64_t n = c.out_channels;
  Tensor keep;
  x = Repeated(k, c, x, &keep);
  k.Parallel(w.batch * w.out[0] * w.out[1], Cost(c, w.out[2]), [&](int64_t begin, int64_t end) {
    Terms<T> terms;
    for (int64_t l = begin; l < end; ++l) {
      const Line line(l, w.out);
      T* const to = y + l * w.out[2] * n;
      for (int64_t o = 0; o < w.out[2]; ++o) {
        const T* tap = filter;
        for (int64_t a = 0; a < w.filter[0]; ++a) {
          const int64_t i0 = line.at[0] * w.stride[0] - w.pad[0] + a * w.dilation[0];
          for (int64_t b = 0; b < w.filter[1]; ++b) {
            const int64_t i1 = line.at[1] * w.stride[1] - w.pad[1] + b * w.dilation[1];
            const bool inside = i0 >= 0 && i0 < w.in[0] && i1 >= 0 && i1 < w.in[1];
            const int64_t first = inside ? line.First(w.in, i0, i1) : 0;
            for (int64_t d = 0; d < w.filter[2]; ++d, tap += n) {
              const int64_t i2 = o * w.stride[2] - w.pad[2] + d * w.dilation[2];
              if (inside && i2 >= 0 && i2 < w.in[2]) terms.Add(x + (first + i2) * n, tap);
            }
          }
        }
        terms.SumTo(to + o * n, n, false);
      }
      epilogue.Apply(kTypeOf<T>, to, w.out[2], n, n, 0);
    }
  });
}

// The window in one dimension whose tap `t` lies over pixel `i`; -1 if there is none.
int64_t WindowOver(const Windows& w, int d, int64_t i, int64_t t) {
  const int64_t from = i + w.pad[d] - t * w.dilation[d];
  return from >= 0 && from % w.stride[d] == 0 && from / w.stride[d] < w.out[d] ? from / w.stride[d] : -1;
}

template <class T>
void InputGrad(const KernelContext& k, const Convolution& c, const T* filter, const T* dy, T* dx) {
  const Windows& w = c.w;
  const int64_t n = c.out_channels, repeat = c.GroupOut();
  repeats.Enter(repeat == 1 ? 0 : 1);
  k.Parallel(w.batch * w.in[0] * w.in[1], Cost(c, w.in[2]), [&](int64_t begin, int64_t end) {
    Terms<T> terms;
    std::vector<T> sums(n);
    for (int64_t l = begin; l < end; ++l) {
      const Line line(l, w.in);
      for (int64_t i = 0; i < w.in[2]; ++i) {
        T* const to = dx + (l * w.in[2] + i) * w.channels;
        const T* tap = filter;
        for (int64_t a = 0; a < w.filter[0]; ++a) {
          const int64_t o0 = WindowOver(w, 0, line.at[0], a);
          for (int64_t b = 0; b < w.filter[1]; ++b) {
            const int64_t o1 = o0 < 0 ? -1 : WindowOver(w, 1, line.at[1], b);
            for (int64_t d = 0; d < w.filter[2]; ++d, tap += n) {
              const int64_t o2 = o1 < 0 ? -1 : WindowOver(w, 2, i, d);
              if (o2 >= 0) terms.Add(dy + (line.First(w.out, o0, o1) + o2) * n, tap);
            }
          }
        }
        terms.SumTo(repeat == 1 ? to : sums.data(), n, false);
        if (repeat == 1) continue;
        for (int64_t j = 0; j < w.channels; ++j) {
          T sum = sums[j * repeat];
          for (int64_t r = 1; r < repeat; ++r) sum += sums[j * repeat + r];
          to[j] = sum;
        }
      }
    }
  });
}

template <class T>
void FilterGrad(const KernelContext& k, const Convolution& c, const T* x, const T* dy, T* dfilter) {
  const Windows& w = c.w;
  const int64_t n = c.out_channels, all = w.Taps() * n, lines = w.batch * w.out[0] * w.out[1];
  Tensor keep;
  x = Repeated(k, c, x, &keep);
  // Each piece of the lines has sums of its own. How many there are depends on the shape only.
  const int64_t pieces = std::clamp<int64_t>(lines * w.out[2] / 256, 1, 8), step = (lines + pieces - 1) / pieces;
  Tensor sums = k.Temp(kTypeOf<T>, Shape({pieces, all}));
  T* const sum = sums.mutable_data<T>();
  k.Parallel(pieces, Cost(c, step * w.out[2]), [&](int64_t begin, int64_t end) {
    Terms<T> terms;
    for (int64_t piece = begin; piece < end; ++piece) {
      std::fill_n(sum + piece * all, all, T(0));
      for (int64_t l = piece * step; l < std::min(lines, (piece + 1) * step); ++l) {
        const Line line(l, w.out);
        T* tap = sum + piece * all;
        for (int64_t a = 0; a < w.filter[0]; ++a) {
          const int64_t i0 = line.at[0] * w.stride[0] - w.pad[0] + a * w.dilation[0];
          for (int64_t b = 0; b < w.filter[1]; ++b) {
            const int64_t i1 = line.at[1] * w.stride[1] - w.pad[1] + b * w.dilation[1];
            const bool inside = i0 >= 0 && i0 < w.in[0] && i1 >= 0 && i1 < w.in[1];
            for (int64_t d = 0; d < w.filter[2]; ++d, tap += n) {
              if (!inside) continue;
              const int64_t first = line.First(w.in, i0, i1);
              for (int64_t o = 0; o < w.out[2]; ++o) {
                const int64_t i2 = o * w.stride[2] - w.pad[2] + d * w.dilation[2];
                if (i2 >= 0 && i2 < w.in[2]) terms.Add(x + (first + i2) * n, dy + (l * w.out[2] + o) * n);
              }
              terms.SumTo(tap, n, true);
            }
          }
        }
      }
    }
  });
  std::copy_n(sum, all, dfilter);
  for (int64_t piece = 1; piece < pieces; ++piece) {
    for (int64_t i = 0; i < all; ++i) dfilter[i] += sum[piece * all + i];
  }
}

}  // namespace

void DepthwiseForward(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* filter,
                      void* y, const Epilogue& epilogue) {
  if (type == DT_FLOAT) {
    return Forward(k, c, static_cast<const float*>(x), static_cast<const float*>(filter), static_cast<float*>(y),
                   epilogue);
  }
  Forward(k, c, static_cast<const double*>(x), static_cast<const double*>(filter), static_cast<double*>(y), epilogue);
}

void DepthwiseInputGrad(const KernelContext& k, DataType type, const Convolution& c, const void* filter, const void* dy,
                        void* dx) {
  if (type == DT_FLOAT) {
    return InputGrad(k, c, static_cast<const float*>(filter), static_cast<const float*>(dy), static_cast<float*>(dx));
  }
  InputGrad(k, c, static_cast<const double*>(filter), static_cast<const double*>(dy), static_cast<double*>(dx));
}

void DepthwiseFilterGrad(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* dy,
                         void* dfilter) {
  if (type == DT_FLOAT) {
    return FilterGrad(k, c, static_cast<const float*>(x), static_cast<const float*>(dy), static_cast<float*>(dfilter));
  }
  FilterGrad(k, c, static_cast<const double*>(x), static_cast<const double*>(dy), static_cast<double*>(dfilter));
}

}  // namespace penstock
