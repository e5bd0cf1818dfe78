// The value of a node's attribute: a variant over the kinds that OpDefs know.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/tensor/shape.h"
#include "penstock/tensor/tensor.h"
#include "penstock/tensor/types.h"

namespace penstock {

class AttrValue;

// Attributes of one node, sorted by name; few, so a flat vector.
class AttrMap {
 public:
  using Items = std::vector<std::pair<std::string, AttrValue>>;
  AttrMap() = default;
  AttrMap(std::initializer_list<std::pair<std::string_view, AttrValue>> items);
  const AttrValue* Find(std::string_view name) const;  // null if absent
  AttrValue& operator[](std::string_view name);        // made empty if absent
  void Set(std::string_view name, AttrValue value);
  void Erase(std::string_view name);
  bool empty() const;
  size_t size() const;
  Items::const_iterator begin() const;
  Items::const_iterator end() const;
  friend bool operator==(const AttrMap& a, const AttrMap& b);

 private:
  Items items_;
};

// A function's name with the attributes to instantiate it with (TensorFlow's NameAttrList).
struct FuncRef {
  std::string name;
  AttrMap attrs;
  friend bool operator==(const FuncRef&, const FuncRef&) = default;
};

// "$T" inside a function's body: stands for the attribute of the call.
struct AttrPlaceholder {
  std::string name;
  friend bool operator==(const AttrPlaceholder&, const AttrPlaceholder&) = default;
};

// An empty list whose kind is not known (a wire message does not tell).
struct EmptyList {
  friend bool operator==(const EmptyList&, const EmptyList&) = default;
};

// The empty list of a kind, "list(int)" and so on; an EmptyList if there is no such kind.
AttrValue EmptyListOf(std::string_view kind);

class AttrValue {
 public:
  using Variant =
      std::variant<std::monostate, std::string, int64_t, float, bool, DataType, PartialShape,
                   std::shared_ptr<const Tensor>, FuncRef, AttrPlaceholder, EmptyList, std::vector<std::string>,
                   std::vector<int64_t>, std::vector<float>, std::vector<bool>, std::vector<DataType>,
                   std::vector<PartialShape>, std::vector<Tensor>, std::vector<FuncRef>>;
  AttrValue() = default;
  template <class T>
    requires(!std::same_as<T, AttrValue>) && std::constructible_from<Variant, std::in_place_type_t<T>, T>
  AttrValue(T value) : v(std::in_place_type<T>, std::move(value)) {}        // NOLINT
  AttrValue(const char* s) : v(std::string(s)) {}                           // NOLINT
  AttrValue(std::string_view s) : v(std::string(s)) {}                      // NOLINT
  AttrValue(int i) : v(int64_t{i}) {}                                       // NOLINT
  AttrValue(double f) : v(static_cast<float>(f)) {}                         // NOLINT
  AttrValue(Tensor t) : v(std::make_shared<const Tensor>(std::move(t))) {}  // NOLINT
  AttrValue(const Shape& s) : v(PartialShape(s)) {}                         // NOLINT

  // The value as a T, or null if it is of another kind. An EmptyList is any list.
  template <class T>
  const T* If() const {
    if constexpr (std::is_same_v<T, Tensor>) {
      auto p = std::get_if<std::shared_ptr<const Tensor>>(&v);
      return p ? p->get() : nullptr;
    } else {
      if constexpr (IsVector<T>::value) {
        static const T kEmpty;
        if (std::holds_alternative<EmptyList>(v)) return &kEmpty;
      }
      return std::get_if<T>(&v);
    }
  }
  bool empty() const { return std::holds_alternative<std::monostate>(v); }
  // The kind as OpDefs write it: "int", "list(type)", ...; "" if empty, "placeholder".
  std::string KindName() const;
  std::string ToString() const;                                    // for messages, as TensorFlow's SummarizeAttrValue
  friend bool operator==(const AttrValue& a, const AttrValue& b);  // tensors compare by content

  Variant v;

 private:
  template <class T>
  struct IsVector : std::false_type {};
  template <class E>
  struct IsVector<std::vector<E>> : std::true_type {};
};

// Here, where the elements' type is complete.
inline bool AttrMap::empty() const { return items_.empty(); }
inline size_t AttrMap::size() const { return items_.size(); }
inline AttrMap::Items::const_iterator AttrMap::begin() const { return items_.begin(); }
inline AttrMap::Items::const_iterator AttrMap::end() const { return items_.end(); }

}  // namespace penstock
