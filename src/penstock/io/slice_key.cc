#include "penstock/io/slice_key.h"

#include <bit>

namespace penstock {
namespace {

void AppendOrdered(std::string* out, uint64_t v) {
  char bytes[9];
  int n = 0;
  for (; v > 0; v >>= 8) bytes[8 - n++] = static_cast<char>(v);
  bytes[8 - n] = static_cast<char>(n);
  out->append(bytes + 8 - n, n + 1);
}

void AppendOrdered(std::string* out, std::string_view text) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\x00') out->push_back('\xff');
    if (c == '\xff') out->push_back('\x00');
  }
  out->append(std::string_view("\x00\x01", 2));
}

// As many leading ones as bytes, and the two's complement of the number in the bits that are left.
void AppendOrderedSigned(std::string* out, int64_t v) {
  const uint64_t magnitude = static_cast<uint64_t>(v < 0 ? ~v : v);
  const int length = std::bit_width(magnitude) / 7 + 1;
  char bytes[10];
  bytes[0] = bytes[1] = v < 0 ? '\xff' : '\0';
  for (int i = 0; i < 8; ++i) bytes[2 + i] = static_cast<char>(static_cast<uint64_t>(v) >> (56 - 8 * i));
  char* begin = bytes + 10 - length;
  const uint32_t ones = 0xffffu << (16 - length) & 0xffffu;
  begin[0] ^= static_cast<char>(ones >> 8);
  if (length > 1) begin[1] ^= static_cast<char>(ones);
  out->append(begin, length);
}

}  // namespace

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  AppendOrdered(&key, uint64_t{0});
  AppendOrdered(&key, name);
  AppendOrdered(&key, static_cast<uint64_t>(slice.rank()));
  for (int d = 0; d < slice.rank(); ++d) {
    AppendOrderedSigned(&key, slice.start[d]);
    AppendOrderedSigned(&key, slice.length[d]);
  }
  return key;
}

}  // namespace penstock
