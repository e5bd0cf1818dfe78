#include "penstock/kernels/cpu/data_flow/wait_list.h"

#include <algorithm>
#include <vector>

namespace penstock {

struct WaitList::Attempt {
  std::string what;
  Try attempt;
  Done done;
  Status status;
  bool finished = false;  // guarded by the mutex
  Ref<CancellationManager> cancellation;
  CancellationManager::Token token = 0;
};

void WaitList::Add(Ref<Resource> owner, const Ref<CancellationManager>& cancellation, const std::string& what,
                   Try attempt, Done done) {
  auto entry = std::make_shared<Attempt>();
  entry->what = what;
  entry->attempt = std::move(attempt);
  entry->done = std::move(done);
  if (cancellation) {
    // Registered before the attempt can finish: whoever finishes it deregisters.
    entry->cancellation = cancellation;
    if (!cancellation->Register([this, owner, entry] { Cancel(entry); }, &entry->token)) {
      return entry->done(Status(Code::kCancelled, what + " was cancelled"));
    }
  }
  {
    std::lock_guard lock(mutex_);
    if (!entry->finished) attempts_.push_back(entry);  // else it was cancelled meanwhile
  }
  Flush();
}

void WaitList::Cancel(const std::shared_ptr<Attempt>& entry) {
  {
    std::lock_guard lock(mutex_);
    if (entry->finished) return;
    entry->finished = true;
    attempts_.erase(std::remove(attempts_.begin(), attempts_.end(), entry), attempts_.end());
  }
  entry->done(Status(Code::kCancelled, entry->what + " was cancelled"));
  Flush();
}

void WaitList::Flush() {
  std::vector<std::shared_ptr<Attempt>> finished;
  {
    std::lock_guard lock(mutex_);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < attempts_.size();) {
        Attempt& entry = *attempts_[i];
        try {
          entry.finished = entry.attempt();
        } catch (...) {
          entry.status = CurrentStatus();
          entry.finished = true;
        }
        if (entry.finished) {
          changed = true;
          finished.push_back(std::move(attempts_[i]));
          attempts_.erase(attempts_.begin() + static_cast<int64_t>(i));
        } else if (in_order_) {
          break;
        } else {
          ++i;
        }
      }
    }
  }
  for (const auto& entry : finished) {
    // While that step is being cancelled the callback finds nothing to do, and waiting for it might wait for the
    // caller.
    if (entry->cancellation && !entry->cancellation->cancelled()) entry->cancellation->Deregister(entry->token);
    entry->done(entry->status);
  }
}

}  // namespace penstock
