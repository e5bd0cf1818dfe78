#include "penstock/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace penstock {
namespace {

// Eight tables, so that eight bytes are taken at a time.
using Tables = std::array<std::array<uint32_t, 256>, 8>;
constexpr Tables MakeTables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    t[0][i] = crc;
  }
  for (int k = 1; k < 8; ++k) {
    for (uint32_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xff];
  }
  return t;
}
constexpr Tables kTables = MakeTables();

uint32_t ExtendPortable(uint32_t crc, const char* p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
// What kBlock zero bytes make of a checksum's register. It is linear, so it is the sum of what they make of its bytes.
constexpr size_t kBlock = 4096;
uint32_t AfterZeros(uint32_t crc) {
  for (size_t i = 0; i < kBlock; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
  return crc;
}
struct BlockOfZeros {
  std::array<std::array<uint32_t, 256>, 4> of_byte{};
  BlockOfZeros() {
    for (int k = 0; k < 4; ++k) {
      for (int bit = 0; bit < 8; ++bit) of_byte[k][1u << bit] = AfterZeros(1u << (8 * k + bit));
      for (uint32_t i = 1; i < 256; ++i) of_byte[k][i] = of_byte[k][i & (i - 1)] ^ of_byte[k][i & (~i + 1)];
    }
  }
  uint32_t operator()(uint32_t crc) const {
    return of_byte[0][crc & 0xff] ^ of_byte[1][(crc >> 8) & 0xff] ^ of_byte[2][(crc >> 16) & 0xff] ^
           of_byte[3][crc >> 24];
  }
};

__attribute__((target("sse4.2"))) uint32_t ExtendHardware(uint32_t crc, const char* p, size_t n) {
  uint64_t wide = crc;
  if (n >= 3 * kBlock) {
    // The instruction takes three cycles and may begin in each: three blocks at once, of which the last two begin with
    // nothing and are joined by what a block of zeros would have made of those before.
    static const BlockOfZeros after_block;
    for (; n >= 3 * kBlock; p += 3 * kBlock, n -= 3 * kBlock) {
      uint64_t second = 0, third = 0;
      for (size_t i = 0; i < kBlock; i += 8) {
        uint64_t words[3];
        for (size_t j = 0; j < 3; ++j) std::memcpy(&words[j], p + j * kBlock + i, 8);
        wide = _mm_crc32_u64(wide, words[0]);
        second = _mm_crc32_u64(second, words[1]);
        third = _mm_crc32_u64(third, words[2]);
      }
      wide = after_block(after_block(static_cast<uint32_t>(wide)) ^ static_cast<uint32_t>(second)) ^ third;
    }
  }
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; ++p, --n) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return crc;
}
#endif

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  static const bool hardware = __builtin_cpu_supports("sse4.2");
  if (hardware) return ~ExtendHardware(~crc, bytes.data(), bytes.size());
#endif
  return ~ExtendPortable(~crc, bytes.data(), bytes.size());
}

}  // namespace penstock
