#include "penstock/kernels/cpu/nn/convolve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_tiles.h"
#include "penstock/kernels/cpu/nn/depthwise.h"
#include "penstock/kernels/cpu/nn/dnn.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

enum class Way { kDepthwise, kProduct, kWindows, kOneDnn, kTiles, kThin };
constinit BranchTable<6> forward_ways{"convolution/forward",
                                      {"depthwise", "product", "windows", "onednn", "tiles", "thin"}};
constinit BranchTable<6> input_grad_ways{"convolution/input_gradient",
                                         {"depthwise", "product", "windows", "onednn", "tiles", "thin"}};
constinit BranchTable<4> filter_grad_ways{"convolution/filter_gradient", {"depthwise", "product", "windows", "onednn"}};

bool IsDepthwise(DataType type, const Convolution& c) {
  return type != DT_INT32 && c.groups > 1 && c.groups == c.w.channels && c.out_channels <= kMostRepeats * c.groups;
}

// One output pixel is a row: batch, then the three spatial positions.
struct Pixel {
  int64_t batch, at[3];
};
Pixel PixelOf(const Windows& w, int64_t row) {
  Pixel p;
  for (int d = 2; d >= 0; --d) {
    p.at[d] = row % w.out[d];
    row /= w.out[d];
  }
  p.batch = row;
  return p;
}

// fn(tap, first element of the pixel under it) for the taps of output pixel p that lie inside the input.
template <class Fn>
void ForEachTap(const Windows& w, const Pixel& p, Fn fn) {
  int64_t tap = 0;
  for (int64_t a = 0; a < w.filter[0]; ++a) {
    const int64_t i0 = p.at[0] * w.stride[0] - w.pad[0] + a * w.dilation[0];
    for (int64_t b = 0; b < w.filter[1]; ++b) {
      const int64_t i1 = p.at[1] * w.stride[1] - w.pad[1] + b * w.dilation[1];
      const bool inside = i0 >= 0 && i0 < w.in[0] && i1 >= 0 && i1 < w.in[1];
      for (int64_t c = 0; c < w.filter[2]; ++c, ++tap) {
        const int64_t i2 = p.at[2] * w.stride[2] - w.pad[2] + c * w.dilation[2];
        const bool in = inside && i2 >= 0 && i2 < w.in[2];
        fn(tap, in ? (((p.batch * w.in[0] + i0) * w.in[1] + i1) * w.in[2] + i2) * w.channels : -1);
      }
    }
  }
}

// The windows of rows [begin, end) side by side: columns[row][tap][channel of the group].
void Unroll(const Convolution& c, size_t size, const char* x, int64_t group, int64_t begin, int64_t end,
            char* columns) {
  const int64_t n = c.GroupIn() * size, offset = group * n;
  for (int64_t row = begin; row < end; ++row) {
    const Pixel p = PixelOf(c.w, row);
    ForEachTap(c.w, p, [&](int64_t, int64_t at) {
      if (at < 0) {
        std::memset(columns, 0, n);
      } else {
        std::memcpy(columns, x + at * size + offset, n);
      }
      columns += n;
    });
  }
}

// Adds columns back to where Unroll took them from.
template <class T>
void RollUp(const Convolution& c, T* x, int64_t group, int64_t begin, int64_t end, const T* columns) {
  const int64_t n = c.GroupIn(), offset = group * n;
  for (int64_t row = begin; row < end; ++row) {
    const Pixel p = PixelOf(c.w, row);
    ForEachTap(c.w, p, [&](int64_t, int64_t at) {
      if (at >= 0) {
        T* to = x + at + offset;
        for (int64_t i = 0; i < n; ++i) to[i] += columns[i];
      }
      columns += n;
    });
  }
}
void RollUpAny(const Convolution& c, DataType type, void* x, int64_t group, int64_t begin, int64_t end,
               const void* columns) {
  switch (type) {
    case DT_FLOAT: return RollUp(c, static_cast<float*>(x), group, begin, end, static_cast<const float*>(columns));
    case DT_DOUBLE: return RollUp(c, static_cast<double*>(x), group, begin, end, static_cast<const double*>(columns));
    case DT_INT32:
      return RollUp(c, static_cast<uint32_t*>(x), group, begin, end, static_cast<const uint32_t*>(columns));
    default: throw Internal("no convolution of ", type);
  }
}

