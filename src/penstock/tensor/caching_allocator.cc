#include "penstock/tensor/caching_allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/base/fork.h"
#include "penstock/base/status.h"
#include "penstock/tensor/block_pool.h"

namespace penstock {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReuse = false;  // each block is separate and of the requested size: sanitizers see accesses outside
#else
constexpr bool kReuse = true;
#endif

constexpr size_t kSmallest = 4096;                // of the size classes
constexpr int kClasses = 28;                      // up to BlockPool::kSmallest
constexpr size_t kMost = size_t{1} << 46;         // no machine has more
constexpr int64_t kMostKept = int64_t{32} << 20;  // by all threads together
constexpr int64_t kMostKeptByThread = int64_t{1} << 20;

int ClassOf(size_t bytes) {                       // the smallest class that holds `bytes` >= kSmallest
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log < bytes <= 2^(log+1)
  const size_t quarter = size_t{1} << (log - 2);
  const int step = static_cast<int>((bytes - (size_t{1} << log) + quarter - 1) / quarter);  // 1..4
  return (log - 11) * 4 + step - 1;
}
constexpr size_t SizeOf(int index) {
  const int log = index / 4 + 11;
  return (size_t{1} << log) + (size_t(index % 4) + 1) * (size_t{1} << (log - 2));
}
static_assert(SizeOf(kClasses - 1) == BlockPool::kSmallest);

void Raise(std::atomic<int64_t>* top, int64_t value) {
  int64_t seen = top->load(std::memory_order_relaxed);
  while (value > seen && !top->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// Counted by one thread, read by all.
class Counter {
 public:
  int64_t Get() const { return value_.load(std::memory_order_relaxed); }
  void Add(int64_t n) { value_.store(Get() + n, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// What a thread keeps and counts for itself. It goes to another thread when the first one ends.
struct alignas(64) Local {
  Counter allocations, in_use, largest;
  int64_t reported = 0;  // `in_use` when the peak was last taken
  int64_t kept = 0;      // bytes
  std::array<std::vector<void*>, kClasses> free;
};

class Caching final : public Allocator {
 public:
  const char* name() const override { return "cpu"; }

  void* Allocate(size_t bytes) override {
    Local* local = LocalOf();
    void* p = Get(bytes, local);
    if (!p) {
      Trim(local);
      p = Get(bytes, local);
    }
    if (!p) throw ResourceExhausted("OOM when allocating ", bytes, " bytes on the CPU");
    const auto n = static_cast<int64_t>(bytes);
    Count(local, [&](Local& counts) {
      counts.allocations.Add(1);
      counts.in_use.Add(n);
      if (n > counts.largest.Get()) counts.largest.Add(n - counts.largest.Get());
    });
    return p;
  }

  void Free(void* p, size_t bytes) override {
    Local* local = LocalOf();
    Count(local, [&](Local& counts) { counts.in_use.Add(-static_cast<int64_t>(bytes)); });
    if (kReuse && bytes >= BlockPool::kSmallest) return pool_.Free(p);
    if (!kReuse || bytes < kSmallest || !Keep(p, ClassOf(bytes), local)) std::free(p);
  }

  AllocatorStats Stats() const override {
    AllocatorStats all;
    {
      std::lock_guard lock(mutex_);
      for (const Local* local : all_) {
        all.allocations += local->allocations.Get();
        all.bytes_in_use += local->in_use.Get();
        all.largest_allocation = std::max(all.largest_allocation, local->largest.Get());
      }
    }
    Raise(&peak_, all.bytes_in_use);
    all.peak_bytes_in_use = peak_.load();
    return all;
  }

 private:
  static constexpr int64_t kReportEvery = 64 << 10;

  // Null while the thread ends, or if it cannot be made.
  Local* LocalOf() {
    struct Leave {
      Caching* allocator = nullptr;
      ~Leave() {
        if (allocator) allocator->LeaveBehind(std::exchange(t_local, nullptr));
        t_ended = true;
      }
    };
    if (t_local || t_ended) return t_local;
    thread_local Leave leave;
    std::lock_guard lock(mutex_);
    if (unused_.empty()) {
      all_.push_back(new Local);
      unused_.push_back(all_.back());
    }
    t_local = unused_.back();
    unused_.pop_back();
    leave.allocator = this;
    return t_local;
  }

  void LeaveBehind(Local* local) {
    for (int i = 0; i < kClasses; ++i) {
      for (void* p : local->free[i]) {
        if (!KeepForAll(p, i)) std::free(p);
      }
      local->free[i].clear();
    }
    local->kept = 0;
    std::lock_guard lock(mutex_);
    unused_.push_back(local);
  }

  // Counts for this thread; for all those that end, under the mutex.
  template <class Change>
  void Count(Local* local, Change change) {
    if (!local) {
      std::lock_guard lock(mutex_);
      return change(*ended_);
    }
    change(*local);
    const int64_t in_use = local->in_use.Get();
    const int64_t fresh = in_use - local->reported;
    if (fresh < kReportEvery && fresh > -kReportEvery) return;
    local->reported = in_use;
    Raise(&peak_, reported_.fetch_add(fresh, std::memory_order_relaxed) + fresh);
  }

  // Null if there is no memory.
  void* Get(size_t bytes, Local* local) {
    if (bytes > kMost) return nullptr;
    if (!kReuse) return FromSystem(bytes);
    if (bytes < kSmallest) return FromSystem((bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (bytes >= BlockPool::kSmallest) return pool_.Allocate(bytes);
    const int index = ClassOf(bytes);
    if (local && !local->free[index].empty()) {
      void* p = local->free[index].back();
      local->free[index].pop_back();
      local->kept -= static_cast<int64_t>(SizeOf(index));
      return p;
    }
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

  // False if enough is kept.
  bool Keep(void* p, int index, Local* local) {
    const auto size = static_cast<int64_t>(SizeOf(index));
    if (!local || local->kept + size > kMostKeptByThread) return KeepForAll(p, index);
    local->free[index].push_back(p);
    local->kept += size;
    return true;
  }
  bool KeepForAll(void* p, int index) {
    const auto size = static_cast<int64_t>(SizeOf(index));
    if (kept_.load(std::memory_order_relaxed) + size > kMostKept) return false;
    kept_.fetch_add(size, std::memory_order_relaxed);
    Class& c = classes_[index];
    std::lock_guard lock(c.mutex);
    c.free.push_back(p);
    return true;
  }

  // Gives back what this thread and all together keep.
  void Trim(Local* local) {
    pool_.Trim();
    const auto clear = [](std::vector<void*>* free) {
      for (void* p : *free) std::free(p);
      free->clear();
    };
    for (int i = 0; i < kClasses; ++i) {
      if (local) clear(&local->free[i]);
      std::lock_guard lock(classes_[i].mutex);
      kept_.fetch_sub(static_cast<int64_t>(classes_[i].free.size() * SizeOf(i)), std::memory_order_relaxed);
      clear(&classes_[i].free);
    }
    if (local) local->kept = 0;
  }

  [[gnu::tls_model("initial-exec")]] static thread_local Local* t_local;
  [[gnu::tls_model("initial-exec")]] static thread_local bool t_ended;

  struct Class {
    ForkMutex mutex;
    std::vector<void*> free;
  };
  std::array<Class, kClasses> classes_;
  BlockPool pool_;
  std::atomic<int64_t> kept_{0}, reported_{0};
  mutable std::atomic<int64_t> peak_{0};
  mutable ForkMutex mutex_;
  std::vector<Local*> all_{new Local}, unused_;
  Local* const ended_ = all_[0];
};

[[gnu::tls_model("initial-exec")]] thread_local Local* Caching::t_local = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool Caching::t_ended = false;

}  // namespace

Allocator* CachingAllocator() { return new Caching; }

}  // namespace penstock
