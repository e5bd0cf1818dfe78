// Images at another size, and normalisation by neighbouring channels.
#include <algorithm>
#include <cmath>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/image/resample.h"

namespace penstock {
namespace {

constinit BranchTable<4> pixels{"resize/pixel", {"one channel", "three channels", "four channels", "any channels"}};
constinit BranchTable<3> lines{"resize/line", {"stretched", "taken over", "copied"}};
constinit BranchTable<3> powers{"local_response_normalization/power", {"root", "reciprocal", "logarithm"}};

struct Corners {
  bool align, half;
  explicit Corners(const NodeView& node)
      : align(node.attr<bool>("align_corners")), half(node.attr<bool>("half_pixel_centers")) {
    KernelContext::Require(!align || !half, "If half_pixel_centers is True, align_corners must be False.");
  }
  float Scale(int64_t in, int64_t out) const { return ResizeScale(align, in, out); }
  // Where position i of the new image lies in the old one.
  float Place(int64_t i, float scale) const {
    return half ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
  }
};

struct Between {
  int64_t low, high;
  float part;  // of the way from low to high
};
std::vector<Between> Interpolation(const Corners& corners, int64_t in, int64_t out) {
  std::vector<Between> all(out);
  const float scale = corners.Scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    const float at = corners.Place(i, scale), below = std::floor(at);
    const int64_t high = std::min(static_cast<int64_t>(std::ceil(at)), in - 1);
    all[i] = {std::min(std::max(static_cast<int64_t>(below), int64_t{0}), high), high, at - below};
  }
  return all;
}
std::vector<int64_t> Nearest(const Corners& corners, int64_t in, int64_t out) {
  std::vector<int64_t> all(out);
  const float scale = corners.Scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    const float at = corners.half    ? std::floor((static_cast<float>(i) + 0.5f) * scale)
                     : corners.align ? std::round(static_cast<float>(i) * scale)
                                     : std::floor(static_cast<float>(i) * scale);
    all[i] = std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1);
  }
  return all;
}

// A line of pixels with n channels at the new width, as float.
template <class T>
void StretchLine(const T* x, const std::vector<Between>& columns, int64_t n, float* to) {
  const auto stretch = [&](auto channels) {
    for (const Between& c : columns) {
      const T *left = x + c.low * channels, *right = x + c.high * channels;
      for (int64_t i = 0; i < channels; ++i) {
        const float l = static_cast<float>(left[i]), r = static_cast<float>(right[i]);
        *to++ = l + (r - l) * c.part;
      }
    }
  };
  pixels.Enter(n == 1 ? 0 : n == 3 ? 1 : n == 4 ? 2 : 3);
  switch (n) {
    case 1: return stretch(std::integral_constant<int64_t, 1>());
    case 3: return stretch(std::integral_constant<int64_t, 3>());
    case 4: return stretch(std::integral_constant<int64_t, 4>());
    default: return stretch(n);
  }
}

template <class T>
struct ResizeBilinear {
  Corners corners;
  explicit ResizeBilinear(const NodeView& node) : corners(node) {}
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &in = k.shape(0);
    const T* x = k.in<T>(0).data();
    float* y = k.out<float>(0, shape).data();
    const auto rows = Interpolation(corners, in[1], shape[1]), columns = Interpolation(corners, in[2], shape[2]);
    const int64_t n = in[3], line = in[2] * n, width = shape[2] * n;
    k.Parallel(shape[0] * shape[1], std::max<int64_t>(1, width), [&](int64_t begin, int64_t end) {
      // The two lines between which the result lies, which are often those of the row before.
      std::vector<float> above(width), below(width);
      int64_t from_above = -1, from_below = -1;
      for (int64_t r = begin; r < end; ++r) {
        const Between& row = rows[r % shape[1]];
        const int64_t image = r / shape[1] * in[1], low = image + row.low, high = image + row.high;
        if (from_above != low) {
          lines.Enter(from_below == low ? 1 : 0);
          if (from_below == low) {
            std::swap(above, below), std::swap(from_above, from_below);
          } else {
            StretchLine(x + low * line, columns, n, above.data()), from_above = low;
          }
        }
        if (from_below != high) {
          lines.Enter(high == low ? 2 : 0);
          if (high == low) {
            below = above;
          } else {
            StretchLine(x + high * line, columns, n, below.data());
          }
          from_below = high;
        }
        const float *top = above.data(), *bottom = below.data(), part = row.part;
        float* const to = y + r * width;
#pragma GCC ivdep
        for (int64_t i = 0; i < width; ++i) to[i] = top[i] + (bottom[i] - top[i]) * part;
      }
    });
  }
};

