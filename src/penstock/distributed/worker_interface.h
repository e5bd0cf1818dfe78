// What a task does for the master of a step and for the other tasks of it: tensorflow.WorkerService, as structs.
//
// Worker implements it in its own process and RemoteWorker over the transport; callers do not know which they have.
// Every call returns at once and calls `done` once, on any thread, perhaps before it returns. A call that
// `cancellation` ends early gives Cancelled. Tensors in requests and responses are shared, never copied.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/distributed/cluster.h"
#include "penstock/graph/graph_def.h"
#include "penstock/io/config.h"
#include "penstock/kernel/services.h"

namespace penstock {

struct WorkerSessionRequest {
  std::string session;         // handle, given by the master
  ServerSpec server;           // with a cluster: the session's own view of it (ClusterSpec propagation)
  bool isolate_state = false;  // variables and other resources that no other session sees
  std::vector<DeviceAttributes> cluster_devices;  // of all tasks; empty: not told
  std::string master_task;                        // "/job:worker/replica:0/task:0"; empty: a master of version 1
  int64_t master_incarnation = 0;                 // a session of an earlier life of this master is dropped
};

struct RegisterGraphRequest {
  std::string session;
  bool has_session = false;  // the session was created by a call; otherwise the graph joins the worker's own session
  GraphDef graph;            // placed; joined to other tasks' graphs by _Send and _Recv
  SessionOptions options;    // graph options of the master's session
  int64_t collective_graph_key = 0;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct RunGraphRequest {
  std::string session;
  bool has_session = false;
  std::string graph;  // handle, given by RegisterGraph
  int64_t step_id = 0;
  bool record_costs = false, record_timeline = false, record_partition_graphs = false;
  NamedTensors sends;                 // by rendezvous key: what the client feeds
  std::vector<std::string> receives;  // rendezvous keys: what the client fetches
  bool is_partial = false, is_last_partial = false;
  int64_t request_id = 0;
};

struct RunGraphResponse {
  NamedTensors received;  // in the order of `receives`
  RunMetadata metadata;   // step stats, costs, partition graphs as far as they were recorded
};

class WorkerInterface {
 public:
  template <class Result>
  using Done = std::function<void(Status, Result)>;
  using Finished = std::function<void(Status)>;

  virtual ~WorkerInterface() = default;
  // The devices of the task. It answers as long as the task lives: the heartbeat.
  virtual void GetStatus(Ref<CancellationManager> cancellation, Done<std::vector<DeviceAttributes>> done) = 0;
  virtual void CreateSession(WorkerSessionRequest request, Finished done) = 0;
  virtual void DeleteSession(std::string session, Finished done) = 0;
  // The handle of the graph.
  virtual void RegisterGraph(RegisterGraphRequest request, Done<std::string> done) = 0;
  virtual void DeregisterGraph(std::string session, bool has_session, std::string graph, Finished done) = 0;
  // An error of the step itself carries the name of its node. Derived errors (another task's failure was first) are
  // Cancelled or Aborted and say so (IsDerived).
  virtual void RunGraph(RunGraphRequest request, Ref<CancellationManager> cancellation,
                        Done<RunGraphResponse> done) = 0;
  // Forgets what the step has sent and nobody received.
  virtual void CleanupStep(int64_t step_id, Finished done) = 0;
  // Clears containers (all if empty).
  virtual void CleanupAll(std::vector<std::string> containers, Finished done) = 0;
  // A value that a step sends on this task, when it is there. `key`: the full rendezvous key.
  virtual void ReceiveTensor(int64_t step_id, std::string key, Ref<CancellationManager> cancellation,
                             Rendezvous::Received done) = 0;
};

// The tasks that a task can call: itself directly, the others over the transport.
class WorkerDirectory {
 public:
  virtual ~WorkerDirectory() = default;
  // By TaskName; null: no such task.
  virtual std::shared_ptr<WorkerInterface> Find(const std::string& task) = 0;
  virtual std::vector<std::string> tasks() const = 0;
};

}  // namespace penstock