// Rows that are unrolled at a time: about a megabyte.
int64_t RowsAtATime(int64_t width, size_t size) {
  return std::max<int64_t>(128, (1 << 20) / std::max<int64_t>(1, width * size));
}

// The same operations as loops for floats and plainly for doubles; NaN stays NaN in all of them.
void Shift(const Epilogue& e, float* y, int64_t n, int64_t channel) {
  const float* bias = static_cast<const float*>(e.bias) + channel;
  if (!e.scale) return CpuLoops().nn->add_rows(y, bias, y, 1, n);
  CpuLoops().nn->normalise_rows(y, static_cast<const float*>(e.mean) + channel,
                                static_cast<const float*>(e.scale) + channel, bias, y, 1, n);
}
void Shift(const Epilogue& e, double* y, int64_t n, int64_t channel) {
  const double* bias = static_cast<const double*>(e.bias) + channel;
  for (int64_t i = 0; i < n; ++i) {
    if (e.scale) {
      y[i] =
          (y[i] - static_cast<const double*>(e.mean)[channel + i]) * static_cast<const double*>(e.scale)[channel + i];
    }
    y[i] += bias[i];
  }
}
void Rectify(float* y, int64_t n, float limit) { CpuLoops().nn->relu(y, limit, y, n); }
void Rectify(double* y, int64_t n, double limit) {
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] < 0 ? 0 : y[i] > limit ? limit : y[i];
}

template <class T>
void ApplyTo(const Epilogue& e, T* y, int64_t rows, int64_t n, int64_t stride, int64_t channel) {
  const T alpha = static_cast<T>(e.alpha);
  for (int64_t r = 0; r < rows; ++r, y += stride) {
    Shift(e, y, n, channel);
    switch (e.activation) {
      case Epilogue::kNone: break;
      case Epilogue::kRelu: Rectify(y, n, std::numeric_limits<T>::infinity()); break;
      case Epilogue::kRelu6: Rectify(y, n, 6); break;
      case Epilogue::kElu:
        for (int64_t i = 0; i < n; ++i) y[i] = y[i] < 0 ? std::expm1(y[i]) : y[i];
        break;
      case Epilogue::kLeakyRelu:
        for (int64_t i = 0; i < n; ++i) y[i] = y[i] < 0 ? alpha * y[i] : y[i];
        break;
    }
  }
}

// With a stride of one the input's gradient is a convolution of dy, with the filter turned around. Its geometry; no
// images if it is none.
Convolution Turned(const Convolution& c) {
  Convolution t = c;
  t.w.channels = c.out_channels;
  t.out_channels = c.w.channels;
  for (int d = 0; d < 3; ++d) {
    t.w.in[d] = c.w.out[d];
    t.w.out[d] = c.w.in[d];
    const int64_t reach = (c.w.filter[d] - 1) * c.w.dilation[d];
    t.w.pad[d] = reach - c.w.pad[d];
    t.w.pad_after[d] = c.w.in[d] + c.w.pad[d] - c.w.out[d];
    if (c.w.stride[d] != 1 || t.w.pad[d] < 0 || t.w.pad_after[d] < 0) t.w.batch = 0;
  }
  return t;
}

}  // namespace

bool IsProduct(const Convolution& c) {
  if (c.groups != 1) return false;
  for (int d = 0; d < 3; ++d) {
    if (c.w.filter[d] != 1 || c.w.stride[d] != 1 || c.w.pad[d] != 0 || c.w.pad_after[d] != 0) return false;
  }
  return true;
}

