// Kernels of pools and their gradients.
#include "penstock/kernels/cpu/nn/pool.h"

#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/compute.h"

namespace penstock {
namespace {

bool Is3D(const NodeView& node) { return node.op().name.find("3D") != std::string::npos; }

class PoolKernel {
 public:
  explicit PoolKernel(const NodeView& node) : attrs_(node, Is3D(node) ? 3 : 2), inputs_(node.op().InputIndex("ksize")) {
    if (inputs_ < 0) Check(attrs_);
  }

 protected:
  // The attributes; of a second version with the inputs `ksize` and `strides` put in.
  WindowAttrs Attrs(KernelContext& k) const {
    if (inputs_ < 0) return attrs_;
    WindowAttrs attrs = attrs_;
    attrs.ksize = k.Ints(inputs_);
    attrs.strides = k.Ints(inputs_ + 1);
    k.Require(attrs.ksize.size() == 4, "Sliding window ksize field must specify 4 dimensions");
    k.Require(attrs.strides.size() == 4, "Sliding window stride field must specify 4 dimensions");
    Check(attrs);
    return attrs;
  }
  static void Check(const WindowAttrs& attrs) {
    if (attrs.ksize[0] != 1 || attrs.strides[0] != 1) {
      throw Unimplemented("Pooling is not yet supported on the batch dimension.");
    }
    for (int d = 0; d < attrs.format.rank(); ++d) {
      KernelContext::Require(attrs.ksize[d] > 0, "Sliding window ksize for dimension ", d,
                             " must be positive, but got ", attrs.ksize[d]);
      KernelContext::Require(attrs.strides[d] > 0, "Sliding window stride for dimension ", d,
                             " must be positive, but got ", attrs.strides[d]);
    }
  }
  static Windows WindowsOf(const WindowAttrs& attrs, const Shape& input) {
    KernelContext::Require(input.rank() == attrs.format.rank(), "tensor_in must be ", attrs.format.rank(),
                           "-dimensional, got ", input);
    if (attrs.ksize[attrs.format.channel()] != 1 || attrs.strides[attrs.format.channel()] != 1) {
      throw Unimplemented("Pooling is not yet supported on the depth dimension.");
    }
    std::vector<int64_t> filter;
    for (int i = 0; i < attrs.format.spatial; ++i) filter.push_back(attrs.ksize[attrs.format.dim(i)]);
    Windows w = MakeWindows(attrs, input, filter);
    for (int d = 0; d < 3; ++d) {
      KernelContext::Require(attrs.padding != "EXPLICIT" || (w.pad[d] < w.filter[d] && w.pad_after[d] < w.filter[d]),
                             "Padding must be smaller than the window size, got ", w.pad[d], " and ", w.pad_after[d],
                             " for ", w.filter[d]);
    }
    DropOuterTaps(w);
    return w;
  }
  static Shape OutShape(const WindowAttrs& attrs, const Windows& w) {
    return ImageShape(attrs.format, w.batch, w.out, w.channels);
  }
  static void RequireRank(KernelContext& k, const WindowAttrs& attrs) {
    k.Require(k.shape(0).rank() == attrs.format.rank(), "tensor_in must be ", attrs.format.rank(), "-dimensional, got ",
              k.shape(0));
  }
  static void RequireShape(KernelContext& k, int input, std::string_view name, const Shape& expected) {
    k.Require(k.shape(input) == expected, "Expected ", name, " shape to be ", expected, ", but got ", k.shape(input));
  }
  // Output i of this shape; `fill` writes it with channels last.
  template <class C, class Writer>
  static void Fill(KernelContext& k, int i, const DataFormat& format, const Shape& shape, Writer fill) {
    if (!format.channels_first) {
      ComputeOutput<C> out(k, i, shape);
      if (shape.num_elements()) fill(out.data);
      return out.Store();
    }
    std::vector<int64_t> dims(shape.begin(), shape.end());
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    Tensor last = k.Temp(kTypeOf<C>, Shape(dims)), first = k.Temp(kTypeOf<C>, shape);
    if (shape.num_elements()) fill(last.mutable_data<C>());
    FromChannelsLast(k, last, format, first);
    ComputeOutput<C> out(k, i, shape);
    CopyElements(kTypeOf<C>, out.data, first.raw(), shape.num_elements());
    out.Store();
  }

