// Numbers rounded to what few bits can say, kept as floats.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/quantization/quantize_loops.h"

namespace penstock {

namespace {

// Levels of a few ranges, one for each channel, for rows of channels: repeated, so that short rows become long ones.
template <class T>
class ChannelLevels {
 public:
  explicit ChannelLevels(int64_t channels) : rows_(std::max<int64_t>(1, 256 / channels)), width_(rows_ * channels) {
    parts_.resize(width_ * 6);
  }
  void Set(int64_t channel, const Leveler<T>& l) {
    const T values[] = {l.low, l.high, l.offset, l.scale, l.shift, l.step};
    for (int part = 0; part < 6; ++part) {
      for (int64_t r = 0; r < rows_; ++r) parts_[part * width_ + r * (width_ / rows_) + channel] = values[part];
    }
  }
  // All of x, which begins with channel 0.
  void Apply(const KernelContext& k, bool up, const T* x, T* y, int64_t n) const {
    const T* const p = parts_.data();
    const Leveler<const T*> levels = {p, p + width_, p + 2 * width_, p + 3 * width_, p + 4 * width_, p + 5 * width_};
    k.Parallel((n + width_ - 1) / width_, width_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * width_; i < std::min(n, end * width_); i += width_)
        (*CpuLoops().quantize)(levels, up, x + i, y + i, std::min(width_, n - i));
    });
  }

 private:
  int64_t rows_, width_;
  std::vector<T> parts_;
};

template <class T>
void ApplyLevels(const KernelContext& k, const Leveler<T>& levels, bool up, const T* x, T* y, int64_t n) {
  ParallelElements(k, n, 700, [&](int64_t begin, int64_t end) {
    (*CpuLoops().quantize)(levels, up, x + begin, y + begin, end - begin);
  });
}

// A range moved a little so that zero is one of the levels.
Leveler<float> LevelsOf(float min, float max, int64_t bits, bool narrow) {
  const float first = narrow ? 1.0f : 0.0f, last = static_cast<float>((int64_t{1} << bits) - 1);
  const float scale = (max - min) / (last - first);
  const float from_min = first - min / scale;
  const float zero_point = from_min < first ? first : from_min > last ? last : std::round(from_min);
  const float low = (first - zero_point) * scale, high = (last - zero_point) * scale, inverse = 1.0f / scale;
  return {low, high, low, inverse, std::floor(-low * inverse + 0.5f), scale};
}
// The range of an input that stays as it is; gradients pass everywhere.
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Leveler<float> kOff = {-kInf, kInf, 0, 0, 0, 0};

struct FakeQuantAttrs {
  int64_t bits;
  bool narrow;

  explicit FakeQuantAttrs(const NodeView& node)
      : bits(node.attr<int64_t>("num_bits")), narrow(node.attr<bool>("narrow_range")) {
    if (bits < 2 || bits > 16) throw InvalidArgument("num_bits must be between 2 and 16, inclusive");
  }
};

float RangeEnd(KernelContext& k, int i) {
  k.Require(k.input(i).rank() == 0, "`", k.node().op().inputs[i].name, "` must be rank 0 but is rank ",
            k.input(i).rank());
  return *k.input(i).data<float>();
}

void CheckRange(KernelContext& k, float min, float max) {
  k.Require(min <= max, "min has to be smaller than max, was: ", min, " > ", max);
}

struct FakeQuantArgs : FakeQuantAttrs {
  Leveler<float> levels;
  bool gradient;

  explicit FakeQuantArgs(const NodeView& node)
      : FakeQuantAttrs(node),
        levels(LevelsOf(node.attr<float>("min"), node.attr<float>("max"), bits, narrow)),
        gradient(node.op().name.ends_with("Gradient")) {
    if (!(node.attr<float>("min") < node.attr<float>("max"))) {
      throw InvalidArgument("min has to be smaller than max, was: ", node.attr<float>("min"),
                            " >= ", node.attr<float>("max"));
    }
  }
  void operator()(KernelContext& k) const {
    const int input = gradient ? 1 : 0;
    if (gradient) k.Require(k.shape(0) == k.shape(1), "gradient and input must be the same size");
    const auto x = k.in<float>(input), dy = k.in<float>(0);
    auto y = k.OutLike<float>(0, 0);
    const int64_t n = static_cast<int64_t>(x.size());
    if (!gradient) return ApplyLevels(k, levels, true, x.data(), y.data(), n);
    ParallelElements(k, n, 700, [=, low = levels.low, high = levels.high](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) {
        const float v = x[i], d = dy[i];
        y[i] = (v >= low) & (v <= high) ? d : 0.0f;
      }
    });
  }
};

