// The value of a DT_VARIANT tensor that is an element, or none.
#pragma once

#include <optional>

#include "penstock/data/state.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock::data {

class Optional final : public VariantValue {
 public:
  explicit Optional(std::optional<Element> value) : value_(std::move(value)) {}
  std::string_view TypeName() const override { return "tensorflow::data::Optional"; }
  const std::optional<Element>& value() const { return value_; }
  void Encode(std::string* metadata, std::vector<Tensor>* tensors) const override {
    metadata->assign(1, value_ ? '\1' : '\0');
    if (value_) *tensors = *value_;
  }
  // Of its tensors. The sum: InvalidArgument unless both have a value of as many components, or none.
  Ref<VariantValue> ZerosLike() const override;
  Ref<VariantValue> Add(const VariantValue& other) const override;
  static Ref<VariantValue> Decode(std::string_view metadata, std::vector<Tensor> tensors) {
    const bool there = !metadata.empty() && metadata[0] != '\0';
    return MakeRef<Optional>(there ? std::optional(std::move(tensors)) : std::nullopt);
  }

 private:
  const std::optional<Element> value_;
};

Tensor ToVariant(std::optional<Element> value);
// InvalidArgument if the variant holds something else.
const Optional& OptionalFrom(const Tensor& variant);
// Sets the outputs to an element. InvalidArgument unless it has their types.
void SetOutputs(KernelContext& k, Element element);

}  // namespace penstock::data
