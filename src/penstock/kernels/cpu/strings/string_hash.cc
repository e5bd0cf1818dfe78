#include "penstock/kernels/cpu/strings/string_hash.h"

#include <bit>

namespace penstock {
namespace {

// Up to eight bytes as a little-endian word.
uint64_t Word(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

uint64_t MurmurHash64(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kMul = 0xC6A4A7935BD1E995;
  uint64_t h = seed ^ (bytes.size() * kMul);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = Word(bytes.substr(0, 8)) * kMul;
    word ^= word >> 47;
    h = (h ^ word * kMul) * kMul;
  }
  if (!bytes.empty()) h = (h ^ Word(bytes)) * kMul;
  h = (h ^ h >> 47) * kMul;
  return h ^ h >> 47;
}

uint64_t SipHash(std::string_view bytes, uint64_t key0, uint64_t key1) {
  uint64_t a = key0 ^ 0x736F6D6570736575, b = key1 ^ 0x646F72616E646F6D, c = key0 ^ 0x6C7967656E657261,
           d = key1 ^ 0x7465646279746573;
  const auto rounds = [&](int n) {
    while (n-- > 0) {
      a += b;
      b = std::rotl(b, 13) ^ a;
      a = std::rotl(a, 32);
      c += d;
      d = std::rotl(d, 16) ^ c;
      a += d;
      d = std::rotl(d, 21) ^ a;
      c += b;
      b = std::rotl(b, 17) ^ c;
      c = std::rotl(c, 32);
    }
  };
  const auto add = [&](uint64_t word) {
    d ^= word;
    rounds(2);
    a ^= word;
  };
  const uint64_t size = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) add(Word(bytes.substr(0, 8)));
  add(Word(bytes) | size << 56);
  c ^= 0xFF;
  rounds(4);
  return a ^ b ^ c ^ d;
}

}  // namespace penstock
