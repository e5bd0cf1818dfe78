#include "penstock/op/attr_key.h"

#include <atomic>
#include <type_traits>

#include "penstock/tensor/tstring.h"

namespace penstock {
namespace {

// Writes one value of each kind; the kind itself is written before.
class Writer {
 public:
  explicit Writer(std::string* key) : key_(key) {}

  void operator()(std::monostate) const {}
  void operator()(const std::string& text) const { AppendKey(std::string_view(text), key_); }
  void operator()(int64_t value) const { Raw(value); }
  void operator()(float value) const { Raw(value); }
  void operator()(bool value) const { key_->push_back(value ? 1 : 0); }
  void operator()(DataType type) const { Raw(type); }
  void operator()(const PartialShape& shape) const {
    Raw(int64_t{shape.known_rank() ? shape.rank() : -1});
    if (!shape.known_rank()) return;
    for (int i = 0; i < shape.rank(); ++i) Raw(int64_t{shape[i]});
  }
  void operator()(const Tensor& tensor) const { AppendKey(tensor, key_); }
  void operator()(const std::shared_ptr<const Tensor>& tensor) const { AppendKey(*tensor, key_); }
  void operator()(const FuncRef& function) const { AppendKey(function, key_); }
  void operator()(const AttrPlaceholder& placeholder) const { (*this)(placeholder.name); }
  void operator()(const EmptyList&) const {}
  template <class E>
  void operator()(const std::vector<E>& list) const {
    Raw(static_cast<int64_t>(list.size()));
    for (const auto& item : list) (*this)(static_cast<const E&>(item));
  }

 private:
  template <class T>
  void Raw(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    key_->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  std::string* const key_;
};

}  // namespace

void AppendKey(int64_t value, std::string* key) { Writer{key}(value); }

void AppendKey(std::string_view text, std::string* key) {
  AppendKey(static_cast<int64_t>(text.size()), key);
  key->append(text);
}

void AppendKey(const Tensor& tensor, std::string* key) {
  AppendKey(int64_t{tensor.dtype()}, key);
  AppendKey(int64_t{tensor.rank()}, key);
  for (int i = 0; i < tensor.rank(); ++i) AppendKey(tensor.dim(i), key);
  if (tensor.dtype() == DT_STRING) {
    for (const TString& element : tensor.flat<TString>()) AppendKey(element.view(), key);
  } else if (IsPod(tensor.dtype())) {
    key->append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  } else {  // handles and variants have no bytes to compare: equal to nothing
    static std::atomic<int64_t> next{0};
    AppendKey(next.fetch_add(1, std::memory_order_relaxed), key);
  }
}

void AppendKey(const AttrMap& attrs, std::string* key) {
  AppendKey(static_cast<int64_t>(attrs.size()), key);
  for (const auto& [name, value] : attrs) {
    AppendKey(std::string_view(name), key);
    AppendKey(value, key);
  }
}

void AppendKey(const FuncRef& function, std::string* key) {
  AppendKey(std::string_view(function.name), key);
  AppendKey(function.attrs, key);
}

void AppendKey(const AttrValue& value, std::string* key) {
  const bool empty_list = std::visit(
      [](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, EmptyList>) return true;
        if constexpr (requires { typename T::allocator_type; } && !std::is_same_v<T, std::string>) return x.empty();
        return false;
      },
      value.v);
  if (empty_list) {  // of any kind, known or not
    key->push_back(static_cast<char>(AttrValue(EmptyList()).v.index()));
    return;
  }
  key->push_back(static_cast<char>(value.v.index()));
  std::visit(Writer(key), value.v);
}

}  // namespace penstock
