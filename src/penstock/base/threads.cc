#include "penstock/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "penstock/base/denormals.h"
#include "penstock/base/fork.h"

namespace penstock {
namespace {

thread_local bool t_inside_parallel_for = false;
thread_local int t_worker = -1;  // which one of its pool's this thread is; -1: none

constexpr int kSpins = 6000;  // some tens of microseconds

// Tells the core that it waits in a loop.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int NumCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// The state that workers share. A forked child leaves the parent's behind (its mutex may be locked for ever) and makes
// a new one, see Live().
struct ThreadPool::Impl {
  struct Core {
    std::mutex mutex;
    std::condition_variable wake;
    struct Task {
      std::function<void()> run;
      const void* loop = nullptr;  // that it helps with
    };
    std::deque<Task> tasks;
    std::atomic<int> queued{0}, asleep{0};  // tasks, workers
    std::condition_variable done;           // loops, for those who sleep until theirs is
    std::atomic<int> sleepers{0};
    std::vector<std::thread> workers;
    bool stop = false;

    void Work(int worker) {
      t_worker = worker;
      const ScopedDenormals denormals(ScopedDenormals::kZero);
      for (;;) {
        // Small kernels follow each other within microseconds; waking a thread that sleeps takes tens of them.
        for (int spin = 0; spin < kSpins && queued.load(std::memory_order_relaxed) == 0; ++spin) Pause();
        Task task;
        {
          std::unique_lock lock(mutex);
          asleep.fetch_add(1, std::memory_order_relaxed);
          wake.wait(lock, [&] { return stop || !tasks.empty(); });
          asleep.fetch_sub(1, std::memory_order_relaxed);
          if (tasks.empty()) return;
          task = std::move(tasks.front());
          tasks.pop_front();
          queued.fetch_sub(1, std::memory_order_relaxed);
        }
        task.run();
      }
    }

    void Add(Task task) {
      {
        std::lock_guard lock(mutex);
        tasks.push_back(std::move(task));
        queued.fetch_add(1, std::memory_order_relaxed);
      }
      wake.notify_one();
    }
    // Takes back what nobody has begun of it; how many that were.
    int Drop(const void* loop) {
      if (queued.load(std::memory_order_relaxed) == 0) return 0;
      std::lock_guard lock(mutex);
      const int dropped = static_cast<int>(std::erase_if(tasks, [&](const Task& task) { return task.loop == loop; }));
      queued.fetch_sub(dropped, std::memory_order_relaxed);
      return dropped;
    }
  };

  explicit Impl(int threads) : threads(threads) {}
  ~Impl() {
    if (!core || generation != ForkGeneration()) {
      if (core) (void)core.release();  // the parent's threads do not exist here: nothing can be joined
      return;
    }
    {
      std::lock_guard lock(core->mutex);
      core->stop = true;
    }
    core->wake.notify_all();
    for (auto& worker : core->workers) {
      if (worker.get_id() == std::this_thread::get_id()) {
        worker.detach();  // the last task of a pool may be what destroys it
      } else {
        worker.join();
      }
    }
  }

  Core& Live() {
    const int now = ForkGeneration();
    if (Core* live = ready.load(std::memory_order_acquire); live && generation.load() == now) return *live;
    std::lock_guard lock(*StartMutex(now));
    if (core && generation == now) return *core;
    if (core) (void)core.release();
    core = std::make_unique<Core>();
    generation = now;
    try {
      for (int i = 0; i < std::max(1, threads - 1); ++i) {
        core->workers.emplace_back([c = core.get(), i] { c->Work(i); });
      }
    } catch (const std::system_error&) {  // the process has as many threads as it may have
    }
    ready.store(core.get(), std::memory_order_release);
    return *core;
  }
  // Workers that need not be woken.
  int Awake() const {
    const Core* live = ready.load(std::memory_order_acquire);
    if (!live || generation.load() != ForkGeneration()) return 0;
    return static_cast<int>(live->workers.size()) - live->asleep.load(std::memory_order_relaxed);
  }
  // One mutex for each generation: the parent's might have been held while it forked.
  static std::mutex* StartMutex(int generation) {
    static std::mutex mutexes[64];
    return &mutexes[generation % 64];
  }

