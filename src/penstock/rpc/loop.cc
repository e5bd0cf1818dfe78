#include "penstock/rpc/loop.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <system_error>

#include "penstock/base/fork.h"
#include "penstock/base/status.h"
#include "penstock/base/threads.h"

namespace penstock::rpc {
namespace {

thread_local constinit Loop* t_loop = nullptr;

}  // namespace

// The loops of a process. A forked child makes others.
class Loops {
 public:
  static Loops& Current() {
    static std::atomic<Loops*> current{nullptr};
    Loops* loops = current.load(std::memory_order_acquire);
    if (loops && loops->generation_ == ForkGeneration()) return *loops;
    auto* fresh = new Loops;  // never destroyed: threads may use it while the process ends
    if (current.compare_exchange_strong(loops, fresh)) return *fresh;
    delete fresh;
    return *loops;
  }

  Loop* Next() {
    std::lock_guard lock(mutex_);
    if (stopped_) return nullptr;
    const size_t wanted = std::clamp(NumCores(), 1, 4);
    if (loops_.size() < wanted) {
      try {
        Start();
      } catch (const Error&) {
        if (loops_.empty()) throw;
      }
    }
    return loops_[turn_++ % loops_.size()];
  }

  void StopAll() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    const std::vector<Loop*> loops = loops_;
    lock.unlock();
    for (Loop* loop : loops) {
      std::lock_guard lock_loop(loop->mutex_);
      loop->stopping_ = true;
      loop->Wake();
    }
    // Callbacks do not block; should one do so all the same, the process ends without it.
    lock.lock();
    const size_t here = Loop::Here() ? 1 : 0;
    ended_changed_.wait_for(lock, std::chrono::seconds(5), [&] { return ended_ + here >= loops.size(); });
  }

  void Ended() {
    std::lock_guard lock(mutex_);
    ++ended_;
    ended_changed_.notify_all();
  }

 private:
  void Start() {
    std::unique_ptr<Loop> loop(new Loop);
    try {
      std::thread thread([loop = loop.get(), this] {
        loop->ThreadMain();
        Ended();
      });
      thread.detach();
    } catch (const std::system_error& error) {
      throw ResourceExhausted("Cannot start a thread for network connections: ", error.what());
    }
    loops_.push_back(loop.release());
    if (!at_exit_) std::atexit([] { Loop::StopAll(); });
    at_exit_ = true;
  }

  const int generation_ = ForkGeneration();
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  std::vector<Loop*> loops_;
  size_t turn_ = 0, ended_ = 0;
  bool stopped_ = false;
  static inline bool at_exit_ = false;
};

Loop* Loop::Next() { return Loops::Current().Next(); }
Loop* Loop::Here() { return t_loop; }
void Loop::StopAll() { Loops::Current().StopAll(); }

Loop::Loop() : scratch_(new char[kScratch]) {
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) throw ResourceExhausted("Cannot watch network connections: error ", errno);
  epoll_event event{EPOLLIN, {.ptr = nullptr}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
}

