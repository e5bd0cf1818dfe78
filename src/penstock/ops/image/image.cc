// Images: colours, crops, glimpses, projective transforms, and boxes drawn on them.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// Three channels last.
void ColorShape(ShapeContext& c) {
  PartialShape shape = c.WithRankAtLeast(0, 1);
  if (shape.known_rank()) {
    shapes::RequireDim(shape[shape.rank() - 1], 3);
    shape.set_dim(shape.rank() - 1, 3);
  }
  c.out(0, shape);
}
void AdjustShape(ShapeContext& c) {
  c.WithRank(1, 0);
  c.out(0, c.WithRankAtLeast(0, 3));
}

// [batch, *size, channels], the size in input `i`.
void SizedShape(ShapeContext& c, int64_t batch, int i, int64_t channels) {
  const PartialShape size = c.WithRank(i, 1);
  if (size.known_rank()) shapes::RequireDim(size[0], 2);
  PartialShape out({batch, -1, -1, channels});
  if (const Tensor* value = c.in_value(i)) {
    for (int d = 0; d < 2; ++d) {
      if (value->IntAt(d) < 0)
        throw InvalidArgument("Dimension size, given by scalar input, must be non-negative but is ", value->IntAt(d));
      out.set_dim(1 + d, value->IntAt(d));
    }
  }
  c.out(0, out);
}
int64_t DimOf(const PartialShape& shape, int i) { return shape.known_rank() ? shape[i] : -1; }

void CropShape(ShapeContext& c) {
  const PartialShape image = c.WithRank(0, 4), boxes = c.WithRank(1, 2), index = c.WithRank(2, 1);
  const int64_t count = ShapeContext::MergeDim(DimOf(boxes, 0), DimOf(index, 0));
  if (boxes.known_rank()) shapes::RequireDim(boxes[1], 4);
  SizedShape(c, count, 3, DimOf(image, 3));
}

void GlimpseShape(ShapeContext& c) {
  const PartialShape input = c.WithRank(0, 4), offsets = c.WithRank(2, 2);
  const int64_t batch = ShapeContext::MergeDim(DimOf(input, 0), DimOf(offsets, 0));
  if (offsets.known_rank()) shapes::RequireDim(offsets[1], 2);
  SizedShape(c, batch, 1, DimOf(input, 3));
}

void ProjectiveShape(ShapeContext& c) {
  const PartialShape images = c.WithRank(0, 4);
  SizedShape(c, DimOf(images, 0), 2, DimOf(images, 3));
}

// The transform of the gradient is the inverse one; what it does not reach is zero.
void ProjectiveGradient(GradContext& g) {
  const Out images = g.x(0), transforms = g.x(1);
  if (!IsFloating(images.type()) && images.type() != DT_UINT8 && !IsInteger(images.type())) return;
  Scope& scope = g.scope();
  // Eight numbers become a matrix of three by three, with 1 at the end.
  const Out ones = g.Call("Fill", {ConcatVectors({ShapePart(transforms, 0, 1), ConstVector(scope, {1})}),
                                   scope.Scalar(1.0f)});
  const Out rows = g.Call("ConcatV2", {transforms, ones, scope.Scalar<int32_t>(1)}, {{"N", int64_t{2}}});
  const Out inverse = g.Call("MatrixInverse", {Reshape(rows, ConstVector(scope, {-1, 3, 3}))});
  const Out flat = Reshape(inverse, ConstVector(scope, {-1, 9}));
  const Out last = g.Call("Slice", {flat, ConstVector(scope, {0, 8}), ConstVector(scope, {-1, 1})});
  const Out eight = g.Call("Slice", {flat / last, ConstVector(scope, {0, 0}), ConstVector(scope, {-1, 8})});
  const AttrMap attrs = CopyAttrs(g, {"interpolation", "fill_mode"});
  if (g.num_inputs() == 4) {
    g.Set(0, g.Call("ImageProjectiveTransformV3", {g.dy(), eight, ShapePart(images, 1, 3), scope.Scalar(0.0f)}, attrs));
  } else {
    g.Set(0, g.Call("ImageProjectiveTransformV2", {g.dy(), eight, ShapePart(images, 1, 3)}, attrs));
  }
}

