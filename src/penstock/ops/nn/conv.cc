// Convolutions of images and volumes, and the two gradients that each has as ops of their own.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

constexpr char kFloats[] = "T: {half, bfloat16, float, double}";

AttrMap ConvAttrs(GradContext& g) {
  return CopyAttrs(g, {"strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations"});
}

// The three ops of one kind of convolution: each one's gradients are the other two.
struct Family {
  const char *forward, *input_grad, *filter_grad;
};
constexpr Family kConv2D = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
constexpr Family kConv3D = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
constexpr Family kDepthwise = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                               "DepthwiseConv2dNativeBackpropFilter"};

template <const Family& f>
void ForwardGradient(GradContext& g) {
  const AttrMap attrs = ConvAttrs(g);
  if (g.wanted(0)) g.Set(0, g.Call(f.input_grad, {ShapeOf(g.x(0)), g.x(1), g.dy()}, attrs));
  if (g.wanted(1)) g.Set(1, g.Call(f.filter_grad, {g.x(0), ShapeOf(g.x(1)), g.dy()}, attrs));
}
template <const Family& f>
void InputGradGradient(GradContext& g) {
  const AttrMap attrs = ConvAttrs(g);
  if (g.wanted(1)) g.Set(1, g.Call(f.filter_grad, {g.dy(), ShapeOf(g.x(1)), g.x(2)}, attrs));
  if (g.wanted(2)) g.Set(2, g.Call(f.forward, {g.dy(), g.x(1)}, attrs));
}
template <const Family& f>
void FilterGradGradient(GradContext& g) {
  const AttrMap attrs = ConvAttrs(g);
  if (g.wanted(0)) g.Set(0, g.Call(f.input_grad, {ShapeOf(g.x(0)), g.dy(), g.x(2)}, attrs));
  if (g.wanted(2)) g.Set(2, g.Call(f.forward, {g.x(0), g.dy()}, attrs));
}

// Multiplications and additions: each element of `result` meets the filter's elements but for the last dimension.
double FlopsOf(const PartialShape& result, const PartialShape& filter) {
  double flops = 2.0 * static_cast<double>(result.num_elements());
  for (int i = 0; i + 1 < filter.rank(); ++i) flops *= static_cast<double>(filter[i]);
  return flops;
}
double ForwardFlops(ShapeContext& c) { return FlopsOf(c.out_shape(0), c.in(1)); }
double InputGradFlops(ShapeContext& c) { return FlopsOf(c.in(2), c.in(1)); }
double FilterGradFlops(ShapeContext& c) { return FlopsOf(c.in(2), c.out_shape(0)); }

// FusedPadConv2D (input, paddings, filter), FusedResizeAndPadConv2D (input, size, paddings, filter)
void PaddedConv(ShapeContext& c) {
  const int paddings = c.num_inputs() - 2;
  PartialShape image = c.WithRank(0, 4);
  const PartialShape filter = c.WithRank(paddings + 1, 4);
  if (!image.known_rank()) image = PartialShape::OfRank(4);
  const Tensor* pads = c.in_value(paddings);
  for (int i = 1; i <= 2; ++i) {
    if (paddings == 2) image.set_dim(i, c.in_value(1) ? c.in_value(1)->IntAt(i - 1) : -1);
    if (!pads || pads->num_elements() != 8) {
      image.set_dim(i, -1);
    } else if (image[i] >= 0) {
      image.set_dim(i, shapes::AddDims(image[i], shapes::AddDims(pads->IntAt(2 * i), pads->IntAt(2 * i + 1))));
    }
  }
  const std::vector<int64_t>& strides = shapes::PerDimension(c, "strides", DataFormat{2, false});
  const std::string& padding = c.attr<std::string>("padding");
  PartialShape out = PartialShape::OfRank(4);
  out.set_dim(0, image[0]);
  for (int i = 1; i <= 2; ++i) {
    out.set_dim(i, shapes::WindowsAlong(image[i], filter.known_rank() ? filter[i - 1] : -1, 1, strides[i], padding));
  }
  if (filter.known_rank()) out.set_dim(3, filter[3]);
  c.out(0, out);
}

OpBuilder Attributes2D(OpBuilder op, std::string_view types, bool cudnn) {
  op.Attr(types).Attr("strides: list(int)");
  if (cudnn) op.Attr("use_cudnn_on_gpu: bool = true");
  return op.Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .Attr("explicit_paddings: list(int) = []")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Attr("dilations: list(int) = [1, 1, 1, 1]");
}
OpBuilder Attributes3D(OpBuilder op, std::string_view types, bool format) {
  op.Attr(types).Attr("strides: list(int) >= 5").Attr("padding: {'SAME', 'VALID'}");
  if (format) op.Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'");
  return op.Attr("dilations: list(int) = [1, 1, 1, 1, 1]");
}

OpBuilder Forward(OpRegistry& ops, const char* name) {
  return ops.Add(name).Input("input: T").Input("filter: T").Output("output: T");
}
OpBuilder InputGrad(OpRegistry& ops, const char* name, const char* sizes) {
  return ops.Add(name).Input(sizes).Input("filter: T").Input("out_backprop: T").Output("output: T");
}
OpBuilder FilterGrad(OpRegistry& ops, const char* name, const char* sizes) {
  return ops.Add(name).Input("input: T").Input(sizes).Input("out_backprop: T").Output("output: T");
}

}  // namespace

