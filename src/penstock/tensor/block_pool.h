// Large blocks of memory, cut from what the system gives and joined again when they are freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "penstock/base/fork.h"

namespace penstock {

// A step asks for many sizes; what one freed serves the next, whatever its size. What is free is kept as long as blocks
// of the recent past needed it, so that a step that is repeated asks the system for nothing, and goes back after that.
class BlockPool {
 public:
  static constexpr size_t kSmallest = size_t{256} << 10;

  // Aligned to a page. Null if the system has none. `bytes` >= kSmallest.
  void* Allocate(size_t bytes);
  void Free(void* p);
  // Gives back all that is free.
  void Trim();
  // What is held of the system's memory, free or not.
  size_t held() const;

 private:
  struct Block {
    size_t size;
    bool free;
  };
  using Blocks = std::map<char*, Block>;
  static constexpr size_t kPage = 4096;
  static constexpr size_t kRegion = size_t{2} << 20;  // a huge page: what is asked of the system is made of these

  // Memory that goes back to the system when the lock is released: the system takes its time.
  struct Released {
    std::vector<std::pair<char*, size_t>> parts;
    ~Released();
  };

  size_t Most(size_t bytes) const;
  void MakeRoom(size_t bytes, Released* released);
  void GiveBack(size_t most, Blocks::iterator last, Released* released);
  bool Grow(size_t bytes, std::unique_lock<std::mutex>* lock);
  void Release(Blocks::iterator block, size_t bytes, Released* released);
  void AddFree(Blocks::iterator block);
  void RemoveFree(Blocks::iterator block);
  Blocks::iterator JoinWithNeighbours(Blocks::iterator block);
  void Watch();

  mutable ForkMutex mutex_;
  Blocks blocks_;  // all of them, by address
  std::set<std::pair<size_t, char*>> free_;
  size_t in_use_ = 0, kept_ = 0;
  // The most that was in use in this window of allocations, and in the last one.
  size_t peak_ = 0, last_peak_ = 0;
  int window_ = 0;
};

}  // namespace penstock
