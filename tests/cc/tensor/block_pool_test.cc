#include "penstock/tensor/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

TEST(BlockPool, WhatOneSizeFreedServesOthers) {
  BlockPool pool;
  void* const large = pool.Allocate(16 * kMegabyte);
  pool.Free(large);
  const size_t held = pool.held();
  std::vector<void*> parts;
  for (int i = 0; i < 16; ++i) parts.push_back(pool.Allocate(kMegabyte));
  EXPECT_EQ(pool.held(), held);
  for (void* part : parts) pool.Free(part);
  EXPECT_EQ(pool.Allocate(16 * kMegabyte), large);  // they were joined again
  EXPECT_EQ(pool.held(), held);
}

TEST(BlockPool, TheSmallestBlockThatFitsIsTaken) {
  BlockPool pool;
  void* const wide = pool.Allocate(8 * kMegabyte);
  void* const wall = pool.Allocate(kMegabyte);
  void* const narrow = pool.Allocate(2 * kMegabyte);
  void* const end = pool.Allocate(kMegabyte);
  pool.Free(wide);
  pool.Free(narrow);
  EXPECT_EQ(pool.Allocate(2 * kMegabyte), narrow);
  EXPECT_EQ(pool.Allocate(8 * kMegabyte), wide);
  pool.Free(wall);
  pool.Free(end);
}

TEST(BlockPool, BlocksDoNotOverlapAndKeepWhatIsInThem) {
  BlockPool pool;
  std::mt19937 random(1);
  struct Held {
    unsigned char* data;
    size_t size;
    unsigned char fill;
  };
  std::vector<Held> held;
  for (int i = 0; i < 2000; ++i) {
    if (held.size() < 20 && random() % 2) {
      const size_t size = BlockPool::kSmallest + random() % (4 * kMegabyte);
      auto* data = static_cast<unsigned char*>(pool.Allocate(size));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
      const auto fill = static_cast<unsigned char>(i);
      for (size_t at = 0; at < size; at += 4096) data[at] = fill;
      data[size - 1] = fill;
      held.push_back({data, size, fill});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held last = held.back();
      held.pop_back();
      for (size_t at = 0; at < last.size; at += 4096) ASSERT_EQ(last.data[at], last.fill);
      ASSERT_EQ(last.data[last.size - 1], last.fill);
      pool.Free(last.data);
    }
  }
  for (const Held& one : held) pool.Free(one.data);
}

TEST(BlockPool, WhatIsNoLongerNeededGoesBack) {
  BlockPool pool;
  pool.Free(pool.Allocate(256 * kMegabyte));
  EXPECT_GE(pool.held(), 256 * kMegabyte);  // the next step may want as much
  for (int i = 0; i < 10000; ++i) pool.Free(pool.Allocate(kMegabyte));
  EXPECT_LE(pool.held(), 8 * kMegabyte);
  pool.Free(pool.Allocate(64 * kMegabyte));
  pool.Trim();
  EXPECT_EQ(pool.held(), 0u);
}

TEST(BlockPool, ManyFreeBlocksOfOneSizeMakeRoomForALargerOne) {
  BlockPool pool;
  std::vector<void*> blocks, walls;
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(pool.Allocate(8 * kMegabyte));
    walls.push_back(pool.Allocate(2 * kMegabyte));
  }
  for (void* block : blocks) pool.Free(block);
  void* const large = pool.Allocate(256 * kMegabyte);
  EXPECT_LE(pool.held(), 400 * kMegabyte);  // 320 in use, an eighth more, and a little
  pool.Free(large);
  for (void* wall : walls) pool.Free(wall);
}

TEST(BlockPool, WhatEveryStepFreesIsKeptBeforeOlderPieces) {
  BlockPool pool;
  std::vector<void*> pieces, walls;
  for (int i = 0; i < 4; ++i) {
    pieces.push_back(pool.Allocate(16 * kMegabyte));
    walls.push_back(pool.Allocate(2 * kMegabyte));
  }
  for (void* piece : pieces) pool.Free(piece);
  constexpr size_t kStep = 40 * kMegabyte + 4096;  // the system gives 2 MB more for it
  void* const step = pool.Allocate(kStep);
  static_cast<char*>(step)[39 * kMegabyte] = 1;
  pool.Free(step);
  for (int i = 0; i < 3; ++i) {
    void* const again = pool.Allocate(kStep);
    EXPECT_EQ(again, step);
    EXPECT_EQ(static_cast<char*>(again)[39 * kMegabyte], 1) << "it went back to the system";
    pool.Free(again);
  }
  for (void* wall : walls) pool.Free(wall);
}

}  // namespace
}  // namespace penstock
