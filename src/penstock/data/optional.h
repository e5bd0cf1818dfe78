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

 private:
  const std::optional<Element> value_;
};

Tensor ToVariant(std::optional<Element> value);
// InvalidArgument if the variant holds something else.
const Optional& OptionalFrom(const Tensor& variant);
// Sets the outputs to an element. InvalidArgument unless it has their types.
void SetOutputs(KernelContext& k, Element element);

}  // namespace penstock::data
