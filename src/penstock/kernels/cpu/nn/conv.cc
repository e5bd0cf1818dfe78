// Kernels of the convolutions; the work is done in convolve.cc.
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/pad.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/image/resample.h"
#include "penstock/kernels/cpu/nn/convolve.h"
#include "penstock/kernels/cpu/nn/dnn.h"
#include "penstock/ops/integers.h"

namespace penstock {
namespace {

// What the three kernels of a convolution share: attributes, and the geometry from the shapes of input and filter.
class ConvKernel {
 public:
  ConvKernel(const NodeView& node, int spatial, bool depthwise)
      : attrs_(node, spatial), depthwise_(depthwise), name_(node.op().name) {}

 protected:
  Convolution Geometry(const Shape& input, const Shape& filter) const {
    const int rank = attrs_.format.rank(), spatial = attrs_.format.spatial;
    KernelContext::Require(input.rank() == rank, "input must be ", rank, "-dimensional: ", input);
    KernelContext::Require(filter.rank() == rank, "filter must be ", rank, "-dimensional: ", filter);
    Convolution c;
    const int64_t channels = input[attrs_.format.channel()], depth = filter[spatial];
    if (depthwise_) {
      KernelContext::Require(channels == depth, "input and filter must have the same depth: ", channels, " vs ", depth);
      c.groups = channels;
      c.out_channels = Shape({channels, filter[spatial + 1]}).num_elements();
    } else {
      KernelContext::Require(depth > 0, "filter depth must be stricly greater than zero, but is ", depth);
      KernelContext::Require(channels % depth == 0, "input depth must be evenly divisible by filter depth: ", channels,
                             " vs ", depth);
      c.groups = std::max<int64_t>(1, channels / depth);
      c.out_channels = filter[spatial + 1];
      KernelContext::Require(c.out_channels % c.groups == 0,
                             "output depth must be evenly divisible by number of groups: ", c.out_channels, " vs ",
                             c.groups);
    }
    for (int i = 0; i < spatial; ++i) {
      KernelContext::Require(filter[i] > 0,
                             "filter must not have zero elements (i.e. all dimensions must be non-zero)");
    }
    c.w = MakeWindows(attrs_, input, filter.dims().first(spatial));
    return c;
  }
  // The geometry of a gradient: `dy` must be what the convolution would give.
  Convolution GradGeometry(const Shape& input, const Shape& filter, const Shape& dy) const {
    const int rank = attrs_.format.rank();
    KernelContext::Require(input.rank() == rank, name_, ": input must be ", rank, "-dimensional");
    KernelContext::Require(filter.rank() == rank, name_, ": filter must be ", rank, "-dimensional");
    KernelContext::Require(dy.rank() == rank, name_, ": out_backprop must be ", rank, "-dimensional");
    KernelContext::Require(input[0] == dy[0], name_,
                           ": input and out_backprop must have the same batch size. Input batch: ", input[0],
                           ", outbackprop batch: ", dy[0]);
    const Convolution c = Geometry(input, filter);
    KernelContext::Require(c.out_channels == dy[attrs_.format.channel()], name_,
                           ": filter and out_backprop must have the same out_depth: ", c.out_channels, " vs ",
                           dy[attrs_.format.channel()]);
    for (int i = 0; i < attrs_.format.spatial; ++i) {
      const int64_t computed = c.w.out[3 - attrs_.format.spatial + i], actual = dy[attrs_.format.dim(i)];
      KernelContext::Require(computed == actual, name_,
                             ": Size of out_backprop doesn't match computed: actual = ", actual,
                             ", computed = ", computed, " spatial_dim: ", attrs_.format.dim(i));
    }
    return c;
  }
  // An output image, in the attributes' format, through a channels-last one that `fill` writes.
  template <class C, class Fill>
  void ImageOutput(KernelContext& k, const Shape& shape, Fill fill) const {
    if (!attrs_.format.channels_first) {
      ComputeOutput<C> out(k, 0, shape);
      if (shape.num_elements()) fill(out.data);
      return out.Store();
    }
    std::vector<int64_t> dims = {shape[0]};
    for (int i = 2; i < shape.rank(); ++i) dims.push_back(shape[i]);
    dims.push_back(shape[1]);
    Tensor last = k.Temp(kTypeOf<C>, Shape(dims));
    if (!shape.num_elements()) return void(k.Output(0, shape));
    fill(last.mutable_data<C>());
    if (BaseType(k.node().output_type(0)) == kTypeOf<C>)
      return FromChannelsLast(k, last, attrs_.format, k.Output(0, shape));
    Tensor first = k.Temp(kTypeOf<C>, shape);
    FromChannelsLast(k, last, attrs_.format, first);
    ComputeOutput<C> out(k, 0, shape);
    std::memcpy(out.data, first.raw(), first.bytes());
    out.Store();
  }
  Tensor Last(const KernelContext& k, const Tensor& t) const { return ChannelsLast(k, t, attrs_.format); }