  WindowAttrs attrs_;
  int inputs_;  // where ksize and strides are inputs, or -1
};

// How many neighbouring channels a pool over channels joins, each group of one pixel.
int64_t GroupOfChannels(const WindowAttrs& attrs, const Shape& in) {
  const int channel = attrs.format.channel();
  const int64_t group = attrs.ksize[channel];
  for (int i = 0; i < attrs.format.spatial; ++i) {
    if (attrs.ksize[attrs.format.dim(i)] != 1 || attrs.strides[attrs.format.dim(i)] != 1) {
      throw Unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
    }
  }
  if (attrs.format.channels_first)
    throw Unimplemented("Depthwise max pooling is only supported for channels that come last");
  if (in[channel] % group != 0) {
    throw Unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth.");
  }
  if (attrs.strides[channel] != group) {
    throw Unimplemented("Depthwise max pooling requires the depth window to equal the depth stride.");
  }
  return group;
}

template <class C>
struct MaxPoolKernel : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const int channel = attrs.format.channel();
    RequireRank(k, attrs);
    if (attrs.ksize[channel] > 1) return OverChannels(k, attrs);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Tensor last = ChannelsLast(k, k.input(0), attrs.format);
    const ComputeInput<C> x(k, last);
    Fill<C>(k, 0, attrs.format, OutShape(attrs, w), [&](C* y) { MaxPool(k, w, x.data, y); });
  }
  // Groups of neighbouring channels, of one pixel each.
  void OverChannels(KernelContext& k, const WindowAttrs& attrs) const {
    const int channel = attrs.format.channel();
    const int64_t group = GroupOfChannels(attrs, k.shape(0));
    Shape shape = k.shape(0);
    shape.set_dim(channel, shape[channel] / group);
    const ComputeInput<C> x(k, k.input(0));
    ComputeOutput<C> y(k, 0, shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i)
      y.data[i] = *std::max_element(x.data + i * group, x.data + (i + 1) * group);
    y.Store();
  }
};

// (orig_input, orig_output, grad): each output's gradient goes to the first largest element of its window.
template <class C>
struct MaxPoolGrad : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Shape expected = OutShape(attrs, w);
    RequireShape(k, 1, "orig_output", expected);
    RequireShape(k, 2, "grad", expected);
    const Tensor x_last = ChannelsLast(k, k.input(0), attrs.format),
                 dy_last = ChannelsLast(k, k.input(2), attrs.format);
    const ComputeInput<C> x(k, x_last), dy(k, dy_last);
    Fill<C>(k, 0, attrs.format, k.shape(0), [&](C* dx) { MaxPoolGradient(k, w, x.data, dy.data, dx); });
  }
};

// The same of three dimensions, where all of the largest elements get the gradient.
struct MaxPool3DGrad : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const Windows w = WindowsOf(attrs_, k.shape(0));
    const Shape expected = OutShape(attrs_, w);
    RequireShape(k, 1, "orig_output", expected);
    RequireShape(k, 2, "grad", expected);
    const Tensor x_last = ChannelsLast(k, k.input(0), attrs_.format),
                 y_last = ChannelsLast(k, k.input(1), attrs_.format),
                 dy_last = ChannelsLast(k, k.input(2), attrs_.format);
    const ComputeInput<float> x(k, x_last), y(k, y_last), dy(k, dy_last);
    Fill<float>(k, 0, attrs_.format, k.shape(0),
                [&](float* dx) { MaxPool3DGradient(k, w, x.data, y.data, dy.data, dx); });
  }
};

