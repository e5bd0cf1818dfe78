#include "penstock/base/closure.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace penstock {
namespace {

// Counts the copies of itself that exist.
struct Counted {
  explicit Counted(int* count) : count(count) { ++*count; }
  Counted(Counted&& other) noexcept : count(other.count) { ++*count; }
  ~Counted() { --*count; }
  int* count;
};

TEST(Closure, CallsAndDestroysWhatItHolds) {
  int alive = 0, calls = 0;
  {
    Closure small([held = Counted(&alive), &calls] { ++calls; });
    Closure large([held = Counted(&alive), &calls, filling = std::array<char, 500>()] { calls += 10; });
    EXPECT_EQ(alive, 2);
    Closure moved = std::move(small);
    EXPECT_FALSE(small);  // NOLINT(bugprone-use-after-move): it holds nothing now
    moved();
    large();
    moved = std::move(large);
    EXPECT_EQ(alive, 1);
    moved();
    moved = Closure();
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(calls, 21);
}

TEST(Fifo, KeepsOrderWhileItGrowsAndWraps) {
  Fifo<std::string> fifo;
  int pushed = 0, popped = 0;
  for (int round = 1; round <= 40; ++round) {
    for (int i = 0; i < round; ++i) fifo.Push(std::to_string(pushed++));
    for (int i = 0; i < round - 1; ++i) {
      EXPECT_EQ(fifo.front(), std::to_string(popped));
      EXPECT_EQ(fifo.Pop(), std::to_string(popped++));
    }
  }
  EXPECT_EQ(fifo.size(), 40u);
  while (!fifo.empty()) EXPECT_EQ(fifo.Pop(), std::to_string(popped++));
  EXPECT_EQ(popped, pushed);
}

}  // namespace
}  // namespace penstock
