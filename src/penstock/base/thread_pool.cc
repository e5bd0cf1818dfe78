// How workers get work, and how they wait for it.
//
// Loops (ParallelFor) are offered to workers through one slot each, without a lock. When the loop's pieces are done,
// its caller withdraws the offers that no worker has taken, so it does not wait for late threads. Tasks (Schedule) lie
// in the workers' queues; an idle worker steals from another worker's queue.
//
// A worker without work waits awake for a while, as small kernels follow each other within microseconds and waking a
// thread takes tens of them; then it parks. The caller of a loop calls two helpers, and each of them two more when it
// begins: so 63 are called in the time of six, not by one thread one after the other.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "penstock/base/denormals.h"
#include "penstock/base/fork.h"
#include "penstock/base/threads.h"

namespace penstock {
namespace {

constexpr int kMostHelpers = 255;  // of one loop

thread_local bool t_inside_parallel_for = false;

// Tells the core that it waits in a loop.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr int kSpins = 6000;      // some hundred microseconds
constexpr int kShortSpins = 100;  // some microseconds
constexpr int kAlwaysAwake = 3;   // workers

// How threads wait awake, which is for a few microseconds only while other processes want the cores: a thread that
// spins then takes time away from the threads it waits for. It shows when one is switched out for a millisecond in the
// middle of its spinning.
class Spinning {
 public:
  // False if it is not ready after about so many pauses.
  template <class Ready>
  bool Until(int spins, Ready ready) {
    if (until_.load(std::memory_order_relaxed) != 0 && Now() < until_.load(std::memory_order_relaxed)) {
      spins = kShortSpins;
    }
    for (int64_t last = 0; spins > 0; spins -= kBetweenLooks) {
      for (int i = std::min(spins, kBetweenLooks); i > 0; --i) {
        if (ready()) return true;
        Pause();
      }
      if (spins <= kBetweenLooks) break;
      const int64_t now = Now();
      if (last != 0 && now - last > kSwitchedOut) {
        until_.store(now + kRemembered, std::memory_order_relaxed);
        break;
      }
      last = now;
    }
    return ready();
  }

 private:
  static constexpr int kBetweenLooks = 500;
  static constexpr int64_t kSwitchedOut = 1'000'000, kRemembered = 20'000'000;  // ns
  static int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::atomic<int64_t> until_{0};  // cores are wanted
};

struct Core;

// A loop that several threads run. Each thread starts with its own share of the pieces and then steals from the other
// shares, so a loop that reads the previous loop's output usually finds it in the same core's cache. With a single
// share, each free thread takes the next piece.
class SharedLoop {
 public:
  SharedLoop(Core& core, FunctionRef<void(int64_t)> run, int64_t pieces, int shares)
      : core_(core), run_(run), shares_(shares) {
    for (int i = 0; i < shares; ++i) {
      Share* share = new (&share_[i]) Share;
      share->next.store(pieces * i / shares, std::memory_order_relaxed);
      share->end = pieces * (i + 1) / shares;
    }
  }
  // Workers that may be called; before anything else.
  void AddHelper(int worker) { order_[helpers_++] = static_cast<uint16_t>(worker); }

  // The caller's part: returns when all pieces are done and no helper uses the loop any more.
  void Run() {
    Call(2);
    Work(0);
    TakeBack();
    WaitForHelpers();
    if (failed_) std::rethrow_exception(error_);
  }
  // A worker's part, once it took the offer.
  void Help(int worker) {
    Call(2);
    Work(1 + worker);
    // The last one's loop may be gone as soon as the count is 0: only its address is used after that.
    if (helping_.fetch_sub(1) == 1) helping_.notify_one();
  }

 private:
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };

  // Offers the loop to so many more of its helpers.
  void Call(int more);
  // Takes back all offers that no worker has taken; none is made afterwards.
  void TakeBack();
  void TakeBack(int worker);
  void WaitForHelpers();

