// Layers of networks on quantized numbers: products and convolutions in 32 bits, rectifiers, pools.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/nn/pool.h"
#include "penstock/kernels/cpu/quantization/quantized.h"

namespace penstock {
namespace {

// The range of sums of products of numbers of two ranges.
template <class A, class B>
void ProductRange(KernelContext& k, int out, const Quantization<A>& a, const Quantization<B>& b) {
  const float step = a.Step() * b.Step();
  RangeOutput(k, out, step * static_cast<float>(Quantization<QInt32>::kLow),
              step * static_cast<float>(Quantization<QInt32>::kHigh));
}

// The level of zero, which the products are taken from.
template <class Q>
int32_t ZeroOf(const KernelContext& k, const Quantization<Q>& range) {
  k.Require(range.min <= range.max, "the minimum of a range must be at most its maximum: ", range.min, " vs. ",
            range.max);
  return Saturate<int32_t>(static_cast<double>(range.Unclamped(0)));
}

struct QuantizedMatMul {
  bool transpose_a, transpose_b;

  explicit QuantizedMatMul(const NodeView& node)
      : transpose_a(node.attr<bool>("transpose_a")), transpose_b(node.attr<bool>("transpose_b")) {}
  void operator()(KernelContext& k) const {
    const Shape &sa = k.shape(0), &sb = k.shape(1);
    k.Require(sa.rank() == 2, "In[0] is not a matrix");
    k.Require(sb.rank() == 2, "In[1] is not a matrix");
    const int64_t m = sa[transpose_a ? 1 : 0], depth = sa[transpose_a ? 0 : 1], n = sb[transpose_b ? 0 : 1];
    k.Require(depth == sb[transpose_b ? 1 : 0], "Matrix size-compatible: In[0]: ", sa, ", In[1]: ", sb);
    const auto range_a = RangeInput<QUInt8>(k, 2, 3), range_b = RangeInput<QUInt8>(k, 4, 5);
    const uint32_t zero_a = ZeroOf(k, range_a), zero_b = ZeroOf(k, range_b);
    const auto a = k.in<QUInt8>(0), b = k.in<QUInt8>(1);
    const auto c = k.out<QInt32>(0, Shape({m, n}));
    const int64_t step_a = transpose_a ? m : 1, row_a = transpose_a ? 1 : depth;
    const int64_t step_b = transpose_b ? 1 : n, column_b = transpose_b ? depth : 1;
    k.Parallel(m, depth * n, [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> row(n);  // sums wrap around, as TensorFlow's do
      for (int64_t i = begin; i < end; ++i) {
        std::fill(row.begin(), row.end(), 0u);
        for (int64_t d = 0; d < depth; ++d) {
          const uint32_t x = a[i * row_a + d * step_a].value - zero_a;
          const QUInt8* from = b.data() + d * step_b;
          for (int64_t j = 0; j < n; ++j) row[j] += x * (from[j * column_b].value - zero_b);
        }
        for (int64_t j = 0; j < n; ++j) c[i * n + j].value = static_cast<int32_t>(row[j]);
      }
    });
    ProductRange(k, 1, range_a, range_b);
  }
};

template <class F>
struct QuantizedConv2D {
  WindowAttrs attrs;

