// Maps from tensors to tensors, values like lists.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterTensorMapOps(OpRegistry& ops) {
  ops.Add("EmptyTensorMap").Output("handle: variant").Shape(shapes::Scalar).NotDifferentiable()
      .Doc("A map of nothing.");
  ops.Add("TensorMapSize").Input("input_handle: variant").Output("size: int32").Shape(shapes::Scalar)
      .NotDifferentiable().Doc("How many keys there are.");
  ops.Add("TensorMapLookup")
      .Input("input_handle: variant").Input("key: key_dtype").Output("value: value_dtype").Attr("key_dtype: type")
      .Attr("value_dtype: type").Shape(shapes::Unknown).Doc("The value of a key, which must be there.");
  ops.Add("TensorMapInsert")
      .Input("input_handle: variant").Input("key: key_dtype").Input("value: value_dtype")
      .Output("output_handle: variant").Attr("key_dtype: type").Attr("value_dtype: type").Shape(shapes::Scalar)
      .Doc("The map in which `key` has this value, which it may have had before.");
  ops.Add("TensorMapErase")
      .Input("input_handle: variant").Input("key: key_dtype").Output("output_handle: variant").Attr("key_dtype: type")
      .Attr("value_dtype: type").Shape(shapes::Scalar).Doc("The map without `key`, which must be there.");
  ops.Add("TensorMapHasKey")
      .Input("input_handle: variant").Input("key: key_dtype").Output("has_key: bool").Attr("key_dtype: type")
      .Shape(shapes::Scalar).NotDifferentiable().Doc("Whether a key is there.");
  ops.Add("TensorMapStackKeys")
      .Input("input_handle: variant").Output("keys: key_dtype").Attr("key_dtype: type").Shape(shapes::Unknown)
      .NotDifferentiable().Doc("All keys, which must be of one type and shape, along a new first dimension.");
}

}  // namespace penstock