  WindowAttrs attrs_;
  bool depthwise_;
  std::string name_;
};

template <class C, int kSpatial, bool kDepthwise>
struct Forward : ConvKernel {
  explicit Forward(const NodeView& node) : ConvKernel(node, kSpatial, kDepthwise) {}
  void operator()(KernelContext& k) const {
    const Convolution c = Geometry(k.shape(0), k.shape(1));
    const Shape shape = ImageShape(attrs_.format, c.w.batch, c.w.out, c.out_channels);
    if (shape.num_elements() == 0) return void(k.Output(0, shape));
    const Tensor last = Last(k, k.input(0));
    const ComputeInput<C> x(k, last), filter(k, k.input(1));
    const HeldFilter held{k.input(1), packed_};
    ImageOutput<C>(k, shape, [&](C* y) { ConvForward(k, kTypeOf<C>, c, x.data, filter.data, y, {}, &held); });
  }

 private:
  mutable PackedFilter packed_;
};

// A convolution and what graph optimisation found behind it: a bias or a normalisation by known statistics, and
// perhaps an activation.
template <class C, bool kDepthwise>
struct FusedForward : ConvKernel {
  Epilogue epilogue;
  bool normalises = false;
  float epsilon;

  explicit FusedForward(const NodeView& node)
      : ConvKernel(node, 2, kDepthwise), epsilon(node.attr_or<float>("epsilon", 1e-4f)) {
    const auto& fused = node.attr<std::vector<std::string>>("fused_ops");
    normalises = !fused.empty() && fused[0] == "FusedBatchNorm";
    const bool known = normalises || (!fused.empty() && fused[0] == "BiasAdd");
    if (!known || fused.size() > 2 || node.num_inputs() != (normalises ? 6 : 3) ||
        (fused.size() == 2 && !Activates(fused[1])) || node.attr_or<std::string>("filter_format", "HWIO") != "HWIO") {
      throw Unimplemented("Fusion is not implemented: [", StrJoin(fused, ","), "]");
    }
    epilogue.alpha = node.attr_or<float>("leakyrelu_alpha", 0.2f);
  }
  void operator()(KernelContext& k) const {
    const Convolution c = Geometry(k.shape(0), k.shape(1));
    for (int i = 2; i < k.num_inputs(); ++i) {
      k.Require(k.shape(i).rank() == 1 && k.shape(i).dim(0) == c.out_channels, "args[", i - 2, "] must be a vector of ",
                c.out_channels, " elements, but has shape ", k.shape(i));
    }
    const Shape shape = ImageShape(attrs_.format, c.w.batch, c.w.out, c.out_channels);
    if (shape.num_elements() == 0) return void(k.Output(0, shape));
    const Tensor last = Last(k, k.input(0));
    const Tensor& filter = k.input(1);
    Epilogue after = epilogue;
    after.bias = k.input(2).raw();
    Tensor factor;
    if (normalises) {
      factor = Factor(k, c.out_channels);
      after.bias = k.input(3).raw();
      after.mean = k.input(4).raw();
      after.scale = factor.raw();
    }
    const HeldFilter held{filter, packed_};
    ImageOutput<C>(k, shape,
                   [&](C* y) { ConvForward(k, kTypeOf<C>, c, last.data<C>(), filter.data<C>(), y, after, &held); });
  }

 private:
  mutable PackedFilter packed_;

  bool Activates(const std::string& name) {
    constexpr std::pair<std::string_view, Epilogue::Activation> kActivations[] = {{"Relu", Epilogue::kRelu},
                                                                                  {"Relu6", Epilogue::kRelu6},
                                                                                  {"Elu", Epilogue::kElu},
                                                                                  {"LeakyRelu", Epilogue::kLeakyRelu}};
    for (const auto& [known, activation] : kActivations) {
      if (known == name) epilogue.activation = activation;
    }
    return epilogue.activation != Epilogue::kNone;
  }
  // scale / sqrt(variance + epsilon)
  Tensor Factor(const KernelContext& k, int64_t channels) const {
    const C *scale = k.in<C>(2).data(), *variance = k.in<C>(5).data();
    Tensor factor = k.Temp(kTypeOf<C>, Shape({channels}));
    for (int64_t i = 0; i < channels; ++i) {
      factor.mutable_data<C>()[i] = scale[i] / std::sqrt(variance[i] + static_cast<C>(epsilon));
    }
    return factor;
  }
};

// A convolution of images that are mirrored at their ends, and before that resized bilinearly if kResized.
template <class C, bool kResized>
struct PaddedForward : ConvKernel {
  static constexpr int kPaddings = kResized ? 2 : 1, kFilter = kPaddings + 1;  // inputs
  int64_t skip;                                                                // 1: the border itself is not repeated
  bool align;

