// Images at another size by cubic interpolation, by area, or through a kernel with scale and translation.
#include "penstock/kernels/cpu/image/resample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/compute.h"

namespace penstock {

Shape ResizedShape(KernelContext& k) {
  const Shape& images = k.shape(0);
  k.Require(images.rank() == 4, "input must be 4-dimensional", images);
  k.Require(k.shape(1).rank() == 1 && k.shape(1)[0] == 2, "size must be 1-dimensional with 2 elements, but has shape ",
            k.shape(1));
  const std::vector<int64_t> size = k.Ints(1);
  k.Require(size[0] > 0 && size[1] > 0, "output dimensions must be positive");
  k.Require(images[1] > 0 && images[2] > 0, "input image must be of non-zero size");
  return Shape({images[0], size[0], size[1], images[3]});
}

template <class C>
void Resample(const KernelContext& k, const C* x, const Shape& in, const AxisTaps& rows, const AxisTaps& columns,
              C* y) {
  const int64_t n = in[3], line = in[2] * n, new_line = columns.size() * n;
  k.Parallel(in[0] * rows.size(), std::max<int64_t>(1, new_line * 8), [&](int64_t begin, int64_t end) {
    std::vector<C> joined(line);
    for (int64_t r = begin; r < end; ++r) {
      const C* image = x + r / rows.size() * in[1] * line;
      std::fill(joined.begin(), joined.end(), C(0));
      for (const AxisTaps::Tap& tap : rows[r % rows.size()]) {
        const C* from = image + tap.from * line;
        for (int64_t i = 0; i < line; ++i) joined[i] += static_cast<C>(tap.weight) * from[i];
      }
      C* to = y + r * new_line;
      std::fill(to, to + new_line, C(0));
      for (int64_t c = 0; c < columns.size(); ++c, to += n) {
        for (const AxisTaps::Tap& tap : columns[c]) {
          const C* from = joined.data() + tap.from * n;
          for (int64_t i = 0; i < n; ++i) to[i] += static_cast<C>(tap.weight) * from[i];
        }
      }
    }
  });
}
template void Resample(const KernelContext&, const float*, const Shape&, const AxisTaps&, const AxisTaps&, float*);
template void Resample(const KernelContext&, const double*, const Shape&, const AxisTaps&, const AxisTaps&, double*);

template <class C>
void ResampleBack(const KernelContext& k, const float* dy, const Shape& in, const AxisTaps& rows,
                  const AxisTaps& columns, C* dx) {
  const int64_t n = in[3], line = in[2] * n, new_line = columns.size() * n;
  k.Parallel(in[0], std::max<int64_t>(1, rows.size() * new_line * 8), [&](int64_t begin, int64_t end) {
    std::vector<C> joined(line);
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t r = 0; r < rows.size(); ++r) {
        const float* from = dy + (b * rows.size() + r) * new_line;
        std::fill(joined.begin(), joined.end(), C(0));
        for (int64_t c = 0; c < columns.size(); ++c, from += n) {
          for (const AxisTaps::Tap& tap : columns[c]) {
            for (int64_t i = 0; i < n; ++i) joined[tap.from * n + i] += static_cast<C>(tap.weight) * from[i];
          }
        }
        for (const AxisTaps::Tap& tap : rows[r]) {
          C* to = dx + (b * in[1] + tap.from) * line;
          for (int64_t i = 0; i < line; ++i) to[i] += static_cast<C>(tap.weight) * joined[i];
        }
      }
    }
  });
}
template void ResampleBack(const KernelContext&, const float*, const Shape&, const AxisTaps&, const AxisTaps&, float*);
template void ResampleBack(const KernelContext&, const float*, const Shape&, const AxisTaps&, const AxisTaps&, double*);

