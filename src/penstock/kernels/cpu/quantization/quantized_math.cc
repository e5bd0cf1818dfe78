// Sums, products, normalisation and joining of quantized numbers.
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/quantization/quantized.h"

namespace penstock {
namespace {

Quantization<QUInt8> ProperRange(const KernelContext& k, int min, int max) {
  const auto range = RangeInput<QUInt8>(k, min, max);
  const auto& names = k.node().op().inputs;
  k.Require(range.max > range.min, names[max].name, " must be larger than ", names[min].name, ".");
  return range;
}

// z = f(x, y) of numbers of 8 bits, which are stretched to one shape, by a table of what each means to f.
template <class F>
void Combine(KernelContext& k, const int32_t (&of_x)[256], const int32_t (&of_y)[256], const F& f) {
  const Shape* const shapes[] = {&k.shape(0), &k.shape(1)};
  const Broadcast plan = MakeBroadcast(shapes);
  const QUInt8 *const x = k.in<QUInt8>(0).data(), *const y = k.in<QUInt8>(1).data();
  QInt32* const z = k.out<QInt32>(0, plan.out).data();
  const int64_t step_x = plan.strides[0].back(), step_y = plan.strides[1].back();
  ParallelElements(k, plan.out.num_elements(), 2000, [&](int64_t begin, int64_t end) {
    ForEachRun(plan, begin, end, [&](int64_t at, const int64_t* from, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        z[at + i].value = f(of_x[x[from[0] + i * step_x].value], of_y[y[from[1] + i * step_y].value]);
      }
    });
  });
}

// Wraps around, as TensorFlow's sums do.
int32_t WrappingSum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

struct QuantizedAdd {
  // What the levels of x's range are among those of `total`: of a single number each for itself, of several evenly
  // from the first two on, as TensorFlow has it.
  static void Levels(const Quantization<QUInt8>& range, const Quantization<QInt32>& total, bool one,
                     int32_t (&levels)[256]) {
    const int64_t first = total.Unclamped(range.ToFloat(0)), step = total.Unclamped(range.ToFloat(1)) - first;
    for (int i = 0; i < 256; ++i) {
      const int64_t even = std::clamp(first + i * step, Quantization<QInt32>::kLow, Quantization<QInt32>::kHigh);
      levels[i] = one ? total.ToLevel(range.ToFloat(static_cast<uint8_t>(i))) : static_cast<int32_t>(even);
    }
  }