  explicit PaddedForward(const NodeView& node)
      : ConvKernel(node, 2, false),
        skip(node.attr<std::string>("mode") == "REFLECT" ? 1 : 0),
        align(node.attr_or<bool>("resize_align_corners", false)) {}

  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 4, "input must be 4-dimensional", in);
    Shape resized = in;
    if constexpr (kResized) resized = ResizedShape(k);
    k.Require(k.shape(kPaddings) == Shape({4, 2}), "paddings must be a 4 x 2 matrix: ", k.shape(kPaddings));
    const std::vector<int64_t> pads = shapes::Integers(k.input(kPaddings));
    k.Require(!pads[0] && !pads[1] && !pads[6] && !pads[7], "paddings of batch and channels must be 0");
    const AxisTaps rows = Taps(in[1], resized[1], pads[2], pads[3]),
                   columns = Taps(in[2], resized[2], pads[4], pads[5]);
    const Shape padded({in[0], rows.size(), columns.size(), in[3]});
    const Convolution c = Geometry(padded, k.shape(kFilter));
    const Shape shape = ImageShape(attrs_.format, c.w.batch, c.w.out, c.out_channels);
    if (shape.num_elements() == 0) return void(k.Output(0, shape));
    const ComputeInput<C> x(k, k.input(0)), filter(k, k.input(kFilter));
    Tensor image = k.Temp(kTypeOf<C>, padded);
    Resample(k, x.data, in, rows, columns, image.mutable_data<C>());
    ImageOutput<C>(k, shape, [&](C* y) { ConvForward(k, kTypeOf<C>, c, image.data<C>(), filter.data, y); });
  }

 private:
  // Along one axis: what each position of the padded image is made of.
  AxisTaps Taps(int64_t in, int64_t size, int64_t before, int64_t after) const {
    KernelContext::Require(before >= 0 && after >= 0, "paddings must be non-negative: ", before, " ", after);
    const PadAxis axis = {size, before, after};
    axis.RequireMirrored(skip);
    const float scale = ResizeScale(align, in, size);
    AxisTaps taps;
    for (int64_t i = 0; i < axis.out(); ++i) {
      const int64_t mirrored = Mirrored(i, axis, skip);
      const float at = static_cast<float>(mirrored) * scale, part = at - std::floor(at);
      const int64_t low = kResized ? static_cast<int64_t>(at) : mirrored;
      taps.Add(low, kResized ? 1 - part : 1);
      if (kResized && part > 0) taps.Add(std::min(low + 1, in - 1), part);
      taps.EndPosition();
    }
    return taps;
  }
};

template <class C, int kSpatial, bool kDepthwise>
struct InputGrad : ConvKernel {
  bool shape_of_tensor;  // the first version of the op takes a tensor of that shape
  explicit InputGrad(const NodeView& node)
      : ConvKernel(node, kSpatial, kDepthwise), shape_of_tensor(node.op().name == "Conv3DBackpropInput") {}
  void operator()(KernelContext& k) const {
    const Shape &filter_shape = k.shape(1), &dy_shape = k.shape(2);
    Shape shape = shape_of_tensor ? k.shape(0) : k.ShapeInput(0);
    if (shape.rank() == 2 && kSpatial == 2 && dy_shape.rank() == 4 && filter_shape.rank() == 4) {
      const int64_t sizes[3] = {1, shape[0], shape[1]};
      shape = ImageShape(attrs_.format, dy_shape[0], sizes, filter_shape[2]);
    }
    k.Require(shape.rank() == kSpatial + 2, name_, ": input_sizes input must have ", kSpatial + 2,
              " elements, but has ", shape.rank());
    const Convolution c = GradGeometry(shape, filter_shape, dy_shape);
    const Tensor last = Last(k, k.input(2));
    const ComputeInput<C> filter(k, k.input(1)), dy(k, last);
    const bool empty = filter_shape.num_elements() == 0 || dy_shape.num_elements() == 0;
    ImageOutput<C>(k, shape, [&](C* dx) {
      if (empty) return ZeroElements(kTypeOf<C>, dx, shape.num_elements());
      ConvInputGrad(k, kTypeOf<C>, c, filter.data, dy.data, dx);
    });
  }
};

