// An allocator for tests that makes reads and writes outside of a buffer visible.
#pragma once

#include "penstock/tensor/buffer.h"

namespace penstock {

// Each block ends at most 63 bytes before an inaccessible page and starts behind another. The bytes between are
// filled with a NaN of every floating-point type and checked when the block is freed; a fresh block holds the same
// NaNs, so elements that a kernel forgets to write show too. Aborts with a message where the bytes were overwritten.
// Costs two system calls a block. CpuAllocator() is this one where the environment has PENSTOCK_GUARD_MEMORY=1.
Allocator* GuardedAllocator();

}  // namespace penstock
