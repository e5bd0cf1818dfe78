#include "penstock/tensor/variant.h"

#include "penstock/base/status.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

void VariantValue::Encode(std::string*, std::vector<Tensor>*) const {
  throw Unimplemented("variants of type ", TypeName(), " cannot be serialized");
}
Ref<VariantValue> VariantValue::ZerosLike() const { throw Unimplemented("no zeros like a variant of type ", TypeName()); }
Ref<VariantValue> VariantValue::Add(const VariantValue&) const {
  throw Unimplemented("variants of type ", TypeName(), " cannot be added");
}

}  // namespace penstock
