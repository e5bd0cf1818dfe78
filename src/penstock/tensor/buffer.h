// Memory behind tensors: allocators (one for each device) and ref-counted buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "penstock/base/ref.h"
#include "penstock/tensor/types.h"

namespace penstock {

inline constexpr size_t kAlignment = 64;

struct AllocatorStats {
  int64_t allocations = 0, bytes_in_use = 0, peak_bytes_in_use = 0, largest_allocation = 0;
};

// Thread-safe. Allocate returns memory aligned to kAlignment; ResourceExhausted if there is none.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual const char* name() const = 0;
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* p, size_t bytes) = 0;  // `bytes` as given to Allocate
  virtual AllocatorStats Stats() const = 0;
};

// Keeps freed blocks by size class and hands them out again: a step whose shapes repeat asks the system for nothing.
Allocator* CpuAllocator();

class Buffer : public RefCounted {
 public:
  Buffer(void* data, size_t size, bool borrowed = false) : data_(data), size_(size), borrowed_(borrowed) {}
  void* data() const { return data_; }
  size_t size() const { return size_; }
  bool borrowed() const { return borrowed_; }  // somebody else's memory: never written, never handed on as ours

 private:
  void* const data_;
  const size_t size_;
  const bool borrowed_;
};

// Elements of `dtype`, constructed when they are no plain data.
Ref<Buffer> AllocateBuffer(DataType dtype, int64_t elements, Allocator* allocator);
// Memory that somebody else owns; `release` is called when the last handle goes.
Ref<Buffer> BorrowBuffer(void* data, size_t size, std::function<void()> release);

}  // namespace penstock
