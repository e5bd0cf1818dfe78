// The block cipher Simon (Beaulieu and others, 2013), with words as wide as the numbers need: it permutes all numbers
// of two words. What lies outside of the range is encrypted again until it lies inside.
#include "penstock/base/index_shuffle.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace penstock {
namespace {

constexpr int kFewestBits = 16;

class Simon {
 public:
  Simon(int word_bits, const std::array<uint32_t, 3>& key, int rounds)
      : bits_(word_bits), mask_(~uint64_t{0} >> (64 - word_bits)) {
    for (const uint32_t k : key) keys_.push_back(k & mask_);
    uint64_t sequence = 0x7369F885192C0EF5 & mask_;
    for (int i = 3; i < rounds; ++i) {
      const uint64_t last = keys_[i - 1];
      keys_.push_back((0xFFFFFFFC ^ (sequence & 1) ^ keys_[i - 3] ^ Left(last, bits_ - 3) ^ Left(last, bits_ - 4)) &
                      mask_);
      sequence >>= 1;
    }
  }

  uint64_t operator()(uint64_t block) const {
    uint64_t left = block >> bits_ & mask_, right = block & mask_;
    for (size_t i = 0; i + 1 < keys_.size(); i += 2) {
      left ^= Mix(right) ^ keys_[i];
      right ^= Mix(left) ^ keys_[i + 1];
    }
    return left << bits_ | right;
  }

 private:
  uint64_t Left(uint64_t x, int by) const { return (x << by | x >> (bits_ - by)) & mask_; }
  uint64_t Mix(uint64_t x) const { return (Left(x, 1) & Left(x, 8 % bits_)) ^ Left(x, 2); }
  const int bits_;
  const uint64_t mask_;
  std::vector<uint64_t> keys_;
};

}  // namespace

uint64_t ShuffledIndex(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int rounds) {
  int bits = max_index <= 1 ? 1 : static_cast<int>(std::bit_width(max_index - 1));
  bits = std::max(bits + bits % 2, kFewestBits);
  // TensorFlow counts the bits of the largest number but one: where that makes a difference, the largest stays.
  if (bits < 64 && index >> bits) return index;
  const Simon encrypt(bits / 2, key, rounds);
  do {
    index = encrypt(index);
  } while (index > max_index);
  return index;
}

}  // namespace penstock
