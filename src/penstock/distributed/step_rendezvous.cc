#include "penstock/distributed/step_rendezvous.h"

#include <atomic>

#include "penstock/distributed/derived.h"

namespace penstock {
namespace {

std::string_view SourceDevice(std::string_view key) { return key.substr(0, key.find(';')); }

}  // namespace

void StepRendezvous::Begin(const std::string& task, std::shared_ptr<WorkerDirectory> workers) {
  std::lock_guard lock(mutex_);
  if (!task_.empty()) return;
  task_ = task;
  workers_ = std::move(workers);
}

// task_ is set before a kernel runs, and does not change.
bool StepRendezvous::IsLocal(const std::string& key) const {
  return key.starts_with(task_) && key.size() > task_.size() && (key[task_.size()] == '/' || key[task_.size()] == ';');
}

void StepRendezvous::Send(const std::string& key, Tensor value, bool is_dead) {
  if (!IsLocal(key)) throw InvalidArgument("Invalid rendezvous key (src): ", key, " @ ", task_);
  local_.Send(key, std::move(value), is_dead);
}

void StepRendezvous::ReceiveAsync(const std::string& key, Received done) {
  if (IsLocal(key)) return local_.ReceiveAsync(key, std::move(done));
  ReceiveRemotely(key, std::move(done));
}

void StepRendezvous::ReceiveRemotely(const std::string& key, Received done) {
  Status aborted;
  std::shared_ptr<WorkerDirectory> workers;
  {
    std::lock_guard lock(mutex_);
    aborted = aborted_;
    workers = workers_;
  }
  if (!aborted.ok()) return done(aborted, Tensor(), false);
  std::shared_ptr<WorkerInterface> worker;
  std::string source;
  try {
    source = TaskOfDevice(SourceDevice(key));
    worker = workers ? workers->Find(source) : nullptr;
    if (!worker) throw Internal("No worker known as ", source);
  } catch (...) {
    return done(CurrentStatus(), Tensor(), false);
  }
  const auto self = ShareRef(this);
  // The worker lives until its answer has come.
  worker->ReceiveTensor(step_id_, key, calls_,
                        [self, worker, source, key, done = std::move(done)](Status status, Tensor value, bool is_dead) {
                          if (!status.ok()) {
                            std::lock_guard lock(self->mutex_);
                            if (!self->aborted_.ok()) {
                              status = self->aborted_;
                            } else if (status.code() == Code::kUnavailable) {
                              status = Status(status.code(), StrCat(status.message(), " (receiving ", key, ")"));
                            }
                          }
                          done(std::move(status), std::move(value), is_dead);
                        });
}

void StepRendezvous::ReceiveLocally(const std::string& key, const Ref<CancellationManager>& cancellation,
                                    Received done) {
  if (!cancellation) return local_.ReceiveAsync(key, std::move(done));
  struct Call {
    std::atomic<bool> over{false};
    CancellationManager::Token token = 0;
    Received done;
  };
  auto call = std::make_shared<Call>();
  call->done = std::move(done);
  const auto cancel = [call] {
    if (!call->over.exchange(true)) call->done(Status(Code::kCancelled, "RecvTensor was cancelled."), Tensor(), false);
  };
  if (!cancellation->Register(cancel, &call->token)) return cancel();
  local_.ReceiveAsync(key, [call, cancellation](Status status, Tensor value, bool is_dead) {
    if (call->over.exchange(true)) return;
    if (!cancellation->cancelled()) cancellation->Deregister(call->token);
    call->done(std::move(status), std::move(value), is_dead);
  });
}

void StepRendezvous::Abort(Status status) {
  const Status derived = Derived(status);
  {
    std::lock_guard lock(mutex_);
    if (!aborted_.ok()) return;
    aborted_ = derived;
  }
  local_.Abort(derived);
  calls_->Cancel();
}

StepRendezvousTable::~StepRendezvousTable() {
  CleanupAll(nullptr, Status(Code::kCancelled, "The worker was stopped."));
}

Ref<StepRendezvous> StepRendezvousTable::Begin(int64_t step_id, const void* owner, const std::string& task,
                                               std::shared_ptr<WorkerDirectory> workers) {
  Alarm patience;  // destroyed without the lock
  Ref<StepRendezvous> rendezvous;
  {
    std::lock_guard lock(mutex_);
    Entry& entry = steps_[step_id];
    if (!entry.rendezvous) entry.rendezvous = MakeRef<StepRendezvous>(step_id);
    if (!entry.has_begun) entry.owner = owner;
    entry.has_begun = true;
    patience = std::move(entry.patience);
    rendezvous = entry.rendezvous;
  }
  rendezvous->Begin(task, std::move(workers));
  return rendezvous;
}

void StepRendezvousTable::ReceiveLocally(int64_t step_id, const std::string& key,
                                         const Ref<CancellationManager>& cancellation, Rendezvous::Received done) {
  Ref<StepRendezvous> rendezvous;
  bool is_new = false;
  {
    std::lock_guard lock(mutex_);
    Entry& entry = steps_[step_id];
    if (!entry.rendezvous) {
      entry.rendezvous = MakeRef<StepRendezvous>(step_id);
      is_new = true;
    }
    rendezvous = entry.rendezvous;
  }
  if (is_new) {
    Alarm alarm;
    try {
      alarm = Alarm::At(Alarm::Clock::now() + patience_, [this, step_id] { GiveUp(step_id); });
    } catch (...) {
      const Status status = CurrentStatus();
      Cleanup(step_id);
      return done(status, Tensor(), false);
    }
    std::lock_guard lock(mutex_);
    const auto it = steps_.find(step_id);
    if (it != steps_.end() && !it->second.has_begun) std::swap(it->second.patience, alarm);
  }
  rendezvous->ReceiveLocally(key, cancellation, std::move(done));
}

void StepRendezvousTable::GiveUp(int64_t step_id) {
  Entry entry;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    const auto it = steps_.find(step_id);
    if (it == steps_.end() || it->second.has_begun) return;
    entry = std::move(it->second);
    steps_.erase(it);
  }
  entry.rendezvous->Abort(Status(
      Code::kAborted, StrCat("Step ", step_id, " has not begun on this task within ", patience_.count(), " ms.")));
}

void StepRendezvousTable::Cleanup(int64_t step_id) {
  Entry entry;
  {
    std::lock_guard lock(mutex_);
    const auto it = steps_.find(step_id);
    if (it == steps_.end()) return;
    entry = std::move(it->second);
    steps_.erase(it);
  }
  entry.rendezvous->Abort(Status(Code::kAborted, StrCat("Cleanup ", step_id)));
}

void StepRendezvousTable::CleanupAll(const void* owner, const Status& status) {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(mutex_);
    for (auto it = steps_.begin(); it != steps_.end();) {
      if (owner && it->second.owner != owner) {
        ++it;
      } else {
        entries.push_back(std::move(it->second));
        it = steps_.erase(it);
      }
    }
  }
  for (const Entry& entry : entries) entry.rendezvous->Abort(status);
}

size_t StepRendezvousTable::size() const {
  std::lock_guard lock(mutex_);
  return steps_.size();
}

}  // namespace penstock
