#include "penstock/tensor/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

size_t RoundUp(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }
// How far an address is behind the last multiple of `unit`.
size_t Behind(const char* address, size_t unit) { return reinterpret_cast<uintptr_t>(address) % unit; }
// The first multiple of `unit` from there on.
char* RoundUp(char* address, size_t unit) { return address + (unit - Behind(address, unit)) % unit; }

}  // namespace

BlockPool::Released::~Released() {
  for (const auto& [begin, size] : parts) munmap(begin, size);
}

void* BlockPool::Allocate(size_t bytes) {
  const size_t size = RoundUp(bytes, kPage);
  Released released;
  std::unique_lock<std::mutex> lock(mutex_);
  auto fit = free_.lower_bound({size, nullptr});
  while (fit == free_.end()) {
    MakeRoom(size, &released);
    if (!Grow(size, &lock)) return nullptr;
    fit = free_.lower_bound({size, nullptr});  // unless another thread was faster
  }
  const auto block = blocks_.find(fit->second);
  RemoveFree(block);
  if (block->second.size > size) {
    AddFree(blocks_.emplace(block->first + size, Block{block->second.size - size, true}).first);
    block->second.size = size;
  }
  block->second.free = false;
  in_use_ += size;
  Watch();
  return block->first;
}

void BlockPool::Free(void* p) {
  Released released;
  std::lock_guard lock(mutex_);
  auto block = blocks_.find(static_cast<char*>(p));
  in_use_ -= block->second.size;
  block->second.free = true;
  AddFree(block);
  block = JoinWithNeighbours(block);
  GiveBack(Most(0), block, &released);
}

// What may be held when `bytes` more are wanted: an eighth more than was in use, since what is free lies in pieces.
size_t BlockPool::Most(size_t bytes) const {
  const size_t wanted = std::max({peak_, last_peak_, in_use_ + bytes});
  return wanted + wanted / 8 + kRegion;
}

// No free block is large enough: small ones go back instead of adding up.
void BlockPool::MakeRoom(size_t bytes, Released* released) {
  const size_t most = Most(bytes);
  GiveBack(most > bytes ? most - bytes : 0, blocks_.end(), released);
}

// Free blocks go back until no more than `most` is held, large ones first; `last`, which was in use a moment ago and
// will be wanted again by the next step, after all others.
void BlockPool::GiveBack(size_t most, Blocks::iterator last, Released* released) {
  for (auto it = free_.rbegin(); it != free_.rend() && in_use_ + kept_ > most;) {
    const auto large = *it;
    if (large.first < kRegion) break;
    const auto block = blocks_.find(large.second);
    if (block != last) Release(block, in_use_ + kept_ - most, released);
    it = std::make_reverse_iterator(free_.lower_bound(large));
  }
  if (last != blocks_.end() && in_use_ + kept_ > most) Release(last, in_use_ + kept_ - most, released);
}

void BlockPool::Trim() {
  Released released;
  std::lock_guard lock(mutex_);
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto next = std::next(block);
    if (block->second.free) Release(block, block->second.size, &released);
    block = next;
  }
}

size_t BlockPool::held() const {
  std::lock_guard lock(mutex_);
  return in_use_ + kept_;
}

// Peaks of the past are forgotten after two windows.
void BlockPool::Watch() {
  constexpr int kWindow = 4096;
  if (++window_ == kWindow) {
    window_ = 0;
    last_peak_ = std::exchange(peak_, 0);
  }
  peak_ = std::max(peak_, in_use_);
}

// Adds a free block of the system's memory. `lock` is released meanwhile. False if the system has none.
bool BlockPool::Grow(size_t bytes, std::unique_lock<std::mutex>* lock) {
  const size_t size = RoundUp(bytes, kRegion);
  lock->unlock();
  // More than is needed, of which the aligned part is kept.
  void* const got = mmap(nullptr, size + kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return lock->lock(), false;
  char* const from = static_cast<char*>(got);
  char* const aligned = RoundUp(from, kRegion);
  if (aligned > from) munmap(from, static_cast<size_t>(aligned - from));
  if (char* const end = aligned + size; end < from + size + kRegion)
    munmap(end, static_cast<size_t>(from + size + kRegion - end));
  madvise(aligned, size, MADV_HUGEPAGE);
  lock->lock();
  const auto block = blocks_.emplace(aligned, Block{size, true}).first;
  AddFree(block);
  JoinWithNeighbours(block);
  return true;
}

// About `bytes` of a free block's end go back to the system, in whole huge pages.
void BlockPool::Release(Blocks::iterator block, size_t bytes, Released* released) {
  char* const begin = block->first;
  char* const end = begin + block->second.size;
  char* first = RoundUp(begin, kRegion);
  char* const last = end - Behind(end, kRegion);
  if (first >= last) return;
  if (const size_t whole = RoundUp(bytes, kRegion); static_cast<size_t>(last - first) > whole) first = last - whole;
  RemoveFree(block);
  blocks_.erase(block);
  released->parts.emplace_back(first, static_cast<size_t>(last - first));
  if (begin < first) AddFree(blocks_.emplace(begin, Block{static_cast<size_t>(first - begin), true}).first);
  if (last < end) AddFree(blocks_.emplace(last, Block{static_cast<size_t>(end - last), true}).first);
}

void BlockPool::AddFree(Blocks::iterator block) {
  free_.emplace(block->second.size, block->first);
  kept_ += block->second.size;
}

void BlockPool::RemoveFree(Blocks::iterator block) {
  free_.erase({block->second.size, block->first});
  kept_ -= block->second.size;
}

BlockPool::Blocks::iterator BlockPool::JoinWithNeighbours(Blocks::iterator block) {
  const auto join = [&](Blocks::iterator first, Blocks::iterator second) {
    if (!first->second.free || !second->second.free || first->first + first->second.size != second->first)
      return second;
    RemoveFree(first);
    RemoveFree(second);
    first->second.size += second->second.size;
    blocks_.erase(second);
    AddFree(first);
    return first;
  };
  if (block != blocks_.begin()) block = join(std::prev(block), block);
  if (const auto next = std::next(block); next != blocks_.end()) {
    if (join(block, next) == block) return block;
  }
  return block;
}

}  // namespace penstock