  const int threads;
  std::unique_ptr<Core> core;
  std::atomic<Core*> ready{nullptr};
  std::atomic<int> generation{-1};
};

ThreadPool::ThreadPool(int threads, const char* name) : impl_(std::make_shared<Impl>(std::max(1, threads))) {
  (void)name;
}
ThreadPool::~ThreadPool() = default;
int ThreadPool::threads() const { return impl_->threads; }

void ThreadPool::Schedule(std::function<void()> task) {
  Impl::Core& core = impl_->Live();
  if (core.workers.empty()) return task();  // the process may start no threads
  core.Add({std::move(task)});
}

namespace {

// A loop whose pieces several threads share. Each has pieces of its own, and takes those of others when it is done: so
// a loop over what the loop before it wrote runs where that lies, in a core's own cache, as long as nobody is late. One
// share for all: whoever is free takes the next piece.
struct SharedLoop {
  static constexpr int kMostShares = 16;
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  SharedLoop(FunctionRef<void(int64_t)> run, int64_t pieces, int helpers, bool one_share)
      : run(run), shares(one_share ? 1 : std::min(helpers + 1, kMostShares)), helping(helpers) {
    for (int i = 0; i < shares; ++i) share[i].next = pieces * i / shares, share[i].end = pieces * (i + 1) / shares;
  }
  void Work(int own) {
    t_inside_parallel_for = true;
    for (int s = 0; s < shares; ++s) {
      Share& from = share[(own + s) % shares];
      for (int64_t i; (i = from.next.fetch_add(1)) < from.end;) {
        if (failed.load(std::memory_order_relaxed)) continue;
        try {
          run(i);
        } catch (...) {
          if (!failed.exchange(true)) error = std::current_exception();
        }
      }
    }
    t_inside_parallel_for = false;
  }

  const FunctionRef<void(int64_t)> run;
  const int shares;
  Share share[kMostShares];
  std::atomic<int> helping;  // helpers that are not done: the loop must live on
  std::atomic<bool> failed{false};
  std::exception_ptr error;
};

}  // namespace

void ThreadPool::ParallelFor(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn) {
  if (total <= 0) return;
  // Some microseconds of work are worth another thread if it waits awake, and about 10 if it has to be woken.
  constexpr int64_t kMinPiece = 4000, kMinShareToWake = 10000;
  // A unit that takes as long fills the caches itself, whoever computes it.
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
  Impl::Core* live = nullptr;
  int helpers = static_cast<int>(std::min<int64_t>({pieces - 1, impl_->threads - 1, useful}));
  if (helpers > 0) {
    live = &impl_->Live();
    helpers = std::min(helpers, static_cast<int>(live->workers.size()));
  }
  if (helpers == 0) {
    for (int64_t i = 0; i < pieces; ++i) run(i);
    return;
  }
  Impl::Core& core = *live;
  SharedLoop loop(run, pieces, helpers, unit_cost > kLongUnit);
  const auto help = [loop = &loop, core = &core] {
    loop->Work(1 + t_worker);
    if (loop->helping.fetch_sub(1) > 1 || core->sleepers.load() == 0) return;
    std::lock_guard lock(core->mutex);
    core->done.notify_all();
  };
  for (int i = 0; i < helpers; ++i) core.Add({help, &loop});
  loop.Work(0);
  if (loop.helping.load() != 0) loop.helping.fetch_sub(core.Drop(&loop));
  for (int spin = 0; spin < kSpins && loop.helping.load() != 0; ++spin) Pause();
  if (loop.helping.load() != 0) {
    core.sleepers.fetch_add(1);
    std::unique_lock lock(core.mutex);
    core.done.wait(lock, [&] { return loop.helping.load() == 0; });
    core.sleepers.fetch_sub(1);
  }
  if (loop.failed) std::rethrow_exception(loop.error);
}

bool StackIsShort() {
  // Below this address. Asked for once a thread: for the main thread the C library reads /proc.
  thread_local const uintptr_t short_below = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return uintptr_t{0};
    void* lowest = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<uintptr_t>(lowest) + std::min<size_t>(size / 4, 512 << 10);
  }();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < short_below;
}

}  // namespace penstock
