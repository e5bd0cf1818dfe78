// Threads of iterators that make elements ahead of time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/base/alarms.h"
#include "penstock/data/dataset.h"

namespace penstock::data {

// The threads of one iterator, which ends them before anything that they use. They start at first use.
class Background {
 public:
  explicit Background(const std::shared_ptr<IteratorContext>& context);
  ~Background() { Stop(); }
  Background(const Background&) = delete;

  std::mutex mutex;  // guards what the threads and the iterator share
  // Starts threads until there are `n`, or as many as the pipeline may have, or can have; under the mutex.
  void Start(int n, const std::function<void()>& work);
  int threads() const { return static_cast<int>(threads_.size()); }
  // Threads wait until `ready()` holds; false if they are to end. Under the mutex, as the next two.
  template <class Ready>
  bool WaitForWork(std::unique_lock<std::mutex>& lock, Ready ready) {
    work_.wait(lock, [&] { return stopping_ || ready(); });
    return !stopping_;
  }
  // Whoever wants an element waits until `take()` succeeds; it is not called again then. Throws Cancelled.
  template <class Take>
  void WaitForResult(std::unique_lock<std::mutex>& lock, Take take) {
    while (!take()) {
      context_->ThrowIfStopped();
      results_.wait(lock);
    }
  }
  // Asks the threads to begin nothing until all of `state` has been visited; under the mutex, as is asking for it.
  void PauseUntilDone(State& state);
  bool paused() const { return paused_; }
  bool stopping() const { return stopping_; }
  void NotifyWork() { work_.notify_all(); }
  void NotifyOneWork() { work_.notify_one(); }
  void NotifyResult() { results_.notify_all(); }
  // Ends the threads and waits for them; not under the mutex.
  void Stop();

 private:
  const std::shared_ptr<IteratorContext> context_;
  CancellationManager::Token token_ = 0;
  Alarm interrupt_;  // wakes who waits for a result
  bool registered_ = false, stopping_ = false, paused_ = false;
  std::condition_variable work_, results_;
  std::vector<std::thread> threads_;
};

// What a thread made of one element.
struct Made {
  Status status;
  Element element;
  bool end = false;
};
// Calls `make`, which fills in the element or returns false at the end, and keeps what it throws.
template <class Make>
Made Catch(Make make) {
  Made made;
  try {
    made.end = !make(&made.element);
  } catch (...) {
    made.status = CurrentStatus();
  }
  return made;
}
void Visit(State& state, std::string_view key, Made* made);

}  // namespace penstock::data