  explicit QuantizedConv2D(const NodeView& node) : attrs(node) {
    for (const int64_t d : attrs.dilations) {
      if (d != 1) throw InvalidArgument("Current implementation does not yet support dilation rates larger than 1.");
    }
  }
  void operator()(KernelContext& k) const {
    const Shape &input = k.shape(0), &filter = k.shape(1);
    k.Require(input.rank() == 4, "input must be rank 4 but is rank ", input.rank());
    k.Require(filter.rank() == 4, "filter must be rank 4 but is rank ", filter.rank());
    k.Require(input[3] == filter[2], "input and filter must have the same depth: ", input[3], " vs ", filter[2]);
    const auto range_x = RangeInput<QUInt8>(k, 2, 3);
    const auto range_f = RangeInput<F>(k, 4, 5);
    const uint32_t zero_x = ZeroOf(k, range_x), zero_f = ZeroOf(k, range_f);
    const Windows w = MakeWindows(attrs, input, filter.dims().first(2));
    const int64_t channels = input[3], n = filter[3];
    const Shape shape = ImageShape(attrs.format, w.batch, w.out, n);
    const auto x = k.in<QUInt8>(0);
    const auto f = k.in<F>(1);
    const auto y = k.out<QInt32>(0, shape);
    const int64_t rows = w.batch * w.OutPixels();
    k.Parallel(rows, std::max<int64_t>(1, w.Taps() * channels * n / 2), [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> sums(n);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t column = row % w.out[2], line = row / w.out[2] % w.out[1], image = row / w.OutPixels();
        std::fill(sums.begin(), sums.end(), 0u);
        for (int64_t a = 0; a < w.filter[1]; ++a) {
          const int64_t i = line * w.stride[1] - w.pad[1] + a;
          if (i < 0 || i >= w.in[1]) continue;
          for (int64_t b = 0; b < w.filter[2]; ++b) {
            const int64_t j = column * w.stride[2] - w.pad[2] + b;
            if (j < 0 || j >= w.in[2]) continue;
            const QUInt8* pixel = &x[((image * w.in[1] + i) * w.in[2] + j) * channels];
            for (int64_t c = 0; c < channels; ++c) {
              const uint32_t v = pixel[c].value - zero_x;
              const F* tap = &f[((a * w.filter[2] + b) * channels + c) * n];
              for (int64_t o = 0; o < n; ++o) sums[o] += v * (static_cast<uint32_t>(tap[o].value) - zero_f);
            }
          }
        }
        for (int64_t o = 0; o < n; ++o) y[row * n + o].value = static_cast<int32_t>(sums[o]);
      }
    });
    ProductRange(k, 1, range_x, range_f);
  }
};

// QuantizedRelu, QuantizedRelu6, QuantizedReluX: between the levels of zero and of the largest value.
template <class Q>
struct QuantizedRelu {
  bool six, given;

  explicit QuantizedRelu(const NodeView& node)
      : six(node.op().name == "QuantizedRelu6"), given(node.op().name == "QuantizedReluX") {}
  void operator()(KernelContext& k) const {
    const int first = given ? 2 : 1;
    const auto range = RangeInput<Q>(k, first, first + 1);
    const auto low = range.ToLevel(0);
    auto high = std::numeric_limits<typename Quantization<Q>::I>::max();
    if (six) high = range.ToLevel(6);
    if (given) high = range.ToLevel(k.Scalar<float>(1));
    const auto x = k.in<Q>(0);
    const auto y = k.out<Q>(0, k.shape(0));
    for (size_t i = 0; i < x.size(); ++i) y[i].value = std::min(std::max(x[i].value, low), high);
    RangeOutput(k, 1, range.min, range.max);
  }
};

template <class Q>
struct QuantizedBiasAdd {
  void operator()(KernelContext& k) const {
    const Shape &shape = k.shape(0), &bias = k.shape(1);
    k.Require(shape.rank() >= 2, "Input tensor must be at least 2D: ", shape);
    k.Require(bias.rank() == 1, "Biases must be 1D: ", bias);
    k.Require(bias[0] == shape[shape.rank() - 1],
              "Must provide as many biases as the last dimension of the input tensor: ", bias, " vs. ", shape);
    const auto range_x = RangeInput<Q>(k, 2, 3), range_b = RangeInput<Q>(k, 4, 5);
    // Symmetric around zero, and wide enough for sums.
    const float high = std::max({range_x.max, -range_x.min, range_b.max, -range_b.min}) * (1 << 17);
    const Quantization<QInt32> total{-high, high};
    const uint32_t zero = static_cast<uint32_t>(total.ToLevel(0));
    const auto y = k.out<QInt32>(0, shape);
    Tensor wide = k.Temp(DT_QINT32, bias);
    Requantized(k, k.in<Q>(0).data(), range_x, y.data(), total, static_cast<int64_t>(y.size()));
    Requantized(k, k.in<Q>(1).data(), range_b, wide.mutable_data<QInt32>(), total, bias[0]);
    const QInt32* b = wide.data<QInt32>();
    const size_t n = static_cast<size_t>(bias[0]);
    for (size_t i = 0; i < y.size(); ++i) {
      y[i].value =
          static_cast<int32_t>(static_cast<uint32_t>(y[i].value) + static_cast<uint32_t>(b[i % n].value) + zero);
    }
    RangeOutput(k, 1, -high, high);
  }
};

template <class Q>
struct QuantizedPool {
  WindowAttrs attrs;
  bool average;

