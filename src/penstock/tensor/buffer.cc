#include "penstock/tensor/buffer.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "penstock/base/fork.h"
#include "penstock/base/status.h"
#include "penstock/tensor/block_pool.h"
#include "penstock/tensor/guarded_allocator.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/tstring.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReuse = false;  // each block is of its own and of the size asked for: sanitizers see what leaves it
#else
constexpr bool kReuse = true;
#endif

// Large blocks are a pool's. Those of middling size come in size classes, four to each power of two; freed ones wait in
// a list of their class, up to a bound. Small blocks are left to malloc, which is fast at them.
class CachingAllocator : public Allocator {
 public:
  const char* name() const override { return "cpu"; }

  void* Allocate(size_t bytes) override {
    void* p = Get(bytes);
    if (!p) {
      Trim();
      p = Get(bytes);
    }
    if (!p) throw ResourceExhausted("OOM when allocating ", bytes, " bytes on the CPU");
    const int64_t in_use =
        in_use_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed) + static_cast<int64_t>(bytes);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    Raise(&peak_, in_use);
    Raise(&largest_, static_cast<int64_t>(bytes));
    return p;
  }

  void Free(void* p, size_t bytes) override {
    in_use_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    if (kReuse && bytes >= BlockPool::kSmallest) return pool_.Free(p);
    if (kReuse && bytes >= kSmallest) {
      const int index = ClassOf(bytes);
      const int64_t size = static_cast<int64_t>(SizeOf(index));
      if (kept_.load(std::memory_order_relaxed) + size <= kMostKept) {
        kept_.fetch_add(size, std::memory_order_relaxed);
        Class& c = classes_[index];
        std::lock_guard lock(c.mutex);
        c.free.push_back(p);
        return;
      }
    }
    std::free(p);
  }

  AllocatorStats Stats() const override {
    return {allocations_.load(), in_use_.load(), peak_.load(), largest_.load()};
  }

 private:
  static constexpr size_t kSmallest = 4096;
  static constexpr size_t kMost = size_t{1} << 46;  // no machine has more
  static constexpr int64_t kMostKept = int64_t{32} << 20;
  static constexpr int kClasses = 4 * 8;

  // Null if there is no memory.
  void* Get(size_t bytes) {
    if (bytes > kMost) return nullptr;
    if (!kReuse) return FromSystem(bytes);
    if (bytes < kSmallest) return FromSystem((bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (bytes >= BlockPool::kSmallest) return pool_.Allocate(bytes);
    const int index = ClassOf(bytes);
    {
      Class& c = classes_[index];
      std::lock_guard lock(c.mutex);
      if (!c.free.empty()) {
        void* p = c.free.back();
        c.free.pop_back();
        kept_.fetch_sub(static_cast<int64_t>(SizeOf(index)), std::memory_order_relaxed);
        return p;
      }
    }
    return FromSystem(SizeOf(index));
  }
  static void* FromSystem(size_t bytes) {
    void* p = nullptr;
    return posix_memalign(&p, kAlignment, bytes) == 0 ? p : nullptr;
  }
  static int ClassOf(size_t bytes) {  // the smallest class that holds `bytes` >= kSmallest
    const int log = std::bit_width(bytes - 1) - 1;  // 2^log < bytes <= 2^(log+1)
    const size_t quarter = size_t{1} << (log - 2);
    const int step = static_cast<int>((bytes - (size_t{1} << log) + quarter - 1) / quarter);  // 1..4
    return (log - 11) * 4 + step - 1;
  }
  static size_t SizeOf(int index) {
    const int log = index / 4 + 11;
    return (size_t{1} << log) + (size_t(index % 4) + 1) * (size_t{1} << (log - 2));
  }
  void Trim() {
    pool_.Trim();
    for (int i = 0; i < kClasses; ++i) {
      std::lock_guard lock(classes_[i].mutex);
      for (void* p : classes_[i].free) std::free(p);
      kept_.fetch_sub(static_cast<int64_t>(classes_[i].free.size() * SizeOf(i)), std::memory_order_relaxed);
      classes_[i].free.clear();
    }
  }
  static void Raise(std::atomic<int64_t>* top, int64_t value) {
    int64_t seen = top->load(std::memory_order_relaxed);
    while (value > seen && !top->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  struct Class {
    ForkMutex mutex;
    std::vector<void*> free;
  };
  std::array<Class, kClasses> classes_;
  BlockPool pool_;
  std::atomic<int64_t> kept_{0}, in_use_{0}, allocations_{0}, peak_{0}, largest_{0};
};

class PodBuffer final : public Buffer {
 public:
  PodBuffer(size_t size, Allocator* allocator) : Buffer(allocator->Allocate(size), size), allocator_(allocator) {}
  ~PodBuffer() override { allocator_->Free(data(), size()); }

 private:
  Allocator* allocator_;
};

template <class T>
class ObjectBuffer final : public Buffer {
 public:
  explicit ObjectBuffer(int64_t n) : Buffer(new T[n], n * sizeof(T)) {}
  ~ObjectBuffer() override { delete[] static_cast<T*>(data()); }
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, size_t size, std::function<void()> release)
      : Buffer(data, size, /*borrowed=*/true), release_(std::move(release)) {}
  ~BorrowedBuffer() override { release_(); }

 private:
  std::function<void()> release_;
};

}  // namespace

Allocator* CpuAllocator() {
  static Allocator* const allocator = []() -> Allocator* {
    const char* guard = std::getenv("PENSTOCK_GUARD_MEMORY");
    if (guard && std::string_view(guard) == "1") return GuardedAllocator();
    return new CachingAllocator();  // never destroyed: buffers may outlive static objects
  }();
  return allocator;
}

Ref<Buffer> AllocateBuffer(DataType dtype, int64_t elements, Allocator* allocator) {
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(elements), DataTypeSize(dtype), &bytes) || bytes > size_t{1} << 46) {
    throw ResourceExhausted("OOM when allocating a tensor of ", elements, " elements of type ", ToString(dtype));
  }
  switch (dtype) {
    case DT_STRING:
      return MakeRef<ObjectBuffer<TString>>(elements);
    case DT_RESOURCE:
      return MakeRef<ObjectBuffer<ResourceHandle>>(elements);
    case DT_VARIANT:
      return MakeRef<ObjectBuffer<Variant>>(elements);
    default:
      return MakeRef<PodBuffer>(bytes, allocator);
  }
}

Ref<Buffer> BorrowBuffer(void* data, size_t size, std::function<void()> release) {
  return MakeRef<BorrowedBuffer>(data, size, std::move(release));
}

}  // namespace penstock
