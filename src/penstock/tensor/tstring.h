// The element of a string tensor, laid out as TF_TString of TensorFlow's C API (tensorflow/core/platform/ctstring.h):
// 24 bytes; short strings inline, long ones on the heap. Bytes, not text: may hold zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

class TString {
 public:
  TString() noexcept {
    small_.size = 0;
    small_.text[0] = 0;
  }
  TString(std::string_view s) : TString() { Assign(s); }           // NOLINT: a string is a string
  TString(const std::string& s) : TString(std::string_view(s)) {}  // NOLINT
  TString(const char* s) : TString(std::string_view(s)) {}         // NOLINT
  TString(const TString& other) : TString(other.view()) {}
  TString(TString&& other) noexcept : large_(other.large_) {
    other.small_.size = 0;
    other.small_.text[0] = 0;
  }
  ~TString() { Free(); }
  TString& operator=(const TString& other) {
    if (this != &other) Assign(other.view());
    return *this;
  }
  TString& operator=(TString&& other) noexcept {
    std::swap(large_, other.large_);
    return *this;
  }
  TString& operator=(std::string_view s) {
    Assign(s);
    return *this;
  }
  size_t size() const { return IsSmall() ? small_.size >> 2 : large_.size >> 2; }
  bool empty() const { return size() == 0; }
  const char* data() const { return IsSmall() ? small_.text : large_.text; }
  std::string_view view() const { return {data(), size()}; }
  operator std::string_view() const { return view(); }  // NOLINT
  std::string str() const { return std::string(view()); }
  // Bytes of unspecified content, to be filled in.
  char* Resize(size_t size);
  friend bool operator==(const TString& a, const TString& b) { return a.view() == b.view(); }
  friend auto operator<=>(const TString& a, const TString& b) { return a.view() <=> b.view(); }

 private:
  // The two lowest bits of the first byte tell the kind: 0 small, 1 large (heap).
  static constexpr size_t kSmallCapacity = 22;
  bool IsSmall() const { return (small_.size & 3) == 0; }
  void Assign(std::string_view s);
  void Free();
  struct Large {
    uint64_t size;  // << 2 | 1
    uint64_t capacity;
    char* text;
  };
  struct Small {
    uint8_t size;  // << 2
    char text[kSmallCapacity + 1];
  };
  union {
    Large large_;
    Small small_;
  };
};
static_assert(sizeof(TString) == 24);

}  // namespace penstock
