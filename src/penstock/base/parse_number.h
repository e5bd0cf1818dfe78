// Numbers that texts spell.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "penstock/base/strings.h"

namespace penstock {

// The whole of the text but white space around it, as TensorFlow reads it: hexadecimal numbers for floats, inf and nan
// in any case, too large ones as infinity; integers in decimal, and false where they do not fit.
template <class T>
bool ParseNumber(std::string_view text, T* value) {
  text = StripSpaces(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return false;
  if constexpr (std::is_integral_v<T>) {
    if (negative) {
      if (std::is_unsigned_v<T>) return false;
      text = {text.data() - 1, text.size() + 1};
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    return error == std::errc() && end == text.data() + text.size();
  } else {
    if (text.find_first_of("()") != text.npos) return false;  // as in nan(123)
    const char* const stop = text.data() + text.size();
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
      if (text.find_first_of("pP") != text.npos) {  // with an exponent of two, and then perhaps with a fraction
        if (!std::isxdigit(static_cast<unsigned char>(text[2])) && text[2] != '.') return false;
        const auto [end, error] = std::from_chars(text.data() + 2, stop, *value, std::chars_format::hex);
        if (end != stop || error == std::errc::invalid_argument) return false;
        if (error == std::errc::result_out_of_range)
          *value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
      } else {
        uint64_t whole = 0;
        const auto [end, error] = std::from_chars(text.data() + 2, stop, whole, 16);
        if (error != std::errc() || end != stop) return false;
        *value = static_cast<T>(whole);
      }
    } else {
      const auto [end, error] = std::from_chars(text.data(), stop, *value);
      if (end != stop || error == std::errc::invalid_argument) return false;
      if (error == std::errc::result_out_of_range)
        *value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
    }
    if (negative) *value = -*value;
    return true;
  }
}

}  // namespace penstock