  void Work(int own) {
    t_inside_parallel_for = true;
    for (int s = 0; s < shares_ && finished_shares_.load(std::memory_order_relaxed) < shares_; ++s) {
      Share& from = share_[(own + s) % shares_];
      if (from.next.load(std::memory_order_relaxed) >= from.end) continue;
      int64_t i;
      while ((i = from.next.fetch_add(1, std::memory_order_relaxed)) < from.end) {
        if (failed_.load(std::memory_order_relaxed)) continue;
        try {
          run_(i);
        } catch (...) {
          if (!failed_.exchange(true)) error_ = std::current_exception();
        }
      }
      if (i == from.end) finished_shares_.fetch_add(1, std::memory_order_relaxed);
    }
    t_inside_parallel_for = false;
  }

  Core& core_;
  const FunctionRef<void(int64_t)> run_;
  const int shares_;
  int helpers_ = 0;
  std::atomic<int> called_{0};  // of the helpers
  std::atomic<bool> closed_{false}, failed_{false};
  std::atomic<int> finished_shares_{0};
  std::exception_ptr error_;
  alignas(64) std::atomic<int> helping_{0};  // offers that were not taken back and are not done: the loop must live on
  uint16_t order_[kMostHelpers];
  union {  // made as far as they are used
    Share share_[kMostHelpers + 1];
  };
};

struct alignas(64) Worker {
  std::atomic<SharedLoop*> offered{nullptr};
  std::atomic<int> woken{0};  // a parked worker sleeps until this is 1
  int spins = kSpins;         // see WaitAwake
  std::atomic<int> queued{0};
  std::mutex mutex;
  std::deque<std::function<void()>> tasks;
  std::thread thread;
};

// What the workers of a pool share. A forked child leaves the parent's behind (a mutex may be locked for ever) and
// makes a new one.
struct Core {
  explicit Core(int wanted, const std::string& name) : workers(wanted), parked((wanted + 63) / 64) {
    for (int i = 0; i < wanted; ++i) {
      try {
        workers[i].thread = std::thread([this, i] { Work(i); });
      } catch (const std::system_error&) {  // the process has as many threads as it may have
        return;
      }
      pthread_setname_np(workers[i].thread.native_handle(), name.substr(0, 15).c_str());
      started.store(i + 1);
    }
  }

  // The worker of this core that the calling thread is; -1 if it is none.
  int Self() const { return t_core == this ? t_worker : -1; }
  int size() const { return started.load(std::memory_order_acquire); }

  void Work(int self) {
    t_core = this;
    t_worker = self;
    const ScopedDenormals denormals(ScopedDenormals::kZero);
    Worker& worker = workers[self];
    const auto has_work = [&] {
      return worker.offered.load() != nullptr || queued.load() > 0 || stop.load(std::memory_order_relaxed);
    };
    for (;;) {
      SharedLoop* loop = nullptr;
      std::function<void()> task;
      if (worker.offered.load(std::memory_order_relaxed) && (loop = worker.offered.exchange(nullptr))) {
        loop->Help(self);
      } else if (queued.load() > 0 && Take(self, &task)) {
        task();
      } else if (stop.load(std::memory_order_relaxed)) {
        return;
      } else if (!WaitAwake(self, has_work)) {
        Park(self, has_work);
      }
    }
  }

  // False if no work came. A few workers always wait for a while; the others as long as it has paid lately.
  template <class HasWork>
  bool WaitAwake(int self, HasWork has_work) {
    if (self < kAlwaysAwake) return spinning.Until(kSpins, has_work);
    int& spins = workers[self].spins;
    const bool found = spinning.Until(spins, has_work);
    spins = found ? std::min(kSpins, 2 * spins) : std::max(kShortSpins, spins / 2);
    return found;
  }

