#include "penstock/op/attr_value.h"

#include <algorithm>
#include <cstring>

#include "penstock/tensor/tstring.h"

namespace penstock {
namespace {

auto Position(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const auto& item, std::string_view n) { return item.first < n; });
}

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DT_STRING) return std::ranges::equal(a.flat<TString>(), b.flat<TString>());
  if (!IsPod(a.dtype())) return a.SharesBufferWith(b);
  return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

struct Kind {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string&) const { return "string"; }
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(float) const { return "float"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(DataType) const { return "type"; }
  std::string operator()(const PartialShape&) const { return "shape"; }
  std::string operator()(const Tensor&) const { return "tensor"; }
  std::string operator()(const std::shared_ptr<const Tensor>&) const { return "tensor"; }
  std::string operator()(const FuncRef&) const { return "func"; }
  std::string operator()(const AttrPlaceholder&) const { return "placeholder"; }
  std::string operator()(const EmptyList&) const { return "list"; }
  template <class E>
  std::string operator()(const std::vector<E>&) const {
    return StrCat("list(", (*this)(E()), ")");
  }
};

struct Text {
  std::string operator()(std::monostate) const { return "<empty>"; }
  std::string operator()(const std::string& s) const { return StrCat("\"", s, "\""); }
  std::string operator()(int64_t i) const { return StrCat(i); }
  std::string operator()(float f) const { return StrCat(f); }
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(DataType t) const { return "DT_" + Upper(ToString(t)); }
  std::string operator()(const PartialShape& s) const { return s.ToString(); }
  std::string operator()(const Tensor& t) const { return t.ToString(10); }
  std::string operator()(const std::shared_ptr<const Tensor>& t) const { return t->ToString(10); }
  std::string operator()(const FuncRef& f) const { return StrCat(f.name, "[", f.attrs.size(), " attributes]"); }
  std::string operator()(const AttrPlaceholder& p) const { return StrCat("$", p.name); }
  std::string operator()(const EmptyList&) const { return "[]"; }
  template <class E>
  std::string operator()(const std::vector<E>& list) const {
    std::vector<std::string> items;
    for (const auto& item : list) items.push_back((*this)(E(item)));
    return StrCat("[", StrJoin(items, ", "), "]");
  }
  static std::string Upper(std::string s) {
    for (char& c : s) c = static_cast<char>(std::toupper(c));
    return s;
  }
};

}  // namespace

AttrMap::AttrMap(std::initializer_list<std::pair<std::string_view, AttrValue>> items) {
  for (const auto& [name, value] : items) Set(name, value);
}

const AttrValue* AttrMap::Find(std::string_view name) const {
  auto it = Position(items_, name);
  return it != items_.end() && it->first == name ? &it->second : nullptr;
}

AttrValue& AttrMap::operator[](std::string_view name) {
  auto it = Position(items_, name);
  if (it == items_.end() || it->first != name) it = items_.insert(it, {std::string(name), AttrValue()});
  return it->second;
}

void AttrMap::Set(std::string_view name, AttrValue value) { (*this)[name] = std::move(value); }

void AttrMap::Erase(std::string_view name) {
  auto it = Position(items_, name);
  if (it != items_.end() && it->first == name) items_.erase(it);
}

bool operator==(const AttrMap& a, const AttrMap& b) { return a.items_ == b.items_; }

AttrValue EmptyListOf(std::string_view kind) {
  if (kind == "list(string)") return std::vector<std::string>();
  if (kind == "list(int)") return std::vector<int64_t>();
  if (kind == "list(float)") return std::vector<float>();
  if (kind == "list(bool)") return std::vector<bool>();
  if (kind == "list(type)") return std::vector<DataType>();
  if (kind == "list(shape)") return std::vector<PartialShape>();
  if (kind == "list(tensor)") return std::vector<Tensor>();
  if (kind == "list(func)") return std::vector<FuncRef>();
  return EmptyList();
}

std::string AttrValue::KindName() const { return std::visit(Kind(), v); }
std::string AttrValue::ToString() const { return std::visit(Text(), v); }

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (auto *x = a.If<Tensor>(), *y = b.If<Tensor>(); x && y) return SameTensor(*x, *y);
  if (auto *x = a.If<std::vector<Tensor>>(), *y = b.If<std::vector<Tensor>>(); x && y) {
    return std::ranges::equal(*x, *y, SameTensor);
  }
  if (a.v.index() != b.v.index()) {
    // An empty list of unknown kind equals any empty list.
    const auto empty_list = [](const AttrValue& value) {
      return std::visit(
          [](const auto& x) {
            if constexpr (
                requires {
                  x.empty();
                  x.begin();
                } && !requires { x.c_str(); })
              return x.empty();
            return std::is_same_v<std::decay_t<decltype(x)>, EmptyList>;
          },
          value.v);
    };
    return empty_list(a) && empty_list(b);
  }
  return std::visit(
      [&](const auto& x) -> bool {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::shared_ptr<const Tensor>> || std::is_same_v<T, std::vector<Tensor>>) {
          return false;  // handled above
        } else {
          return x == std::get<T>(b.v);
        }
      },
      a.v);
}

}  // namespace penstock
