// Forking while other threads hold mutexes.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/fork.h"

namespace penstock {
namespace {

// Whether a child that does this ends by itself.
template <class F>
bool ChildEnds(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // in case that it hangs
    f();
    _exit(0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkMutex, IsFreeAndWholeInTheChild) {
  struct Guarded {
    ForkMutex mutex;
    int a = 0, b = 0;  // equal unless somebody holds the mutex
  };
  std::vector<std::unique_ptr<Guarded>> all;
  for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<Guarded>());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; !stop; ++i) {
        // Two at a time, in any order: forking must not wait for one while it holds another.
        Guarded &x = *all[i % 20], &y = *all[(i * 7 + 3 + t) % 20];
        if (&x == &y) continue;
        const std::scoped_lock lock(x.mutex, y.mutex);
        ++x.a, ++y.a;
        if (i % 64 == 0) ForkMutex made_under_a_lock;
        ++x.b, ++y.b;
      }
    });
  }
  const int generation = ForkGeneration();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(ChildEnds([&] {
      for (const auto& each : all) {
        const std::lock_guard lock(each->mutex);
        if (each->a != each->b) _exit(1);
      }
      if (ForkGeneration() != generation + 1) _exit(2);
    })) << i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ForkGeneration(), generation);
}

TEST(ForkMutex, DoesNotKeepAProcessFromForking) {
  ForkMutex mutex;
  std::atomic<bool> held{false}, stop{false};
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held = true;
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  while (!held) std::this_thread::yield();
  EXPECT_TRUE(ChildEnds([] {}));
  stop = true;
  holder.join();
}

}  // namespace
}  // namespace penstock
