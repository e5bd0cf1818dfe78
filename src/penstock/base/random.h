// Philox 4x32-10 and the transformations that TensorFlow builds its distributions from: the same numbers for the same
// seeds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <numbers>

namespace penstock {

// A counter-based generator: each counter value gives four independent 32-bit numbers. Copying it forks the stream.
class Philox {
 public:
  using Group = std::array<uint32_t, 4>;
  static constexpr int kGroup = 4;

  Philox() = default;
  explicit Philox(uint64_t seed) : key_{Low(seed), High(seed)} {}
  Philox(uint64_t seed, uint64_t stream) : counter_{0, 0, Low(stream), High(stream)}, key_{Low(seed), High(seed)} {}
  Philox(const Group& counter, const std::array<uint32_t, 2>& key) : counter_(counter), key_(key) {}

  const Group& counter() const { return counter_; }
  const std::array<uint32_t, 2>& key() const { return key_; }

  Group operator()() {
    const Group result = Block(counter_, key_);
    Skip(1);
    return result;
  }

  // As if operator() had been called `groups` times.
  void Skip(uint64_t groups) {
    const uint64_t low = Word(0);
    const uint64_t sum = low + groups;
    SetWord(0, sum);
    if (sum < low) SetWord(2, Word(2) + 1);
  }

  static Group Block(Group c, std::array<uint32_t, 2> k) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
      c = {High(p1) ^ c[1] ^ k[0], Low(p1), High(p0) ^ c[3] ^ k[1], Low(p0)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    return c;
  }

 private:
  static uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
  static uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
  uint64_t Word(int i) const { return counter_[i] | uint64_t{counter_[i + 1]} << 32; }
  void SetWord(int i, uint64_t v) {
    counter_[i] = Low(v);
    counter_[i + 1] = High(v);
  }

  Group counter_{};
  std::array<uint32_t, 2> key_{};
};

// Hands out one 32-bit number at a time.
class PhiloxSingles {
 public:
  explicit PhiloxSingles(const Philox& philox) : philox_(philox) {}
  uint32_t operator()() {
    if (used_ == Philox::kGroup) {
      group_ = philox_();
      used_ = 0;
    }
    return group_[used_++];
  }

 private:
  Philox philox_;
  Philox::Group group_{};
  int used_ = Philox::kGroup;
};

// [0, 1) from the low 23 bits.
inline float UnitFloat(uint32_t x) { return std::bit_cast<float>((x & 0x7FFFFFu) | 0x3F800000u) - 1.0f; }
// [0, 1) from 52 bits: the low 20 of `high` and all of `low`.
inline double UnitDouble(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(uint64_t{high & 0xFFFFFu} << 32 | low | uint64_t{1023} << 52) - 1.0;
}

// Two independent normal numbers from two uniform ones (Box and Muller).
inline void NormalPair(uint32_t x0, uint32_t x1, float* a, float* b) {
  const float u = std::max(UnitFloat(x0), 1.0e-7f);
  const float angle = static_cast<float>(2.0 * std::numbers::pi * UnitFloat(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  *a = std::sin(angle) * radius;
  *b = std::cos(angle) * radius;
}
inline void NormalPair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, double* a, double* b) {
  const double u = std::max(UnitDouble(x0, x1), 1.0e-7);
  const double angle = 2.0 * std::numbers::pi * UnitDouble(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  *a = std::sin(angle) * radius;
  *b = std::cos(angle) * radius;
}

// 64 bits that no seed determines.
uint64_t NondeterministicSeed();

// The generator of one stateful random op. Thread-safe.
class SharedPhilox {
 public:
  // Both zero: seeded differently each time.
  SharedPhilox(int64_t seed, int64_t seed2);
  // A stream of `groups` groups that no other call gets.
  Philox Reserve(uint64_t groups) {
    std::lock_guard lock(mutex_);
    const Philox mine = philox_;
    philox_.Skip(groups);
    return mine;
  }

 private:
  std::mutex mutex_;
  Philox philox_;
};

}  // namespace penstock
