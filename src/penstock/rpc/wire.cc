#include "penstock/rpc/wire.h"

#include <array>

#include "penstock/base/strings.h"

namespace penstock::rpc {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr char kHex[] = "0123456789ABCDEF";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string FormatTimeout(std::chrono::nanoseconds left) {
  if (left.count() <= 0) return "0n";
  struct Unit {
    char name;
    int64_t nanos;
  };
  constexpr Unit kUnits[] = {
      {'n', 1}, {'u', 1'000}, {'m', 1'000'000}, {'S', 1'000'000'000}, {'M', 60'000'000'000}, {'H', 3'600'000'000'000}};
  for (const Unit& unit : kUnits) {
    const int64_t count = (left.count() + unit.nanos - 1) / unit.nanos;
    if (count < 100'000'000) return StrCat(count, unit.name);
  }
  return "99999999H";
}

std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) {
  int64_t count;
  if (text.size() < 2 || text.size() > 9 || !ParseInt64(text.substr(0, text.size() - 1), &count) || count < 0) {
    return std::nullopt;
  }
  int64_t unit;
  switch (text.back()) {
    case 'n': unit = 1; break;
    case 'u': unit = 1'000; break;
    case 'm': unit = 1'000'000; break;
    case 'S': unit = 1'000'000'000; break;
    case 'M': unit = 60'000'000'000; break;
    case 'H': unit = 3'600'000'000'000; break;
    default: return std::nullopt;
  }
  constexpr int64_t kCentury = int64_t{100} * 365 * 86400 * 1'000'000'000;  // sums with the clock do not overflow
  int64_t nanos;
  if (__builtin_mul_overflow(count, unit, &nanos) || nanos > kCentury) nanos = kCentury;
  return std::chrono::nanoseconds(nanos);
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      out += {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[c & 15]};
    }
  }
  return out;
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) << 4 | HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Base64(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 4 / 3 + 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kBase64[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kBase64[bits << (6 - count) & 63];
  return out;
}

std::optional<std::string> ParseBase64(std::string_view text) {
  static const std::array<signed char, 256> values = [] {
    std::array<signed char, 256> all;
    all.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) all[static_cast<unsigned char>(kBase64[i])] = static_cast<char>(i);
    return all;
  }();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | value;
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

Code ParseCode(std::string_view digits) {
  int64_t code;
  return ParseInt64(digits, &code) && code >= 0 && code <= 16 ? static_cast<Code>(code) : Code::kUnknown;
}

Code CodeOfHttpStatus(std::string_view digits) {
  if (digits == "400") return Code::kInternal;
  if (digits == "401") return Code::kUnauthenticated;
  if (digits == "403") return Code::kPermissionDenied;
  if (digits == "404") return Code::kUnimplemented;
  if (digits == "429" || digits == "502" || digits == "503" || digits == "504") return Code::kUnavailable;
  return Code::kUnknown;
}

Code CodeOfStreamError(uint32_t error) {
  switch (error) {
    case 0x7: return Code::kUnavailable;        // REFUSED_STREAM
    case 0x8: return Code::kCancelled;          // CANCEL
    case 0xb: return Code::kResourceExhausted;  // ENHANCE_YOUR_CALM
    case 0xc: return Code::kPermissionDenied;   // INADEQUATE_SECURITY
    default: return Code::kInternal;
  }
}

}  // namespace penstock::rpc
