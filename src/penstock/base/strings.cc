#include "penstock/base/strings.h"

#include <cstring>

namespace penstock {

void AppendTo(std::string* out, double v) {
  char digits[40];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), v).ptr);
}

void AppendTo(std::string* out, float v) {
  char digits[40];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), v).ptr);
}

std::vector<std::string_view> StrSplit(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string_view StripSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r')))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || (text.back() >= '\t' && text.back() <= '\r'))) text.remove_suffix(1);
  return text;
}

bool ParseInt64(std::string_view text, int64_t* value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool ParseDouble(std::string_view text, double* value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

namespace {

// Less than 8 bytes as a number. Copying a number of bytes unknown to the compiler would take several times as long.
uint64_t Tail(const char* p, size_t n) {
  if (n >= 4) {
    uint32_t first, last;  // they may overlap
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    return first | uint64_t{last} << (n - 4) * 8;
  }
  if (n == 0) return 0;
  const auto byte = [&](size_t i) { return uint64_t{static_cast<uint8_t>(p[i])} << i * 8; };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

}  // namespace

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kMul = 0x9E3779B97F4A7C15ull;
  uint64_t h = seed ^ (bytes.size() * kMul);
  const char* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * kMul;
    h ^= h >> 32;
  }
  h = (h ^ Tail(p, n)) * kMul;
  return h ^ (h >> 29);
}

}  // namespace penstock
