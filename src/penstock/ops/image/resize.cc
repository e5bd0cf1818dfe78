// Images at another size, and normalisation by neighbouring channels.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// [batch, *size, channels]
void ResizeShape(ShapeContext& c) {
  const PartialShape images = c.WithRank(0, 4), size = c.WithRank(1, 1);
  if (size.known_rank()) shapes::RequireDim(size[0], 2);
  PartialShape out = PartialShape::OfRank(4);
  if (images.known_rank()) out.set_dim(0, images[0]), out.set_dim(3, images[3]);
  if (const Tensor* value = c.in_value(1)) {
    for (int i = 0; i < 2; ++i) {
      if (value->IntAt(i) < 0)
        throw InvalidArgument("Dimension size, given by scalar input, must be non-negative but is ", value->IntAt(i));
      out.set_dim(1 + i, value->IntAt(i));
    }
  }
  c.out(0, out);
}
void ScaleShape(ShapeContext& c) {
  for (const int i : {2, 3}) {
    if (const PartialShape pair = c.WithRank(i, 1); pair.known_rank()) shapes::RequireDim(pair[0], 2);
  }
  ResizeShape(c);
}
void LikeOriginal(ShapeContext& c) { c.out(0, c.WithRank(1, 4)); }

AttrMap Corners(GradContext& g) { return CopyAttrs(g, {"align_corners", "half_pixel_centers"}); }

OpBuilder Attributes(OpBuilder op, std::string_view types) {
  return op.Attr(types).Attr("align_corners: bool = false").Attr("half_pixel_centers: bool = false");
}

OpBuilder LrnAttributes(OpBuilder op) {
  return op.Attr("depth_radius: int = 5")
      .Attr("bias: float = 1.0")
      .Attr("alpha: float = 1.0")
      .Attr("beta: float = 0.5")
      .Attr("T: {half, bfloat16, float} = DT_FLOAT");
}

}  // namespace

void RegisterResizeOps(OpRegistry& ops) {
  Attributes(ops.Add("ResizeBilinear").Input("images: T").Input("size: int32").Output("resized_images: float"),
             "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double, bfloat16}")
      .Shape(ResizeShape)
      .Doc("Images at another size: each new pixel is a mean of the four around its place.")
      .Gradient([](GradContext& g) {
        if (!IsFloating(g.x(0).type())) return;
        g.Set(0, g.Call("ResizeBilinearGrad", {g.dy(), g.x(0)}, Corners(g)));
      });
  Attributes(ops.Add("ResizeBilinearGrad").Input("grads: float").Input("original_image: T").Output("output: T"),
             "T: {float, bfloat16, half, double}")
      .Shape(LikeOriginal)
      .NotDifferentiable();
  Attributes(ops.Add("ResizeNearestNeighbor").Input("images: T").Input("size: int32").Output("resized_images: T"),
             "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .Shape(ResizeShape)
      .Doc("Images at another size: each new pixel is the one nearest to its place.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("ResizeNearestNeighborGrad", {g.dy(), ShapePart(g.x(0), 1, 3)}, Corners(g)));
      });
  Attributes(ops.Add("ResizeNearestNeighborGrad").Input("grads: T").Input("size: int32").Output("output: T"),
             "T: {uint8, int8, int32, half, float, double, bfloat16}")
      .Shape(ResizeShape);

  Attributes(ops.Add("ResizeBicubic").Input("images: T").Input("size: int32").Output("resized_images: float"),
             "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .Shape(ResizeShape)
      .Doc("Images at another size: each new pixel is made of the sixteen around its place.")
      .Gradient([](GradContext& g) {
        const DataType type = g.x(0).type();
        if (type != DT_FLOAT && type != DT_DOUBLE) return;
        g.Set(0, g.Call("ResizeBicubicGrad", {g.dy(), g.x(0)}, Corners(g)));
      });
  Attributes(ops.Add("ResizeBicubicGrad").Input("grads: float").Input("original_image: T").Output("output: T"),
             "T: {float, double}")
      .Shape(LikeOriginal);
  ops.Add("ResizeArea")
      .Input("images: T")
      .Input("size: int32")
      .Output("resized_images: float")
      .Attr("T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}")
      .Attr("align_corners: bool = false")
      .Shape(ResizeShape)
      .Doc("Images at another size: each new pixel is the mean of the area that it covers.");
  ops.Add("ScaleAndTranslate")
      .Input("images: T")
      .Input("size: int32")
      .Input("scale: float")
      .Input("translation: float")
      .Output("resized_images: float")
      .Attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}")
      .Attr("kernel_type: string = 'lanczos3'")
      .Attr("antialias: bool = true")
      .Shape(ScaleShape)
      .Doc("Images scaled and moved, sampled through a kernel.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("ScaleAndTranslateGrad", {g.dy(), g.x(0), g.x(2), g.x(3)},
                        CopyAttrs(g, {"kernel_type", "antialias"})));
      });
  ops.Add("ScaleAndTranslateGrad")
      .Input("grads: T")
      .Input("original_image: T")
      .Input("scale: float")
      .Input("translation: float")
      .Output("output: T")
      .Attr("T: {float}")
      .Attr("kernel_type: string = 'lanczos3'")
      .Attr("antialias: bool = true")
      .Shape(LikeOriginal);

  LrnAttributes(ops.Add("LRN").Input("input: T").Output("output: T"))
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 4)); })
      .Doc("input over (bias + alpha * sum of squares of the channels within depth_radius) ** beta.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("LRNGrad", {g.dy(), g.x(0), g.y()}, CopyAttrs(g, {"depth_radius", "bias", "alpha", "beta"})));
      });
  LrnAttributes(
      ops.Add("LRNGrad").Input("input_grads: T").Input("input_image: T").Input("output_image: T").Output("output: T"))
      .Shape([](ShapeContext& c) {
        c.out(0, shapes::Merge(shapes::Merge(c.WithRank(0, 4), c.WithRank(1, 4)), c.WithRank(2, 4)));
      });
}

}  // namespace penstock