struct FakeQuantVars : FakeQuantAttrs {
  explicit FakeQuantVars(const NodeView& node) : FakeQuantAttrs(node) {}
  void operator()(KernelContext& k) const {
    const float min = RangeEnd(k, 1), max = RangeEnd(k, 2);
    CheckRange(k, min, max);
    const auto x = k.in<float>(0);
    auto y = k.out<float>(0, k.shape(0));
    if (min == 0 && max == 0) {
      std::fill(y.begin(), y.end(), 0.0f);
      return;
    }
    ApplyLevels(k, LevelsOf(min, max, bits, narrow), true, x.data(), y.data(), static_cast<int64_t>(x.size()));
  }
};

// Gradients of rows of channels: dx, and for each channel the sum of dy below its range and the one above. Added up in
// blocks, which do not depend on the number of threads.
void RangeGradients(const KernelContext& k, const std::vector<Leveler<float>>& levels, const float* dy, const float* x,
                    int64_t n, float* dx, float* dmin, float* dmax) {
  const int64_t channels = static_cast<int64_t>(levels.size());
  if (channels == 0) return;
  const int64_t width = channels * std::max<int64_t>(1, 64 / channels);  // short rows are taken together
  std::vector<float> low(width), high(width);
  for (int64_t i = 0; i < width; ++i) low[i] = levels[i % channels].low, high[i] = levels[i % channels].high;
  const int64_t block = width * std::max<int64_t>(1, 16384 / width), blocks = (n + block - 1) / block;
  std::vector<double> sums(blocks * 2 * width);
  k.Parallel(blocks, block, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double *below = &sums[b * 2 * width], *above = below + width;
      for (int64_t i = b * block, stop = std::min(n, i + block); i < stop; i += width) {
        const int64_t run = std::min(width, stop - i);
#pragma GCC ivdep
        for (int64_t c = 0; c < run; ++c) {
          const float v = x[i + c], d = dy[i + c];
          dx[i + c] = (v >= low[c]) & (v <= high[c]) ? d : 0.0f;
          below[c] += v < low[c] ? d : 0.0f;
          above[c] += v > high[c] ? d : 0.0f;
        }
      }
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    double below = 0, above = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t i = c; i < width; i += channels)
        below += sums[2 * b * width + i], above += sums[(2 * b + 1) * width + i];
    }
    dmin[c] = static_cast<float>(below);
    dmax[c] = static_cast<float>(above);
    for (int64_t i = c; levels[c].low == -kInf && i < n; i += channels) dx[i] = dy[i];  // of NaN, too
  }
}

struct FakeQuantVarsGradient : FakeQuantAttrs {
  explicit FakeQuantVarsGradient(const NodeView& node) : FakeQuantAttrs(node) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0) == k.shape(1), "gradient and input must be the same size");
    const float min = RangeEnd(k, 2), max = RangeEnd(k, 3);
    CheckRange(k, min, max);
    const auto dy = k.in<float>(0), x = k.in<float>(1);
    auto dx = k.out<float>(0, k.shape(0));
    float *dmin = k.out<float>(1, Shape()).data(), *dmax = k.out<float>(2, Shape()).data();
    const bool off = min == 0 && max == 0;
    RangeGradients(k, {off ? kOff : LevelsOf(min, max, bits, narrow)}, dy.data(), x.data(),
                   static_cast<int64_t>(x.size()), dx.data(), dmin, dmax);
  }
};

struct FakeQuantPerChannel : FakeQuantAttrs {
  bool gradient;

  explicit FakeQuantPerChannel(const NodeView& node)
      : FakeQuantAttrs(node), gradient(node.op().name.ends_with("Gradient")) {}
  void operator()(KernelContext& k) const {
    const int input = gradient ? 1 : 0;
    const Shape shape = k.shape(input);
    if (gradient) k.Require(k.shape(0) == shape, "gradient and input must be the same size");
    k.Require(shape.rank() >= 1, "`inputs` must be at least rank 1");
    const int64_t channels = shape[shape.rank() - 1], n = shape.num_elements();
    for (int i : {input + 1, input + 2}) {
      k.Require(k.input(i).rank() == 1, "`", i == input + 1 ? "min" : "max", "` must be rank 1 but is rank ",
                k.input(i).rank());
      k.Require(k.input(i).num_elements() == channels, i == input + 1 ? "min" : "max", " has incorrect size, expected ",
                channels, " was ", k.input(i).num_elements());
    }
    const auto x = k.in<float>(input), min = k.in<float>(input + 1), max = k.in<float>(input + 2);
    auto y = k.out<float>(0, shape);
    std::vector<Leveler<float>> levels(channels, kOff);
    std::vector<int64_t> off;
    for (int64_t c = 0; c < channels; ++c) {
      CheckRange(k, min[c], max[c]);
      if (min[c] == 0 && max[c] == 0) {
        off.push_back(c);
      } else {
        levels[c] = LevelsOf(min[c], max[c], bits, narrow);
      }
    }
    if (gradient) {
      const auto dmin = k.out<float>(1, Shape({channels})), dmax = k.out<float>(2, Shape({channels}));
      return RangeGradients(k, levels, k.in<float>(0).data(), x.data(), n, y.data(), dmin.data(), dmax.data());
    }
    if (n == 0) return;
    ChannelLevels<float> all(channels);
    for (int64_t c = 0; c < channels; ++c) all.Set(c, levels[c]);
    all.Apply(k, true, x.data(), y.data(), n);
    for (const int64_t c : off) {
      for (int64_t i = c; i < n; i += channels) y[i] = 0;
    }
  }
};