template <class C>
struct ResizeBilinearGrad {
  Corners corners;
  explicit ResizeBilinearGrad(const NodeView& node) : corners(node) {}
  void operator()(KernelContext& k) const {
    const Shape &dy_shape = k.shape(0), &shape = k.shape(1);
    k.Require(dy_shape.rank() == 4, "input_grad must be 4-dimensional", dy_shape);
    k.Require(shape.rank() == 4, "original_image must be 4-dimensional", shape);
    k.Require(dy_shape[0] == shape[0] && dy_shape[3] == shape[3], "grads of shape ", dy_shape,
              " do not belong to an image of shape ", shape);
    const float* dy = k.in<float>(0).data();
    ComputeOutput<C> out(k, 0, shape);
    ZeroElements(kTypeOf<C>, out.data, shape.num_elements());
    if (shape.num_elements() && dy_shape.num_elements()) {
      const auto rows = Interpolation(corners, shape[1], dy_shape[1]),
                 columns = Interpolation(corners, shape[2], dy_shape[2]);
      const int64_t n = shape[3], line = shape[2] * n;
      k.Parallel(shape[0], std::max<int64_t>(1, dy_shape.num_elements() / shape[0] * 4),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b) {
                     const float* from = dy + b * dy_shape[1] * dy_shape[2] * n;
                     C* image = out.data + b * shape[1] * line;
                     for (const Between& row : rows) {
                       C *top = image + row.low * line, *bottom = image + row.high * line;
                       for (const Between& c : columns) {
                         for (int64_t i = 0; i < n; ++i, ++from) {
                           const C g = *from;
                           top[c.low * n + i] += static_cast<C>(g * (1 - row.part) * (1 - c.part));
                           top[c.high * n + i] += static_cast<C>(g * (1 - row.part) * c.part);
                           bottom[c.low * n + i] += static_cast<C>(g * row.part * (1 - c.part));
                           bottom[c.high * n + i] += static_cast<C>(g * row.part * c.part);
                         }
                       }
                     }
                   }
                 });
    }
    out.Store();
  }
};

struct ResizeNearest {  // of any type
  Corners corners;
  explicit ResizeNearest(const NodeView& node) : corners(node) {}
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &in = k.shape(0);
    Tensor& y = k.Output(0, shape);
    const auto rows = Nearest(corners, in[1], shape[1]), columns = Nearest(corners, in[2], shape[2]);
    const size_t pixel = in[3] * DataTypeSize(k.input(0).dtype());
    const char* x = static_cast<const char*>(k.input(0).raw());
    char* to = static_cast<char*>(y.mutable_raw());
    k.Parallel(shape[0] * shape[1], std::max<int64_t>(1, shape[2] * 4), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const char* from = x + (r / shape[1] * in[1] + rows[r % shape[1]]) * in[2] * pixel;
        for (int64_t c = 0; c < shape[2]; ++c)
          std::memcpy(to + (r * shape[2] + c) * pixel, from + columns[c] * pixel, pixel);
      }
    });
  }
};

