#include "penstock/io/snappy.h"

#include <snappy.h>

namespace penstock {

std::string SnappyCompress(std::string_view bytes) {
  std::string result;
  snappy::Compress(bytes.data(), bytes.size(), &result);
  return result;
}

bool SnappyUncompress(std::string_view bytes, size_t limit, std::string* out) {
  out->clear();
  size_t size;
  if (!snappy::GetUncompressedLength(bytes.data(), bytes.size(), &size) || size > limit) return false;
  return snappy::Uncompress(bytes.data(), bytes.size(), out);
}

}  // namespace penstock
