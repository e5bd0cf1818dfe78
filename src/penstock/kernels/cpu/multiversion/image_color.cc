// Colours of images: hue, saturation and value, and changes of contrast, hue and saturation.
#include <algorithm>
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"

namespace penstock {
namespace {

template <class C>
struct Hsv {
  C hue, saturation, value;  // all in [0, 1]
};

// Without branches, for vectors.
template <class C>
inline Hsv<C> ToHsv(C r, C g, C b) {
  const C value = std::max(std::max(r, g), b), range = value - std::min(std::min(r, g), b);
  const C saturation = value > 0 ? range / value : C(0);
  const C norm = C(1) / (C(6) * range);
  C hue = norm * (r - g) + C(4) / C(6);
  hue = g == value ? norm * (b - r) + C(2) / C(6) : hue;
  hue = r == value ? norm * (g - b) : hue;
  hue = hue < 0 ? hue + C(1) : hue;
  return {range > 0 ? hue : C(0), saturation, value};
}

template <class C>
inline void ToRgb(const Hsv<C>& hsv, C* rgb) {
  const C place = hsv.hue * C(6);
  const auto channel = [&](C full) {
    full = full < C(0) ? C(0) : full;
    full = full > C(1) ? C(1) : full;
    return (C(1) - hsv.saturation + hsv.saturation * full) * hsv.value;
  };
  rgb[0] = channel(std::abs(place - C(3)) - C(1));
  rgb[1] = channel(C(2) - std::abs(place - C(2)));
  rgb[2] = channel(C(2) - std::abs(place - C(4)));
}

// Calls change(number, number, number, three results) for each pixel.
template <class C, class F>
void ForEachPixel(KernelContext& k, const F& change) {
  const Shape shape = k.shape(0);
  k.Require(shape.rank() >= 1, "input must be at least 1D", shape);
  if (const int64_t channels = shape[shape.rank() - 1]; channels != 3) {
    throw FailedPrecondition("input must have 3 channels but input only has ", channels, " channels.");
  }
  const ComputeInput<C> x(k, k.input(0));
  ComputeOutput<C> y(k, 0, shape);
  k.Parallel(shape.num_elements() / 3, 20, [&](int64_t begin, int64_t end) {
    const C* const from = x.data;
    C* const to = y.data;
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      C pixel[3];
      change(from[3 * i], from[3 * i + 1], from[3 * i + 2], pixel);
      to[3 * i] = pixel[0], to[3 * i + 1] = pixel[1], to[3 * i + 2] = pixel[2];
    }
  });
  y.Store();
}

template <class C>
struct RgbToHsv {
  void operator()(KernelContext& k) const {
    ForEachPixel<C>(k, [](C r, C g, C b, C* y) {
      const Hsv<C> hsv = ToHsv(r, g, b);
      y[0] = hsv.hue, y[1] = hsv.saturation, y[2] = hsv.value;
    });
  }
};

template <class C>
struct HsvToRgb {
  void operator()(KernelContext& k) const {
    ForEachPixel<C>(k, [](C hue, C saturation, C value, C* y) { ToRgb(Hsv<C>{hue, saturation, value}, y); });
  }
};

void RequireImage(KernelContext& k) {
  k.Require(k.shape(0).rank() >= 3, "input must be at least 3-D, got shape", k.shape(0));
}
void RequireColors(KernelContext& k) {
  RequireImage(k);
  const int64_t channels = k.shape(0)[k.shape(0).rank() - 1];
  k.Require(channels == 3, "input must have 3 channels but instead has ", channels, " channels.");
}
float Factor(KernelContext& k, const char* name) {
  k.Require(k.shape(1).rank() == 0, name, " must be scalar: ", k.shape(1));
  return k.Scalar<float>(1);
}

struct AdjustHue {
  void operator()(KernelContext& k) const {
    RequireColors(k);
    const float delta = Factor(k, "delta");
    ForEachPixel<float>(k, [delta](float r, float g, float b, float* y) {
      Hsv<float> hsv = ToHsv(r, g, b);
      hsv.hue += delta;
      hsv.hue -= std::floor(hsv.hue);
      // Value and saturation keep the extremes of the colour as they are, also where it is negative.
      const float low = std::min(std::min(r, g), b), range = hsv.value - low;
      ToRgb(Hsv<float>{hsv.hue, 1, 1}, y);
      for (int i = 0; i < 3; ++i) y[i] = low + range * y[i];
    });
  }
};

struct AdjustSaturation {
  void operator()(KernelContext& k) const {
    RequireColors(k);
    const float scale = Factor(k, "scale");
    ForEachPixel<float>(k, [scale](float r, float g, float b, float* y) {
      Hsv<float> hsv = ToHsv(r, g, b);
      hsv.saturation = std::min(1.0f, std::max(0.0f, hsv.saturation * scale));
      ToRgb(hsv, y);
    });
  }
};

// Moves each channel of each image away from its mean.
template <class Done>
void ChangeContrast(KernelContext& k, const Done& done) {
  const Shape shape = k.shape(0);
  RequireImage(k);
  const float factor = Factor(k, "contrast_factor");
  const ComputeInput<float> x(k, k.input(0));
  ComputeOutput<float> y(k, 0, shape);
  const int64_t n = shape[shape.rank() - 1], pixels = shape[shape.rank() - 2] * shape[shape.rank() - 3];
  const int64_t image = n * pixels, images = image ? shape.num_elements() / image : 0;
  k.Parallel(images, std::max<int64_t>(1, image * 2), [&](int64_t begin, int64_t end) {
    std::vector<double> means(n);
    for (int64_t b = begin; b < end; ++b) {
      const float* from = x.data + b * image;
      float* to = y.data + b * image;
      std::fill(means.begin(), means.end(), 0.0);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < n; ++c) means[c] += from[p * n + c];
      }
      for (int64_t c = 0; c < n; ++c) means[c] /= static_cast<double>(pixels);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < n; ++c) {
          const auto mean = static_cast<float>(means[c]);
          to[p * n + c] = done((from[p * n + c] - mean) * factor + mean);
        }
      }
    }
  });
  y.Store();
}

struct AdjustContrastV2 {
  void operator()(KernelContext& k) const {
    ChangeContrast(k, [](float v) { return v; });
  }
};

struct AdjustContrast {
  void operator()(KernelContext& k) const {
    const float low = k.Scalar<float>(2), high = k.Scalar<float>(3);
    k.Require(low <= high, "min_value must not be greater than max_value: ", low, " > ", high);
    ChangeContrast(k, [=](float v) { return std::clamp(v, low, high); });
  }
};

}  // namespace

namespace PENSTOCK_ISA {
void RegisterImageColorKernels(KernelRegistry& kernels) {
  kernels.Add<RgbToHsv<float>>("RGBToHSV", FloatComputed{});
  kernels.Add<RgbToHsv<double>>("RGBToHSV", Types<double>{});
  kernels.Add<HsvToRgb<float>>("HSVToRGB", FloatComputed{});
  kernels.Add<HsvToRgb<double>>("HSVToRGB", Types<double>{});
  kernels.Add<AdjustHue>("AdjustHue", Types<Half, float>{});
  kernels.Add<AdjustSaturation>("AdjustSaturation", Types<Half, float>{});
  kernels.Add<AdjustContrastV2>("AdjustContrastv2", Types<Half, float>{});
  kernels.Add<AdjustContrast>("AdjustContrast", Types<uint8_t, int8_t, int16_t, int32_t, int64_t, float, double>{});
}
}  // namespace PENSTOCK_ISA

}  // namespace penstock