// The smallest and the largest of n numbers; NaN is left out.
template <class T>
std::pair<T, T> RangeOf(const T* x, int64_t n) {
  T low, high;
  CpuLoops()(ReduceOp::kMin, kTypeOf<T>).rows(x, 1, n, &low);
  CpuLoops()(ReduceOp::kMax, kTypeOf<T>).rows(x, 1, n, &high);
  if (low == low && high == high) return {low, high};
  low = std::numeric_limits<T>::max();
  high = std::numeric_limits<T>::lowest();
  for (int64_t i = 0; i < n; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  return {low, high};
}

// QuantizeAndDequantize of all versions: symmetric levels, scaled to a range that is given or found.
template <class T>
struct QuantizeAndDequantize {
  bool is_signed, range_given, narrow, half_up;
  int64_t bits = 0, axis;
  T attr_min = 0, attr_max = 0;
  bool first_version;

  explicit QuantizeAndDequantize(const NodeView& node)
      : is_signed(node.attr<bool>("signed_input")),
        range_given(node.attr<bool>("range_given")),
        narrow(node.attr_or<bool>("narrow_range", false)),
        half_up(node.attr_or<std::string>("round_mode", "") == "HALF_UP"),
        axis(node.attr_or<int64_t>("axis", -1)),
        first_version(node.op().name == "QuantizeAndDequantize") {
    if (const AttrValue* value = node.attrs().Find("num_bits")) {
      bits = *value->If<int64_t>();
      CheckBits();
    }
    if (first_version) {
      attr_min = node.attr<float>("input_min");
      attr_max = node.attr<float>("input_max");
    }
  }
  void CheckBits() const {
    if (bits < (is_signed ? 2 : 1) || bits > (is_signed ? 61 : 62))
      throw InvalidArgument("num_bits is out of range: ", bits, " with signed_input_ ", is_signed);
  }
  void operator()(KernelContext& k) const {
    QuantizeAndDequantize self = *this;
    if (k.num_inputs() > 3) {
      self.bits = k.Int(3);
      self.CheckBits();
    }
    self.Run(k);
  }

 private:
  void Run(KernelContext& k) const {
    const Shape shape = k.shape(0);
    k.Require(axis >= -1, "Axis must be at least -1. Found ", axis);
    k.Require(axis < shape.rank(), "Shape must be at least rank ", axis + 1, " but is rank ", shape.rank());
    const int64_t slices = axis < 0 ? 1 : shape[static_cast<int>(axis)];
    int64_t inner = 1;
    for (int i = static_cast<int>(axis) + 1; axis >= 0 && i < shape.rank(); ++i) inner *= shape[i];
    if (axis < 0) inner = shape.num_elements();
    const int64_t outer = slices * inner > 0 ? shape.num_elements() / (slices * inner) : 0;
    if (range_given && !first_version) {
      for (int i : {1, 2})
        k.Require(k.input(i).num_elements() == slices, "input_min and input_max must have ", slices, " elements, got ",
                  k.input(i).num_elements());
    }
    const auto x = k.in<T>(0);
    auto y = k.OutLike<T>(0);
    const int64_t n = shape.num_elements();
    if (n == 0) return;
    std::vector<Leveler<T>> levels(slices);
    for (int64_t s = 0; s < slices; ++s) {
      T low, high;
      if (range_given) {
        low = first_version ? attr_min : k.in<T>(1)[s];
        high = first_version ? attr_max : k.in<T>(2)[s];
        k.Require(low <= high, "Invalid range: input_min ", low, " > input_max ", high);
      } else {
        std::tie(low, high) = Range(k, x.data(), s, slices, outer, inner);
      }
      levels[s] = LevelsFor(low, high);
    }
    if (slices == 1) return ApplyLevels(k, levels[0], half_up, x.data(), y.data(), n);
    if (inner == 1) {
      ChannelLevels<T> all(slices);
      for (int64_t s = 0; s < slices; ++s) all.Set(s, levels[s]);
      return all.Apply(k, half_up, x.data(), y.data(), n);
    }
    k.Parallel(outer * slices, inner, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run)
        (*CpuLoops().quantize)(levels[run % slices], half_up, &x[run * inner], &y[run * inner], inner);
    });
  }
  // What slice s holds.
  static std::pair<T, T> Range(const KernelContext& k, const T* x, int64_t s, int64_t slices, int64_t outer,
                               int64_t inner) {
    constexpr int64_t kBlock = 16384;
    const int64_t blocks = (inner + kBlock - 1) / kBlock;  // of a run
    std::vector<std::pair<T, T>> ranges(outer * blocks);
    k.Parallel(outer * blocks, std::min(inner, kBlock), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i % blocks * kBlock;
        ranges[i] = RangeOf(x + (i / blocks * slices + s) * inner + at, std::min(kBlock, inner - at));
      }
    });
    std::pair<T, T> all = ranges[0];
    for (const auto& [low, high] : ranges) all = {std::min(all.first, low), std::max(all.second, high)};
    return all;
  }
  Leveler<T> LevelsFor(T low, T high) const {
    const T least = is_signed ? -static_cast<T>((int64_t{1} << (bits - 1)) - (narrow ? 1 : 0)) : T(0);
    const T most = static_cast<T>(is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1);
    constexpr T kHuge = std::numeric_limits<T>::max(), kEnd = std::numeric_limits<T>::infinity();
    const T from_low = least * low > 0 ? least / low : kHuge, from_high = most * high > 0 ? most / high : kHuge;
    T scale, inverse;
    if (from_low < from_high) {
      scale = from_low;
      inverse = low / least;
      high = most * inverse;
    } else {
      scale = from_high;
      inverse = high / most;
      low = least * inverse;
    }
    return {range_given ? low : -kEnd, range_given ? high : kEnd, 0, scale, 0, inverse};
  }
};

