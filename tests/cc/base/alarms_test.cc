#include "penstock/base/alarms.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock {
namespace {

using Clock = Alarm::Clock;
using std::chrono::milliseconds;

// Counts calls and lets a test wait for them.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> order;

  void Add(int i) {
    std::lock_guard lock(mutex);
    order.push_back(i);
    changed.notify_all();
  }
  bool WaitFor(size_t n) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return order.size() >= n; });
  }
};

TEST(Alarm, RingsInOrderOfTimeAndNotBefore) {
  Calls calls;
  const auto start = Clock::now();
  std::vector<Alarm> alarms;
  for (const int i : {3, 1, 2}) {
    alarms.push_back(Alarm::At(start + milliseconds(10 * i), [&calls, i] { calls.Add(i); }));
  }
  ASSERT_TRUE(calls.WaitFor(3));
  EXPECT_GE(Clock::now() - start, milliseconds(30));
  EXPECT_EQ(calls.order, (std::vector<int>{1, 2, 3}));
}

TEST(Alarm, IsSilentOnceCancelled) {
  Calls calls;
  {
    const Alarm gone = Alarm::At(Clock::now() + milliseconds(5), [&] { calls.Add(1); });
    Alarm moved = Alarm::At(Clock::now() + milliseconds(5), [&] { calls.Add(2); });
    moved = Alarm();
  }
  const Alarm last = Alarm::At(Clock::now() + milliseconds(15), [&] { calls.Add(3); });
  ASSERT_TRUE(calls.WaitFor(1));
  EXPECT_EQ(calls.order, std::vector<int>{3});
}

TEST(Alarm, CancellingWaitsForTheCallback) {
  std::atomic<bool> begun{false}, ended{false};
  Alarm alarm = Alarm::At(Clock::now(), [&] {
    begun = true;
    std::this_thread::sleep_for(milliseconds(20));
    ended = true;
  });
  while (!begun) std::this_thread::yield();
  alarm.Cancel();
  EXPECT_TRUE(ended);
}

TEST(Alarm, InterruptsReachAllWhoRegistered) {
  Calls calls;
  const Alarm one = Alarm::OnInterrupt([&] { calls.Add(1); });
  Alarm two = Alarm::OnInterrupt([&] { calls.Add(2); });
  RingInterrupt();
  ASSERT_TRUE(calls.WaitFor(2));
  two.Cancel();
  RingInterrupt();
  ASSERT_TRUE(calls.WaitFor(3));
  EXPECT_EQ(calls.order.back(), 1);
}

TEST(Alarm, EarlierInterruptsReachNobodyWhoRegistersLater) {
  std::atomic<int> late{0};
  for (int i = 0; i < 200; ++i) {
    RingInterrupt();  // the thread of the alarms may hear of it only after the next line
    const Alarm alarm = Alarm::OnInterrupt([&] { ++late; });
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(late, 0);
}

TEST(Alarm, RingsInAForkedChild) {
  Calls calls;
  const Alarm kept = Alarm::At(Clock::now() + std::chrono::hours(1), [] {});
  const pid_t child = fork();
  if (child == 0) {
    Calls own;
    const Alarm alarm = Alarm::At(Clock::now() + milliseconds(1), [&] { own.Add(1); });
    _exit(own.WaitFor(1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
