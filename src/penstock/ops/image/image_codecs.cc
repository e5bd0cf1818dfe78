// Image files: decoding and encoding.
#include <algorithm>

#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// [?, ?, channels]
void DecodeShape(ShapeContext& c) {
  c.WithRank(0, 0);
  const int64_t channels = c.attr<int64_t>("channels");
  if (channels < 0) throw InvalidArgument("channels must be non-negative, got ", channels);
  c.out(0, PartialShape({-1, -1, channels == 0 ? -1 : channels}));
}

void CropShape(ShapeContext& c) {
  DecodeShape(c);
  const PartialShape window = c.WithRank(1, 1);
  if (window.known_rank()) shapes::RequireDim(window[0], 4);
  if (const Tensor* value = c.in_value(1)) {
    PartialShape out = c.out_shape(0);
    // What is negative is left to the kernel to refuse.
    out.set_dim(0, std::max<int64_t>(-1, value->IntAt(2))), out.set_dim(1, std::max<int64_t>(-1, value->IntAt(3)));
    c.out(0, out);
  }
}

OpBuilder Jpeg(OpBuilder op) {
  return op.Output("image: uint8").Attr("channels: int = 0").Attr("ratio: int = 1").Attr("fancy_upscaling: bool = true")
      .Attr("try_recover_truncated: bool = false").Attr("acceptable_fraction: float = 1")
      .Attr("dct_method: string = ''")
      .Heavy().NotDifferentiable();
}

void EncodeShape(ShapeContext& c) {
  c.WithRank(0, 3);
  shapes::Scalar(c);
}

}  // namespace

void RegisterImageCodecsOps(OpRegistry& ops) {
  Jpeg(ops.Add("DecodeJpeg").Input("contents: string")).Shape(DecodeShape).Doc("The pixels of a JPEG file.");
  Jpeg(ops.Add("DecodeAndCropJpeg").Input("contents: string").Input("crop_window: int32"))
      .Shape(CropShape)
      .Doc("A part of the pixels of a JPEG file: crop_window is [y, x, height, width].");
  ops.Add("EncodeJpeg").Input("image: uint8").Output("contents: string").Attr("format: {'', 'grayscale', 'rgb'} = ''")
      .Attr("quality: int = 95").Attr("progressive: bool = false").Attr("optimize_size: bool = false")
      .Attr("chroma_downsampling: bool = true").Attr("density_unit: {'in', 'cm'} = 'in'").Attr("x_density: int = 300")
      .Attr("y_density: int = 300").Attr("xmp_metadata: string = ''").Heavy().NotDifferentiable().Shape(EncodeShape)
      .Doc("An image as a JPEG file.");
  ops.Add("EncodeJpegVariableQuality").Input("images: uint8").Input("quality: int32").Output("contents: string").Heavy()
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        EncodeShape(c);
      })
      .Doc("An image as a JPEG file of the given quality.");
  ops.Add("ExtractJpegShape").Input("contents: string").Output("image_shape: output_type")
      .Attr("output_type: {int32, int64} = DT_INT32").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        c.out(0, PartialShape({3}));
      })
      .Doc("[height, width, channels] of a JPEG file.");
  ops.Add("DecodePng").Input("contents: string").Output("image: dtype").Attr("channels: int = 0")
      .Attr("dtype: {uint8, uint16} = DT_UINT8").Heavy().NotDifferentiable().Shape(DecodeShape)
      .Doc("The pixels of a PNG file.");
  ops.Add("EncodePng").Input("image: T").Output("contents: string").Attr("compression: int = -1")
      .Attr("T: {uint8, uint16} = DT_UINT8").Heavy().NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const PartialShape images = c.WithRankAtLeast(0, 3);
        if (images.known_rank()) c.out(0, PartialShape({images.dims().begin(), images.dims().end() - 3}));
      })
      .Doc("Images [..., height, width, channels] as PNG files.");
  ops.Add("DecodeGif").Input("contents: string").Output("image: uint8").Heavy().NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        c.out(0, PartialShape({-1, -1, -1, 3}));
      })
      .Doc("All frames of a GIF file.");
  ops.Add("DecodeBmp").Input("contents: string").Output("image: uint8").Attr("channels: int = 0").Heavy()
      .NotDifferentiable().Shape(DecodeShape).Doc("The pixels of a BMP file.");
  ops.Add("DecodeImage").Input("contents: string").Output("image: dtype").Attr("channels: int = 0")
      .Attr("dtype: {uint8, uint16, float} = DT_UINT8").Attr("expand_animations: bool = true").Heavy()
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        DecodeShape(c);
        if (c.attr<bool>("expand_animations")) c.out(0, PartialShape());
      })
      .Doc("The pixels of a JPEG, PNG, GIF or BMP file.");
}

}  // namespace penstock
