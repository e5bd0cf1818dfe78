// Event loops: a few threads that wait for sockets, times and work from other threads.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/base/ref.h"
#include "penstock/rpc/fd.h"

namespace penstock::rpc {

using Clock = std::chrono::steady_clock;

// A task of a loop. While it is scheduled, scheduling it again does nothing.
class Runnable : public RefCounted {
 public:
  virtual void Run() = 0;

 private:
  friend class Loop;
  std::atomic<bool> scheduled_{false};
};

// A socket that a loop watches.
class Source : public Runnable {
 public:
  virtual void OnReady(uint32_t events) = 0;  // EPOLLIN and so on; on the loop's thread
  virtual void OnStop() = 0;                  // the loop ends: close, and tell all who wait
};

class Loop {
 public:
  // The loops of this process take turns. Starts a thread if there are fewer than there should be; ResourceExhausted if
  // the first one cannot start. Null once the process is about to end.
  static Loop* Next();
  // The loop whose thread calls; null on other threads.
  static Loop* Here();
  static void StopAll();

  // Runs `task` on the loop's thread: soon, and after all that is scheduled already. Nothing once the loop has stopped.
  void Schedule(Ref<Runnable> task);
  // Runs all that was scheduled before; returns when that is done. Not on the loop's thread.
  void Drain();

  // A time at which `task` is to be scheduled.
  using TimerId = std::pair<Clock::time_point, uint64_t>;
  TimerId AddTimer(Clock::time_point when, Ref<Runnable> task);
  void CancelTimer(TimerId id);

  // Watches `fd` for `events` until Remove; the loop holds the source meanwhile. False if the system cannot.
  bool Add(int fd, uint32_t events, Ref<Source> source);
  void Change(int fd, uint32_t events, Source* source);
  void Remove(int fd, Source* source);

  // A buffer for received bytes, used by one source at a time on the loop's thread.
  static constexpr size_t kScratch = 256 << 10;
  char* scratch() { return scratch_.get(); }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

 private:
  friend class Loops;
  Loop();
  void ThreadMain();
  void RunScheduled();
  int Timeout();  // until the next timer, in milliseconds
  void RunTimers();
  void Wake();

  Fd epoll_, wake_;
  std::thread::id thread_;
  const std::unique_ptr<char[]> scratch_;
  std::vector<Ref<Runnable>> local_;  // scheduled by the loop's own thread
  size_t next_local_ = 0;

  std::mutex mutex_;  // guards task follows
  std::vector<Ref<Runnable>> remote_;
  bool sleeping_ = false, stopping_ = false, ended_ = false;
  std::map<TimerId, Ref<Runnable>> timers_;
  uint64_t last_timer_ = 0;
  Clock::time_point wakes_at_ = Clock::time_point::min();  // when the sleeping thread wakes without a call
  Clock::time_point kept_ = Clock::time_point::min();      // a time to wake although its timer may be gone
  std::map<Source*, Ref<Source>> sources_;
  std::vector<Ref<Source>> removed_;  // released when no event can name them any more
  std::atomic<bool> stopped_{false};
};

}  // namespace penstock::rpc
