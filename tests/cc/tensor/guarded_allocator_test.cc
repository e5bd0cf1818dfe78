#include "penstock/tensor/guarded_allocator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "penstock/base/status.h"

namespace penstock {
namespace {

TEST(GuardedAllocator, GivesAlignedPoisonedBlocks) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{4096}, size_t{10000}}) {
    void* p = GuardedAllocator()->Allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % kAlignment, 0u);
    for (size_t i = 0; i < bytes / sizeof(float); ++i) EXPECT_TRUE(std::isnan(static_cast<float*>(p)[i]));
    GuardedAllocator()->Free(p, bytes);
  }
}

TEST(GuardedAllocator, RefusesWhatNoMachineHas) { EXPECT_THROW(GuardedAllocator()->Allocate(size_t{1} << 60), Error); }

TEST(GuardedAllocatorDeathTest, SeesReadsAndWritesOutside) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  char* p = static_cast<char*>(GuardedAllocator()->Allocate(100));
  EXPECT_DEATH(static_cast<volatile char*>(p)[128] = 0, "");
  EXPECT_DEATH(
      {
        p[100] = 0;
        GuardedAllocator()->Free(p, 100);
      },
      "memory behind a block of 100 bytes");
  GuardedAllocator()->Free(p, 100);
}

}  // namespace
}  // namespace penstock