void CropGradient(GradContext& g) {
  const Out image = g.x(0);
  const DataType type = image.type();
  if (type == DT_HALF || type == DT_FLOAT || type == DT_DOUBLE) {
    AttrMap attrs = CopyAttrs(g, {"method"});
    attrs.Set("T", type);
    g.Set(0, g.Call("CropAndResizeGradImage", {g.dy(), g.x(1), g.x(2), ShapeOf(image)}, attrs));
  }
  g.Set(1, g.Call("CropAndResizeGradBoxes", {g.dy(), image, g.x(1), g.x(2)}));
}

// Hue, saturation and value are smooth in each of the six orders that the three colours can have; ties are broken
// as red before green before blue.
void HsvGradient(GradContext& g) {
  const Out x = g.x(0), dy = g.dy();
  const DataType type = x.type();
  const Outs rgb = CallOp("Unpack", {{x}}, {{"num", int64_t{3}}, {"axis", int64_t{-1}}});
  const Outs hsv = CallOp("Unpack", {{g.y()}}, {{"num", int64_t{3}}, {"axis", int64_t{-1}}});
  const Outs d = CallOp("Unpack", {{dy}}, {{"num", int64_t{3}}, {"axis", int64_t{-1}}});
  const Out r = rgb[0], green = rgb[1], b = rgb[2];
  const auto both = [&](const char* op1, Out a1, Out b1, const char* op2, Out a2, Out b2) {
    return Cast(g.Call("LogicalAnd", {g.Call(op1, {a1, b1}), g.Call(op2, {a2, b2})}), type);
  };
  const auto inverse = [&](Out v) { return g.Call("DivNoNan", {OnesLike(v), v}); };
  const auto positive = [&](Out v) { return Cast(g.Call("Greater", {v, ZerosLike(v)}), type); };
  const Out max[3] = {both("GreaterEqual", r, b, "GreaterEqual", r, green),
                      both("Greater", green, r, "GreaterEqual", green, b),
                      both("Greater", b, r, "Greater", b, green)};
  const Out min[3] = {both("Less", r, b, "Less", r, green), both("LessEqual", green, r, "Less", green, b),
                      both("LessEqual", b, r, "LessEqual", b, green)};
  const Out range_squared = Square(hsv[1]) * Square(hsv[2]);
  Outs dx;
  for (int i = 0; i < 3; ++i) {
    const int next = (i + 1) % 3, after = (i + 2) % 3;
    const Out c = rgb[i], cn = rgb[next], ca = rgb[after];
    const Out by_saturation =
        positive(c) * (max[i] * (min[next] * cn + min[after] * ca) * inverse(Square(c)) -
                       min[i] * inverse(max[next] * cn + max[after] * ca));
    // Hue is the difference of the two colours that follow the greatest, over the range of all, in sixths.
    const Out as_max = positive(c) * max[i] * (ca - cn) * inverse(range_squared);
    const Out under_next = positive(cn) * max[next] *
                           (min[i] * (ca - cn) * inverse(Square(cn - c)) - min[after] * inverse(cn - ca));
    const Out under_after = positive(ca) * max[after] *
                            (min[i] * (ca - cn) * inverse(Square(ca - c)) + min[next] * inverse(ca - cn));
    const Out by_hue = (as_max + under_next + under_after) / 6.0;
    dx.push_back(d[2] * max[i] + d[1] * by_saturation + d[0] * by_hue);
  }
  g.Set(0, CallOp("Pack", dx, {{"N", int64_t{3}}, {"axis", int64_t{-1}}})[0]);
}

}  // namespace

