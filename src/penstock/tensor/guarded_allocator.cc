#include "penstock/tensor/guarded_allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "penstock/base/status.h"

namespace penstock {
namespace {

constexpr unsigned char kPoison = 0xff;  // all bits set: a NaN as half, bfloat16, float and double

class PageGuard : public Allocator {
 public:
  const char* name() const override { return "cpu"; }

  void* Allocate(size_t bytes) override {
    const Layout l = LayoutOf(bytes);
    void* base = bytes > kMost ? MAP_FAILED
                               : mmap(nullptr, l.total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw ResourceExhausted("OOM when allocating ", bytes, " bytes on the CPU");
    char* const pages = static_cast<char*>(base) + l.page;
    if (mprotect(pages, l.usable, PROT_READ | PROT_WRITE) != 0) {
      munmap(base, l.total);
      throw ResourceExhausted("OOM when allocating ", bytes, " bytes on the CPU");
    }
    std::memset(pages, kPoison, l.usable);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const int64_t in_use = in_use_.fetch_add(static_cast<int64_t>(bytes)) + static_cast<int64_t>(bytes);
    int64_t peak = peak_.load();
    while (in_use > peak && !peak_.compare_exchange_weak(peak, in_use)) {
    }
    int64_t largest = largest_.load();
    while (static_cast<int64_t>(bytes) > largest &&
           !largest_.compare_exchange_weak(largest, static_cast<int64_t>(bytes))) {
    }
    return pages + l.offset;
  }

  void Free(void* p, size_t bytes) override {
    const Layout l = LayoutOf(bytes);
    char* const pages = static_cast<char*>(p) - l.offset;
    Check(pages, l.offset, p, bytes, "before");
    Check(static_cast<char*>(p) + bytes, l.usable - l.offset - bytes, p, bytes, "behind");
    in_use_.fetch_sub(static_cast<int64_t>(bytes));
    munmap(pages - l.page, l.total);
  }

  AllocatorStats Stats() const override { return {allocations_.load(), in_use_.load(), peak_.load(), largest_.load()}; }

 private:
  static constexpr size_t kMost = size_t{1} << 46;

  struct Layout {
    size_t page, usable, total, offset;  // a guard page, usable bytes with the block at `offset`, a guard page
  };
  static Layout LayoutOf(size_t bytes) {
    static const size_t page = sysconf(_SC_PAGESIZE);
    const size_t block = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const size_t usable = (block + page - 1) / page * page;
    return {page, usable, usable + 2 * page, usable - block};
  }

  static void Check(const char* from, size_t n, const void* p, size_t bytes, const char* where) {
    for (size_t i = 0; i < n; ++i) {
      if (static_cast<unsigned char>(from[i]) == kPoison) continue;
      std::fprintf(stderr, "penstock: memory %s a block of %zu bytes at %p was overwritten\n", where, bytes, p);
      std::abort();
    }
  }

  std::atomic<int64_t> allocations_{0}, in_use_{0}, peak_{0}, largest_{0};
};

}  // namespace

Allocator* GuardedAllocator() {
  static auto* allocator = new PageGuard();  // never destroyed: buffers may outlive static objects
  return allocator;
}

}  // namespace penstock
