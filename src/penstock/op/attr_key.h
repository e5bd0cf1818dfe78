// Canonical keys of attributes for caches: two keys are equal if and only if the values are. Each part is written with
// its kind and its length, so that no value can imitate another; floats count by their bits, tensors with all bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/op/attr_value.h"

namespace penstock {

void AppendKey(int64_t value, std::string* key);
void AppendKey(std::string_view text, std::string* key);
void AppendKey(const Tensor& tensor, std::string* key);
void AppendKey(const AttrMap& attrs, std::string* key);
void AppendKey(const FuncRef& function, std::string* key);
void AppendKey(const AttrValue& value, std::string* key);

// A part whose kind no other overload would convert.
inline void AppendKey(const std::string& text, std::string* key) { AppendKey(std::string_view(text), key); }

template <class T>
std::string CanonicalKey(const T& value) {
  std::string key;
  AppendKey(value, &key);
  return key;
}

}  // namespace penstock
