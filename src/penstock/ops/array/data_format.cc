// Dimensions and vectors of sizes, said in one layout of images and wanted in another.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterDataFormatOps(OpRegistry& ops) {
  ops.Add("DataFormatDimMap")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {int32, int64} = DT_INT32")
      .Attr("src_format: string = 'NHWC'")
      .Attr("dst_format: string = 'NCHW'")
      .Shape(shapes::SameAsInput0)
      .Doc("Which dimension of dst_format each dimension of src_format is.");
  ops.Add("DataFormatVecPermute")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {int32, int64} = DT_INT32")
      .Attr("src_format: string = 'NHWC'")
      .Attr("dst_format: string = 'NCHW'")
      .Shape(shapes::SameAsInput0)
      .Doc(
          "A size (or a pair) for each dimension of src_format, in dst_format's order; two of them are the spatial "
          "ones.");
}

}  // namespace penstock
