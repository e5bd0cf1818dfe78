#include "penstock/tensor/tstring.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace penstock {

void TString::Free() {
  if ((small_.size & 3) == 1) std::free(large_.text);
}

char* TString::Resize(size_t size) {
  if (size <= kSmallCapacity) {
    Free();
    small_.size = static_cast<uint8_t>(size << 2);
    small_.text[size] = 0;
    return small_.text;
  }
  if ((small_.size & 3) != 1 || large_.capacity < size) {
    char* text = static_cast<char*>(std::malloc(size + 1));
    if (!text) throw std::bad_alloc();
    Free();
    large_.text = text;
    large_.capacity = size;
  }
  large_.size = uint64_t(size) << 2 | 1;
  large_.text[size] = 0;
  return large_.text;
}

void TString::Assign(std::string_view s) {
  if (s.data() >= data() && s.data() <= data() + size()) {  // a piece of ourselves
    const std::string copy(s);
    std::memcpy(Resize(copy.size()), copy.data(), copy.size());
    return;
  }
  char* to = Resize(s.size());
  if (!s.empty()) std::memcpy(to, s.data(), s.size());
}

}  // namespace penstock
