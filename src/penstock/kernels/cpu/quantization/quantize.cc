// Floats to quantized numbers and back, and from one range to another.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/quantization/quantize_loops.h"
#include "penstock/kernels/cpu/quantization/quantized.h"

namespace penstock {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

Mode ModeOf(const NodeView& node) {
  const auto& mode = node.attr<std::string>("mode");
  return mode == "MIN_COMBINED" ? Mode::kMinCombined : mode == "MIN_FIRST" ? Mode::kMinFirst : Mode::kScaled;
}

// The parts of a tensor that have a range each: all of it, or its slices along an axis.
struct Slices {
  int64_t count = 1, inner;

  Slices(const KernelContext& k, int64_t axis) : inner(k.input(0).num_elements()) {
    const Shape& shape = k.shape(0);
    k.Require(axis >= -1, "Axis must be at least -1. Found ", axis);
    k.Require(axis < shape.rank(), "Shape must be at least rank ", axis + 1, " but is rank ", shape.rank());
    if (axis >= 0) {
      count = shape.dim(static_cast<int>(axis));
      inner = 1;
      for (int d = static_cast<int>(axis) + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
    }
    for (const int i : {1, 2}) {
      k.Require(k.input(i).num_elements() == count, k.node().op().inputs[i].name, " must have ", count,
                " elements, but has shape ", k.shape(i));
    }
  }
  // fn(slice, begin, end) for runs of elements, on the pool.
  template <class Fn>
  void Each(const KernelContext& k, Fn fn) const {
    ParallelElements(k, k.input(0).num_elements(), 1000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin, stop; i < end; i = stop) {
        const int64_t run = i / inner;
        stop = std::min(end, (run + 1) * inner);
        fn(run % count, i, stop);
      }
    });
  }
};

template <class Q>
struct Dequantize {
  using I = typename Quantization<Q>::I;
  static constexpr float kLow = std::numeric_limits<I>::lowest(), kHigh = std::numeric_limits<I>::max();
  Mode mode;
  bool narrow;
  int64_t axis;

  explicit Dequantize(const NodeView& node)
      : mode(ModeOf(node)),
        narrow(node.attr_or<bool>("narrow_range", false)),
        axis(node.attr_or<int64_t>("axis", -1)) {}
  void operator()(KernelContext& k) const {
    k.Require(mode == Mode::kMinCombined || k.node().output_type(0) != DT_BFLOAT16,
              "When output type is bfloat16, only mode 'MIN_COMBINED' is supported, but got ",
              k.node().attr<std::string>("mode"));
    if (mode == Mode::kMinFirst && axis >= 0) {
      throw Unimplemented("MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
    }
    const Slices slices(k, axis);
    const auto x = k.in<Q>(0);
    const auto low = k.in<float>(1), high = k.in<float>(2);
    ComputeOutput<float> y(k, 0, k.shape(0));
    // y = (x + shift) * scale + start
    slices.Each(k, [&](int64_t s, int64_t begin, int64_t end) {
      float scale, shift = 0, start = 0;
      if (mode == Mode::kMinCombined) {
        scale = (high[s] - low[s]) / (kHigh - kLow);
        shift = kLow < 0 ? (kHigh - kLow + 1) / 2 : 0;
        start = low[s];
      } else if (mode == Mode::kMinFirst) {
        scale = Quantization<Q>{low[s], high[s]}.Step();
        const float rounded = low[s] == high[s] ? low[s] : std::round(low[s] / scale) * scale;
        start = rounded - kLow * scale;
      } else {
        const float least = kLow + (narrow ? 1 : 0);
        scale = kLow == 0 ? high[s] / kHigh : std::max(low[s] / least, high[s] / kHigh);
      }
      for (int64_t i = begin; i < end; ++i) y.data[i] = (static_cast<float>(x[i].value) + shift) * scale + start;
    });
    y.Store();
  }
};

template <class Q>
struct QuantizeV2 {
  using I = typename Quantization<Q>::I;
  static constexpr float kLow = std::numeric_limits<I>::lowest(), kHigh = std::numeric_limits<I>::max();
  Mode mode;
  bool narrow, to_even;
  int64_t axis;
  float least_range;

