// A step of a cluster while it runs: its calls of the tasks that have parts of it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/base/alarms.h"
#include "penstock/distributed/master_interface.h"
#include "penstock/distributed/worker_interface.h"

namespace penstock {

// A step, cut and registered. The graphs are given back when nobody runs it any more.
struct RegisteredStep {
  struct Part {
    std::string task;
    std::shared_ptr<WorkerInterface> worker;
    std::string graph;  // handle
  };
  ~RegisteredStep();
  std::string session;
  std::vector<Part> parts;
  std::vector<std::vector<int>> feeds_of_fetches;  // for runs in pieces
};

// The calls that run a step: one RunGraph for each part.
std::vector<RunGraphRequest> CallsOfStep(const RegisteredStep& step, int64_t step_id, const RunOptions& options);
// Ends the step on all tasks: values that were sent and not received are dropped. Does not wait.
void CleanupStep(const RegisteredStep& step, int64_t step_id);

class RunningStep {
 public:
  RunningStep(const RegisteredStep& step, std::vector<RunGraphRequest> calls)
      : step_(step), calls_(std::move(calls)), responses_(step.parts.size()) {}
  // Makes all calls and waits for all answers. If one fails the others are cancelled, and the error is thrown that was
  // first among those that do not follow from others. `timeout_ms`: 0 for none.
  RunStepResponse Run(int64_t timeout_ms);
  // Ends the calls; it may be used after the step, too.
  const Ref<CancellationManager>& cancellation() const { return cancellation_; }

 private:
  void Finish(size_t part, Status status, RunGraphResponse response);

  const RegisteredStep& step_;
  std::vector<RunGraphRequest> calls_;
  std::vector<RunGraphResponse> responses_;
  const Ref<CancellationManager> cancellation_ = MakeRef<CancellationManager>();
  std::mutex mutex_;  // guards the rest
  std::condition_variable over_;
  size_t left_ = 0;
  Status status_;
  Alarm alarm_;  // cancels calls if no cause comes
};

}  // namespace penstock