  explicit QuantizedPool(const NodeView& node) : attrs(node), average(node.op().name == "QuantizedAvgPool") {
    if (attrs.ksize[0] != 1 || attrs.strides[0] != 1)
      throw Unimplemented("Pooling is not yet supported on the batch dimension.");
    if (attrs.ksize[3] != 1 || attrs.strides[3] != 1)
      throw Unimplemented("Pooling is not yet supported on the depth dimension.");
    for (int d = 0; d < 4; ++d) {
      if (attrs.ksize[d] <= 0) throw InvalidArgument("Sliding window ksize for dimension ", d, " must be positive");
      if (attrs.strides[d] <= 0) throw InvalidArgument("Sliding window stride for dimension ", d, " must be positive");
    }
  }
  void operator()(KernelContext& k) const {
    const Shape& input = k.shape(0);
    k.Require(input.rank() == 4, "tensor_in must be 4-dimensional, but has shape ", input);
    const auto range = RangeInput<Q>(k, 1, 2);
    Windows w = MakeWindows(attrs, input, std::span<const int64_t>(attrs.ksize).subspan(1, 2));
    DropOuterTaps(w);
    const int64_t n = input[3];
    const auto x = k.in<Q>(0);
    const auto y = k.out<Q>(0, ImageShape(attrs.format, w.batch, w.out, n));
    k.Parallel(w.batch * w.OutPixels(), std::max<int64_t>(1, w.Taps() * n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t column = row % w.out[2], line = row / w.out[2] % w.out[1], image = row / w.OutPixels();
        for (int64_t c = 0; c < n; ++c) {
          int64_t sum = 0, count = 0, most = std::numeric_limits<int64_t>::min();
          for (int64_t a = 0; a < w.filter[1]; ++a) {
            const int64_t i = line * w.stride[1] - w.pad[1] + a;
            for (int64_t b = 0; b < w.filter[2]; ++b) {
              const int64_t j = column * w.stride[2] - w.pad[2] + b;
              if (i < 0 || i >= w.in[1] || j < 0 || j >= w.in[2]) continue;
              const int64_t v = x[((image * w.in[1] + i) * w.in[2] + j) * n + c].value;
              sum += v;
              most = std::max(most, v);
              ++count;
            }
          }
          const int64_t result = count == 0 ? 0 : average ? sum / count : most;
          y[row * n + c].value = static_cast<typename Quantization<Q>::I>(result);
        }
      }
    });
    RangeOutput(k, 1, range.min, range.max);
  }
};

}  // namespace

void RegisterQuantizedNnKernels(KernelRegistry& kernels) {
  kernels.Add<QuantizedMatMul>("QuantizedMatMul")
      .Only("T1", {DT_QUINT8})
      .Only("T2", {DT_QUINT8})
      .Only("Toutput", {DT_QINT32});
  kernels.Add<QuantizedConv2D>("QuantizedConv2D", Types<QInt8, QUInt8>{}, "Tfilter")
      .Only("Tinput", {DT_QUINT8})
      .Only("out_type", {DT_QINT32});
  for (const char* op : {"QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"}) {
    kernels.Add<QuantizedRelu<QUInt8>>(op).Only("Tinput", {DT_QUINT8}).Only("out_type", {DT_QUINT8});
    kernels.Add<QuantizedRelu<QInt32>>(op).Only("Tinput", {DT_QINT32}).Only("out_type", {DT_QINT32});
  }
  kernels.Add<QuantizedBiasAdd<QInt8>>("QuantizedBiasAdd")
      .Only("T1", {DT_QINT8})
      .Only("T2", {DT_QINT8})
      .Only("out_type", {DT_QINT32});
  kernels.Add<QuantizedBiasAdd<QUInt8>>("QuantizedBiasAdd")
      .Only("T1", {DT_QUINT8})
      .Only("T2", {DT_QUINT8})
      .Only("out_type", {DT_QINT32});
  kernels.Add<QuantizedPool>("QuantizedMaxPool", Types<QInt8, QUInt8>{});
  kernels.Add<QuantizedPool>("QuantizedAvgPool", Types<QInt8, QUInt8>{});
}

}  // namespace penstock
