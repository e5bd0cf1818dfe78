// Pools: the largest or the mean of each window.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

constexpr char kFloats[] = "T: {half, bfloat16, float, double}";
constexpr char kPooled[] =
    "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT";
constexpr char kReals[] = "T: realnumbertype";
constexpr char kRealsByDefault[] = "T: realnumbertype = DT_FLOAT";

AttrMap PoolAttrs(GradContext& g) {
  return CopyAttrs(g, {"ksize", "strides", "padding", "explicit_paddings", "data_format", "include_batch_in_index"});
}
AttrMap WithoutExplicit(AttrMap attrs) {
  attrs.Erase("explicit_paddings");
  return attrs;
}

void LikeInput0(ShapeContext& c) { c.out(0, c.WithRank(0, c.op().name.find("3D") != std::string::npos ? 5 : 4)); }

// (orig_input, orig_output, grad of the pool's input) -> grad of the pool's output
void LikeInput1(ShapeContext& c) {
  const int rank = c.op().name.find("3D") != std::string::npos ? 5 : 4;
  c.WithRank(0, rank);
  c.WithRank(2, rank);
  c.out(0, c.WithRank(1, rank));
}

void FromSizes(ShapeContext& c) {
  const int rank = c.op().name.find("3D") != std::string::npos ? 5 : 4;
  const PartialShape shape = c.in_as_shape(0);
  c.out(0, shape.known_rank() ? ShapeContext::WithRank(shape, rank) : PartialShape::OfRank(rank));
}

void PoolWithArgmaxShape(ShapeContext& c) {
  shapes::Pool(c);
  c.out(1, c.out_shape(0));
}

OpBuilder Windowed(OpBuilder op, int rank, bool is_explicit) {
  return op.Attr(StrCat("ksize: list(int) >= ", rank))
      .Attr(StrCat("strides: list(int) >= ", rank))
      .Attr(is_explicit ? "padding: {'SAME', 'VALID', 'EXPLICIT'}" : "padding: {'SAME', 'VALID'}");
}
OpBuilder Format(OpBuilder op, int rank) {
  return op.Attr(rank == 4 ? "data_format: {'NHWC', 'NCHW'} = 'NHWC'" : "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'");
}
OpBuilder GradInputs(OpRegistry& ops, std::string_view name, std::string_view type = "T") {
  return ops.Add(name)
      .Input(StrCat("orig_input: ", type))
      .Input(StrCat("orig_output: ", type))
      .Input("grad: T")
      .Output("output: T");
}

// Which element of a window was the largest depends on the input, but not smoothly: only `grad` gets a gradient.
void SetGradOfGrad(GradContext& g, Out grad) {
  g.Set(0, ZerosLike(g.x(0)));
  g.Set(1, ZerosLike(g.x(1)));
  g.Set(2, grad);
}
template <const char* op>
void MaxGradGradient(GradContext& g) {
  SetGradOfGrad(g, g.Call(op, {g.x(0), g.x(1), g.dy()}, WithoutExplicit(PoolAttrs(g))));
}
template <const char* op>
void AvgGradient(GradContext& g) {
  g.Set(0, g.Call(op, {ShapeOf(g.x(0)), g.dy()}, PoolAttrs(g)));
}
template <const char* op>
void AvgGradGradient(GradContext& g) {
  g.Set(1, g.Call(op, {g.dy()}, PoolAttrs(g)));
}
constexpr char kMaxPoolGrad[] = "MaxPoolGrad", kMaxPoolGradGrad[] = "MaxPoolGradGrad", kAvgPool[] = "AvgPool",
               kAvgPoolGrad[] = "AvgPoolGrad", kMaxPool3DGrad[] = "MaxPool3DGrad",
               kMaxPool3DGradGrad[] = "MaxPool3DGradGrad", kAvgPool3D[] = "AvgPool3D",
               kAvgPool3DGrad[] = "AvgPool3DGrad";

