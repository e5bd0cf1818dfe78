#include "penstock/runtime/step_executor.h"

#include "penstock/kernel/interrupts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace penstock {
namespace {

using Done = std::function<void(Status)>;

struct Fixture {
  ThreadPool pool{2, "test"};
  Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();
  Ref<StepExecutor> executor = MakeRef<StepExecutor>(&pool);

  Status Run(FunctionRef<void(Done)> start, StepLimits limits = {}) {
    return executor->RunToEnd(start, cancellation, limits);
  }
};

TEST(StepExecutor, ReturnsTheStatus) {
  Fixture f;
  EXPECT_TRUE(f.Run([](const Done& done) { done({}); }).ok());
  EXPECT_EQ(f.Run([](const Done& done) { done(Status(Code::kAborted, "x")); }).code(), Code::kAborted);
}

TEST(StepExecutor, TasksOfATaskFollowItWithoutRecursion) {
  Fixture f;
  int left = 1'000'000;
  const auto home = std::this_thread::get_id();
  std::function<void(Done)> next = [&](const Done& done) {
    EXPECT_EQ(std::this_thread::get_id(), home);
    if (--left == 0) return done({});
    f.executor->Post([&, done] { next(done); });
  };
  EXPECT_TRUE(f.Run(next).ok());
  EXPECT_EQ(left, 0);
}

TEST(StepExecutor, PostingFromOutsideReturnsAtOnceAndRunsOnTheHomeThread) {
  Fixture f;
  std::thread outside;
  std::atomic<bool> returned{false};
  std::thread::id ran;
  const Status status = f.Run([&](Done done) {
    outside = std::thread([&, done] {
      f.executor->Post([&, done] {
        ran = std::this_thread::get_id();
        while (!returned) std::this_thread::yield();  // no end if the poster ran this
        done({});
      });
      returned = true;
    });
  });
  outside.join();
  EXPECT_TRUE(status.ok());
}

TEST(StepExecutor, AWorkerTakesOverWhileTheHomeThreadIsBusy) {
  Fixture f;
  std::atomic<bool> taken{false};
  const Status status = f.Run([&](const Done& done) {
    f.executor->Post([&] { taken = true; });
    f.executor->Offer();
    while (!taken) std::this_thread::yield();  // no end if only this thread could take it
    done({});
  });
  EXPECT_TRUE(status.ok());
}

// Runs a step, of its own executor, that ends only when it is cancelled.
Status RunUntilCancelled(StepLimits limits) {
  Fixture f;
  return f.Run(
      [&](const Done& done) {
        CancellationManager::Token token;
        ASSERT_TRUE(f.cancellation->Register([done] { done(Status(Code::kCancelled, "cancelled")); }, &token));
      },
      limits);
}

TEST(StepExecutor, ALimitCancels) {
  EXPECT_EQ(RunUntilCancelled({.timeout_ms = 5}).code(), Code::kDeadlineExceeded);

  const int seen = g_interrupts.fetch_add(1);  // an interrupt between the step's begin and its wait
  EXPECT_EQ(RunUntilCancelled({.interrupts_seen = seen}).code(), Code::kCancelled);

  std::thread interrupt([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    g_interrupts.fetch_add(1);
    RingInterrupt();
  });
  EXPECT_EQ(RunUntilCancelled({.interrupts_seen = g_interrupts.load()}).code(), Code::kCancelled);
  interrupt.join();
}

TEST(StepExecutor, ALateTimeLimitDoesNotFailAStepThatSucceeded) {
  Fixture f;
  EXPECT_TRUE(f.Run(
                   [](const Done& done) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(10));
                     done({});
                   },
                   {.timeout_ms = 1})
                  .ok());
}

TEST(StepExecutor, ManyThreadsPost) {
  for (int round = 0; round < 200; ++round) {
    Fixture f;
    constexpr int kThreads = 4, kTasks = 50;
    std::atomic<int> left{kThreads * kTasks};
    std::vector<std::thread> threads;
    const Status status = f.Run([&](Done done) {
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, done] {
          for (int i = 0; i < kTasks; ++i) {
            f.executor->Post([&, done] {
              if (left.fetch_sub(1) == 1) done({});
            });
          }
        });
      }
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(left, 0);
  }
}

TEST(StepExecutor, WithoutAHomeThreadWorkersRunAllTasks) {
  Fixture f;
  std::atomic<int> left{100};
  for (int i = 0; i < 100; ++i) f.executor->Post([&] { --left; });
  while (left > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace penstock
