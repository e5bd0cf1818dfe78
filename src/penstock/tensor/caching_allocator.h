// The allocator of host memory.
#pragma once

#include "penstock/tensor/buffer.h"

namespace penstock {

// Keeps what is freed for the next step, within bounds. Large blocks are a pool's (BlockPool). Those of middling size
// come in size classes, four to each power of two; each thread keeps some of each class, and all threads together some
// more. Small blocks are left to malloc, which is fast at them. Never destroyed: buffers may outlive static objects.
//
// Statistics are counted by each thread on its own and added up when they are asked for. The peak is taken whenever a
// thread has allocated or freed 64 KiB since the last time, and when it is asked for; so it may miss as much for each
// thread.
Allocator* CachingAllocator();

}  // namespace penstock
