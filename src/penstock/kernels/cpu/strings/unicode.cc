#include "penstock/kernels/cpu/strings/unicode.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <iterator>
#include <span>

#include "penstock/base/status.h"

namespace penstock {
namespace {

struct CaseRun {
  int32_t first, last, step, distance;
};
struct LongCase {
  int32_t from, to[3];
};
struct CharacterRange {
  int32_t first, last;
};
struct Script {
  int32_t first, number;
};
#include "penstock/kernels/cpu/strings/unicode_tables.inc"

// The entry of a table, sorted by first character, that may hold this one; null if none.
template <class Entry>
const Entry* EntryOf(std::span<const Entry> table, int32_t character) {
  const auto behind = std::upper_bound(table.begin(), table.end(), character,
                                       [](int32_t c, const Entry& entry) { return c < entry.first; });
  return behind == table.begin() ? nullptr : &*std::prev(behind);
}

bool InRanges(std::span<const CharacterRange> table, int32_t character) {
  const CharacterRange* range = EntryOf(table, character);
  return range && character <= range->last;
}

void AppendCase(int32_t c, std::span<const CaseRun> runs, std::span<const LongCase> long_cases, std::string* out) {
  for (const LongCase& entry : long_cases) {
    if (entry.from != c) continue;
    for (const int32_t part : entry.to) {
      if (part > 0) AppendUtf8(part, out);
    }
    return;
  }
  const CaseRun* run = EntryOf(runs, c);
  AppendUtf8(run && c <= run->last && (c - run->first) % run->step == 0 ? c + run->distance : c, out);
}

constexpr int32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;

std::vector<int32_t> Characters(std::string_view text) {
  std::vector<int32_t> characters;
  TextDecoder::Make("utf-8")->Decode(text, [&](int32_t c, int64_t, bool) { characters.push_back(c); });
  return characters;
}

bool IsSurrogate(int32_t c) { return c >= 0xD800 && c < 0xE000; }

class Utf8Decoder : public TextDecoder {
 public:
  // What cannot become a character ends before the first byte that does not continue it.
  void Decode(std::string_view text, const Consumer& consumer) const override {
    for (size_t i = 0; i < text.size();) {
      const uint8_t lead = text[i];
      const int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
      int32_t c = more <= 0 ? lead : lead & (0x3F >> more);
      int n = 1;
      for (; n <= more && i + n < text.size(); ++n) {
        const uint8_t byte = text[i + n];
        // The second byte decides about overlong forms, surrogates and what lies beyond the last character.
        const uint8_t low = n > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const uint8_t high = n > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (byte < low || byte > high) break;
        c = c << 6 | (byte & 0x3F);
      }
      const bool whole = n == more + 1;
      consumer(whole ? c : kReplacementCharacter, n, !whole);
      i += n;
    }
  }
};

// UTF-16 and UTF-32 of either byte order; `mark`: a byte order mark at the beginning may tell which.
class WideDecoder : public TextDecoder {
 public:
  WideDecoder(size_t width, bool little, bool mark) : width_(width), little_(little), mark_(mark) {}

  void Decode(std::string_view text, const Consumer& consumer) const override {
    bool little = little_;
    size_t i = 0;
    if (mark_ && text.size() >= width_) {
      const uint32_t first = Unit(text, 0, false), swapped = Unit(text, 0, true);
      if (first == 0xFEFF || swapped == 0xFEFF) {
        little = swapped == 0xFEFF;
        i = width_;
      }
    }
    int64_t skipped = static_cast<int64_t>(i);  // the mark counts as a part of the first character
    while (i < text.size()) {
      int64_t n = static_cast<int64_t>(std::min(width_, text.size() - i));
      bool good = n == static_cast<int64_t>(width_);
      uint32_t c = good ? Unit(text, i, little) : 0;
      if (good && width_ == 2 && c >= 0xD800 && c < 0xDC00 && text.size() - i >= 4) {
        const uint32_t low = Unit(text, i + 2, little);
        if (low >= 0xDC00 && low < 0xE000) {
          c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
          n = 4;
        }
      }
      good = good && c <= kLastCharacter && !IsSurrogate(static_cast<int32_t>(c));
      consumer(good ? static_cast<int32_t>(c) : kReplacementCharacter, n + skipped, !good);
      skipped = 0;
      i += n;
    }
  }