void RegisterMaxPool2D(OpRegistry& ops) {
  constexpr char kFormats[] = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'";
  Windowed(ops.Add("MaxPool").Attr(kPooled), 4, true)
      .Attr("explicit_paddings: list(int) = []")
      .Attr(kFormats)
      .Input("input: T")
      .Output("output: T")
      .Shape(shapes::Pool)
      .Doc("The largest value of each window.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MaxPoolGrad", {g.x(0), g.y(), g.dy()}, PoolAttrs(g)));
      });
  Format(Windowed(GradInputs(ops, "MaxPoolGrad"), 4, true).Attr("explicit_paddings: list(int) = []"), 4)
      .Attr(kRealsByDefault)
      .Shape(LikeInput0)
      .Gradient(MaxGradGradient<kMaxPoolGradGrad>);
  Format(Windowed(GradInputs(ops, "MaxPoolGradGrad"), 4, false), 4)
      .Attr(kReals)
      .Shape(LikeInput1)
      .Gradient(MaxGradGradient<kMaxPoolGrad>);
  // Window and strides as tensors
  ops.Add("MaxPoolV2")
      .Attr(kPooled)
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr(kFormats)
      .Input("input: T")
      .Input("ksize: int32")
      .Input("strides: int32")
      .Output("output: T")
      .Shape(shapes::PoolV2)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MaxPoolGradV2", {g.x(0), g.y(), g.dy(), g.x(1), g.x(2)}, PoolAttrs(g)));
      });
  Format(
      GradInputs(ops, "MaxPoolGradV2").Input("ksize: int32").Input("strides: int32").Attr("padding: {'SAME', 'VALID'}"),
      4)
      .Attr(kRealsByDefault)
      .Shape(LikeInput0)
      .Gradient([](GradContext& g) {
        SetGradOfGrad(g, g.Call("MaxPoolGradGradV2", {g.x(0), g.x(1), g.dy(), g.x(3), g.x(4)}, PoolAttrs(g)));
      });
  Format(GradInputs(ops, "MaxPoolGradGradV2")
             .Input("ksize: int32")
             .Input("strides: int32")
             .Attr("padding: {'SAME', 'VALID'}"),
         4)
      .Attr(kReals)
      .Shape(LikeInput1);
  // With the positions
  ops.Add("MaxPoolWithArgmax")
      .Attr("ksize: list(int) >= 4")
      .Attr("strides: list(int) >= 4")
      .Attr("Targmax: {int32, int64} = DT_INT64")
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr("include_batch_in_index: bool = false")
      .Attr(kReals)
      .Input("input: T")
      .Output("output: T")
      .Output("argmax: Targmax")
      .Shape(PoolWithArgmaxShape)
      .Doc("The largest value of each window, and its index in the flattened image (or batch).")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MaxPoolGradWithArgmax", {g.x(0), g.dy(0), g.y(1)}, PoolAttrs(g)));
      });
  for (const char* name : {"MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax"}) {
    Windowed(ops.Add(name), 4, false)
        .Attr("include_batch_in_index: bool = false")
        .Attr("Targmax: {int32, int64}")
        .Attr(kReals)
        .Input("input: T")
        .Input("grad: T")
        .Input("argmax: Targmax")
        .Output("output: T")
        .Shape(name[11] == 'W' ? LikeInput0 : [](ShapeContext& c) { c.out(0, c.WithRank(2, 4)); });
  }
}

}  // namespace

void RegisterPoolOps(OpRegistry& ops) {
  RegisterMaxPool2D(ops);
  Format(Windowed(ops.Add("AvgPool"), 4, false), 4)
      .Attr(kFloats)
      .Input("value: T")
      .Output("output: T")
      .Shape(shapes::Pool)
      .Gradient(AvgGradient<kAvgPoolGrad>)
      .Doc("The mean of each window; positions outside the image do not count.");
  Format(Windowed(ops.Add("AvgPoolGrad"), 4, false), 4)
      .Attr(kFloats)
      .Input("orig_input_shape: int32")
      .Input("grad: T")
      .Output("output: T")
      .Shape(FromSizes)
      .Gradient(AvgGradGradient<kAvgPool>);

  Format(Windowed(ops.Add("MaxPool3D"), 5, false), 5)
      .Attr("T: {half, bfloat16, float}")
      .Input("input: T")
      .Output("output: T")
      .Shape(shapes::Pool)
      .Doc("The largest value of each window of a volume.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MaxPool3DGrad", {g.x(0), g.y(), g.dy()}, PoolAttrs(g)));
      });
  Format(Windowed(GradInputs(ops, "MaxPool3DGrad", "TInput"), 5, false), 5)
      .Attr("T: {half, bfloat16, float} = DT_FLOAT")
      .Attr("TInput: {half, bfloat16, float} = DT_FLOAT")
      .Shape(LikeInput0)
      .Gradient(MaxGradGradient<kMaxPool3DGradGrad>);
  Format(Windowed(GradInputs(ops, "MaxPool3DGradGrad"), 5, false), 5)
      .Attr(kReals)
      .Shape(LikeInput1)
      .Gradient(MaxGradGradient<kMaxPool3DGrad>);
  Format(Windowed(ops.Add("AvgPool3D"), 5, false), 5)
      .Attr(kFloats)
      .Input("input: T")
      .Output("output: T")
      .Shape(shapes::Pool)
      .Gradient(AvgGradient<kAvgPool3DGrad>)
      .Doc("The mean of each window of a volume.");
  Format(Windowed(ops.Add("AvgPool3DGrad"), 5, false), 5)
      .Attr(kFloats)
      .Input("orig_input_shape: int32")
      .Input("grad: T")
      .Output("output: T")
      .Shape(FromSizes)
      .Gradient(AvgGradGradient<kAvgPool3D>);
}

}  // namespace penstock