  void operator()(KernelContext& k) const {
    const auto range_x = ProperRange(k, 2, 3), range_y = ProperRange(k, 4, 5);
    // Symmetric around zero, and wide enough for sums of sums.
    const float largest =
        std::max(std::abs(std::min(range_x.min, range_y.min)), std::abs(std::max(range_x.max, range_y.max))) *
        (1 << 14);
    const Quantization<QInt32> total{-largest, largest};
    int32_t of_x[256], of_y[256];
    const bool one_x = k.input(0).num_elements() == 1;
    Levels(range_x, total, one_x, of_x);
    Levels(range_y, total, !one_x && k.input(1).num_elements() == 1, of_y);
    Combine(k, of_x, of_y, WrappingSum);
    RangeOutput(k, 1, total.min, total.max);
  }
};

struct QuantizedMul {
  void operator()(KernelContext& k) const {
    const auto range_x = ProperRange(k, 2, 3), range_y = ProperRange(k, 4, 5);
    const int32_t zero_x = Saturate<int32_t>(static_cast<double>(range_x.Unclamped(0)));
    const int32_t zero_y = Saturate<int32_t>(static_cast<double>(range_y.Unclamped(0)));
    int32_t of_x[256], of_y[256];
    for (int i = 0; i < 256; ++i) {
      of_x[i] = WrappingSum(i, -zero_x);
      of_y[i] = WrappingSum(i, -zero_y);
    }
    Combine(k, of_x, of_y, [](int32_t a, int32_t b) {
      return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    });
    const float step = range_x.Step() * range_y.Step();
    RangeOutput(k, 1, step * static_cast<float>(Quantization<QInt32>::kLow),
                step * static_cast<float>(Quantization<QInt32>::kHigh));
  }
};

// Each channel of each image with mean 0 and deviation 1, in a range that all numbers fit or that is given.
class QuantizedInstanceNorm {
 public:
  explicit QuantizedInstanceNorm(const NodeView& node)
      : given_(node.attr<bool>("output_range_given")),
        range_{node.attr<float>("given_y_min"), node.attr<float>("given_y_max")},
        epsilon_(node.attr<float>("variance_epsilon")),
        least_(node.attr<float>("min_separation")) {
    KernelContext::Require(!given_ || range_.min < range_.max,
                           "given_y_min must be less than given_y_max : ", range_.min, " >= ", range_.max);
  }
  void operator()(KernelContext& k) const {
    const auto in = RangeInput<QUInt8>(k, 1, 2);
    k.Require(in.min < in.max, "input_min must be less than input_max : ", in.min, " >= ", in.max);
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() == 4, "x must be 4-dimensional, but has shape ", shape);
    const int64_t images = shape[0], pixels = shape[1] * shape[2], channels = shape[3];
    const float scale = (in.max - in.min) / 255.0f;
    const QUInt8* x = k.in<QUInt8>(0).data();
    const auto y = k.out<QUInt8>(0, shape);
    std::vector<float> means(images * channels), factors(images * channels);
    float low = std::numeric_limits<float>::max(), high = std::numeric_limits<float>::lowest();
    for (int64_t i = 0; i < images * channels && pixels > 0; ++i) {
      const QUInt8* from = x + i / channels * pixels * channels + i % channels;
      double sum = 0, squares = 0;
      int64_t least = 255, most = 0;
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t v = from[p * channels].value;
        sum += static_cast<double>(v);
        squares += static_cast<double>(v * v);
        least = std::min(least, v), most = std::max(most, v);
      }
      const double mean = sum / static_cast<double>(pixels);
      const double variance = (squares / static_cast<double>(pixels) - mean * mean) * scale * scale;
      means[i] = static_cast<float>(mean);
      factors[i] = static_cast<float>(scale / std::sqrt(variance + epsilon_));
      low = std::min(low, (static_cast<float>(least) - means[i]) * factors[i]);
      high = std::max(high, (static_cast<float>(most) - means[i]) * factors[i]);
    }
    Quantization<QUInt8> out = given_ ? range_ : Quantization<QUInt8>{low, high};
    if (out.max - out.min < least_) out.max = out.min + least_;
    k.Parallel(images * pixels, channels * 4, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t i = p / pixels * channels + c;
          const float v = (static_cast<float>(x[p * channels + c].value) - means[i]) * factors[i];
          y[p * channels + c].value = out.ToLevel(v);
        }
      }
    });
    RangeOutput(k, 1, out.min, out.max);
  }

 private:
  bool given_;
  Quantization<QUInt8> range_;
  float epsilon_, least_;
};

// In fixed-point numbers with about ten bits behind the point.
class QuantizedBatchNorm {
 public:
  explicit QuantizedBatchNorm(const NodeView& node)
      : epsilon_(node.attr<float>("variance_epsilon")), scales_(node.attr<bool>("scale_after_normalization")) {}
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() == 4, "input must be 4-dimensional", shape);
    const int64_t channels = shape[3];
    constexpr const char* kNames[] = {"mean", "var", "beta", "gamma"};
    for (int i = 0; i < 4; ++i) {
      k.Require(k.shape(3 * i + 3).rank() == 1, kNames[i], " must be 1-dimensional", k.shape(3 * i + 3));
      k.Require(k.shape(3 * i + 3)[0] == channels, kNames[i], " must have a number for each of ", channels,
                " channels, but has shape ", k.shape(3 * i + 3));
    }
    constexpr float kMost = 1 << 20;
    const Quantization<QInt32> space{-kMost, kMost};
    const auto value = [&](int input, int64_t at) {
      return RangeInput<QUInt8>(k, input + 1, input + 2).ToFloat(k.in<QUInt8>(input)[at].value);
    };
    std::vector<int32_t> scales(channels), offsets(channels);
    for (int64_t c = 0; c < channels; ++c) {
      float scale = 1.0f / std::sqrt(value(6, c) + epsilon_);
      if (scales_) scale *= value(12, c);
      scales[c] = space.ToLevel(scale);
      offsets[c] = space.ToLevel(-value(3, c) * scale + value(9, c));
    }
    const auto range = RangeInput<QUInt8>(k, 1, 2);
    int32_t levels[256];
    for (int i = 0; i < 256; ++i) levels[i] = space.ToLevel(range.ToFloat(static_cast<uint8_t>(i)));
    const int32_t one = space.ToLevel(1.0f);
    const auto x = k.in<QUInt8>(0);
    const auto y = k.out<QInt32>(0, shape);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i % channels;
      // The product wraps around, as TensorFlow's does.
      const auto product =
          static_cast<int32_t>(static_cast<uint32_t>(levels[x[i].value]) * static_cast<uint32_t>(scales[c]));
      y[i].value = WrappingSum(product / one, offsets[c]);
    }
    RangeOutput(k, 1, space.min, space.max);
  }

 private:
  float epsilon_;
  bool scales_;
};