 private:
  uint32_t Unit(std::string_view text, size_t at, bool little) const {
    uint32_t unit = 0;
    for (size_t b = 0; b < width_; ++b) {
      unit |= static_cast<uint32_t>(static_cast<uint8_t>(text[at + b])) << 8 * (little ? b : width_ - 1 - b);
    }
    return unit;
  }
  const size_t width_;
  const bool little_, mark_;
};

// One byte a character, as far as `last`.
class ByteDecoder : public TextDecoder {
 public:
  explicit ByteDecoder(uint8_t last) : last_(last) {}
  void Decode(std::string_view text, const Consumer& consumer) const override {
    for (const char c : text) {
      const uint8_t byte = c;
      consumer(byte <= last_ ? byte : kReplacementCharacter, 1, byte > last_);
    }
  }

 private:
  const uint8_t last_;
};

// Encodings that the C library knows.
class IconvDecoder : public TextDecoder {
 public:
  explicit IconvDecoder(std::string name) : name_(std::move(name)) {
    if (!Converter(name_).open()) throw InvalidArgument("Could not create converter for input encoding: ", name_);
  }

  void Decode(std::string_view text, const Consumer& consumer) const override {
    const Converter converter(name_);
    // Some encodings keep a letter back, since an accent may follow: its bytes count for what comes next.
    int64_t held = 0;
    const auto release = [&] {
      uint32_t character;
      char* out = reinterpret_cast<char*>(&character);
      size_t free = sizeof(character);
      iconv(converter.get(), nullptr, nullptr, &out, &free);
      if (free == 0) consumer(static_cast<int32_t>(character), held, false);
      held = 0;
    };
    char* in = const_cast<char*>(text.data());
    size_t left = text.size();
    size_t room = 4;
    while (left > 0) {
      uint32_t characters[8];
      char* out = reinterpret_cast<char*>(characters);
      size_t free = room;
      const char* const before = in;
      const size_t result = iconv(converter.get(), &in, &left, &out, &free);
      const int error = result == static_cast<size_t>(-1) ? errno : 0;
      const size_t made = (room - free) / 4;
      const int64_t taken = in - before;
      held += taken;
      for (size_t i = 0; i < made; ++i, held = 0) consumer(static_cast<int32_t>(characters[i]), held, false);
      if (made == 0 && error == E2BIG && room < sizeof(characters)) {
        room *= 2;  // one character of the text is several
        continue;
      }
      room = 4;
      if (error == EILSEQ || error == EINVAL || (made == 0 && taken == 0)) {
        const size_t bad = error == EINVAL ? left : 1;
        release();
        consumer(kReplacementCharacter, static_cast<int64_t>(bad), true);
        in += bad;
        left -= bad;
      }
    }
    release();
  }

  // The character of each byte in an encoding of one byte a character; one that has none stands for itself, as in
  // ICU. A letter and an accent stay two characters.
  std::array<int32_t, 256> Table() const {
    std::array<int32_t, 256> table;
    for (int32_t i = 0; i < 256; ++i) {
      const char byte = static_cast<char>(i);
      table[i] = i;
      Decode({&byte, 1}, [&](int32_t character, int64_t, bool malformed) {
        if (!malformed) table[i] = character;
      });
    }
    return table;
  }

 private:
  class Converter {
   public:
    explicit Converter(const std::string& name) : converter_(iconv_open("UTF-32LE", name.c_str())) {
      if (open()) return;
      std::string dashed = name;  // "euc_kr" is EUC-KR
      std::ranges::replace(dashed, '_', '-');
      converter_ = iconv_open("UTF-32LE", dashed.c_str());
    }
    ~Converter() {
      if (open()) iconv_close(converter_);
    }
    Converter(const Converter&) = delete;
    bool open() const { return converter_ != reinterpret_cast<iconv_t>(-1); }
    iconv_t get() const { return converter_; }

   private:
    iconv_t converter_;
  };
  const std::string name_;
};

class TableDecoder : public TextDecoder {
 public:
  explicit TableDecoder(const std::array<int32_t, 256>& table) : table_(table) {}
  void Decode(std::string_view text, const Consumer& consumer) const override {
    for (const char c : text) consumer(table_[static_cast<uint8_t>(c)], 1, false);
  }