  // Sleeps unless there is work, or until Wake.
  template <class HasWork>
  void Park(int self, HasWork has_work) {
    std::atomic<uint64_t>& mask = parked[self / 64];
    const uint64_t bit = uint64_t{1} << self % 64;
    mask.fetch_or(bit);
    if (has_work() && (mask.fetch_and(~bit) & bit)) return;
    workers[self].woken.wait(0);  // who clears the bit sets it
    workers[self].woken.store(0);
  }
  // Wakes a worker that is parked; false if it is not.
  bool Wake(int worker) {
    const uint64_t bit = uint64_t{1} << worker % 64;
    std::atomic<uint64_t>& mask = parked[worker / 64];
    if (!(mask.load() & bit) || !(mask.fetch_and(~bit) & bit)) return false;
    workers[worker].woken.store(1);
    workers[worker].woken.notify_one();
    return true;
  }
  bool IsParked(int worker) const { return parked[worker / 64].load(std::memory_order_relaxed) >> worker % 64 & 1; }

  void Add(std::function<void()> task) {
    const int self = Self(), n = size();
    const int to = self >= 0 ? self : static_cast<int>(next.fetch_add(1, std::memory_order_relaxed) % n);
    {
      std::lock_guard lock(workers[to].mutex);
      workers[to].tasks.push_back(std::move(task));
      workers[to].queued.fetch_add(1, std::memory_order_relaxed);
    }
    queued.fetch_add(1);
    for (int i = 0; i < n; ++i) {
      if (Wake((to + i) % n)) return;
    }
  }

  // The oldest task of the worker's own, or of another one.
  bool Take(int self, std::function<void()>* task) {
    const int n = static_cast<int>(workers.size());
    for (int i = 0; i < n; ++i) {
      Worker& from = workers[(self + i) % n];
      if (from.queued.load(std::memory_order_relaxed) == 0) continue;
      std::lock_guard lock(from.mutex);
      if (from.tasks.empty()) continue;
      *task = std::move(from.tasks.front());
      from.tasks.pop_front();
      from.queued.fetch_sub(1, std::memory_order_relaxed);
      queued.fetch_sub(1);
      return true;
    }
    return false;
  }

  void Stop() {
    stop.store(true);
    for (int i = 0; i < size(); ++i) Wake(i);
    for (Worker& worker : workers) {
      if (!worker.thread.joinable()) continue;
      if (worker.thread.get_id() == std::this_thread::get_id()) {
        worker.thread.detach();  // the last task of a pool may be what destroys it
      } else {
        worker.thread.join();
      }
    }
  }

  static thread_local Core* t_core;
  static thread_local int t_worker;

  std::vector<Worker> workers;
  std::atomic<int> started{0};
  std::vector<std::atomic<uint64_t>> parked;  // a bit for each worker
  std::atomic<int> queued{0};                 // tasks
  std::atomic<uint32_t> next{0};              // worker that gets a task from outside
  std::atomic<bool> stop{false};
  Spinning spinning;
};

thread_local Core* Core::t_core = nullptr;
thread_local int Core::t_worker = -1;

void SharedLoop::Call(int more) {
  while (more > 0 && called_.load(std::memory_order_relaxed) < helpers_ &&
         finished_shares_.load(std::memory_order_relaxed) < shares_) {
    const int i = called_.fetch_add(1);
    if (i >= helpers_) return;
    const int worker = order_[i];
    SharedLoop* none = nullptr;
    helping_.fetch_add(1);
    if (!core_.workers[worker].offered.compare_exchange_strong(none, this)) {  // it has another one's offer
      helping_.fetch_sub(1);
      continue;
    }
    core_.Wake(worker);
    --more;
    if (closed_.load()) return TakeBack(worker);
  }
}

void SharedLoop::TakeBack() {
  closed_.store(true);
  const int called = std::min(called_.load(), helpers_);
  for (int i = 0; i < called; ++i) TakeBack(order_[i]);
}

void SharedLoop::TakeBack(int worker) {
  SharedLoop* self = this;
  if (core_.workers[worker].offered.compare_exchange_strong(self, nullptr)) helping_.fetch_sub(1);
}

void SharedLoop::WaitForHelpers() {
  const auto done = [&] { return helping_.load() == 0; };
  if (core_.spinning.Until(kSpins, done)) return;
  for (int left; (left = helping_.load()) != 0;) helping_.wait(left);
}

}  // namespace