void RegisterConvOps(OpRegistry& ops) {
  constexpr char kWithInt32[] = "T: {half, bfloat16, float, double, int32}";
  Attributes2D(Forward(ops, "Conv2D"), kWithInt32, true)
      .Shape(shapes::Conv)
      .Flops(ForwardFlops)
      .Gradient(ForwardGradient<kConv2D>)
      .Doc("Each output pixel is the product of the window around it with the filter [height, width, in, out].");
  Attributes2D(InputGrad(ops, "Conv2DBackpropInput", "input_sizes: int32"), kWithInt32, true)
      .Shape(shapes::ConvInputGrad)
      .Flops(InputGradFlops)
      .Gradient(InputGradGradient<kConv2D>)
      .Doc("The gradient of Conv2D for its input.");
  Attributes2D(FilterGrad(ops, "Conv2DBackpropFilter", "filter_sizes: int32"), kFloats, true)
      .Shape(shapes::ConvFilterGrad)
      .Flops(FilterGradFlops)
      .Gradient(FilterGradGradient<kConv2D>)
      .Doc("The gradient of Conv2D for its filter.");

  const auto padded = [&ops](const char* name, const char* types, const char* size) {
    OpBuilder op = ops.Add(name).Input("input: T");
    if (size) op.Input(size);
    return op.Input("paddings: int32").Input("filter: T").Output("output: T").Attr(types);
  };
  padded("FusedPadConv2D", kFloats, nullptr)
      .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID'}")
      .Shape(PaddedConv)
      .Doc("Conv2D of the images mirrored at their ends, as MirrorPad would; in graphs prepared for inference.");
  padded("FusedResizeAndPadConv2D", "T: {half, float, double}", "size: int32")
      .Attr("resize_align_corners: bool = false")
      .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID'}")
      .Shape(PaddedConv)
      .Doc("FusedPadConv2D of the images resized as ResizeBilinear would.");

  ops.Add("_FusedConv2D")
      .Input("input: T")
      .Input("filter: T")
      .Input("args: TArgs")
      .Input("host_args: num_host_args * float")
      .Output("output: T")
      .Attr("T: {half, float, double, int8, qint8}")
      .Attr("TArgs: list(type) >= 1")
      .Attr("num_args: int >= 0")
      .Attr("num_host_args: int >= 0 = 0")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .Attr("explicit_paddings: list(int) = []")
      .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .Attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'")
      .Attr("dilations: list(int) = [1, 1, 1, 1]")
      .Attr("use_cudnn_on_gpu: bool = true")
      .Attr("fused_ops: list(string) = []")
      .Attr("epsilon: float = 0.0001")
      .Attr("leakyrelu_alpha: float = 0.2")
      .Shape(shapes::Conv)
      .Flops(ForwardFlops)
      .Doc("Conv2D, and what `fused_ops` names done to its result; made by graph optimisation.");
  ops.Add("_FusedDepthwiseConv2dNative")
      .Input("input: T")
      .Input("filter: T")
      .Input("args: num_args * T")
      .Output("output: T")
      .Attr("T: {half, bfloat16, float, double}")
      .Attr("num_args: int >= 0")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Attr("dilations: list(int) = [1, 1, 1, 1]")
      .Attr("fused_ops: list(string) = []")
      .Attr("epsilon: float = 0.0001")
      .Attr("leakyrelu_alpha: float = 0.2")
      .Shape(shapes::DepthwiseConv)
      .Heavy()
      .Doc("DepthwiseConv2dNative, and what `fused_ops` names done to its result; made by graph optimisation.");
  Attributes2D(Forward(ops, "DepthwiseConv2dNative"), kFloats, false)
      .Shape(shapes::DepthwiseConv)
      .Heavy()
      .Gradient(ForwardGradient<kDepthwise>)
      .Doc("Each channel meets filters of its own, [height, width, in, multiplier].");
  Attributes2D(InputGrad(ops, "DepthwiseConv2dNativeBackpropInput", "input_sizes: int32"), kFloats, false)
      .Shape(shapes::ConvInputGrad)
      .Heavy()
      .Gradient(InputGradGradient<kDepthwise>);
  Attributes2D(FilterGrad(ops, "DepthwiseConv2dNativeBackpropFilter", "filter_sizes: int32"), kFloats, false)
      .Shape(shapes::ConvFilterGrad)
      .Heavy()
      .Gradient(FilterGradGradient<kDepthwise>);

  Attributes3D(Forward(ops, "Conv3D"), kFloats, true)
      .Shape(shapes::Conv)
      .Flops(ForwardFlops)
      .Gradient(ForwardGradient<kConv3D>)
      .Doc("Conv2D with depth: the filter is [depth, height, width, in, out].");
  Attributes3D(InputGrad(ops, "Conv3DBackpropInputV2", "input_sizes: Tshape"), kFloats, true)
      .Attr("Tshape: {int32, int64} = DT_INT32")
      .Shape(shapes::ConvInputGrad)
      .Flops(InputGradFlops)
      .Gradient(InputGradGradient<kConv3D>);
  Attributes3D(FilterGrad(ops, "Conv3DBackpropFilterV2", "filter_sizes: int32"), kFloats, true)
      .Shape(shapes::ConvFilterGrad)
      .Flops(FilterGradFlops)
      .Gradient(FilterGradGradient<kConv3D>);
  // The first versions take a tensor where the later ones take its shape.
  constexpr char kOld[] = "T: {half, float, double}";
  Attributes3D(InputGrad(ops, "Conv3DBackpropInput", "input: T"), kOld, false)
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 5)); })
      .Heavy()
      .Deprecated(10, "Use Conv3DBackpropInputV2");
  Attributes3D(FilterGrad(ops, "Conv3DBackpropFilter", "filter: T"), kOld, false)
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(1, 5)); })
      .Heavy()
      .Deprecated(10, "Use Conv3DBackpropFilterV2");
}

}  // namespace penstock
