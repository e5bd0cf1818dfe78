#include "penstock/tensor/variant.h"

#include <map>

#include "penstock/base/status.h"
#include "penstock/tensor/tensor.h"

namespace penstock {
namespace {

std::map<std::string, VariantDecoder, std::less<>>& Decoders() {
  static auto* decoders = new std::map<std::string, VariantDecoder, std::less<>>();
  return *decoders;
}

// A value of a type that is not known here.
class EncodedVariant : public VariantValue {
 public:
  EncodedVariant(std::string_view type_name, std::string_view metadata, std::vector<Tensor> tensors)
      : type_name_(type_name), metadata_(metadata), tensors_(std::move(tensors)) {}
  std::string_view TypeName() const override { return type_name_; }
  void Encode(std::string* metadata, std::vector<Tensor>* tensors) const override {
    *metadata = metadata_;
    *tensors = tensors_;
  }

 private:
  std::string type_name_, metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace

Ref<VariantValue> DecodeVariant(std::string_view type_name, std::string_view metadata, std::vector<Tensor> tensors) {
  const auto it = Decoders().find(type_name);
  if (it != Decoders().end()) return it->second(metadata, std::move(tensors));
  return MakeRef<EncodedVariant>(type_name, metadata, std::move(tensors));
}

void SetVariantDecoder(std::string_view type_name, VariantDecoder decoder) {
  Decoders()[std::string(type_name)] = decoder;
}

static thread_local int t_levels = 0;

VariantLevel::VariantLevel() {
  constexpr int kMost = 1000;
  if (t_levels == kMost) throw InvalidArgument("variants are nested more than ", kMost, " levels deep");
  ++t_levels;
}
VariantLevel::~VariantLevel() { --t_levels; }

void VariantValue::Encode(std::string*, std::vector<Tensor>*) const {
  throw Unimplemented("variants of type ", TypeName(), " cannot be serialized");
}
Ref<VariantValue> VariantValue::ZerosLike() const {
  throw Unimplemented("no zeros like a variant of type ", TypeName());
}
Ref<VariantValue> VariantValue::Add(const VariantValue&) const {
  throw Unimplemented("variants of type ", TypeName(), " cannot be added");
}

}  // namespace penstock
