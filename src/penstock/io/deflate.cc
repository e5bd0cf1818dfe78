#include "penstock/io/deflate.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace penstock {
namespace {

constexpr size_t kWindow = 32768, kMinMatch = 3, kMaxMatch = 258;
constexpr int kHashBits = 15, kTries = 16;

// Bits from the lowest on.
class BitWriter {
 public:
  explicit BitWriter(std::string* out) : out_(out) {}
  void Put(uint32_t value, int count) {
    bits_ |= uint64_t{value} << used_;
    for (used_ += count; used_ >= 8; used_ -= 8, bits_ >>= 8) out_->push_back(static_cast<char>(bits_));
  }
  // Huffman codes are stored highest bit first.
  void PutCode(uint32_t code, int count) {
    uint32_t reversed = 0;
    for (int i = 0; i < count; ++i) reversed |= (code >> i & 1) << (count - 1 - i);
    Put(reversed, count);
  }
  void Finish() {
    if (used_ > 0) Put(0, 8 - used_);
  }

 private:
  std::string* out_;
  uint64_t bits_ = 0;
  int used_ = 0;
};

// A literal byte, the end of the block (256) or a length (257 to 285), in the fixed code.
void PutSymbol(BitWriter& out, uint32_t symbol) {
  if (symbol < 144) return out.PutCode(0x30 + symbol, 8);
  if (symbol < 256) return out.PutCode(0x190 + symbol - 144, 9);
  if (symbol < 280) return out.PutCode(symbol - 256, 7);
  out.PutCode(0xc0 + symbol - 280, 8);
}

// Lengths and distances stand as a code for a range that grows by powers of two, and bits for the place in it:
// `mantissa` bits tell the ranges of one power apart.
struct Range {
  uint32_t code, extra;
  int extra_bits;
};
Range RangeOf(uint32_t v, int mantissa) {
  const int extra_bits = std::max(0, static_cast<int>(std::bit_width(v)) - 1 - mantissa);
  const uint32_t code = (static_cast<uint32_t>(extra_bits) << mantissa) + (v >> extra_bits);
  return {code, v & ((1u << extra_bits) - 1), extra_bits};
}

void PutMatch(BitWriter& out, size_t length, size_t distance) {
  if (length == kMaxMatch) {
    PutSymbol(out, 285);
  } else {
    const Range range = RangeOf(static_cast<uint32_t>(length - kMinMatch), 2);
    PutSymbol(out, 257 + range.code);
    out.Put(range.extra, range.extra_bits);
  }
  const Range range = RangeOf(static_cast<uint32_t>(distance - 1), 1);
  out.PutCode(range.code, 5);
  out.Put(range.extra, range.extra_bits);
}

uint32_t HashAt(const char* p) {
  uint32_t three = 0;
  for (int i = 0; i < 3; ++i) three |= uint32_t{static_cast<uint8_t>(p[i])} << (8 * i);
  return three * 0x9e3779b1u >> (32 - kHashBits);
}

uint32_t Adler32(std::string_view bytes) {
  uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

}  // namespace

std::string ZlibCompress(std::string_view bytes) {
  std::string result("\x78\x01", 2);
  BitWriter out(&result);
  out.Put(1, 1);  // the last block
  out.Put(1, 2);  // in the fixed code
  constexpr int64_t kNone = -1;
  std::vector<int64_t> head(size_t{1} << kHashBits, kNone), previous(kWindow, kNone);
  const char* data = bytes.data();
  const auto remember = [&](size_t at) {
    int64_t& first = head[HashAt(data + at)];
    previous[at % kWindow] = first;
    first = static_cast<int64_t>(at);
  };
  size_t at = 0;
  while (at < bytes.size()) {
    size_t best = 0, distance = 0;
    const size_t limit = std::min(kMaxMatch, bytes.size() - at);
    if (limit >= kMinMatch) {
      int64_t candidate = head[HashAt(data + at)];
      for (int i = 0; i < kTries && candidate != kNone && at - candidate <= kWindow; ++i) {
        size_t length = 0;
        while (length < limit && data[candidate + length] == data[at + length]) ++length;
        if (length > best) {
          best = length;
          distance = at - candidate;
        }
        const int64_t next = previous[candidate % kWindow];
        if (next >= candidate) break;  // its place was taken by a newer one
        candidate = next;
      }
    }
    size_t step = 1;
    if (best >= kMinMatch) {
      PutMatch(out, best, distance);
      step = best;
    } else {
      PutSymbol(out, static_cast<uint8_t>(data[at]));
    }
    for (size_t end = at + step; at < end; ++at) {
      if (bytes.size() - at >= kMinMatch) remember(at);
    }
  }
  PutSymbol(out, 256);
  out.Finish();
  const uint32_t checksum = Adler32(bytes);
  for (int shift = 24; shift >= 0; shift -= 8) result.push_back(static_cast<char>(checksum >> shift));
  return result;
}

}  // namespace penstock
