#include "penstock/base/alarms.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/fork.h"
#include "penstock/base/status.h"

namespace penstock {

namespace {

std::atomic<int> g_interrupt_rings{0};

std::atomic<int> g_wake_fd{-1};  // an eventfd that the thread of this process polls; never closed

void Wake() {
  const int fd = g_wake_fd.load(std::memory_order_acquire);
  if (fd < 0) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof(one));  // full: the thread wakes anyway
}

// The callbacks of a process and the thread that calls them. A forked child makes another one.
class Ringer {
 public:
  using Clock = Alarm::Clock;

  // The ringer of this process.
  static Ringer& Current() {
    static std::atomic<Ringer*> current{nullptr};
    Ringer* ringer = current.load(std::memory_order_acquire);
    if (ringer && ringer->generation_ == ForkGeneration()) return *ringer;
    auto* fresh = new Ringer;  // never destroyed: its thread runs until the process ends
    if (current.compare_exchange_strong(ringer, fresh)) return *fresh;
    delete fresh;
    return *ringer;
  }

  uint64_t Add(Clock::time_point when, std::function<void()> callback) {
    std::lock_guard lock(mutex_);
    Start();
    const uint64_t id = ++last_;
    const bool first = timed_.empty() || when < timed_.begin()->first.first;
    timed_[{when, id}] = std::move(callback);
    times_[id] = when;
    if (first) Wake();
    return id;
  }
  uint64_t AddForInterrupts(std::function<void()> callback) {
    std::lock_guard lock(mutex_);
    Start();
    const uint64_t id = ++last_;
    on_interrupt_[id] = {g_interrupt_rings.load(), std::move(callback)};
    return id;
  }
  void Remove(uint64_t id) {
    std::unique_lock lock(mutex_);
    if (const auto it = times_.find(id); it != times_.end()) {
      timed_.erase({it->second, id});
      times_.erase(it);
    }
    on_interrupt_.erase(id);
    if (std::this_thread::get_id() == thread_) return;
    finished_.wait(lock, [&] { return running_ != id; });
  }
  int generation() const { return generation_; }

 private:
  void Start() {
    if (started_) return;
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) throw ResourceExhausted("Cannot watch the clock: eventfd failed with error ", errno);
    seen_ = g_interrupt_rings.load();
    g_wake_fd.store(fd, std::memory_order_release);
    try {
      std::thread thread([this, fd] { Run(fd); });
      thread_ = thread.get_id();
      thread.detach();
    } catch (const std::system_error& error) {
      g_wake_fd.store(-1, std::memory_order_release);
      close(fd);
      throw ResourceExhausted("Cannot watch the clock: a thread cannot be started: ", error.what());
    }
    started_ = true;
  }

  void Run(int fd) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const int now = g_interrupt_rings.load(); now != seen_) {
        seen_ = now;
        std::vector<uint64_t> ids;
        for (const auto& [id, watcher] : on_interrupt_) {
          if (watcher.rings_before != now) ids.push_back(id);
        }
        for (const uint64_t id : ids) {
          const auto it = on_interrupt_.find(id);
          if (it != on_interrupt_.end()) Call(lock, id, std::function<void()>(it->second.callback));
        }
        continue;
      }
      if (!timed_.empty() && timed_.begin()->first.first <= Clock::now()) {
        const auto it = timed_.begin();
        const uint64_t id = it->first.second;
        std::function<void()> callback = std::move(it->second);
        timed_.erase(it);
        times_.erase(id);
        Call(lock, id, std::move(callback));
        continue;
      }
      timespec left{};
      if (!timed_.empty()) {
        const auto until = timed_.begin()->first.first - Clock::now();
        const int64_t nanos = std::max<int64_t>(0, std::chrono::nanoseconds(until).count());
        left = {static_cast<time_t>(nanos / 1'000'000'000), static_cast<long>(nanos % 1'000'000'000)};
      }
      const bool forever = timed_.empty();
      lock.unlock();
      pollfd wait{fd, POLLIN, 0};
      ppoll(&wait, 1, forever ? nullptr : &left, nullptr);
      uint64_t count;
      [[maybe_unused]] const ssize_t got = read(fd, &count, sizeof(count));
      lock.lock();
    }
  }

  void Call(std::unique_lock<std::mutex>& lock, uint64_t id, std::function<void()> callback) {
    running_ = id;
    lock.unlock();
    callback();
    callback = nullptr;  // what it holds may go with it, which may take locks
    lock.lock();
    running_ = 0;
    finished_.notify_all();
  }

  const int generation_ = ForkGeneration();
  std::mutex mutex_;
  std::condition_variable finished_;
  bool started_ = false;
  int seen_ = 0;  // interrupts
  uint64_t last_ = 0, running_ = 0;
  std::thread::id thread_;
  std::map<std::pair<Clock::time_point, uint64_t>, std::function<void()>> timed_;
  std::map<uint64_t, Clock::time_point> times_;
  struct Watcher {
    int rings_before;  // it is registered: this thread may hear of them later
    std::function<void()> callback;
  };
  std::map<uint64_t, Watcher> on_interrupt_;
};

}  // namespace

void RingInterrupt() {
  g_interrupt_rings.fetch_add(1);
  Wake();
}

Alarm Alarm::At(Clock::time_point when, std::function<void()> callback) {
  Ringer& ringer = Ringer::Current();
  return {ringer.Add(when, std::move(callback)), ringer.generation()};
}

Alarm Alarm::OnInterrupt(std::function<void()> callback) {
  Ringer& ringer = Ringer::Current();
  return {ringer.AddForInterrupts(std::move(callback)), ringer.generation()};
}

Alarm& Alarm::operator=(Alarm&& other) noexcept {
  if (this == &other) return *this;
  Cancel();
  id_ = std::exchange(other.id_, 0);
  generation_ = other.generation_;
  return *this;
}

void Alarm::Cancel() {
  const uint64_t id = std::exchange(id_, 0);
  if (id != 0 && generation_ == ForkGeneration()) Ringer::Current().Remove(id);
}

}  // namespace penstock