// With mutex_ held.
void Loop::Wake() {
  if (!sleeping_) return;
  sleeping_ = false;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void Loop::Schedule(Ref<Runnable> task) {
  if (task->scheduled_.exchange(true, std::memory_order_acq_rel)) return;
  if (t_loop == this) {
    local_.push_back(std::move(task));
    return;
  }
  std::lock_guard lock(mutex_);
  if (ended_) return;
  remote_.push_back(std::move(task));
  Wake();
}

void Loop::Drain() {
  class Signal final : public Runnable {
   public:
    void Run() override {
      std::lock_guard lock(mutex);
      done = true;
      changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  const auto signal = MakeRef<Signal>();
  Schedule(signal);
  std::unique_lock lock(signal->mutex);
  while (!signal->done && !stopped()) signal->changed.wait_for(lock, std::chrono::milliseconds(100));
}

Loop::TimerId Loop::AddTimer(Clock::time_point when, Ref<Runnable> task) {
  std::lock_guard lock(mutex_);
  const TimerId id{when, ++last_timer_};
  timers_.emplace(id, std::move(task));
  // A thread that wakes earlier all the same looks at its timers then.
  if (when < wakes_at_) {
    kept_ = when;
    Wake();
  }
  return id;
}

void Loop::CancelTimer(TimerId id) {
  std::unique_lock lock(mutex_);
  const auto it = timers_.find(id);
  if (it == timers_.end()) return;
  const Ref<Runnable> task = std::move(it->second);  // released without the lock
  timers_.erase(it);
  lock.unlock();
}

bool Loop::Add(int fd, uint32_t events, Ref<Source> source) {
  std::lock_guard lock(mutex_);
  if (ended_ || stopping_) return false;
  epoll_event event{events, {.ptr = source.get()}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
  Source* key = source.get();
  sources_.emplace(key, std::move(source));
  return true;
}

void Loop::Change(int fd, uint32_t events, Source* source) {
  epoll_event event{events, {.ptr = source}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Loop::Remove(int fd, Source* source) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  std::lock_guard lock(mutex_);
  const auto it = sources_.find(source);
  if (it == sources_.end()) return;
  removed_.push_back(std::move(it->second));
  sources_.erase(it);
  Wake();
}

void Loop::RunScheduled() {
  for (;;) {
    while (next_local_ < local_.size()) {
      const Ref<Runnable> task = std::move(local_[next_local_++]);
      task->scheduled_.store(false, std::memory_order_release);
      task->Run();
    }
    local_.clear();
    next_local_ = 0;
    std::lock_guard lock(mutex_);
    if (remote_.empty()) return;
    local_.swap(remote_);
  }
}

// With mutex_ held.
int Loop::Timeout() {
  if (!remote_.empty() || stopping_) return 0;
  wakes_at_ = timers_.empty() ? Clock::time_point::max() : timers_.begin()->first.first;
  // Calls in turn set and cancel a timer each: the thread keeps the time of the first, so that the next ones need not
  // wake it.
  if (timers_.empty() && kept_ == Clock::time_point::min()) return -1;
  const auto now = Clock::now();
  if (kept_ > now) wakes_at_ = std::min(wakes_at_, kept_);
  if (wakes_at_ == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wakes_at_ - now).count();
  const auto timeout = std::clamp<int64_t>(left, 0, 3'600'000);
  wakes_at_ = now + std::chrono::milliseconds(timeout);
  return static_cast<int>(timeout);
}

void Loop::RunTimers() {
  std::vector<Ref<Runnable>> due;
  {
    std::lock_guard lock(mutex_);
    if (timers_.empty()) return;
    const auto now = Clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
      due.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
  }
  for (Ref<Runnable>& task : due) Schedule(std::move(task));
}

void Loop::ThreadMain() {
  t_loop = this;
  pthread_setname_np(pthread_self(), "rpc");
  constexpr int kEvents = 64;
  epoll_event events[kEvents];
  for (;;) {
    RunScheduled();
    RunTimers();
    int timeout;
    bool stopping;
    {
      std::vector<Ref<Source>> removed;
      std::unique_lock lock(mutex_);
      removed.swap(removed_);
      stopping = stopping_;
      timeout = local_.empty() ? Timeout() : 0;
      sleeping_ = timeout != 0;
      if (!removed.empty()) {
        sleeping_ = false;
        timeout = 0;
      }
      lock.unlock();
    }
    if (stopping) break;
    const int n = epoll_wait(epoll_.get(), events, kEvents, timeout);
    {
      std::lock_guard lock(mutex_);
      sleeping_ = false;
      wakes_at_ = Clock::time_point::min();
    }
    for (int i = 0; i < n; ++i) {
      if (auto* source = static_cast<Source*>(events[i].data.ptr)) {
        source->OnReady(events[i].events);
        RunScheduled();
      } else {
        uint64_t count;
        [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof(count));
      }
    }
  }
  std::vector<Ref<Source>> sources;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, source] : sources_) sources.push_back(source);
  }
  for (const Ref<Source>& source : sources) source->OnStop();
  sources.clear();
  std::map<TimerId, Ref<Runnable>> timers;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    stopped_.store(true, std::memory_order_release);
    timers.swap(timers_);
  }
  RunScheduled();
}

}  // namespace penstock::rpc