// (orig_input, orig_output, gradient of MaxPoolGrad's result): what lies where each window's largest element is.
template <class C>
struct MaxPoolGradGrad : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Shape expected = OutShape(attrs, w);
    RequireShape(k, 1, "orig_output", expected);
    RequireShape(k, 2, "grad", k.shape(0));
    const Tensor x_last = ChannelsLast(k, k.input(0), attrs.format),
                 dz_last = ChannelsLast(k, k.input(2), attrs.format);
    const ComputeInput<C> x(k, x_last), dz(k, dz_last);
    Fill<C>(k, 0, attrs.format, expected, [&](C* out) {
      const int64_t image = w.InPixels() * w.channels;
      ForEachArgmax(k, w, x.data, [&](int64_t b, int64_t at, const int64_t* where) {
        for (int64_t c = 0; c < w.channels; ++c) out[at + c] = where[c] >= 0 ? dz.data[b * image + where[c] + c] : C(0);
      });
    });
  }
};

template <class C>
struct MaxPoolWithArgmax : PoolKernel {
  bool with_batch;
  explicit MaxPoolWithArgmax(const NodeView& node)
      : PoolKernel(node), with_batch(node.attr<bool>("include_batch_in_index")) {}
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const int channel = attrs.format.channel();
    RequireRank(k, attrs);
    if (attrs.ksize[channel] > 1) return OverChannels(k, attrs);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Shape shape = OutShape(attrs, w);
    const ComputeInput<C> x(k, k.input(0));
    ComputeOutput<C> y(k, 0, shape);
    Tensor& argmax = k.Output(1, shape);
    const int64_t image = w.InPixels() * w.channels;
    ForEachArgmax(k, w, x.data, [&](int64_t b, int64_t at, const int64_t* where) {
      for (int64_t c = 0; c < w.channels; ++c) {
        y.data[at + c] = where[c] >= 0 ? x.data[b * image + where[c] + c] : std::numeric_limits<C>::lowest();
        Put(argmax, at + c, where[c] < 0 ? -1 : where[c] + c + (with_batch ? b * image : 0));
      }
    });
    y.Store();
  }
  void OverChannels(KernelContext& k, const WindowAttrs& attrs) const {
    const Shape& in = k.shape(0);
    const int channel = attrs.format.channel();
    const int64_t group = GroupOfChannels(attrs, in), image = in.num_elements() / std::max<int64_t>(in[0], 1);
    Shape shape = in;
    shape.set_dim(channel, in[channel] / group);
    const ComputeInput<C> x(k, k.input(0));
    ComputeOutput<C> y(k, 0, shape);
    Tensor& argmax = k.Output(1, shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      const int64_t at = std::max_element(x.data + i * group, x.data + (i + 1) * group) - x.data;
      y.data[i] = x.data[at];
      Put(argmax, i, with_batch ? at : at % image);
    }
    y.Store();
  }
  static void Put(Tensor& argmax, int64_t at, int64_t index) {
    if (argmax.dtype() == DT_INT64) {
      argmax.mutable_data<int64_t>()[at] = index;
    } else {
      argmax.mutable_data<int32_t>()[at] = static_cast<int32_t>(index);
    }
  }
};

// (input, grad, argmax): gradients go where argmax says; indices from anywhere are checked.
template <class C>
struct MaxPoolGradWithArgmax : PoolKernel {
  bool with_batch;
  explicit MaxPoolGradWithArgmax(const NodeView& node)
      : PoolKernel(node), with_batch(node.attr<bool>("include_batch_in_index")) {}
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Shape expected = OutShape(attrs, w);
    RequireShape(k, 1, "grad", expected);
    RequireShape(k, 2, "argmax", expected);
    const ComputeInput<C> dy(k, k.input(1));
    ComputeOutput<C> dx(k, 0, k.shape(0));
    const int64_t image = w.InPixels() * w.channels, total = w.batch * image, per_image = w.OutPixels() * w.channels;
    ZeroElements(kTypeOf<C>, dx.data, total);
    const Tensor& argmax = k.input(2);
    for (int64_t i = 0; i < argmax.num_elements(); ++i) {
      int64_t at = argmax.IntAt(i);
      if (!with_batch && at >= 0 && at < image) at += i / per_image * image;
      k.Require(at >= 0 && at < total, "Invalid argmax index: ", argmax.IntAt(i), " is outside [0, ",
                with_batch ? total : image, ")");
      dx.data[at] += dy.data[i];
    }
    dx.Store();
  }
};

