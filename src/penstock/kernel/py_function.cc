#include "penstock/kernel/py_function.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/denormals.h"
#include "penstock/base/fork.h"

namespace penstock {
namespace {

ForkMutex hook_mutex;
PyFunctionHook& Hook() {
  static auto* hook = new PyFunctionHook;
  return *hook;
}

// Never destroyed: its threads may run until the process ends. A task goes to the thread that has waited for the
// shortest time, so no more threads are kept than work at the same time.
struct Pool {
  struct Waiting {
    std::condition_variable wake;
    std::function<void()> task;
  };
  const pid_t owner = getpid();
  std::mutex mutex;
  std::vector<Waiting*> idle;

  bool Add(const std::function<void()>& task) {
    std::unique_lock lock(mutex);
    if (!idle.empty()) {
      Waiting* const thread = idle.back();
      idle.pop_back();
      thread->task = task;
      thread->wake.notify_one();  // under the lock: the thread may end as soon as it is released
      return true;
    }
    lock.unlock();
    try {
      std::thread([this, first = task]() mutable { Work(std::move(first)); }).detach();
      return true;
    } catch (const std::system_error&) {  // the process has as many threads as it may have
      return false;
    }
  }

  void Work(std::function<void()> task) {
    const ScopedDenormals denormals(ScopedDenormals::kZero);
    Waiting self;
    while (task) {
      task();
      task = nullptr;
      std::unique_lock lock(mutex);
      idle.push_back(&self);
      self.wake.wait_for(lock, std::chrono::seconds(10), [&] { return self.task != nullptr; });
      if (!self.task) std::erase(idle, &self);
      task = std::exchange(self.task, nullptr);
    }
  }
};

}  // namespace

void SetPyFunctionHook(PyFunctionHook hook) {
  std::lock_guard lock(hook_mutex);
  Hook() = std::move(hook);
}

PyFunctionHook GetPyFunctionHook() {
  std::lock_guard lock(hook_mutex);
  return Hook();
}

bool RunOnGrowingPool(const std::function<void()>& task) {
  static std::atomic<Pool*> current{nullptr};
  Pool* pool = current.load();
  if (!pool || pool->owner != getpid()) {
    auto* fresh = new Pool;
    if (current.compare_exchange_strong(pool, fresh)) {
      pool = fresh;
    } else {
      delete fresh;
    }
  }
  return pool->Add(task);
}

}  // namespace penstock
