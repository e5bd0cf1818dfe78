// Where the tasks of one step run. docs/threads.md has the rules.
#pragma once

#include <condition_variable>
#include <mutex>

#include "penstock/base/alarms.h"
#include "penstock/base/closure.h"
#include "penstock/kernel/services.h"

namespace penstock {

// Cancels a step when its time is over.
class Deadline {
 public:
  // `timeout_ms`: 0 for none.
  Deadline(int64_t timeout_ms, const Ref<CancellationManager>& cancellation);
  // What the step ends with, given how it did: DeadlineExceeded if it failed after its time was over.
  Status StatusOf(Status status);

 private:
  const int64_t timeout_ms_;
  std::atomic<bool> expired_{false};
  Alarm alarm_;  // last, as its callback uses the others
};

// What ends a step early, besides its own errors.
struct StepLimits {
  int64_t timeout_ms = 0;    // 0: none
  int interrupts_seen = -1;  // when the step began, see StepServices
};

// Tasks are queued and taken by the step's home thread (the one inside RunToEnd), while it has nothing else to do, and
// by workers of a pool that are called as long as tasks wait. A thread that runs a task takes what that task posted
// before it leaves, so tasks of one step follow each other without a change of threads and without recursion.
class StepExecutor final : public RefCounted {
 public:
  // `pool`: null for the pool that grows. It outlives the step.
  explicit StepExecutor(ThreadPool* pool) : pool_(pool) {}

  // The executor whose task this thread runs, or which has its home here; null if there is none.
  static StepExecutor* Current();

  // Returns at once and runs `task` later: on this thread, if it runs a task of the same step and as soon as that is
  // over; else on another one. `task` may not throw.
  void Post(Closure task);
  // Post as a function, for StepServices::schedule.
  std::function<void(std::function<void()>)> Poster();
  // To be called by a task before it takes long: other threads take over what it has posted.
  void Offer();
  // Whether the caller is the thread that waits for the step's end anyway, and has nothing else to do for it.
  bool IsIdleHome() const;
  // Tells of tasks that the calling thread keeps to itself, and later (negative) that it is back at them.
  void SetAside(int tasks);

  // Calls `start(done)` on this thread, which thereby is the step's home, and then runs the step's tasks until `done`
  // was called, once, by any thread. When a limit is hit, `cancellation` is cancelled; the step still ends by `done`.
  // Returns the status given to `done`, or DeadlineExceeded if the step failed after its time was over.
  // Once only.
  Status RunToEnd(FunctionRef<void(std::function<void(Status)>)> start, const Ref<CancellationManager>& cancellation,
                  const StepLimits& limits);

 private:
  class Inside;

  // Under the mutex: notifies the home thread if it waits, or claims a worker: then true, and CallWorker must follow.
  bool Summon();
  void CallWorker();
  void Work();
  // Runs queued tasks until none is left; under `lock`, but for the tasks.
  void Drain(std::unique_lock<std::mutex>& lock);

  ThreadPool* const pool_;
  std::mutex mutex_;
  Fifo<Closure> tasks_;
  std::atomic<bool> has_tasks_{false};
  int workers_ = 0;  // called and not begun yet
  bool has_home_ = false, home_waits_ = false, over_ = false;
  std::condition_variable home_;
  std::thread::id home_thread_;
  int set_aside_ = 0;  // tasks, by the home thread
  Status status_;
};

}  // namespace penstock
