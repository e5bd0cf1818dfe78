// Tensors that stay in a session from one run to the next, found by a handle.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterSessionTensorOps(OpRegistry& ops) {
  ops.Add("GetSessionHandle")
      .Input("value: T")
      .Output("handle: string")
      .Attr("T: type")
      .Stateful()
      .Shape(shapes::Scalar)
      .Doc("Keeps a tensor in the session and gives its handle.");
  ops.Add("GetSessionHandleV2")
      .Input("value: T")
      .Output("handle: resource")
      .Attr("T: type")
      .Stateful()
      .Shape(shapes::Scalar)
      .Doc("Keeps a tensor in the session and gives its handle.");
  ops.Add("GetSessionTensor")
      .Input("handle: string")
      .Output("value: dtype")
      .Attr("dtype: type")
      .Stateful()
      .Shape(shapes::Unknown)
      .Doc("The tensor that is kept under a handle.");
  ops.Add("DeleteSessionTensor")
      .Input("handle: string")
      .Stateful()
      .Shape(shapes::None)
      .Doc("Drops the tensor that is kept under a handle.");
}

}  // namespace penstock
