#include "penstock/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/base/denormals.h"
#include "penstock/base/fork.h"

namespace penstock {
namespace {

thread_local bool t_inside_parallel_for = false;

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
    std::deque<std::function<void()>> tasks;
    std::atomic<int> queued{0};
    std::vector<std::thread> workers;
    bool stop = false;

    void Work() {
      const ScopedDenormals denormals(ScopedDenormals::kZero);
      for (;;) {
        // Small kernels follow each other within microseconds; waking a thread that sleeps takes tens of them.
        for (int spin = 0; spin < kSpins && queued.load(std::memory_order_relaxed) == 0; ++spin) Pause();
        std::function<void()> task;
        {
          std::unique_lock lock(mutex);
          wake.wait(lock, [&] { return stop || !tasks.empty(); });
          if (tasks.empty()) return;
          task = std::move(tasks.front());
          tasks.pop_front();
          queued.fetch_sub(1, std::memory_order_relaxed);
        }
        task();
      }
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
    for (int i = 0; i < std::max(1, threads - 1); ++i) core->workers.emplace_back([c = core.get()] { c->Work(); });
    ready.store(core.get(), std::memory_order_release);
    return *core;
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
  {
    std::lock_guard lock(core.mutex);
    core.tasks.push_back(std::move(task));
    core.queued.fetch_add(1, std::memory_order_relaxed);
  }
  core.wake.notify_one();
}

void ThreadPool::ParallelFor(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn) {
  if (total <= 0) return;
  // About 10 microseconds of work is worth another thread, which mostly waits awake.
  constexpr int64_t kMinPiece = 10000;
  const int64_t cost = unit_cost <= 0 ? total : (total > INT64_MAX / unit_cost ? INT64_MAX : total * unit_cost);
  int64_t pieces = std::min<int64_t>({total, cost / kMinPiece, 4 * impl_->threads});
  if (pieces > impl_->threads) pieces -= pieces % impl_->threads;  // so that all have as many
  if (pieces <= 1 || impl_->threads <= 1 || t_inside_parallel_for) {
    fn(0, total);
    return;
  }
  struct Loop {
    std::atomic<int64_t> next{0}, running{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex mutex;
    std::condition_variable done;
  };
  auto loop = std::make_shared<Loop>();
  const auto work = [fn, total, pieces](Loop& l) {
    t_inside_parallel_for = true;
    for (int64_t i; (i = l.next.fetch_add(1)) < pieces;) {
      if (l.failed.load(std::memory_order_relaxed)) continue;
      try {
        const int64_t begin = total / pieces * i + std::min(i, total % pieces);
        const int64_t end = begin + total / pieces + (i < total % pieces);
        fn(begin, end);
      } catch (...) {
        if (!l.failed.exchange(true)) l.error = std::current_exception();
      }
    }
    t_inside_parallel_for = false;
  };
  const int helpers = static_cast<int>(std::min<int64_t>(pieces - 1, impl_->threads - 1));
  for (int i = 0; i < helpers; ++i) {
    Schedule([loop, work, pieces] {
      // A helper that comes too late must not touch `fn`: it checks in before it looks for a piece.
      loop->running.fetch_add(1);
      if (loop->next.load() < pieces) work(*loop);
      if (loop->running.fetch_sub(1) == 1) {
        std::lock_guard lock(loop->mutex);
        loop->done.notify_all();
      }
    });
  }
  work(*loop);
  for (int spin = 0; spin < kSpins && loop->running.load() != 0; ++spin) Pause();
  if (loop->running.load() != 0) {
    std::unique_lock lock(loop->mutex);
    loop->done.wait(lock, [&] { return loop->running.load() == 0; });
  }
  if (loop->failed) std::rethrow_exception(loop->error);
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
