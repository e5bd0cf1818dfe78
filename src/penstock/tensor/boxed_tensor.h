// A tensor inside of a variant: parts of serialized sparse tensors.
#pragma once

#include "penstock/tensor/tensor.h"
#include "penstock/tensor/variant.h"

namespace penstock {

class BoxedTensor : public VariantValue {
 public:
  explicit BoxedTensor(Tensor tensor) : tensor(std::move(tensor)) {}
  static constexpr std::string_view kTypeName = "tensorflow::Tensor";
  std::string_view TypeName() const override { return kTypeName; }
  void Encode(std::string*, std::vector<Tensor>* tensors) const override { *tensors = {tensor}; }
  static Ref<VariantValue> Decode(std::string_view, std::vector<Tensor> tensors) {
    if (tensors.size() != 1) throw InvalidArgument("A variant that holds a tensor has ", tensors.size(), " of them");
    return MakeRef<BoxedTensor>(std::move(tensors[0]));
  }
  const Tensor tensor;
};

}  // namespace penstock
