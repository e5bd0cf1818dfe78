// Numbers rounded to what few bits can say, kept as floats.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

namespace {

// A range moved a little so that zero is one of the levels.
struct Levels {
  float low, high, scale, zero, inverse;

  Levels(float min, float max, int64_t bits, bool narrow) {
    const float first = narrow ? 1.0f : 0.0f, last = static_cast<float>((int64_t{1} << bits) - 1);
    scale = (max - min) / (last - first);
    const float from_min = first - min / scale;
    const float zero_point = from_min < first ? first : from_min > last ? last : std::round(from_min);
    low = (first - zero_point) * scale;
    high = (last - zero_point) * scale;
    inverse = 1.0f / scale;
    zero = std::floor(-low * inverse + 0.5f);
  }
  float Round(float x) const {
    const float shifted = std::clamp(x, low, high) - low;
    return std::floor(shifted * inverse - zero + 0.5f) * scale;
  }
  bool Inside(float x) const { return x >= low && x <= high; }
};

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
  Levels levels;
  bool gradient;

  explicit FakeQuantArgs(const NodeView& node)
      : FakeQuantAttrs(node),
        levels(node.attr<float>("min"), node.attr<float>("max"), bits, narrow),
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
    k.Parallel(static_cast<int64_t>(x.size()), 2, [&](int64_t begin, int64_t end) {
      if (gradient) {
        for (int64_t i = begin; i < end; ++i) y[i] = levels.Inside(x[i]) ? dy[i] : 0.0f;
      } else {
        for (int64_t i = begin; i < end; ++i) y[i] = levels.Round(x[i]);
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
    const Levels levels(min, max, bits, narrow);
    k.Parallel(static_cast<int64_t>(x.size()), 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = levels.Round(x[i]);
    });
  }
};

// Adds up the gradients of n elements with step `step`.
void RangeGradient(const Levels* levels, const float* dy, const float* x, int64_t n, int64_t step, float* dx,
                   float* dmin, float* dmax) {
  double low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = i * step;
    const bool inside = !levels || levels->Inside(x[at]);
    dx[at] = inside ? dy[at] : 0.0f;
    if (inside) continue;
    if (x[at] < levels->low) low += dy[at];
    if (x[at] > levels->high) high += dy[at];
  }
  *dmin = static_cast<float>(low);
  *dmax = static_cast<float>(high);
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
    const Levels levels(off ? -1 : min, off ? 1 : max, bits, narrow);
    RangeGradient(off ? nullptr : &levels, dy.data(), x.data(), static_cast<int64_t>(x.size()), 1, dx.data(), dmin,
                  dmax);
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
    const int64_t channels = shape[shape.rank() - 1], n = channels ? shape.num_elements() / channels : 0;
    for (int i : {input + 1, input + 2}) {
      k.Require(k.input(i).rank() == 1, "`", i == input + 1 ? "min" : "max", "` must be rank 1 but is rank ",
                k.input(i).rank());
      k.Require(k.input(i).num_elements() == channels, i == input + 1 ? "min" : "max", " has incorrect size, expected ",
                channels, " was ", k.input(i).num_elements());
    }
    const auto x = k.in<float>(input), min = k.in<float>(input + 1), max = k.in<float>(input + 2);
    auto y = k.out<float>(0, shape);
    std::span<float> dmin, dmax;
    if (gradient) {
      dmin = k.out<float>(1, Shape({channels}));
      dmax = k.out<float>(2, Shape({channels}));
    }
    for (int64_t c = 0; c < channels; ++c) {
      CheckRange(k, min[c], max[c]);
      const bool off = min[c] == 0 && max[c] == 0;
      const Levels levels(off ? -1 : min[c], off ? 1 : max[c], bits, narrow);
      if (gradient) {
        RangeGradient(off ? nullptr : &levels, k.in<float>(0).data() + c, x.data() + c, n, channels, y.data() + c,
                      &dmin[c], &dmax[c]);
      } else {
        for (int64_t i = 0; i < n; ++i) y[i * channels + c] = off ? 0.0f : levels.Round(x[i * channels + c]);
      }
    }
  }
};

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
    if (bits < (is_signed ? 2 : 1) || bits > 62)
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
    for (int64_t s = 0; s < slices; ++s) {
      const auto each = [&](auto f) {
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = (o * slices + s) * inner, end = i + inner; i < end; ++i) f(i);
        }
      };
      T low, high;
      if (range_given) {
        low = first_version ? attr_min : k.in<T>(1)[s];
        high = first_version ? attr_max : k.in<T>(2)[s];
        k.Require(low <= high, "Invalid range: input_min ", low, " > input_max ", high);
      } else {
        low = std::numeric_limits<T>::max();
        high = std::numeric_limits<T>::lowest();
        each([&](int64_t i) {
          low = std::min(low, x[i]);
          high = std::max(high, x[i]);
        });
      }
      const T least = is_signed ? -static_cast<T>((int64_t{1} << (bits - 1)) - (narrow ? 1 : 0)) : T(0);
      const T most = static_cast<T>(is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1);
      constexpr T kHuge = std::numeric_limits<T>::max();
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
      each([&](int64_t i) {
        const T v = range_given ? std::max(std::min(x[i], high), low) : x[i];
        y[i] = (half_up ? std::floor(v * scale + T(0.5)) : std::nearbyint(v * scale)) * inverse;
      });
    }
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
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t s = axis < 0 ? 0 : static_cast<int64_t>(i) / inner % slices;
      dx[i] = x[i] < low[s] || x[i] > high[s] ? T(0) : dy[i];
    }
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
