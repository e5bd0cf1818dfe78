#include "penstock/kernel/py_function.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace penstock {
namespace {

std::mutex hook_mutex;
PyFunctionHook& Hook() {
  static auto* hook = new PyFunctionHook;
  return *hook;
}

// Never destroyed: its threads may run until the process ends.
struct Pool {
  const pid_t owner = getpid();
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  size_t idle = 0;

  void Add(std::function<void()> task) {
    std::unique_lock lock(mutex);
    tasks.push_back(std::move(task));
    if (idle >= tasks.size()) {
      wake.notify_one();
      return;
    }
    lock.unlock();
    std::thread([this] { Work(); }).detach();
  }

  void Work() {
    std::unique_lock lock(mutex);
    while (true) {
      while (tasks.empty()) {
        ++idle;
        const bool timed_out = wake.wait_for(lock, std::chrono::seconds(10)) == std::cv_status::timeout;
        --idle;
        if (timed_out && tasks.empty()) return;
      }
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
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

void RunOnGrowingPool(std::function<void()> task) {
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
  pool->Add(std::move(task));
}

}  // namespace penstock
