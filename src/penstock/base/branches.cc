#include "penstock/base/branches.h"

#include <algorithm>
#include <mutex>

#include "penstock/base/fork.h"

namespace penstock {
namespace {

std::mutex& ListMutex() {
  static auto* mutex = new ForkMutex;  // never destroyed: threads may count while the process ends
  return *mutex;
}
Branches* listed_tables = nullptr;  // guarded by ListMutex()

}  // namespace

std::atomic<bool> Branches::counting_{false};

void Branches::List(const char* const* names, std::atomic<uint64_t>* counts) {
  if (listed_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(ListMutex());
  if (listed_.load(std::memory_order_relaxed)) return;
  names_ = names;
  counts_ = counts;
  next_ = listed_tables;
  listed_tables = this;
  listed_.store(true, std::memory_order_release);
}

void Branches::Reset() {
  std::lock_guard lock(ListMutex());
  for (Branches* table = listed_tables; table; table = table->next_) {
    for (size_t i = 0; i < table->size_; ++i) table->counts_[i].store(0, std::memory_order_relaxed);
  }
}

std::vector<Branches::Row> Branches::Rows() {
  std::lock_guard lock(ListMutex());
  std::vector<Branches*> tables;
  for (Branches* table = listed_tables; table; table = table->next_) tables.push_back(table);
  std::reverse(tables.begin(), tables.end());
  std::vector<Row> rows;
  for (const Branches* table : tables) {
    for (size_t i = 0; i < table->size_; ++i) {
      rows.push_back({table->table_, table->names_[i], table->counts_[i].load(std::memory_order_relaxed)});
    }
  }
  return rows;
}

}  // namespace penstock