void Epilogue::Apply(DataType type, void* y, int64_t rows, int64_t n, int64_t stride, int64_t channel) const {
  if (!bias) return;
  if (type == DT_FLOAT) {
    ApplyTo(*this, static_cast<float*>(y), rows, n, stride, channel);
  } else {
    ApplyTo(*this, static_cast<double*>(y), rows, n, stride, channel);
  }
}

void ConvForward(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* filter,
                 void* y, const Epilogue& epilogue, const HeldFilter* held) {
  if (type == DT_FLOAT) {
    const FilterView view{static_cast<const float*>(filter), c.GroupIn() * c.out_channels, c.out_channels, 1,
                          c.GroupOut()};
    if (TileConvolve(k, c, static_cast<const float*>(x), view, static_cast<float*>(y), epilogue, held)) {
      return forward_ways.Enter(Way::kTiles);
    }
    if (ThinConvolve(k, c, static_cast<const float*>(x), view, static_cast<float*>(y), epilogue)) {
      return forward_ways.Enter(Way::kThin);
    }
    if (DnnConvolve(k, PENSTOCK_DNN_FORWARD, c, x, filter, y, epilogue, held)) return forward_ways.Enter(Way::kOneDnn);
  }
  if (IsDepthwise(type, c)) {
    forward_ways.Enter(Way::kDepthwise);
    return DepthwiseForward(k, type, c, x, filter, y, epilogue);
  }
  const size_t size = DataTypeSize(type);
  const int64_t rows = c.w.batch * c.w.OutPixels(), n = c.GroupOut(), depth = c.w.Taps() * c.GroupIn();
  if (IsProduct(c)) {
    forward_ways.Enter(Way::kProduct);
    return Gemm(k, type, rows, n, depth, {x, depth, 1}, {filter, n, 1}, y, n, false, &epilogue);
  }
  forward_ways.Enter(Way::kWindows);
  const int64_t step = RowsAtATime(depth, size), pieces = (rows + step - 1) / step;
  k.Parallel(pieces * c.groups, std::max<int64_t>(1, step * n * depth / 16), [&](int64_t begin, int64_t end) {
    Tensor columns = k.Temp(type, Shape({std::min(step, rows), depth}));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / pieces, first = i % pieces * step, last = std::min(rows, first + step);
      Unroll(c, size, static_cast<const char*>(x), group, first, last, columns.mutable_data<char>());
      char* const to = static_cast<char*>(y) + (first * c.out_channels + group * n) * size;
      GemmSerial(type, last - first, n, depth, {columns.raw(), depth, 1},
                 {static_cast<const char*>(filter) + group * n * size, c.out_channels, 1}, to, c.out_channels);
      epilogue.Apply(type, to, last - first, n, c.out_channels, group * n);
    }
  });
}

