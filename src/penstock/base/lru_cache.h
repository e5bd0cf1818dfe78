// A cache with a bound: the entry that was used least recently makes room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace penstock {

struct CacheStats {
  size_t size = 0, capacity = 0;
  int64_t hits = 0, misses = 0, evictions = 0;

  CacheStats& operator+=(const CacheStats& other) {
    size += other.size, capacity += other.capacity;
    hits += other.hits, misses += other.misses, evictions += other.evictions;
    return *this;
  }
};

// Not thread-safe. Values are handles (shared_ptr): what is in use stays alive when its entry goes.
template <class Key, class Value, class Hash = std::hash<Key>>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}
  LruCache(const LruCache&) = delete;
  LruCache& operator=(const LruCache&) = delete;

  // Null if there is none. The pointer is valid until the next call that is not const.
  const Value* Find(const Key& key) {
    const auto it = index_.find(key);
    if (it == index_.end()) {
      ++misses_;
      return nullptr;
    }
    ++hits_;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->value;
  }

  // The value that the key has from now on: the given one, or the one that it had already. `evicted` receives a value
  // that made room, so that the caller can destroy it after releasing a lock.
  const Value& Insert(Key key, Value value, Value* evicted) {
    const auto [it, fresh] = index_.try_emplace(std::move(key));
    if (!fresh) {
      entries_.splice(entries_.begin(), entries_, it->second);
      return it->second->value;
    }
    entries_.push_front({&it->first, std::move(value)});
    it->second = entries_.begin();
    if (index_.size() > capacity_) {
      Entry& last = entries_.back();
      *evicted = std::move(last.value);
      index_.erase(*last.key);
      entries_.pop_back();
      ++evictions_;
    }
    return entries_.front().value;
  }

  // Removes the entries whose values satisfy `condition`.
  template <class Condition>
  void EraseIf(Condition condition) {
    for (auto it = entries_.begin(); it != entries_.end();) {
      const auto entry = it++;
      if (!condition(std::as_const(entry->value))) continue;
      index_.erase(*entry->key);
      entries_.erase(entry);
    }
  }
  void Clear() {
    index_.clear();
    entries_.clear();
  }

  CacheStats stats() const { return {index_.size(), capacity_, hits_, misses_, evictions_}; }

 private:
  struct Entry {
    const Key* key;  // in the index
    Value value;
  };
  const size_t capacity_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> index_;
  int64_t hits_ = 0, misses_ = 0, evictions_ = 0;
};

}  // namespace penstock