template <class C, int kSpatial, bool kDepthwise>
struct FilterGrad : ConvKernel {
  bool shape_of_tensor;
  explicit FilterGrad(const NodeView& node)
      : ConvKernel(node, kSpatial, kDepthwise), shape_of_tensor(node.op().name == "Conv3DBackpropFilter") {}
  void operator()(KernelContext& k) const {
    const Shape shape = shape_of_tensor ? k.shape(1) : k.ShapeInput(1);
    const Convolution c = GradGeometry(k.shape(0), shape, k.shape(2));
    ComputeOutput<C> out(k, 0, shape);
    if (shape.num_elements() == 0) return;
    if (k.input(0).num_elements() == 0 || k.input(2).num_elements() == 0) {
      ZeroElements(kTypeOf<C>, out.data, shape.num_elements());
    } else {
      const Tensor x_last = Last(k, k.input(0)), dy_last = Last(k, k.input(2));
      const ComputeInput<C> x(k, x_last), dy(k, dy_last);
      ConvFilterGrad(k, kTypeOf<C>, c, x.data, dy.data, out.data);
    }
    out.Store();
  }
};

template <class C, int kSpatial, bool kDepthwise, class Types>
void AddAll(KernelRegistry& kernels, Types types, const char* forward, const char* input_grad,
            const char* filter_grad) {
  kernels.Add<Forward<C, kSpatial, kDepthwise>>(forward, types);
  kernels.Add<InputGrad<C, kSpatial, kDepthwise>>(input_grad, types).HostInput(0);
  if constexpr (!std::is_same_v<C, int32_t>) {
    kernels.Add<FilterGrad<C, kSpatial, kDepthwise>>(filter_grad, types).HostInput(1);
  }
}

}  // namespace

void RegisterConvKernels(KernelRegistry& kernels) {
  constexpr const char* k2D[] = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
  AddAll<float, 2, false>(kernels, FloatComputed{}, k2D[0], k2D[1], k2D[2]);
  AddAll<double, 2, false>(kernels, Types<double>{}, k2D[0], k2D[1], k2D[2]);
  AddAll<int32_t, 2, false>(kernels, Types<int32_t>{}, k2D[0], k2D[1], k2D[2]);
  kernels.Add<FusedForward<float, false>>("_FusedConv2D", Types<float>{});
  kernels.Add<FusedForward<double, false>>("_FusedConv2D", Types<double>{});
  kernels.Add<FusedForward<float, true>>("_FusedDepthwiseConv2dNative", Types<float>{});
  kernels.Add<FusedForward<double, true>>("_FusedDepthwiseConv2dNative", Types<double>{});
  kernels.Add<PaddedForward<float, false>>("FusedPadConv2D", FloatComputed{}).HostInput(1);
  kernels.Add<PaddedForward<double, false>>("FusedPadConv2D", Types<double>{}).HostInput(1);
  kernels.Add<PaddedForward<float, true>>("FusedResizeAndPadConv2D", Types<Half, float>{}).HostInput(1).HostInput(2);
  kernels.Add<PaddedForward<double, true>>("FusedResizeAndPadConv2D", Types<double>{}).HostInput(1).HostInput(2);
  constexpr const char* kDepthwise[] = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                                        "DepthwiseConv2dNativeBackpropFilter"};
  AddAll<float, 2, true>(kernels, FloatComputed{}, kDepthwise[0], kDepthwise[1], kDepthwise[2]);
  AddAll<double, 2, true>(kernels, Types<double>{}, kDepthwise[0], kDepthwise[1], kDepthwise[2]);
  constexpr const char* k3D[] = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
  AddAll<float, 3, false>(kernels, FloatComputed{}, k3D[0], k3D[1], k3D[2]);
  AddAll<double, 3, false>(kernels, Types<double>{}, k3D[0], k3D[1], k3D[2]);
  kernels.Add<InputGrad<float, 3, false>>("Conv3DBackpropInput", Types<Half, float>{});
  kernels.Add<InputGrad<double, 3, false>>("Conv3DBackpropInput", Types<double>{});
  kernels.Add<FilterGrad<float, 3, false>>("Conv3DBackpropFilter", Types<Half, float>{});
  kernels.Add<FilterGrad<double, 3, false>>("Conv3DBackpropFilter", Types<double>{});
}

}  // namespace penstock
