// A session of a cluster, as its master keeps it: the whole graph, placed; its steps, cut by task.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "penstock/base/lru_cache.h"
#include "penstock/distributed/master_interface.h"
#include "penstock/distributed/running_step.h"
#include "penstock/graph/graph.h"
#include "penstock/runtime/prune.h"

namespace penstock {

// All methods may be called from many threads at once.
class MasterSession {
 public:
  // Waits until all tasks that the options let see have answered, unless `cancellation` or the options' time limit ends
  // that. `task`: the master's own; `workers` must outlive the session. InvalidArgument: the graph cannot be placed.
  MasterSession(std::string handle, std::string task, std::shared_ptr<WorkerDirectory> workers, const GraphDef& graph,
                SessionOptions options, CancellationManager* cancellation);
  ~MasterSession();

  int64_t Extend(const GraphDef& graph, int64_t version);
  RunStepResponse Run(const RunStepRequest& request, CancellationManager* cancellation);
  // Starts a run in pieces, for Run with its handle. InvalidArgument: nothing to fetch or do.
  std::string PartialRunSetup(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                              const std::vector<std::string>& targets);
  const std::vector<DeviceAttributes>& devices() const { return attributes_; }
  // Cancels running steps, waits for them, and ends the session on all tasks. Later calls fail with `reason`.
  void Close(const Status& reason = Status(Code::kCancelled, "Session has been closed."));

 private:
  struct PartialState;

  void FindDevices(CancellationManager* cancellation);
  void CreateWorkerSessions();
  void AddAndPlace(const GraphDef& graph);
  std::shared_ptr<const RegisteredStep> Find(const RunStepRequest& request);
  std::shared_ptr<const RegisteredStep> Register(const RunStepRequest& request);
  StepSignature SignatureOf(const RunStepRequest& request) const;
  // The part of the master's own task; null: the step has none.
  RunGraphRequest* OwnCall(const RegisteredStep& step, std::vector<RunGraphRequest>* calls) const;
  std::pair<std::string, Tensor> Fed(int index, const Tensor& value) const;
  RunStepResponse RunCalls(const RegisteredStep& step, std::vector<RunGraphRequest> calls, const RunOptions& options,
                           CancellationManager* cancellation);
  RunStepResponse PartialRun(const RunStepRequest& request, CancellationManager* cancellation);
  void EndPartialRuns();
  // Registers a step that Close cancels and waits for; throws if the session is closed.
  void Enter(RunningStep* running);
  void Leave(RunningStep* running);

  const std::string handle_, task_;
  const std::shared_ptr<WorkerDirectory> workers_;
  SessionOptions options_;
  std::vector<std::string> tasks_;  // that the session sees
  std::vector<DeviceAttributes> attributes_;
  std::vector<std::unique_ptr<Device>> devices_;  // attributes only; the client's first
  std::vector<Device*> placeable_;                // the same, for the placer
  std::map<std::string, uint64_t> incarnations_;  // by device
  ClientDevice client_;

  std::mutex graph_mutex_;  // guards the next three
  Graph graph_;
  int64_t version_ = 0;
  LruCache<std::string, std::shared_ptr<const RegisteredStep>> steps_{1024};

  std::mutex mutex_;  // guards the rest
  Status closed_;
  std::set<RunningStep*> running_;
  std::condition_variable idle_;
  std::map<std::string, std::shared_ptr<PartialState>> partial_runs_;
};

}  // namespace penstock