template <class T>
struct QuantizeAndDequantizeGrad {
  int64_t axis;

  explicit QuantizeAndDequantizeGrad(const NodeView& node) : axis(node.attr<int64_t>("axis")) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(1);
    k.Require(k.shape(0) == shape, "gradient and input must be the same size");
    k.Require(axis >= -1 && axis < shape.rank(), "Axis should be -1 or less than ", shape.rank(), ", got ", axis);
    const int64_t slices = axis < 0 ? 1 : shape[static_cast<int>(axis)];
    for (int i : {2, 3})
      k.Require(k.input(i).num_elements() == slices, "input_min and input_max must have ", slices, " elements");
    int64_t inner = 1;
    for (int i = static_cast<int>(axis) + 1; axis >= 0 && i < shape.rank(); ++i) inner *= shape[i];
    const auto dy = k.in<T>(0), x = k.in<T>(1), low = k.in<T>(2), high = k.in<T>(3);
    auto dx = k.out<T>(0, shape);
    if (axis < 0) inner = shape.num_elements();
    k.Parallel(inner ? shape.num_elements() / inner : 0, inner, [&](int64_t begin, int64_t end) {
      for (int64_t run = begin; run < end; ++run) {
        const T least = low[run % slices], most = high[run % slices];
#pragma GCC ivdep
        for (int64_t i = run * inner; i < (run + 1) * inner; ++i) dx[i] = (x[i] < least) | (x[i] > most) ? T(0) : dy[i];
      }
    });
    for (int i : {1, 2}) {
      auto zeros = k.out<T>(i, k.shape(i + 1));
      std::fill(zeros.begin(), zeros.end(), T(0));
    }
  }
};

}  // namespace

void RegisterFakeQuantKernels(KernelRegistry& kernels) {
  kernels.Add<FakeQuantArgs>("FakeQuantWithMinMaxArgs");
  kernels.Add<FakeQuantArgs>("FakeQuantWithMinMaxArgsGradient");
  kernels.Add<FakeQuantVars>("FakeQuantWithMinMaxVars");
  kernels.Add<FakeQuantVarsGradient>("FakeQuantWithMinMaxVarsGradient");
  kernels.Add<FakeQuantPerChannel>("FakeQuantWithMinMaxVarsPerChannel");
  kernels.Add<FakeQuantPerChannel>("FakeQuantWithMinMaxVarsPerChannelGradient");
  using T = Types<float, double>;
  for (const char* op :
       {"QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"}) {
    kernels.Add<QuantizeAndDequantize>(op, T{});
  }
  kernels.Add<QuantizeAndDequantizeGrad>("QuantizeAndDequantizeV4Grad", T{});
}

}  // namespace penstock
