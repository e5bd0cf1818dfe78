#include "penstock/runtime/step_executor.h"

#include "penstock/base/denormals.h"
#include "penstock/kernel/interrupts.h"
#include "penstock/kernel/py_function.h"

namespace penstock {
namespace {

thread_local StepExecutor* t_inside = nullptr;  // whose tasks this thread runs

}  // namespace

Deadline::Deadline(int64_t timeout_ms, const Ref<CancellationManager>& cancellation) : timeout_ms_(timeout_ms) {
  if (timeout_ms <= 0) return;
  alarm_ = Alarm::At(Alarm::Clock::now() + std::chrono::milliseconds(timeout_ms), [this, cancellation] {
    expired_.store(true);
    cancellation->Cancel();
  });
}

Status Deadline::StatusOf(Status status) {
  alarm_.Cancel();
  if (status.ok() || !expired_.load()) return status;
  return Status(Code::kDeadlineExceeded,
                StrCat("Timed out waiting for notification: the step did not finish within ", timeout_ms_, " ms"));
}

// While it lives, this thread runs tasks of an executor. Steps may be nested on a thread: a kernel runs another one.
class StepExecutor::Inside {
 public:
  explicit Inside(StepExecutor* executor) : outer_(std::exchange(t_inside, executor)) {}
  ~Inside() { t_inside = outer_; }
  Inside(const Inside&) = delete;

 private:
  StepExecutor* const outer_;
};

StepExecutor* StepExecutor::Current() { return t_inside; }

std::function<void(std::function<void()>)> StepExecutor::Poster() {
  return [self = ShareRef(this)](std::function<void()> task) { self->Post(std::move(task)); };
}

void StepExecutor::Post(Closure task) {
  const auto self = ShareRef(this);  // the step may end as soon as the task is there
  {
    std::lock_guard lock(mutex_);
    tasks_.Push(std::move(task));
    has_tasks_.store(true, std::memory_order_relaxed);
    if (t_inside == this || !Summon()) return;
  }
  CallWorker();
}

void StepExecutor::Offer() {
  const auto self = ShareRef(this);
  while (has_tasks_.load(std::memory_order_relaxed)) {
    {
      std::lock_guard lock(mutex_);
      if (!Summon()) return;
    }
    CallWorker();
  }
}

bool StepExecutor::IsIdleHome() const {
  return std::this_thread::get_id() == home_thread_ && set_aside_ == 0 && !has_tasks_.load(std::memory_order_relaxed);
}

void StepExecutor::SetAside(int tasks) {
  if (std::this_thread::get_id() == home_thread_) set_aside_ += tasks;
}

bool StepExecutor::Summon() {
  int waiting = static_cast<int>(tasks_.size()) - workers_;
  if (waiting > 0 && home_waits_) {
    home_waits_ = false;
    home_.notify_one();
    --waiting;
  }
  const int most = pool_ ? std::max(1, pool_->threads() - 1) : static_cast<int>(tasks_.size());
  if (waiting <= 0 || workers_ >= most) return false;
  ++workers_;
  return true;
}

void StepExecutor::CallWorker() {
  const auto work = [self = ShareRef(this)] { self->Work(); };
  if (pool_) return pool_->Schedule(work);
  if (RunOnGrowingPool(work)) return;
  // No thread can be had. The home thread takes the tasks when it comes back; without one they run here.
  {
    std::lock_guard lock(mutex_);
    if (has_home_) {
      --workers_;
      // Tasks that relied on this worker may have come since.
      if (!tasks_.empty() && std::exchange(home_waits_, false)) home_.notify_one();
      return;
    }
  }
  Work();
}

void StepExecutor::Work() {
  const Inside inside(this);
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  std::unique_lock lock(mutex_);
  --workers_;
  Drain(lock);
}

void StepExecutor::Drain(std::unique_lock<std::mutex>& lock) {
  while (!tasks_.empty()) {
    Closure task = tasks_.Pop();
    has_tasks_.store(!tasks_.empty(), std::memory_order_relaxed);
    lock.unlock();
    task();
    task = Closure();
    lock.lock();
  }
}

Status StepExecutor::RunToEnd(FunctionRef<void(std::function<void(Status)>)> start,
                              const Ref<CancellationManager>& cancellation, const StepLimits& limits) {
  const Inside inside(this);
  home_thread_ = std::this_thread::get_id();
  has_home_ = true;
  Deadline deadline(limits.timeout_ms, cancellation);
  Alarm interrupt;
  start([self = ShareRef(this)](Status status) {
    std::lock_guard lock(self->mutex_);
    self->status_ = std::move(status);
    self->over_ = true;
    if (std::exchange(self->home_waits_, false)) self->home_.notify_one();
  });
  std::unique_lock lock(mutex_);
  for (bool watched = limits.interrupts_seen < 0;;) {
    Drain(lock);
    if (over_) break;
    if (!watched) {  // only steps that wait need to hear of interrupts; the others look at the count
      lock.unlock();
      try {
        interrupt = Alarm::OnInterrupt([cancellation] { cancellation->Cancel(); });
      } catch (const Error&) {  // no thread can be had: an interrupt is seen when the step goes on
      }
      if (g_interrupts.load() != limits.interrupts_seen) cancellation->Cancel();
      lock.lock();
      watched = true;
      continue;
    }
    home_waits_ = true;
    home_.wait(lock, [&] { return !home_waits_; });
  }
  has_home_ = false;
  Status status = std::move(status_);
  lock.unlock();
  interrupt.Cancel();
  return deadline.StatusOf(std::move(status));
}

}  // namespace penstock
