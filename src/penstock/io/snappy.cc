#include "penstock/io/snappy.h"

#include <cstdint>

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

}  // namespace

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