struct ThreadPool::Impl {
  Impl(int threads, std::string name) : threads(threads), name(std::move(name)) {}
  ~Impl() {
    if (core && generation == ForkGeneration()) {
      core->Stop();
    } else {
      (void)core.release();  // the parent's threads do not exist here: nothing can be joined
    }
  }

  Core& Live() {
    const int now = ForkGeneration();
    if (Core* live = ready.load(std::memory_order_acquire); live && generation.load() == now) return *live;
    std::lock_guard lock(*StartMutex(now));
    if (core && generation == now) return *core;
    (void)core.release();
    core = std::make_unique<Core>(std::max(1, threads - 1), name);
    generation = now;
    ready.store(core.get(), std::memory_order_release);
    return *core;
  }
  // Workers that need not be woken.
  int Awake() const {
    const Core* live = ready.load(std::memory_order_acquire);
    if (!live || generation.load() != ForkGeneration()) return 0;
    int awake = live->size();
    for (const auto& mask : live->parked) awake -= std::popcount(mask.load(std::memory_order_relaxed));
    return std::max(0, awake);
  }
  // One mutex for each generation: the parent's might have been held while it forked.
  static std::mutex* StartMutex(int generation) {
    static std::mutex mutexes[64];
    return &mutexes[generation % 64];
  }

  const int threads;
  const std::string name;
  std::unique_ptr<Core> core;
  std::atomic<Core*> ready{nullptr};
  std::atomic<int> generation{-1};
};

ThreadPool::ThreadPool(int threads, const char* name) : impl_(std::make_shared<Impl>(std::max(1, threads), name)) {}
ThreadPool::~ThreadPool() = default;
int ThreadPool::threads() const { return impl_->threads; }

void ThreadPool::Schedule(std::function<void()> task) {
  Core& core = impl_->Live();
  if (core.size() == 0) return task();
  core.Add(std::move(task));
}

void ThreadPool::ParallelFor(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn) {
  if (total <= 0) return;
  // Some microseconds of work are worth another thread if it waits awake, and about 10 if it has to be woken.
  constexpr int64_t kMinPiece = 4000, kMinShareToWake = 10000;
  // A unit that takes as long fills the caches itself, on any thread.
  constexpr int64_t kLongUnit = 100000;
  const int64_t cost = unit_cost <= 0 ? total : (total > INT64_MAX / unit_cost ? INT64_MAX : total * unit_cost);
  int64_t pieces = std::min<int64_t>({total, cost / kMinPiece, 4 * impl_->threads});
  if (pieces > impl_->threads) pieces -= pieces % impl_->threads;  // so that all have as many
  if (pieces <= 1 || impl_->threads <= 1 || t_inside_parallel_for) {
    fn(0, total);
    return;
  }
  // Longer pieces lie between shorter ones, so that several next to each other are as long as others.
  const auto begin = [&](int64_t piece) { return total / pieces * piece + total % pieces * piece / pieces; };
  const auto run = [&](int64_t piece) { fn(begin(piece), begin(piece + 1)); };
  const int64_t useful = std::max<int64_t>(impl_->Awake(), cost / kMinShareToWake - 1);
  int helpers = static_cast<int>(std::min<int64_t>({pieces - 1, impl_->threads - 1, useful, kMostHelpers}));
  Core* core = helpers > 0 ? &impl_->Live() : nullptr;
  if (core) helpers = std::min(helpers, core->size());
  if (helpers == 0) {
    for (int64_t i = 0; i < pieces; ++i) run(i);
    return;
  }
  SharedLoop loop(*core, run, pieces, unit_cost > kLongUnit ? 1 : helpers + 1);
  // Those that are awake first; each thread that has loops begins with another one.
  static std::atomic<int> threads_seen{0};
  thread_local const int first = threads_seen.fetch_add(1);
  const int n = core->size(), self = core->Self();
  for (const bool parked : {false, true}) {
    for (int i = 0; i < n && helpers > 0; ++i) {
      const int worker = (first + i) % n;
      if (worker == self || core->IsParked(worker) != parked) continue;
      loop.AddHelper(worker);
      --helpers;
    }
  }
  loop.Run();
}

}  // namespace penstock
