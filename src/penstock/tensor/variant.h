// The element of a DT_VARIANT tensor: an immutable object of a named type, shared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/ref.h"
#include "penstock/tensor/types.h"

namespace penstock {

class Tensor;

class VariantValue : public RefCounted {
 public:
  virtual std::string_view TypeName() const = 0;
  virtual std::string DebugString() const { return std::string(TypeName()); }
  // For VariantTensorDataProto: metadata bytes and tensors. Unimplemented unless overridden.
  virtual void Encode(std::string* metadata, std::vector<Tensor>* tensors) const;
  // Zeros like this; the sum of this and another of the same type. Unimplemented unless overridden.
  virtual Ref<VariantValue> ZerosLike() const;
  virtual Ref<VariantValue> Add(const VariantValue& other) const;

 protected:
  void Destroy() const override { DestroyInTurn(); }
};

class Variant {
 public:
  Variant() = default;
  explicit Variant(Ref<VariantValue> value) : value_(std::move(value)) {}
  bool empty() const { return !value_; }
  VariantValue* get() const { return value_.get(); }
  const Ref<VariantValue>& value() const { return value_; }
  template <class T>
  T* as() const {
    return dynamic_cast<T*>(value_.get());
  }

 private:
  Ref<VariantValue> value_;
};

// What goes through variants within variants holds one of these at each level. InvalidArgument: too many levels for the
// stack.
class VariantLevel {
 public:
  VariantLevel();
  ~VariantLevel();
  VariantLevel(const VariantLevel&) = delete;
};

// Makes a variant from the parts that Encode gave. Values of a type that no decoder is set for are kept as they came,
// so that they can be passed on.
Ref<VariantValue> DecodeVariant(std::string_view type_name, std::string_view metadata, std::vector<Tensor> tensors);
// Throws InvalidArgument if the parts make no sense. Set before the first value is decoded (engine/).
using VariantDecoder = Ref<VariantValue> (*)(std::string_view metadata, std::vector<Tensor> tensors);
void SetVariantDecoder(std::string_view type_name, VariantDecoder decoder);

}  // namespace penstock
