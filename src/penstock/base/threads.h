// Thread pools. Threads start at first use, also in a forked child; importing the library starts none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace penstock {

// A non-owning reference to a callable; valid during the call that it is passed to.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  // Not for another FunctionRef: a copy refers to the callable, not to the original.
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>>>
  FunctionRef(F&& f)  // NOLINT: implicit by design
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* o, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(o))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

class ThreadPool {
 public:
  // `threads` counts the thread that calls ParallelFor; a pool of one runs everything on the caller... except Schedule,
  // which always has at least one worker. `name` is what debuggers and profilers show (15 characters of it).
  explicit ThreadPool(int threads, const char* name);
  ~ThreadPool();

  int threads() const;
  // Runs `task` on a worker some time later; at once and on this thread if the process may start no thread.
  void Schedule(std::function<void()> task);
  // fn(begin, end) over [0, total) in pieces, on the workers and the calling thread; returns when all are done. Pieces
  // depend on `total` and `unit_cost` (about nanoseconds a unit) only, so results do not depend on the schedule. The
  // first exception of a piece is thrown again here. May be nested; the inner call then runs on the calling thread.
  void ParallelFor(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Cores that this process may use: those of its affinity mask, and no more than the CPU quota of its control group
// (cgroup version 1 or 2, rounded up) is worth.
int NumCores();

// Whether the calling thread has used so much of its stack that nothing deep should be called any more: less than half
// a MiB is left, or less than a quarter if the stack is small.
bool StackIsShort();

}  // namespace penstock