template <class C>
struct AvgPoolKernel : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    const Windows w = WindowsOf(attrs, k.shape(0));
    const Tensor last = ChannelsLast(k, k.input(0), attrs.format);
    const ComputeInput<C> x(k, last);
    Fill<C>(k, 0, attrs.format, OutShape(attrs, w), [&](C* y) { AvgPool(k, w, x.data, y); });
  }
};
template <class C>
struct AvgPoolGradKernel : PoolKernel {
  using PoolKernel::PoolKernel;
  void operator()(KernelContext& k) const {
    const WindowAttrs attrs = Attrs(k);
    k.Require(k.shape(0).rank() == 1 && k.shape(0)[0] == attrs.format.rank(), "out_backprop must be 1-dimensional and ",
              attrs.format.rank(), " elements: orig_input_shape has shape ", k.shape(0));
    const Shape shape = k.ShapeInput(0);
    const Windows w = WindowsOf(attrs, shape);
    const Shape expected = OutShape(attrs, w);
    RequireShape(k, 1, "grad", expected);
    const Tensor last = ChannelsLast(k, k.input(1), attrs.format);
    const ComputeInput<C> dy(k, last);
    Fill<C>(k, 0, attrs.format, shape, [&](C* dx) { AvgPoolGrad(k, w, dy.data, dx); });
  }
};

// half and bfloat16 in float, the others as they are.
template <template <class> class Kernel, class... Ts>
void AddPools(KernelRegistry& kernels, std::string_view name, Types<Ts...>) {
  kernels.Add<Kernel<float>>(name, FloatComputed{});
  (kernels.Add<Kernel<Ts>>(name, Types<Ts>{}), ...);
}
template <template <class> class Kernel, class... Ts>
void AddPoolsV2(KernelRegistry& kernels, std::string_view name, int first, Types<Ts...>) {
  kernels.Add<Kernel<float>>(name, FloatComputed{}).HostInput(first).HostInput(first + 1);
  (kernels.Add<Kernel<Ts>>(name, Types<Ts>{}).HostInput(first).HostInput(first + 1), ...);
}

}  // namespace

void RegisterPoolKernels(KernelRegistry& kernels) {
  using Others = Concat<Types<double>, Ints>;
  AddPools<MaxPoolKernel>(kernels, "MaxPool", Others{});
  AddPools<MaxPoolGrad>(kernels, "MaxPoolGrad", Others{});
  AddPools<MaxPoolGradGrad>(kernels, "MaxPoolGradGrad", Others{});
  AddPoolsV2<MaxPoolKernel>(kernels, "MaxPoolV2", 1, Others{});
  AddPoolsV2<MaxPoolGrad>(kernels, "MaxPoolGradV2", 3, Others{});
  AddPoolsV2<MaxPoolGradGrad>(kernels, "MaxPoolGradGradV2", 3, Others{});
  AddPools<MaxPoolWithArgmax>(kernels, "MaxPoolWithArgmax", Others{});
  AddPools<MaxPoolGradWithArgmax>(kernels, "MaxPoolGradWithArgmax", Others{});
  AddPools<MaxPoolKernel>(kernels, "MaxPool3D", Types<>{});
  kernels.Add<MaxPool3DGrad>("MaxPool3DGrad", FloatComputed{});
  AddPools<MaxPoolGradGrad>(kernels, "MaxPool3DGradGrad", Others{});
  AddPools<AvgPoolKernel>(kernels, "AvgPool", Types<double>{});
  AddPools<AvgPoolKernel>(kernels, "AvgPool3D", Types<double>{});
  for (const char* name : {"AvgPoolGrad", "AvgPool3DGrad"}) {
    kernels.Add<AvgPoolGradKernel<float>>(name, FloatComputed{}).HostInput(0);
    kernels.Add<AvgPoolGradKernel<double>>(name, Types<double>{}).HostInput(0);
  }
}

}  // namespace penstock
