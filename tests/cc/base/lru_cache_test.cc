#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "penstock/base/lru_cache.h"

namespace penstock {
namespace {

using Cache = LruCache<std::string, std::shared_ptr<int>>;

std::shared_ptr<int> Put(Cache& cache, const std::string& key, int value) {
  std::shared_ptr<int> evicted;
  cache.Insert(key, std::make_shared<int>(value), &evicted);
  return evicted;
}

TEST(LruCache, EvictsTheLeastRecentlyUsedEntry) {
  Cache cache(3);
  EXPECT_EQ(Put(cache, "a", 1), nullptr);
  EXPECT_EQ(Put(cache, "b", 2), nullptr);
  EXPECT_EQ(Put(cache, "c", 3), nullptr);
  ASSERT_NE(cache.Find("a"), nullptr);
  const std::shared_ptr<int> evicted = Put(cache, "d", 4);
  ASSERT_NE(evicted, nullptr);
  EXPECT_EQ(*evicted, 2);
  EXPECT_EQ(cache.Find("b"), nullptr);
  for (const char* key : {"a", "c", "d"}) EXPECT_NE(cache.Find(key), nullptr) << key;
}

TEST(LruCache, KeepsTheValueThatWasInsertedFirst) {
  Cache cache(2);
  Put(cache, "a", 1);
  Put(cache, "b", 2);
  std::shared_ptr<int> evicted;
  EXPECT_EQ(*cache.Insert("a", std::make_shared<int>(3), &evicted), 1);
  EXPECT_EQ(evicted, nullptr);
  EXPECT_EQ(*Put(cache, "c", 4), 2);  // inserting again counts as use
}

TEST(LruCache, LeavesEvictedValuesToTheirHolders) {
  Cache cache(1);
  Put(cache, "a", 1);
  const std::shared_ptr<int> held = *cache.Find("a");
  Put(cache, "b", 2);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 1);
}

TEST(LruCache, ErasesByCondition) {
  Cache cache(8);
  for (int i = 0; i < 8; ++i) Put(cache, std::to_string(i), i);
  cache.EraseIf([](const std::shared_ptr<int>& value) { return *value % 2 == 0; });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(cache.Find(std::to_string(i)) != nullptr, i % 2 == 1) << i;
  cache.Clear();
  EXPECT_EQ(cache.stats().size, 0u);
}

TEST(LruCache, CountsWhatHappened) {
  Cache cache(2);
  Put(cache, "a", 1);
  Put(cache, "b", 2);
  Put(cache, "c", 3);
  cache.Find("b");
  cache.Find("c");
  cache.Find("a");
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.size, 2u);
  EXPECT_EQ(stats.capacity, 2u);
  EXPECT_EQ(stats.hits, 2);
  EXPECT_EQ(stats.misses, 1);
  EXPECT_EQ(stats.evictions, 1);
}

}  // namespace
}  // namespace penstock
