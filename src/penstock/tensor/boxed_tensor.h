// A tensor inside of a variant: parts of serialized sparse tensors.
#pragma once

#include "penstock/tensor/tensor.h"
#include "penstock/tensor/variant.h"

namespace penstock {

class BoxedTensor : public VariantValue {
 public:
  explicit BoxedTensor(Tensor tensor) : tensor(std::move(tensor)) {}
  std::string_view TypeName() const override { return "tensorflow::Tensor"; }
  const Tensor tensor;
};

}  // namespace penstock