template <class C>
struct ResizeNearestGrad {
  Corners corners;
  explicit ResizeNearestGrad(const NodeView& node) : corners(node) {}
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &dy_shape = k.shape(0);
    const ComputeInput<C> dy(k, k.input(0));
    ComputeOutput<C> out(k, 0, shape);
    ZeroElements(kTypeOf<C>, out.data, shape.num_elements());
    const auto rows = Nearest(corners, shape[1], dy_shape[1]), columns = Nearest(corners, shape[2], dy_shape[2]);
    const int64_t n = shape[3], line = shape[2] * n;
    k.Parallel(shape[0], std::max<int64_t>(1, dy_shape[1] * dy_shape[2] * n), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const C* from = dy.data + b * dy_shape[1] * dy_shape[2] * n;
        for (const int64_t row : rows) {
          for (const int64_t column : columns) {
            C* to = out.data + (b * shape[1] + row) * line + column * n;
            for (int64_t i = 0; i < n; ++i) to[i] += *from++;
          }
        }
      }
    });
    out.Store();
  }
};

struct LrnAttrs {
  int64_t radius;
  float bias, alpha, beta;
  explicit LrnAttrs(const NodeView& node)
      : radius(node.attr<int64_t>("depth_radius")),
        bias(node.attr<float>("bias")),
        alpha(node.attr<float>("alpha")),
        beta(node.attr<float>("beta")) {
    KernelContext::Require(radius >= 0 && radius < (int64_t{1} << 31), "depth_radius = ", radius, " is out of range");
  }
  // How far a channel's neighbours among n may be from it, and room for the squares of n channels and them.
  int64_t Reach(int64_t n) const { return std::min(radius, n); }
  std::vector<float> Squares(int64_t n) const { return std::vector<float>(n + 2 * Reach(n), 0.0f); }
  // bias + alpha * sum of squares around each of n channels
  void Norms(const float* x, int64_t n, std::vector<float>* squares, float* norms) const {
    const int64_t reach = Reach(n);
    float* const middle = squares->data() + reach;
    for (int64_t c = 0; c < n; ++c) middle[c] = x[c] * x[c];
    std::fill_n(norms, n, 0.0f);
    for (int64_t d = -reach; d <= reach; ++d) {
#pragma GCC ivdep
      for (int64_t c = 0; c < n; ++c) norms[c] += middle[c + d];
    }
    for (int64_t c = 0; c < n; ++c) norms[c] = bias + alpha * norms[c];
  }
  // to[i] = norms[i]^-beta
  void Powers(const float* norms, int64_t n, float* to) const {
    const Loops& loops = CpuLoops();
    powers.Enter(beta == 0.5f ? 0 : beta == 1.0f ? 1 : 2);
    if (beta == 0.5f) return loops(UnaryOp::kRsqrt, DT_FLOAT)(norms, to, n);
    if (beta == 1.0f) return loops(UnaryOp::kReciprocal, DT_FLOAT)(norms, to, n);
    loops(UnaryOp::kLog, DT_FLOAT)(norms, to, n);
    for (int64_t i = 0; i < n; ++i) to[i] *= -beta;
    loops(UnaryOp::kExp, DT_FLOAT)(to, to, n);
  }
  // Rows whose powers are taken in one go.
  static int64_t Together(int64_t n) { return std::max<int64_t>(1, 512 / std::max<int64_t>(n, 1)); }
  int64_t Cost(int64_t n) const { return std::max<int64_t>(1, n * (4 + Reach(n)) / 4); }
};

struct Lrn : LrnAttrs {
  using LrnAttrs::LrnAttrs;
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() == 4, "in must be 4-dimensional");
    const int64_t n = shape[3], rows = n ? shape.num_elements() / n : 0;
    const ComputeInput<float> x(k, k.input(0));
    ComputeOutput<float> y(k, 0, shape);
    k.Parallel(rows, Cost(n), [&](int64_t begin, int64_t end) {
      const int64_t together = Together(n);
      std::vector<float> squares = Squares(n), norms(together * n);
      for (int64_t first = begin; first < end; first += together) {
        const int64_t count = std::min(together, end - first);
        const float* const from = x.data + first * n;
        float* const to = y.data + first * n;
        for (int64_t r = 0; r < count; ++r) Norms(from + r * n, n, &squares, norms.data() + r * n);
        Powers(norms.data(), count * n, norms.data());
        for (int64_t i = 0; i < count * n; ++i) to[i] = from[i] * norms[i];
      }
    });
    y.Store();
  }
};

