#include "penstock/kernels/cpu/io/example_json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "penstock/base/status.h"
#include "penstock/io/table.h"
#include "penstock/kernels/cpu/strings/unicode.h"

namespace penstock {
namespace {

// Reads the text once, front to back, and writes the message as it goes.
class ExampleReader {
 public:
  explicit ExampleReader(std::string_view text) : rest_(text) {}

  std::string Read() {
    std::string example;
    Object([&](const std::string& name) {
      if (name != "features") Unknown(name);
      PutBytes(1, Features(), &example);
    });
    Space();
    if (!rest_.empty()) Fail("text behind the end");
    return example;
  }

 private:
  [[noreturn]] static void Fail(const std::string& why) { throw InvalidArgument("Error while parsing JSON: ", why); }
  [[noreturn]] static void Unknown(const std::string& name) { Fail(StrCat("no such field: '", name, "'")); }

  // --- messages

  std::string Features() {
    std::string features;
    Object([&](const std::string& name) {
      if (name != "feature") Unknown(name);
      Object([&](const std::string& key) {
        std::string entry;
        PutBytes(1, key, &entry);
        PutBytes(2, Feature(), &entry);
        PutBytes(1, entry, &features);
      });
    });
    return features;
  }

  std::string Feature() {
    std::string feature;
    Object([&](const std::string& name) {
      if (name == "bytesList" || name == "bytes_list") {
        PutBytes(1, List(&ExampleReader::PutBase64), &feature);
      } else if (name == "floatList" || name == "float_list") {
        PutBytes(2, List(&ExampleReader::PutFloat), &feature);
      } else if (name == "int64List" || name == "int64_list") {
        PutBytes(3, List(&ExampleReader::PutInt), &feature);
      } else {
        Unknown(name);
      }
    });
    return feature;
  }

  // {"value": [...]}; numbers are fields of their own, as TensorFlow's converter writes them.
  std::string List(void (ExampleReader::*put)(std::string*)) {
    std::string values;
    Object([&](const std::string& name) {
      if (name != "value") Unknown(name);
      if (Null()) return;
      Expect('[');
      if (Accept(']')) return;
      do (this->*put)(&values);
      while (Accept(','));
      Expect(']');
    });
    return values;
  }

  void PutBase64(std::string* to) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    uint32_t bits = 0;
    int n = 0;
    std::string text = String();
    while (text.ends_with('=')) text.pop_back();
    for (char c : text) {
      c = c == '-' ? '+' : c == '_' ? '/' : c;
      const size_t letter = kLetters.find(c);
      if (letter == kLetters.npos) Fail("Invalid data in base64");
      bits = bits << 6 | static_cast<uint32_t>(letter);
      if (n % 4 > 0) bytes += static_cast<char>(bits >> (6 - 2 * (n % 4)));
      ++n;
    }
    if (n % 4 == 1) Fail("Invalid data in base64");
    PutBytes(1, bytes, to);
  }

  void PutFloat(std::string* to) {
    const double value = Number();
    // What is finite and no float is refused.
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) Fail("a number is no float");
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    *to += '\x0d';
    for (int i = 0; i < 4; ++i) *to += static_cast<char>(bits >> (8 * i));
  }

  void PutInt(std::string* to) {
    Space();
    const std::string text = rest_.starts_with('"') ? String() : std::string(NumberText());
    int64_t value = 0;
    if (!ParseInt64(text, &value)) {
      double real = 0;
      if (!ParseDouble(text, &real) || real != std::floor(real) || std::abs(real) >= 9.2e18)
        Fail("a number is no int64: " + text);
      value = static_cast<int64_t>(real);
    }
    *to += '\x08';
    AppendVarint(to, static_cast<uint64_t>(value));
  }

  static void PutBytes(int field, const std::string& bytes, std::string* to) {
    AppendVarint(to, static_cast<uint64_t>(field) << 3 | 2);
    AppendVarint(to, bytes.size());
    *to += bytes;
  }

  // --- JSON

  void Space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\n' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }
  bool Accept(char c) {
    Space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Fail(StrCat("'", c, "' expected before \"", rest_.substr(0, 20), "\""));
  }
  bool Null() {
    Space();
    if (!rest_.starts_with("null")) return false;
    rest_.remove_prefix(4);
    return true;
  }

  // member(name) reads the value of each member; null stands for none.
  template <class Member>
  void Object(const Member& member) {
    if (Null()) return;
    Expect('{');
    if (Accept('}')) return;
    do {
      const std::string name = String();
      Expect(':');
      member(name);
    } while (Accept(','));
    Expect('}');
  }

  std::string_view NumberText() {
    Space();
    const size_t n = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const std::string_view text = rest_.substr(0, n);
    rest_.remove_prefix(n);
    if (text.empty()) Fail(StrCat("a number is expected before \"", rest_.substr(0, 20), "\""));
    return text;
  }

  double Number() {
    Space();
    const std::string text = rest_.starts_with('"') ? String() : std::string(NumberText());
    double value = 0;
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text.find_first_not_of("+-.0123456789eE") != text.npos || !ParseDouble(text, &value))
      Fail("this is no number: " + text);
    return value;
  }

  std::string String() {
    Expect('"');
    std::string text;
    while (!rest_.empty() && rest_[0] != '"') {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c != '\\') {
        text += c;
        continue;
      }
      if (rest_.empty()) break;
      c = rest_[0];
      rest_.remove_prefix(1);
      constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
      if (const size_t at = kNames.find(c); at != kNames.npos) {
        text += kMeant[at];
      } else if (c == 'u') {
        int32_t character = Hex();
        if (character >= 0xD800 && character < 0xDC00 && rest_.starts_with("\\u")) {
          rest_.remove_prefix(2);
          character = 0x10000 + ((character - 0xD800) << 10) + (Hex() - 0xDC00);
        }
        if (character < 0 || character > kLastCharacter || (character >= 0xD800 && character < 0xE000)) {
          character = kReplacementCharacter;
        }
        AppendUtf8(character, &text);
      } else {
        Fail("unknown escape");
      }
    }
    if (rest_.empty()) Fail("a string does not end");
    rest_.remove_prefix(1);
    return text;
  }

  int32_t Hex() {
    int32_t value = 0;
    const std::string_view digits = rest_.substr(0, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + 4 || value < 0) Fail("four hexadecimal digits are expected");
    rest_.remove_prefix(4);
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::string ExampleFromJson(std::string_view text) { return ExampleReader(text).Read(); }

}  // namespace penstock