// Joined in the smallest range that holds those of all, with zero in it; around zero for signed numbers.
template <class Q>
class QuantizedConcat {
 public:
  explicit QuantizedConcat(const NodeView& node)
      : n_(static_cast<int>(node.attr<int64_t>("N"))),
        axis_(node.op().name == "QuantizedConcat" ? 0 : n_),
        first_(axis_ == 0 ? 1 : 0) {}
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(first_);
    const int64_t axis = k.Int(axis_);
    k.Require(axis >= 0 && axis < shape.rank(), "ConcatOp : Expected concatenating dimensions in the range [0, ",
              shape.rank(), "), but got ", axis);
    std::vector<Quantization<Q>> ranges;
    Quantization<Q> all{0, std::numeric_limits<float>::lowest()};
    Shape joined = shape;
    int64_t length = 0;
    for (int i = 0; i < n_; ++i) {
      const Shape& part = k.shape(first_ + i);
      k.Require(part.rank() == shape.rank(), "ConcatOp : Ranks of all input tensors should match: shape[0] = ", shape,
                " vs. shape[", i, "] = ", part);
      for (int d = 0; d < shape.rank(); ++d) {
        k.Require(d == axis || part[d] == shape[d], "ConcatOp : Dimensions of inputs should match: shape[0] = ", shape,
                  " vs. shape[", i, "] = ", part);
      }
      length += part[static_cast<int>(axis)];
      ranges.push_back(Range(k, n_ + 1 + i, 2 * n_ + 1 + i));
      all.min = std::min(all.min, ranges.back().min);
      all.max = std::max(all.max, ranges.back().max);
    }
    if (Quantization<Q>::kLow < 0) {
      all.max = std::max(std::abs(all.min), std::abs(all.max));
      all.min = -all.max;
    }
    joined.set_dim(static_cast<int>(axis), length);
    Q* const out = k.out<Q>(0, joined).data();
    int64_t inner = 1, outer = 1;
    for (int d = 0; d < shape.rank(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
    int64_t begin = 0;
    for (int i = 0; i < n_; ++i) {
      const int64_t row = k.shape(first_ + i)[static_cast<int>(axis)] * inner;
      const Q* const in = k.in<Q>(first_ + i).data();
      const bool same = ranges[i].min == all.min && ranges[i].max == all.max;
      for (int64_t o = 0; o < outer; ++o) {
        Q* const to = out + o * length * inner + begin;
        if (same) {
          std::copy_n(in + o * row, row, to);
        } else {
          Requantized<Q, Q>(k, in + o * row, ranges[i], to, all, row);
        }
      }
      begin += row;
    }
    RangeOutput(k, 1, all.min, all.max);
  }

 private:
  static Quantization<Q> Range(const KernelContext& k, int min, int max) {
    k.Require(k.input(min).num_elements() == 1 && k.input(max).num_elements() == 1,
              "input_mins and input_maxes must be scalars, but have shapes ", k.shape(min), " and ", k.shape(max));
    return {*k.input(min).data<float>(), *k.input(max).data<float>()};
  }
  int n_, axis_, first_;
};

}  // namespace

void RegisterQuantizedMathKernels(KernelRegistry& kernels) {
  kernels.Add<QuantizedAdd>("QuantizedAdd")
      .Only("T1", {DT_QUINT8})
      .Only("T2", {DT_QUINT8})
      .Only("Toutput", {DT_QINT32});
  kernels.Add<QuantizedMul>("QuantizedMul")
      .Only("T1", {DT_QUINT8})
      .Only("T2", {DT_QUINT8})
      .Only("Toutput", {DT_QINT32});
  kernels.Add<QuantizedInstanceNorm>("QuantizedInstanceNorm").Only("T", {DT_QUINT8});
  kernels.Add<QuantizedBatchNorm>("QuantizedBatchNormWithGlobalNormalization")
      .Only("Tinput", {DT_QUINT8})
      .Only("out_type", {DT_QINT32});
  kernels.Add<QuantizedConcat>("QuantizedConcat", Types<QUInt8, QInt32>{}).HostInput(0);
  kernels.Add<QuantizedConcat>("QuantizedConcatV2", Types<QUInt8, QInt8, QInt32>{});
}

}  // namespace penstock
