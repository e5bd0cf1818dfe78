#include "penstock/data/optional.h"

namespace penstock::data {

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
