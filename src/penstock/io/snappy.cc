#include "penstock/io/snappy.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "penstock/io/table.h"

namespace penstock {
namespace {

// A number of `n` bytes, lowest first.
bool TakeLittle(std::string_view* in, size_t n, uint32_t* v) {
  if (in->size() < n) return false;
  *v = 0;
  for (size_t i = 0; i < n; ++i) *v |= uint32_t{static_cast<uint8_t>((*in)[i])} << (8 * i);
  in->remove_prefix(n);
  return true;
}

void PutLittle(uint32_t v, size_t n, std::string* out) {
  for (size_t i = 0; i < n; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

void PutLiteral(std::string_view bytes, std::string* out) {
  if (bytes.empty()) return;
  const auto length = static_cast<uint32_t>(bytes.size() - 1);
  if (length < 60) {
    PutLittle(length << 2, 1, out);
  } else {
    const size_t n = length < 256 ? 1 : 2;
    PutLittle(static_cast<uint32_t>(59 + n) << 2, 1, out);
    PutLittle(length, n, out);
  }
  out->append(bytes);
}

uint32_t Load4(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

}  // namespace

// Greedy: where the last four bytes of the same hash are the same bytes, as many as match are copied from there.
std::string SnappyCompress(std::string_view in) {
  constexpr int kHashBits = 12;
  constexpr size_t kShortest = 4, kLongest = 64;
  std::string out;
  AppendVarint(&out, in.size());
  std::vector<uint32_t> last(size_t{1} << kHashBits, UINT32_MAX);
  size_t at = 0, literal = 0;
  while (at + kShortest <= in.size()) {
    const uint32_t bytes = Load4(in.data() + at);
    uint32_t& slot = last[(bytes * 0x1e35a7bdu) >> (32 - kHashBits)];
    const size_t from = std::exchange(slot, static_cast<uint32_t>(at));
    if (from == UINT32_MAX || Load4(in.data() + from) != bytes) {
      ++at;
      continue;
    }
    size_t length = kShortest;
    while (length < kLongest && at + length < in.size() && in[from + length] == in[at + length]) ++length;
    PutLiteral(in.substr(literal, at - literal), &out);
    PutLittle(static_cast<uint32_t>(length - 1) << 2 | 2, 1, &out);
    PutLittle(static_cast<uint32_t>(at - from), 2, &out);
    at += length;
    literal = at;
  }
  PutLiteral(in.substr(literal), &out);
  return out;
}

bool SnappyUncompress(std::string_view in, size_t limit, std::string* out) {
  out->clear();
  uint64_t size;
  if (!TakeVarint(&in, &size) || size > limit) return false;
  while (!in.empty()) {
    const auto tag = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    uint32_t length = tag >> 2, offset = 0;
    if ((tag & 3) == 0) {  // bytes as they are; long lengths follow the tag
      if (length >= 60 && !TakeLittle(&in, length - 59, &length)) return false;
      const uint64_t count = uint64_t{length} + 1;
      if (count > in.size() || count > size - out->size()) return false;
      out->append(in.substr(0, count));
      in.remove_prefix(count);
      continue;
    }
    if ((tag & 3) == 1) {
      if (!TakeLittle(&in, 1, &offset)) return false;
      offset |= uint32_t{tag & 0xe0u} << 3;
      length = (length & 7) + 4;
    } else {
      if (!TakeLittle(&in, (tag & 3) == 2 ? 2 : 4, &offset)) return false;
      ++length;
    }
    if (offset == 0 || offset > out->size() || length > size - out->size()) return false;
    for (size_t from = out->size() - offset; length > 0; --length) out->push_back((*out)[from++]);  // may overlap
  }
  return out->size() == size;
}

}  // namespace penstock