  explicit QuantizeV2(const NodeView& node)
      : mode(ModeOf(node)),
        narrow(node.attr_or<bool>("narrow_range", false)),
        to_even(node.attr<std::string>("round_mode") == "HALF_TO_EVEN"),
        axis(node.attr_or<int64_t>("axis", -1)),
        least_range(node.attr_or<float>("ensure_minimum_range", 0.01f)) {
    if (to_even && mode != Mode::kScaled) {
      throw InvalidArgument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '",
                            node.attr<std::string>("mode"), "'.");
    }
    if (mode == Mode::kMinFirst && axis >= 0) {
      throw Unimplemented("MIN_FIRST mode is not implemented for Quantize with axis != -1.");
    }
  }
  void operator()(KernelContext& k) const {
    const Slices slices(k, axis);
    const Shape ranges = axis < 0 ? Shape() : Shape({slices.count});
    const auto x = k.in<float>(0), low_in = k.in<float>(1), high_in = k.in<float>(2);
    const auto low = k.out<float>(1, ranges), high = k.out<float>(2, ranges);
    std::vector<float> scale(slices.count);
    for (int64_t s = 0; s < slices.count; ++s) {
      k.Require(low_in[s] <= high_in[s], "input_max_range must be larger than input_min_range.");
      // Zero is inside, and the range is wide enough to divide by.
      low[s] = std::min(0.0f, low_in[s]);
      const float widest = std::max({1.0f, std::abs(low_in[s]), std::abs(high_in[s])});
      high[s] = std::max(0.0f, std::max(high_in[s], low[s] + widest * least_range));
      if (mode == Mode::kMinCombined) {
        scale[s] = (kHigh - kLow) / (high[s] - low[s]);
      } else if (mode == Mode::kMinFirst) {
        scale[s] = static_cast<float>(static_cast<double>(Quantization<Q>::kSteps) / (high[s] - low[s]));
      } else {
        const float least = kLow + (narrow ? 1 : 0);
        constexpr float kHuge = std::numeric_limits<float>::max();
        scale[s] = std::min(least * low[s] > 0 ? least / low[s] : kHuge, kHigh * high[s] > 0 ? kHigh / high[s] : kHuge);
        low[s] = least / scale[s];
        high[s] = kHigh / scale[s];
      }
    }
    const auto y = k.out<Q>(0, k.shape(0));
    slices.Each(k, [&](int64_t s, int64_t begin, int64_t end) {
      const Quantizer q = QuantizerOf(low[s], high[s], scale[s]);
      (*CpuLoops().quantize)(q, x.data() + begin, &y[begin].value, end - begin);
    });
  }

 private:
  Quantizer QuantizerOf(float low, float high, float scale) const {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (mode == Mode::kMinFirst) {
      const float shift = low != high ? std::round(low * scale) : 0;
      return {-kInf, kInf, 0, scale, 0, shift - kLow, Rounding::kAwayFromZero};
    }
    if (mode == Mode::kScaled) {
      return {low, high, 0, scale, 0, 0, to_even ? Rounding::kToEven : Rounding::kAwayFromZero};
    }
    if (kLow < 0) return {low, high, low, scale, (kHigh - kLow + 1) / 2, 0, Rounding::kAwayFromZero};
    return {low, high, low, scale, 0, 0, Rounding::kUp};
  }
};

template <class To>
struct Requantize {
  void operator()(KernelContext& k) const {
    const auto from = RangeInput<QInt32>(k, 1, 2);
    const auto to = RangeInput<To>(k, 3, 4);
    k.Require(to.min <= 0, "requested_output_min must be <= 0, but got ", to.min);
    k.Require(to.max >= to.min, "requested_output_max must be >= requested_output_min, but got ", to.max, " and ",
              to.min);
    const auto y = k.out<To>(0, k.shape(0));
    Requantized(k, k.in<QInt32>(0).data(), from, y.data(), to, static_cast<int64_t>(y.size()));
    RangeOutput(k, 1, to.min, to.max);
  }
};

// The range that the numbers use, with zero in it.
Quantization<QInt32> UsedRange(const KernelContext& k) {
  const auto range = RangeInput<QInt32>(k, 1, 2);
  const auto x = k.in<QInt32>(0);
  int32_t low = x.empty() ? 0 : std::numeric_limits<int32_t>::max(),
          high = x.empty() ? 0 : std::numeric_limits<int32_t>::lowest();
  for (const QInt32 v : x) {
    low = std::min(low, v.value);
    high = std::max(high, v.value);
  }
  return {std::min(0.0f, range.ToFloat(low)), range.ToFloat(high)};
}

struct RequantizationRange {
  void operator()(KernelContext& k) const {
    const Quantization<QInt32> used = UsedRange(k);
    RangeOutput(k, 0, used.min, used.max);
  }
};

struct QuantizeDownAndShrinkRange {
  void operator()(KernelContext& k) const {
    const Quantization<QInt32> used = UsedRange(k);
    const auto y = k.out<QUInt8>(0, k.shape(0));
    Requantized(k, k.in<QInt32>(0).data(), RangeInput<QInt32>(k, 1, 2), y.data(),
                Quantization<QUInt8>{used.min, used.max}, static_cast<int64_t>(y.size()));
    RangeOutput(k, 1, used.min, used.max);
  }
};

}  // namespace

void RegisterQuantizeKernels(KernelRegistry& kernels) {
  kernels.Add<Dequantize>("Dequantize", Quantizeds{});
  kernels.Add<QuantizeV2>("QuantizeV2", Quantizeds{});
  kernels.Add<Requantize>("Requantize", Types<QInt8, QUInt8>{}, "out_type").Only("Tinput", {DT_QINT32});
  kernels.Add<RequantizationRange>("RequantizationRange").Only("Tinput", {DT_QINT32});
  kernels.Add<QuantizeDownAndShrinkRange>("QuantizeDownAndShrinkRange")
      .Only("Tinput", {DT_QINT32})
      .Only("out_type", {DT_QUINT8});
}

}  // namespace penstock
