// Quantized numbers: small integers that stand for evenly spaced floats of a range.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// The levels of a quantized type Q over the range [min, max].
template <class Q>
struct Quantization {
  using I = decltype(Q::value);
  static constexpr int64_t kLow = std::numeric_limits<I>::lowest(), kHigh = std::numeric_limits<I>::max();
  static constexpr int64_t kSteps = kHigh - kLow;  // levels but one

  float min, max;

  // What one level is worth.
  float Step() const { return static_cast<float>((double{max} - double{min}) / static_cast<double>(kSteps)); }
  float ToFloat(I q) const {
    if (min == max) return min;
    const double step = (max - min) * (static_cast<double>(kSteps + 1) / static_cast<double>(kSteps)) / (kSteps + 1);
    const double low = std::round(min / static_cast<float>(step)) * static_cast<float>(step);
    return static_cast<float>(low + static_cast<double>(q - kLow) * step);
  }
  // The level next to x, which may lie outside the type.
  int64_t Unclamped(float x) const {
    if (min == max) return 0;
    const double range = (max - min) * (static_cast<double>(kSteps + 1) / static_cast<double>(kSteps));
    const double scale = static_cast<double>(kSteps + 1) / range;
    return static_cast<int64_t>(std::round(x * scale) - std::round(min * scale)) + kLow;
  }
  I ToLevel(float x) const { return static_cast<I>(std::clamp(Unclamped(x), kLow, kHigh)); }
};

// Rounded and clamped to what the type holds.
template <class I>
I Saturate(double x) {
  constexpr double kLow = std::numeric_limits<I>::lowest(), kHigh = std::numeric_limits<I>::max();
  return std::isnan(x) ? I(0) : static_cast<I>(std::clamp(x, kLow, kHigh));
}

// Inputs min and max, scalars, as a quantization of Q.
template <class Q>
Quantization<Q> RangeInput(const KernelContext& k, int min, int max) {
  for (const int i : {min, max}) {
    k.Require(k.input(i).num_elements() == 1, k.node().op().inputs[i].name, " must be a scalar, but has shape ",
              k.shape(i));
  }
  return {*k.input(min).data<float>(), *k.input(max).data<float>()};
}

// Quantized numbers of one range as those of another.
template <class From, class To>
void Requantized(const KernelContext& k, const From* x, const Quantization<From>& from, To* y,
                 const Quantization<To>& to, int64_t n) {
  using I = typename Quantization<To>::I;
  const float step = from.Step(), start = from.min == from.max ? from.min : std::round(from.min / step) * step;
  const float offset = start - static_cast<float>(Quantization<From>::kLow) * step;
  const float scale =
      to.min == to.max ? 0 : static_cast<float>(static_cast<double>(Quantization<To>::kSteps) / (to.max - to.min));
  const float shift = std::round(to.min * scale) - static_cast<float>(Quantization<To>::kLow);
  k.Parallel((n + 1023) / 1024, 2000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * 1024; i < std::min(n, end * 1024); ++i) {
      const float v = offset + static_cast<float>(x[i].value) * step;
      y[i].value = Saturate<I>(std::round(v * scale) - shift);
    }
  });
}

// From 32 bits to 8 unsigned ones with 16 bits behind the point, as TensorFlow does it: the last level may differ.
inline void Requantized(const KernelContext& k, const QInt32* x, const Quantization<QInt32>& from, QUInt8* y,
                        const Quantization<QUInt8>& to, int64_t n) {
  constexpr double kOne = 1 << 16, kLargest = double(int64_t{1} << 61);
  const auto fixed = [=](double v) {
    return static_cast<int64_t>(std::isnan(v) ? 0.0 : std::clamp(v, -kLargest, kLargest));
  };
  const float in = from.max - from.min, out = to.max - to.min;
  const float inverse = out == 0 ? 0.0f : static_cast<float>(255.0 / out), middle = (from.min + from.max) / 2;
  const int64_t scale = out == 0 ? 0 : fixed(255.0 * kOne * in / out);
  const int64_t offset =
      fixed(middle * inverse * static_cast<float>(kOne)) - (out == 0 ? 0 : fixed(kOne * (to.min * 255.0) / out));
  k.Parallel((n + 1023) / 1024, 2000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * 1024; i < std::min(n, end * 1024); ++i) {
      const int64_t product = static_cast<int64_t>((static_cast<__int128>(x[i].value) * scale) >> 32);
      y[i].value = static_cast<uint8_t>(std::clamp<int64_t>((product + offset + (1 << 15)) >> 16, 0, 255));
    }
  });
}
inline void RangeOutput(KernelContext& k, int i, float min, float max) {
  *k.out<float>(i, Shape()).data() = min;
  *k.out<float>(i + 1, Shape()).data() = max;
}

}  // namespace penstock
