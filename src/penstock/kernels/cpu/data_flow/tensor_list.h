// The value behind a TensorList's handle.
#pragma once

#include <string>
#include <vector>

#include "penstock/tensor/tensor.h"
#include "penstock/tensor/variant.h"

namespace penstock {

class TensorList : public VariantValue {
 public:
  TensorList(DataType dtype, PartialShape shape, int64_t limit) : dtype(dtype), shape(std::move(shape)), limit(limit) {}
  std::string_view TypeName() const override { return "tensorflow::TensorList"; }
  std::string DebugString() const override { return "TensorList"; }
  // Each element zeros; elements that are not set stay so.
  Ref<VariantValue> ZerosLike() const override;
  // Element by element. InvalidArgument: other types or lengths.
  Ref<VariantValue> Add(const VariantValue& other) const override;

  Ref<TensorList> Copy() const;

  DataType dtype;
  PartialShape shape;
  int64_t limit;              // of the number of elements; -1: none
  std::vector<Tensor> items;  // uninitialized: not set
};

// The sum of two tensors of one type and shape. InvalidArgument: other shapes, or a type without sums.
Tensor AddElements(const Tensor& a, const Tensor& b);
// Zeros like a tensor, which may be one of variants.
Tensor ZeroElementsLike(const Tensor& t);

}  // namespace penstock
