#include "penstock/kernels/cpu/dataset/optional.h"

#include "penstock/kernels/cpu/data_flow/tensor_list.h"

namespace penstock::data {

Ref<VariantValue> Optional::ZerosLike() const {
  if (!value_) return MakeRef<Optional>(std::nullopt);
  Element zeros;
  for (const Tensor& t : *value_) zeros.push_back(ZeroElementsLike(t));
  return MakeRef<Optional>(std::move(zeros));
}

Ref<VariantValue> Optional::Add(const VariantValue& other) const {
  const auto* optional = dynamic_cast<const Optional*>(&other);
  if (!optional) throw InvalidArgument("An optional and ", other.DebugString(), " cannot be added");
  if (value_.has_value() != optional->value_.has_value()) {
    throw InvalidArgument("Cannot add optionals because one has a value and the other doesn't.");
  }
  if (!value_) return MakeRef<Optional>(std::nullopt);
  const Element& theirs = *optional->value_;
  if (value_->size() != theirs.size()) {
    throw InvalidArgument("Cannot add optionals because they have different numbers of components (", value_->size(),
                          " vs. ", theirs.size(), ").");
  }
  Element sum;
  for (size_t i = 0; i < theirs.size(); ++i) {
    if ((*value_)[i].dtype() != theirs[i].dtype()) {
      throw InvalidArgument("Cannot add optionals because they have different types at component ", i, ".");
    }
    sum.push_back(AddElements((*value_)[i], theirs[i]));
  }
  return MakeRef<Optional>(std::move(sum));
}

Tensor ToVariant(std::optional<Element> value) {
  Tensor t(DT_VARIANT, Shape());
  *t.mutable_data<Variant>() = Variant(MakeRef<Optional>(std::move(value)));
  return t;
}

const Optional& OptionalFrom(const Tensor& variant) {
  if (variant.dtype() != DT_VARIANT || variant.rank() != 0)
    throw InvalidArgument("An optional must be a scalar variant.");
  const Optional* optional = variant.data<Variant>()->as<Optional>();
  if (!optional) throw InvalidArgument("The given variant is not an optional.");
  return *optional;
}

void SetOutputs(KernelContext& k, Element element) {
  if (static_cast<int>(element.size()) != k.num_outputs()) {
    throw InvalidArgument("Number of components does not match: expected ", k.num_outputs(), " types but got ",
                          element.size(), ".");
  }
  for (int i = 0; i < k.num_outputs(); ++i) {
    if (element[i].dtype() != k.node().output_type(i)) {
      throw InvalidArgument("Data type mismatch at component ", i, ": expected ", k.node().output_type(i), " but got ",
                            element[i].dtype(), ".");
    }
    k.SetOutput(i, std::move(element[i]));
  }
}

}  // namespace penstock::data