 private:
  const std::array<int32_t, 256> table_;
};

// What the C library calls an encoding that it knows by another name, or that it reads with other characters than ICU
// under this one. `plain`: letters and digits alone. Empty if it is neither.
std::string_view NameInLibrary(std::string_view plain) {
  struct Alias {
    std::string_view plain, name;
  };
  static constexpr Alias kAliases[] = {
      {"shiftjis", "CP932"},   {"sjis", "CP932"},        {"mskanji", "CP932"},
      {"csshiftjis", "CP932"}, {"xsjis", "CP932"},       {"xmscp932", "CP932"},
      {"windows932", "CP932"}, {"windows936", "GBK"},    {"windows949", "UHC"},
      {"ksc56011987", "UHC"},  {"csksc56011987", "UHC"}, {"ksc5601", "UHC"},
      {"korean", "UHC"},       {"windows950", "BIG5"},   {"xmaccyrillic", "MAC-CYRILLIC"},
  };
  for (const Alias& alias : kAliases) {
    if (alias.plain == plain) return alias.name;
  }
  return {};
}

}  // namespace

void AppendUtf8(int32_t c, std::string* out) {
  const auto tail = [&](int shift) { out->push_back(static_cast<char>(0x80 | (c >> shift & 0x3F))); };
  if (c < 0x80) return out->push_back(static_cast<char>(c));
  if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | c >> 6));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | c >> 12));
    tail(6);
  } else {
    out->push_back(static_cast<char>(0xF0 | c >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

void AppendEncoded(int32_t c, TextEncoding encoding, std::string* out) {
  const auto unit16 = [&](int32_t unit) {
    out->push_back(static_cast<char>(unit >> 8));
    out->push_back(static_cast<char>(unit));
  };
  switch (encoding) {
    case TextEncoding::kUtf8: return AppendUtf8(c, out);
    case TextEncoding::kUtf32Be: unit16(c >> 16); return unit16(c);
    case TextEncoding::kUtf16Be:
      if (c < 0x10000) return unit16(c);
      unit16(0xD800 + ((c - 0x10000) >> 10));
      return unit16(0xDC00 + ((c - 0x10000) & 0x3FF));
  }
}

std::string UpperCase(std::string_view text) {
  std::string out;
  for (const int32_t c : Characters(text)) AppendCase(c, kUpperRuns, kUpperLong, &out);
  return out;
}

std::string LowerCase(std::string_view text) {
  std::string out;
  const std::vector<int32_t> characters = Characters(text);
  const auto size = static_cast<int64_t>(characters.size());
  // Whether the next character in this direction that is not ignorable has a case.
  const auto cased = [&](int64_t i, int64_t step) {
    do i += step;
    while (i >= 0 && i < size && InRanges(kCaseIgnorable, characters[i]));
    return i >= 0 && i < size && InRanges(kCased, characters[i]);
  };
  for (int64_t i = 0; i < size; ++i) {
    if (characters[i] == kCapitalSigma && cased(i, -1) && !cased(i, 1)) {
      AppendUtf8(kFinalSigma, &out);
    } else {
      AppendCase(characters[i], kLowerRuns, kLowerLong, &out);
    }
  }
  return out;
}

int32_t ScriptOf(int32_t character) {
  if (character < 0 || character > kLastCharacter) return -1;
  const Script* script = EntryOf(std::span<const Script>(kScripts), character);
  return script ? script->number : -1;
}

std::unique_ptr<TextDecoder> TextDecoder::Make(const std::string& encoding) {
  std::string plain;
  for (const char c : encoding) {
    if (std::isalnum(static_cast<uint8_t>(c))) plain += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  }
  if (plain == "utf8") return std::make_unique<Utf8Decoder>();
  if (plain == "ascii" || plain == "usascii") return std::make_unique<ByteDecoder>(0x7F);
  if (plain == "latin1" || plain == "iso88591") return std::make_unique<ByteDecoder>(0xFF);
  for (const size_t width : {2, 4}) {
    const std::string name = width == 2 ? "utf16" : "utf32";
    if (plain == name) return std::make_unique<WideDecoder>(width, false, true);
    if (plain == name + "be") return std::make_unique<WideDecoder>(width, false, false);
    if (plain == name + "le") return std::make_unique<WideDecoder>(width, true, false);
  }
  std::string name = encoding;
  std::replace(name.begin(), name.end(), ' ', '-');
  if (name.empty() || name.find_first_of("/,") != name.npos || name.find('\0') != name.npos) {
    throw InvalidArgument("Could not create converter for input encoding: ", encoding);
  }
  if (const std::string_view known = NameInLibrary(plain); !known.empty()) name = known;
  auto decoder = std::make_unique<IconvDecoder>(name);
  if (plain.starts_with("windows125") || plain.starts_with("cp125")) {
    return std::make_unique<TableDecoder>(decoder->Table());
  }
  return decoder;
}

}  // namespace penstock
