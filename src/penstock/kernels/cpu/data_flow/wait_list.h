// Attempts on a shared object that wait until they can go ahead. They wait as entries of a list, not as threads.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "penstock/kernel/services.h"

namespace penstock {

class WaitList {
 public:
  // Tries to go ahead, with the mutex held: false if it must wait on. May throw, which ends it too.
  using Try = std::function<bool()>;
  using Done = std::function<void(Status)>;

  // in_order: none overtakes one that came before it.
  explicit WaitList(bool in_order) : in_order_(in_order) {}
  // The mutex of the object that the attempts are on.
  std::mutex& mutex() { return mutex_; }
  // Tries at once, and again at each Flush. `owner` holds this list; it lives as long as its attempts. `what` names the
  // attempt when it is cancelled.
  void Add(Ref<Resource> owner, const Ref<CancellationManager>& cancellation, const std::string& what, Try attempt,
           Done done);
  // To be called without the mutex after a change that may let an attempt go ahead.
  void Flush();

 private:
  struct Attempt;
  void Cancel(const std::shared_ptr<Attempt>& attempt);
  const bool in_order_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Attempt>> attempts_;
};

}  // namespace penstock
