// Text building without streams.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

inline void AppendTo(std::string* out, std::string_view s) { out->append(s); }
inline void AppendTo(std::string* out, const char* s) { out->append(s); }
inline void AppendTo(std::string* out, char c) { out->push_back(c); }
inline void AppendTo(std::string* out, bool b) { out->append(b ? "true" : "false"); }
void AppendTo(std::string* out, double v);  // shortest form that reads back
void AppendTo(std::string* out, float v);

template <std::integral I>
  requires(!std::same_as<I, bool> && !std::same_as<I, char>)
void AppendTo(std::string* out, I v) {
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), v).ptr);
}

template <class T>
  requires requires(const T& t) {
    { t.ToString() } -> std::convertible_to<std::string>;
  }
void AppendTo(std::string* out, const T& t) {
  out->append(t.ToString());
}

template <class E>
  requires std::is_enum_v<E> && requires(E e) {
    { ToString(e) } -> std::convertible_to<std::string_view>;
  }
void AppendTo(std::string* out, E e) {
  out->append(ToString(e));
}

// The parts one after the other: text, numbers, and anything with ToString().
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  std::string out;
  (AppendTo(&out, parts), ...);
  return out;
}

// "a, b, c" for ", ".
template <class Range>
std::string StrJoin(const Range& items, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out.append(separator);
    first = false;
    AppendTo(&out, item);
  }
  return out;
}

std::vector<std::string_view> StrSplit(std::string_view text, char separator);  // keeps empty pieces
std::string_view StripSpaces(std::string_view text);
bool ParseInt64(std::string_view text, int64_t* value);                 // the whole of `text`; false on overflow
bool ParseDouble(std::string_view text, double* value);                 // decimal, inf, nan
uint64_t Hash64(std::string_view bytes, uint64_t seed = 0xDECAFCAFFE);  // for tables in memory only

}  // namespace penstock
