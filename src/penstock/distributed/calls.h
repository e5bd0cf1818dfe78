// Calls of several tasks at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/distributed/worker_interface.h"

namespace penstock {

// Waits for the answers of several calls.
class CallGroup {
 public:
  explicit CallGroup(size_t calls) : left_(calls), statuses_(calls) {}
  void Finish(size_t call, Status status);
  // False: not all have answered within `time`.
  bool WaitFor(std::chrono::milliseconds time);
  void Wait();
  const std::vector<Status>& statuses() const { return statuses_; }  // when all have answered
  void ThrowFirstError() const;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  size_t left_;
  std::vector<Status> statuses_;
};

// Those of the directory's tasks that device filters (all if empty) let the task `own` see; `own` first.
// InvalidArgument: a malformed filter.
std::vector<std::string> VisibleTasks(const WorkerDirectory& workers, const std::string& own,
                                      const std::vector<std::string>& device_filters);

// The devices of each of `tasks`. Waits until all of them answer; says on stderr every 10 s which do not. `limit_ms`:
// 0 for none. Cancelled, DeadlineExceeded: with the task that is missing and why.
std::vector<std::vector<DeviceAttributes>> DevicesOfTasks(WorkerDirectory& workers,
                                                          const std::vector<std::string>& tasks, int64_t limit_ms = 0,
                                                          CancellationManager* cancellation = nullptr);

// Clears containers (all if empty) on these tasks. Throws the first error.
void ClearContainersOfTasks(WorkerDirectory& workers, const std::vector<std::string>& tasks,
                            const std::vector<std::string>& containers);

}  // namespace penstock