namespace {

int64_t Inside(int64_t i, int64_t n) { return std::clamp<int64_t>(i, 0, n - 1); }

// Cubic convolution after Keys, with parameter a; the weights are those of TensorFlow's table of 1024 steps.
struct Cubic {
  static constexpr int kSteps = 1024;
  double a;
  float Near(int64_t step) const {
    const float x = static_cast<float>(step) / kSteps;
    return static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
  }
  float Far(int64_t step) const {
    const float x = static_cast<float>(step) / kSteps + 1.0f;
    return static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  }
};

struct BicubicAttrs {
  bool align, half;
  explicit BicubicAttrs(const NodeView& node)
      : align(node.attr<bool>("align_corners")), half(node.attr<bool>("half_pixel_centers")) {
    KernelContext::Require(!align || !half, "If half_pixel_centers is True, align_corners must be False.");
  }
  AxisTaps Taps(int64_t in, int64_t out) const {
    AxisTaps taps;
    const Cubic cubic{half ? -0.5 : -0.75};
    const float scale = ResizeScale(align, in, out);
    for (int64_t i = 0; i < out; ++i) {
      const float at = half ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
      const auto base = static_cast<int64_t>(std::floor(at));
      const int64_t step = std::lrintf((at - static_cast<float>(base)) * Cubic::kSteps);
      float weights[4] = {cubic.Far(step), cubic.Near(step), cubic.Near(Cubic::kSteps - step),
                          cubic.Far(Cubic::kSteps - step)};
      if (half) {  // what lies outside does not count, and the rest counts for more
        float sum = 0;
        for (int t = 0; t < 4; ++t) {
          if (Inside(base - 1 + t, in) != base - 1 + t) weights[t] = 0;
          sum += weights[t];
        }
        if (std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min()) {
          for (float& w : weights) w *= 1.0f / sum;
        }
      }
      for (int t = 0; t < 4; ++t) taps.Add(Inside(base - 1 + t, in), weights[t]);
      taps.EndPosition();
    }
    return taps;
  }
};

struct ResizeBicubic : BicubicAttrs {
  using BicubicAttrs::BicubicAttrs;
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &in = k.shape(0);
    const auto y = k.out<float>(0, shape);
    if (y.empty()) return;
    const ComputeInput<float> x(k, k.input(0));
    Resample(k, x.data, in, Taps(in[1], shape[1]), Taps(in[2], shape[2]), y.data());
  }
};

// Shapes of dy (input 0) and the original image (input 1) that belong together.
void RequireGradShapes(KernelContext& k) {
  const Shape &dy = k.shape(0), &shape = k.shape(1);
  k.Require(dy.rank() == 4, "input_grad must be 4-dimensional", dy);
  k.Require(shape.rank() == 4, "original_image must be 4-dimensional", shape);
  k.Require(dy[0] == shape[0] && dy[3] == shape[3], "grads of shape ", dy, " do not belong to an image of shape ",
            shape);
}

template <class T>
struct ResizeBicubicGrad : BicubicAttrs {
  using BicubicAttrs::BicubicAttrs;
  void operator()(KernelContext& k) const {
    RequireGradShapes(k);
    const Shape &dy = k.shape(0), &shape = k.shape(1);
    const auto dx = k.out<T>(0, shape);
    std::fill(dx.begin(), dx.end(), T(0));
    if (dx.empty() || !dy.num_elements()) return;
    ResampleBack(k, k.in<float>(0).data(), shape, Taps(shape[1], dy[1]), Taps(shape[2], dy[2]), dx.data());
  }
};

// Each new pixel is the mean of the area that it covers.
struct ResizeArea {
  bool align;
  explicit ResizeArea(const NodeView& node) : align(node.attr<bool>("align_corners")) {}
  AxisTaps Taps(int64_t in, int64_t out) const {
    AxisTaps taps;
    const float scale = ResizeScale(align, in, out);
    for (int64_t i = 0; i < out; ++i) {
      const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
      const auto last = static_cast<int64_t>(std::ceil(end));
      for (auto v = static_cast<int64_t>(std::floor(begin)); v < last; ++v) {
        const float low = std::max(static_cast<float>(v), begin), high = std::min(static_cast<float>(v + 1), end);
        taps.Add(Inside(v, in), scale > 0 ? (high - low) / scale : 0.0f);
      }
      taps.EndPosition();
    }
    return taps;
  }
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &in = k.shape(0);
    const auto y = k.out<float>(0, shape);
    if (y.empty()) return;
    const ComputeInput<float> x(k, k.input(0));
    Resample(k, x.data, in, Taps(in[1], shape[1]), Taps(in[2], shape[2]), y.data());
  }
};

struct SamplingKernel {
  float radius;
  float (*value)(float);  // at a distance >= 0
};
template <int kRadius>
float Lanczos(float x) {
  constexpr float kPi = std::numbers::pi_v<float>;
  if (x > kRadius) return 0;
  if (x <= 1e-3f) return 1;
  return kRadius * std::sin(kPi * x) * std::sin(kPi * x / kRadius) / (kPi * kPi * x * x);
}
SamplingKernel SamplingKernelOf(const std::string& name) {
  if (name == "lanczos1") return {1, Lanczos<1>};
  if (name == "lanczos3") return {3, Lanczos<3>};
  if (name == "lanczos5") return {5, Lanczos<5>};
  if (name == "gaussian") return {1.5f, [](float x) { return x >= 1.5f ? 0.0f : std::exp(-x * x * 2.0f); }};
  if (name == "box") return {1, [](float x) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }};
  if (name == "triangle") return {1, [](float x) { return std::max(0.0f, 1 - x); }};
  if (name == "keyscubic") {
    return {2, [](float x) {
              if (x >= 2) return 0.0f;
              return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : (1.5f * x - 2.5f) * x * x + 1;
            }};
  }
  if (name == "mitchellcubic") {
    return {2, [](float x) {
              if (x >= 2) return 0.0f;
              return x >= 1 ? ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9
                            : (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
            }};
  }
  throw InvalidArgument("Unrecognized kernel type: ", name);
}

