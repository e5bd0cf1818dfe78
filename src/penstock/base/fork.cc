#include "penstock/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <unordered_set>
#include <vector>

namespace penstock {
namespace {

std::atomic<int> g_generation{0};

using Clock = std::chrono::steady_clock;

// Never destroyed: a mutex may outlive static objects.
struct Registry {
  std::mutex mutex;  // guards the set, and is held with what is in it
  std::unordered_set<std::mutex*> all;
  std::vector<std::mutex*> held;  // during a fork

  bool TryLock(std::mutex* each, Clock::time_point deadline) {
    while (!each->try_lock()) {
      if (Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    held.push_back(each);
    return true;
  }

  // Takes all, `first` before the others. Returns one that stayed locked although little is held for milliseconds, and
  // then has none: its holder may wait for another one. Null if all are held.
  std::mutex* TryHold(std::mutex* first) {
    mutex.lock();
    const auto soon = [] { return Clock::now() + std::chrono::milliseconds(5); };
    if (!all.contains(first)) first = nullptr;
    if (first && !TryLock(first, soon())) return Release(), first;
    for (std::mutex* each : all) {
      if (each != first && !TryLock(each, soon())) return Release(), each;
    }
    return nullptr;
  }

  void Hold() {
    const auto deadline = Clock::now() + std::chrono::seconds(2);
    std::mutex* busy = nullptr;
    while ((busy = TryHold(busy)) && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // for those who wait to register a mutex
    }
    if (!busy) return;
    mutex.lock();
    for (std::mutex* each : all) TryLock(each, Clock::now());
  }

  void Release() {
    for (auto it = held.rbegin(); it != held.rend(); ++it) (*it)->unlock();
    held.clear();
    mutex.unlock();
  }
};

Registry& Mutexes() {
  static auto* registry = new Registry;
  return *registry;
}

const int g_registered = [] {
  Mutexes();  // made before the first fork
  return pthread_atfork([] { Mutexes().Hold(); }, [] { Mutexes().Release(); },
                        [] {
                          Mutexes().Release();
                          g_generation.fetch_add(1);
                        });
}();

}  // namespace

int ForkGeneration() { return g_generation.load(std::memory_order_acquire); }

ForkMutex::ForkMutex() { HoldDuringFork(this); }
ForkMutex::~ForkMutex() { ForgetAtFork(this); }

void HoldDuringFork(std::mutex* mutex) {
  Registry& registry = Mutexes();
  std::lock_guard lock(registry.mutex);
  registry.all.insert(mutex);
}

void ForgetAtFork(std::mutex* mutex) {
  Registry& registry = Mutexes();
  std::lock_guard lock(registry.mutex);
  registry.all.erase(mutex);
}

}  // namespace penstock