void ConvInputGrad(const KernelContext& k, DataType type, const Convolution& c, const void* filter, const void* dy,
                   void* dx) {
  if (type == DT_FLOAT) {
    if (const Convolution turned = Turned(c); turned.w.batch > 0) {
      const int64_t tap = c.GroupIn() * c.out_channels;
      const FilterView view{static_cast<const float*>(filter) + (c.w.Taps() - 1) * tap, -tap, 1, c.out_channels,
                            c.GroupOut()};
      if (TileConvolve(k, turned, static_cast<const float*>(dy), view, static_cast<float*>(dx), {}, nullptr)) {
        return input_grad_ways.Enter(Way::kTiles);
      }
      if (ThinConvolve(k, turned, static_cast<const float*>(dy), view, static_cast<float*>(dx), {})) {
        return input_grad_ways.Enter(Way::kThin);
      }
    }
    if (DnnConvolve(k, PENSTOCK_DNN_INPUT_GRAD, c, dy, filter, dx)) return input_grad_ways.Enter(Way::kOneDnn);
  }
  if (IsDepthwise(type, c)) {
    input_grad_ways.Enter(Way::kDepthwise);
    return DepthwiseInputGrad(k, type, c, filter, dy, dx);
  }
  const size_t size = DataTypeSize(type);
  const int64_t pixels = c.w.OutPixels(), n = c.GroupOut(), depth = c.w.Taps() * c.GroupIn();
  if (IsProduct(c)) {
    input_grad_ways.Enter(Way::kProduct);
    return Gemm(k, type, c.w.batch * pixels, depth, n, {dy, n, 1}, {filter, 1, n}, dx, depth);
  }
  input_grad_ways.Enter(Way::kWindows);
  std::memset(dx, 0, c.w.batch * c.w.InPixels() * c.w.channels * size);
  const int64_t step = std::min(pixels, RowsAtATime(depth, size));
  if (pixels == 0) return;
  // Images are independent of each other; within one, windows overlap and are added in order.
  k.Parallel(c.w.batch, std::max<int64_t>(1, pixels * c.groups * n * depth / 16), [&](int64_t begin, int64_t end) {
    Tensor columns = k.Temp(type, Shape({step, depth}));
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t group = 0; group < c.groups; ++group) {
        for (int64_t first = b * pixels; first < (b + 1) * pixels; first += step) {
          const int64_t last = std::min((b + 1) * pixels, first + step);
          GemmSerial(type, last - first, depth, n,
                     {static_cast<const char*>(dy) + (first * c.out_channels + group * n) * size, c.out_channels, 1},
                     {static_cast<const char*>(filter) + group * n * size, 1, c.out_channels}, columns.mutable_raw(),
                     depth);
          RollUpAny(c, type, dx, group, first, last, columns.raw());
        }
      }
    }
  });
}

void ConvFilterGrad(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* dy,
                    void* dfilter) {
  const size_t size = DataTypeSize(type);
  const int64_t rows = c.w.batch * c.w.OutPixels(), n = c.GroupOut(), depth = c.w.Taps() * c.GroupIn();
  // A large filter over few windows is a product of matrices, whose left side is quickly made.
  const bool is_product = c.groups == 1 && (IsProduct(c) || (rows <= 512 && depth >= 1024 && n >= 64));
  if (type == DT_FLOAT && !is_product && DnnConvolve(k, PENSTOCK_DNN_FILTER_GRAD, c, x, dy, dfilter)) {
    return filter_grad_ways.Enter(Way::kOneDnn);
  }
  if (IsDepthwise(type, c)) {
    filter_grad_ways.Enter(Way::kDepthwise);
    return DepthwiseFilterGrad(k, type, c, x, dy, dfilter);
  }
  if (IsProduct(c)) {
    filter_grad_ways.Enter(Way::kProduct);
    return Gemm(k, type, depth, n, rows, {x, 1, depth}, {dy, n, 1}, dfilter, n);
  }
  filter_grad_ways.Enter(Way::kWindows);
  const int64_t step = std::max<int64_t>(512, RowsAtATime(depth, size));
  Tensor columns = k.Temp(type, Shape({std::min(step, rows), depth}));
  for (int64_t group = 0; group < c.groups; ++group) {
    for (int64_t first = 0; first < rows; first += step) {
      const int64_t last = std::min(rows, first + step);
      k.Parallel(last - first, std::max<int64_t>(1, depth / 4), [&](int64_t begin, int64_t end) {
        Unroll(c, size, static_cast<const char*>(x), group, first + begin, first + end,
               columns.mutable_data<char>() + begin * depth * size);
      });
      Gemm(k, type, depth, n, last - first, {columns.raw(), 1, depth},
           {static_cast<const char*>(dy) + (first * c.out_channels + group * n) * size, c.out_channels, 1},
           static_cast<char*>(dfilter) + group * n * size, c.out_channels, first > 0);
    }
  }
}

}  // namespace penstock
