// Characters in UTF-8 and other encodings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace penstock {

inline constexpr int32_t kLastCharacter = 0x10FFFF, kReplacementCharacter = 0xFFFD;

// Whether a byte of UTF-8 begins a character.
inline bool StartsCharacter(char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }
void AppendUtf8(int32_t character, std::string* out);
// Full case mappings of text in UTF-8; what is none becomes U+FFFD.
std::string UpperCase(std::string_view text);
std::string LowerCase(std::string_view text);
// ICU's number of the script; -1 for what is no character.
int32_t ScriptOf(int32_t character);

// Reads text of one encoding. What is malformed comes as U+FFFD and is marked as such.
class TextDecoder {
 public:
  using Consumer = std::function<void(int32_t character, int64_t bytes, bool malformed)>;
  virtual ~TextDecoder() = default;
  virtual void Decode(std::string_view text, const Consumer& consumer) const = 0;
  // InvalidArgument for names that nobody knows.
  static std::unique_ptr<TextDecoder> Make(const std::string& encoding);
};

enum class TextEncoding { kUtf8, kUtf16Be, kUtf32Be };
void AppendEncoded(int32_t character, TextEncoding encoding, std::string* out);

}  // namespace penstock
