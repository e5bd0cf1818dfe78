#include "penstock/base/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace penstock {
namespace {

TEST(ParallelFor, VisitsEachUnitOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads, "test");
    for (const int64_t total : {0, 1, 2, 7, 1000, 100003}) {
      std::vector<std::atomic<int>> visits(total);
      pool.ParallelFor(total, 1000, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const auto& n : visits) ASSERT_EQ(n, 1);
    }
  }
}

TEST(ParallelFor, PiecesDoNotDependOnTheSchedule) {
  ThreadPool pool(3, "test");
  const auto pieces = [&] {
    std::mutex mutex;
    std::vector<std::pair<int64_t, int64_t>> seen;
    pool.ParallelFor(100003, 100, [&](int64_t begin, int64_t end) {
      std::lock_guard lock(mutex);
      seen.emplace_back(begin, end);
    });
    std::sort(seen.begin(), seen.end());
    return seen;
  };
  const auto first = pieces();
  EXPECT_GT(first.size(), 1u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(pieces(), first);
}

TEST(ParallelFor, HandsOnAnException) {
  ThreadPool pool(2, "test");
  for (int i = 0; i < 50; ++i) {
    EXPECT_THROW(pool.ParallelFor(1000, 1000,
                                  [&](int64_t begin, int64_t) {
                                    if (begin > 0) throw std::runtime_error("piece");
                                  }),
                 std::runtime_error);
  }
}

TEST(ParallelFor, MayBeNested) {
  ThreadPool pool(2, "test");
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(100, 10000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      pool.ParallelFor(100, 10000, [&](int64_t b, int64_t e) { sum += e - b; });
    }
  });
  EXPECT_EQ(sum, 10000);
}

TEST(ParallelFor, DoesNotWaitForThreadsThatComeTooLate) {
  ThreadPool pool(2, "test");
  std::atomic<bool> begun{false}, go_on{false};
  pool.Schedule([&] {
    begun = true;
    while (!go_on) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) {
    int64_t sum = 0;  // nobody else is there to add to it
    pool.ParallelFor(1000, 1000, [&](int64_t begin, int64_t end) { sum += end - begin; });
    ASSERT_EQ(sum, 1000);
  }
  go_on = true;
}

TEST(ParallelFor, ManyThreadsMayHaveLoopsAtOnce) {
  ThreadPool pool(3, "test");
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        // From some that only a thread which is awake helps with, to some that are worth waking all.
        pool.ParallelFor(40, 100 << i % 8, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 500 * 40);
}

TEST(ParallelFor, EachThreadHasPiecesOfItsOwn) {
  ThreadPool pool(2, "test");
  std::mutex mutex;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::pair<int64_t, std::thread::id>> ran;
    std::atomic<int> waiting{0};
    pool.ParallelFor(8, 100000, [&](int64_t begin, int64_t) {
      ++waiting;
      while (begin % 4 == 0 && waiting < 2) std::this_thread::yield();  // until both threads have begun
      std::lock_guard lock(mutex);
      ran.emplace_back(begin, std::this_thread::get_id());
    });
    std::sort(ran.begin(), ran.end());
    ASSERT_EQ(ran.size(), 8u);
    EXPECT_NE(ran[0].second, ran[4].second);
  }
}

TEST(ParallelFor, ManyMoreThreadsThanCores) {
  ThreadPool pool(64, "test");
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        pool.ParallelFor(1000, 100 << i % 12, [&](int64_t begin, int64_t end) { sum += end - begin; });
        if (i % 10 == 0) pool.Schedule([&] { ++sum; });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  while (sum < 8 * (100 * 1000 + 10)) std::this_thread::yield();
  EXPECT_EQ(sum, 8 * (100 * 1000 + 10));
}

TEST(ParallelFor, WorkersThatSleepAreWoken) {
  ThreadPool pool(4, "test");
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // all are parked
    std::atomic<int> inside{0};
    pool.ParallelFor(4, 1'000'000, [&](int64_t, int64_t) {
      ++inside;
      while (inside < 4) std::this_thread::yield();  // no end if one of them sleeps on
    });
  }
}

TEST(Schedule, ParkedWorkersTakeTheTasksOfBusyOnes) {
  ThreadPool pool(3, "test");  // two workers
  std::atomic<bool> go_on{false};
  std::atomic<int> ran{0};
  pool.Schedule([&] {
    for (int i = 0; i < 10; ++i) pool.Schedule([&] { ++ran; });  // into the queue of this worker
    while (!go_on) std::this_thread::yield();
  });
  while (ran < 10) std::this_thread::yield();
  go_on = true;
}

TEST(Schedule, RunsTasksFromManyThreads) {
  ThreadPool pool(2, "test");
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) pool.Schedule([&] { ++ran; });
    });
  }
  for (auto& thread : threads) thread.join();
  while (ran < 4000) std::this_thread::yield();
  EXPECT_EQ(ran, 4000);
}

// Goes down until the stack is short; returns the bytes that were used on the way.
uintptr_t GoDown(uintptr_t top) {
  volatile char frame[1024] = {};
  const uintptr_t used = top - reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + frame[0];
  return StackIsShort() ? used : std::max(used, GoDown(top));
}

TEST(StackIsShort, TellsBeforeTheStackEnds) {
  for (const size_t size : {size_t{4} << 20, size_t{16} << 20}) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
    pthread_t thread;
    uintptr_t used = 0;
    const auto run = [](void* result) -> void* {
      *static_cast<uintptr_t*>(result) = GoDown(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &used), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
    EXPECT_GT(used, size / 4);  // the thread may be given a larger stack; beyond its end the process would have died
  }
}

TEST(FunctionRef, ACopyRefersToTheCallable) {
  const auto one = [](int) { return 1; };
  const auto two = [](int) { return 2; };
  FunctionRef<int(int)> original(one);
  const FunctionRef<int(int)> copy(original);
  original = FunctionRef<int(int)>(two);
  EXPECT_EQ(copy(0), 1);
  EXPECT_EQ(original(0), 2);
}

}  // namespace
}  // namespace penstock
