// The values of one step on one task: those that its devices send, and the way to those of other tasks.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "penstock/base/alarms.h"
#include "penstock/distributed/worker_interface.h"
#include "penstock/runtime/rendezvous.h"

namespace penstock {

// A value that this task sends waits here until a device of it, or another task, receives it. A value of another task
// is received from there, in a call that ends when the step is aborted. No thread waits.
class StepRendezvous final : public Rendezvous {
 public:
  explicit StepRendezvous(int64_t step_id) : step_id_(step_id) {}

  // From now on the step runs on this task. `task`: its name in the step's session; `workers`: those of its cluster.
  // Only the first call has an effect.
  void Begin(const std::string& task, std::shared_ptr<WorkerDirectory> workers);

  // InvalidArgument: the key's source is on another task. The error of Abort.
  void Send(const std::string& key, Tensor value, bool is_dead) override;
  void ReceiveAsync(const std::string& key, Received done) override;
  // Receives a value that this task sends, for another one: also before Begin. Cancelled: `cancellation` was first.
  void ReceiveLocally(const std::string& key, const Ref<CancellationManager>& cancellation, Received done);
  // Receivers, here and on other tasks, get `status` as a derived error: the part that failed reports it by itself.
  void Abort(Status status) override;

 private:
  bool IsLocal(const std::string& key) const;
  void ReceiveRemotely(const std::string& key, Received done);

  const int64_t step_id_;
  LocalRendezvous local_;
  const Ref<CancellationManager> calls_ = MakeRef<CancellationManager>();  // to other tasks
  std::mutex mutex_;
  Status aborted_;
  std::string task_;
  std::shared_ptr<WorkerDirectory> workers_;
};

// The steps of a task, by id.
class StepRendezvousTable {
 public:
  // A receiver of a step that does not begin waits for as long as this.
  explicit StepRendezvousTable(std::chrono::milliseconds patience) : patience_(patience) {}
  ~StepRendezvousTable();

  // The step's rendezvous, which begins now if it has not yet. `owner`: the session that runs it.
  Ref<StepRendezvous> Begin(int64_t step_id, const void* owner, const std::string& task,
                            std::shared_ptr<WorkerDirectory> workers);
  void ReceiveLocally(int64_t step_id, const std::string& key, const Ref<CancellationManager>& cancellation,
                      Rendezvous::Received done);
  // Aborts the step and forgets it.
  void Cleanup(int64_t step_id);
  // The same for all steps of a session; of all sessions if it is null.
  void CleanupAll(const void* owner, const Status& status);
  size_t size() const;

 private:
  struct Entry {
    Ref<StepRendezvous> rendezvous;
    const void* owner = nullptr;
    bool has_begun = false;
    Alarm patience;  // until the step has begun; removed without the lock
  };
  void GiveUp(int64_t step_id);

  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::unordered_map<int64_t, Entry> steps_;
};

}  // namespace penstock