struct LrnGrad : LrnAttrs {
  using LrnAttrs::LrnAttrs;
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() == 4, "inputs must be 4-dimensional");
    k.Require(shape == k.shape(1) && shape == k.shape(2),
              "input_grads, input_image, and out_image should have the same shape");
    const int64_t n = shape[3], rows = n ? shape.num_elements() / n : 0;
    const ComputeInput<float> dy(k, k.input(0)), x(k, k.input(1)), y(k, k.input(2));
    ComputeOutput<float> out(k, 0, shape);
    k.Parallel(rows, 2 * Cost(n), [&](int64_t begin, int64_t end) {
      const int64_t reach = Reach(n);
      const int64_t together = Together(n);
      std::vector<float> squares = Squares(n), norms(together * n), powers(together * n);
      std::vector<float> all_shares = Squares(n), sums(n);
      float* const shares = all_shares.data() + reach;
      for (int64_t first = begin; first < end; first += together) {
        const int64_t count = std::min(together, end - first);
        for (int64_t r = 0; r < count; ++r) Norms(x.data + (first + r) * n, n, &squares, norms.data() + r * n);
        Powers(norms.data(), count * n, powers.data());
        for (int64_t r = 0; r < count; ++r) {
          const int64_t at = (first + r) * n;
          const float *g = dy.data + at, *in = x.data + at, *result = y.data + at;
          const float *norm = norms.data() + r * n, *power = powers.data() + r * n;
          // What each channel's norm passes on to its neighbours.
          for (int64_t c = 0; c < n; ++c) shares[c] = -2 * alpha * beta * result[c] / norm[c] * g[c];
          std::fill(sums.begin(), sums.end(), 0.0f);
          for (int64_t d = -reach; d <= reach; ++d) {
#pragma GCC ivdep
            for (int64_t c = 0; c < n; ++c) sums[c] += shares[c + d];
          }
          float* const dx = out.data + at;
          for (int64_t c = 0; c < n; ++c) dx[c] = g[c] * power[c] + in[c] * sums[c];
        }
      }
    });
    out.Store();
  }
};

}  // namespace

namespace PENSTOCK_ISA {
void RegisterResizeKernels(KernelRegistry& kernels) {
  kernels.Add<ResizeBilinear>("ResizeBilinear", Reals{}).HostInput(1);
  kernels.Add<ResizeBilinearGrad<float>>("ResizeBilinearGrad", FloatComputed{});
  kernels.Add<ResizeBilinearGrad<double>>("ResizeBilinearGrad", Types<double>{});
  kernels.Add<ResizeNearest>("ResizeNearestNeighbor", Reals{}).HostInput(1);
  kernels.Add<ResizeNearestGrad<float>>("ResizeNearestNeighborGrad", FloatComputed{}).HostInput(1);
  kernels.Add<ResizeNearestGrad<double>>("ResizeNearestNeighborGrad", Types<double>{}).HostInput(1);
  kernels.Add<ResizeNearestGrad<int32_t>>("ResizeNearestNeighborGrad", Types<int32_t>{}).HostInput(1);
  kernels.Add<ResizeNearestGrad<int8_t>>("ResizeNearestNeighborGrad", Types<int8_t>{}).HostInput(1);
  kernels.Add<ResizeNearestGrad<uint8_t>>("ResizeNearestNeighborGrad", Types<uint8_t>{}).HostInput(1);
  kernels.Add<Lrn>("LRN", FloatComputed{});
  kernels.Add<LrnGrad>("LRNGrad", FloatComputed{});
}
}  // namespace PENSTOCK_ISA

}  // namespace penstock