struct ScaleAttrs {
  SamplingKernel kernel;
  bool antialias;
  explicit ScaleAttrs(const NodeView& node)
      : kernel(SamplingKernelOf(node.attr<std::string>("kernel_type"))), antialias(node.attr<bool>("antialias")) {}

  AxisTaps Taps(int64_t in, int64_t out, float scale, float translation) const {
    AxisTaps taps;
    const float inverse = 1.0f / scale, shift = -inverse * translation;
    const float stretch = antialias ? std::max(inverse, 1.0f) : 1.0f, reach = kernel.radius * stretch;
    std::vector<float> weights;
    for (int64_t i = 0; i < out; ++i) {
      const float at = (static_cast<float>(i) + 0.5f) * inverse + shift;
      if (at >= 0 && at <= static_cast<float>(in)) {
        const float low = std::ceil(at - reach - 0.5f), high = std::floor(at + reach - 0.5f);
        const auto last = static_cast<float>(in - 1);
        const auto begin = static_cast<int64_t>(std::clamp(low, 0.0f, last)),
                   end = std::min(in, static_cast<int64_t>(std::clamp(high, 0.0f, last)) + 1);
        weights.clear();
        float sum = 0;
        for (int64_t v = begin; v < end; ++v) {
          weights.push_back(kernel.value(std::abs((static_cast<float>(v) + 0.5f - at) / stretch)));
          sum += weights.back();
        }
        if (std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min()) {
          for (int64_t v = begin; v < end; ++v) taps.Add(v, weights[v - begin] / sum);
        }
      }
      taps.EndPosition();
    }
    return taps;
  }
  // Inputs i and i + 1: scale and translation of rows and columns.
  struct Pairs {
    float scale[2], translation[2];
  };
  static Pairs Read(KernelContext& k, int i) {
    for (const int j : {i, i + 1}) {
      k.Require(k.shape(j).rank() == 1, "t must be 1-dimensional", k.shape(j));
      k.Require(k.shape(j)[0] == 2, "t must have two elements", k.shape(j));
    }
    const auto scale = k.in<float>(i), translation = k.in<float>(i + 1);
    k.Require(scale[0] > 0 && scale[1] > 0, "Scale must be greater than zero.");
    return {{scale[0], scale[1]}, {translation[0], translation[1]}};
  }
};

struct ScaleAndTranslate : ScaleAttrs {
  using ScaleAttrs::ScaleAttrs;
  void operator()(KernelContext& k) const {
    const Shape shape = ResizedShape(k), &in = k.shape(0);
    k.Require(in[3] > 0, "image must have at least one channel");
    const Pairs pairs = Read(k, 2);
    const auto y = k.out<float>(0, shape);
    if (y.empty()) return;
    const ComputeInput<float> x(k, k.input(0));
    Resample(k, x.data, in, Taps(in[1], shape[1], pairs.scale[0], pairs.translation[0]),
             Taps(in[2], shape[2], pairs.scale[1], pairs.translation[1]), y.data());
  }
};

struct ScaleAndTranslateGrad : ScaleAttrs {
  using ScaleAttrs::ScaleAttrs;
  void operator()(KernelContext& k) const {
    RequireGradShapes(k);
    const Shape &dy = k.shape(0), &shape = k.shape(1);
    const Pairs pairs = Read(k, 2);
    const auto dx = k.out<float>(0, shape);
    std::fill(dx.begin(), dx.end(), 0.0f);
    if (dx.empty() || !dy.num_elements()) return;
    ResampleBack(k, k.in<float>(0).data(), shape, Taps(shape[1], dy[1], pairs.scale[0], pairs.translation[0]),
                 Taps(shape[2], dy[2], pairs.scale[1], pairs.translation[1]), dx.data());
  }
};

}  // namespace

void RegisterResampleKernels(KernelRegistry& kernels) {
  kernels.Add<ResizeBicubic>("ResizeBicubic", Reals{}).HostInput(1);
  kernels.Add<ResizeBicubicGrad>("ResizeBicubicGrad", Types<float, double>{});
  kernels.Add<ResizeArea>("ResizeArea", Reals{}).HostInput(1);
  kernels.Add<ScaleAndTranslate>("ScaleAndTranslate", Reals{}).HostInput(1).HostInput(2).HostInput(3);
  kernels.Add<ScaleAndTranslateGrad>("ScaleAndTranslateGrad", Types<float>{}).HostInput(2).HostInput(3);
}

}  // namespace penstock