void RegisterImageOps(OpRegistry& ops) {
  ops.Add("RGBToHSV")
      .Input("images: T")
      .Output("output: T")
      .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .Shape(ColorShape)
      .Gradient(HsvGradient)
      .Doc("Hue, saturation and value of each pixel, all in [0, 1].");
  ops.Add("HSVToRGB")
      .Input("images: T")
      .Output("output: T")
      .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
      .Shape(ColorShape)
      .NotDifferentiable()
      .Doc("Red, green and blue of each pixel, given hue, saturation and value.");
  ops.Add("AdjustContrast")
      .Input("images: T")
      .Input("contrast_factor: float")
      .Input("min_value: float")
      .Input("max_value: float")
      .Output("output: float")
      .Attr("T: {uint8, int8, int16, int32, int64, float, double}")
      .Deprecated(2, "Use AdjustContrastv2 instead")
      .Shape([](ShapeContext& c) {
        for (const int i : {2, 3}) c.WithRank(i, 0);
        AdjustShape(c);
      });
  struct Adjust {
    const char *name, *factor, *doc;
  };
  for (const auto& [name, factor, doc] :
       {Adjust{"AdjustContrastv2", "contrast_factor", "Moves each channel of each image away from its mean."},
        Adjust{"AdjustHue", "delta", "Turns the hue of each pixel by `delta` of the whole circle."},
        Adjust{"AdjustSaturation", "scale", "Multiplies the saturation of each pixel."}}) {
    ops.Add(name)
        .Input("images: T")
        .Input(StrCat(factor, ": float"))
        .Output("output: T")
        .Attr("T: {half, float} = DT_FLOAT")
        .Shape(AdjustShape)
        .Doc(doc);
  }
  ops.Add("CropAndResize")
      .Input("image: T")
      .Input("boxes: float")
      .Input("box_ind: int32")
      .Input("crop_size: int32")
      .Output("crops: float")
      .Attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .Attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .Attr("extrapolation_value: float = 0")
      .Shape(CropShape)
      .Gradient(CropGradient)
      .Doc("Boxes cut out of images and brought to one size; box coordinates are parts of the image.");
  ops.Add("CropAndResizeGradImage")
      .Input("grads: float")
      .Input("boxes: float")
      .Input("box_ind: int32")
      .Input("image_size: int32")
      .Output("output: T")
      .Attr("T: {float, half, double}")
      .Attr("method: {'bilinear', 'nearest'} = 'bilinear'")
      .Shape([](ShapeContext& c) { c.out(0, ShapeContext::WithRank(c.in_as_shape(3), 4)); });
  ops.Add("CropAndResizeGradBoxes")
      .Input("grads: float")
      .Input("image: T")
      .Input("boxes: float")
      .Input("box_ind: int32")
      .Output("output: float")
      .Attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
      .Attr("method: {'bilinear'} = 'bilinear'")
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(2, 2)); });
  for (const char* name : {"ExtractGlimpse", "ExtractGlimpseV2"}) {
    ops.Add(name)
        .Input("input: float")
        .Input("size: int32")
        .Input("offsets: float")
        .Output("glimpse: float")
        .Attr("centered: bool = true")
        .Attr("normalized: bool = true")
        .Attr("uniform_noise: bool = true")
        .Attr("noise: string = 'uniform'")
        .Shape(GlimpseShape)
        .NotDifferentiable()
        .Doc("Windows of one size around given places; what lies outside the image is noise.");
  }
  for (const bool v3 : {false, true}) {
    OpBuilder op = ops.Add(v3 ? "ImageProjectiveTransformV3" : "ImageProjectiveTransformV2")
                       .Input("images: dtype")
                       .Input("transforms: float")
                       .Input("output_shape: int32");
    if (v3) op.Input("fill_value: float");
    op.Output("transformed_images: dtype")
        .Attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
        .Attr("interpolation: string")
        .Attr("fill_mode: string = 'CONSTANT'")
        .Shape(ProjectiveShape)
        .Gradient(ProjectiveGradient)
        .Doc("Each new pixel is what lies at the place to which the transform takes it.");
  }
  for (const bool v2 : {false, true}) {
    OpBuilder op = ops.Add(v2 ? "DrawBoundingBoxesV2" : "DrawBoundingBoxes").Input("images: T").Input("boxes: float");
    if (v2) op.Input("colors: float");
    op.Output("output: T")
        .Attr("T: {float, half} = DT_FLOAT")
        .Shape([](ShapeContext& c) {
          const PartialShape images = c.WithRankAtLeast(0, 3);
          const int64_t channels = images.known_rank() ? images[images.rank() - 1] : -1;
          if (channels >= 0 && channels != 1 && channels != 3 && channels != 4) {
            throw InvalidArgument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
          }
          c.out(0, images);
        })
        .Doc("Images with the outlines of boxes.");
    if (!v2) op.NotDifferentiable();
  }
}

}  // namespace penstock
