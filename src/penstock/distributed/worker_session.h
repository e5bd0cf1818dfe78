// A session on one task: its devices, functions, kernels with state, and the graphs that a master registered.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/distributed/worker_interface.h"
#include "penstock/runtime/session_runtime.h"

namespace penstock {

// Kept by its worker's table of sessions, by its graphs and by its steps.
class WorkerSession : public std::enable_shared_from_this<WorkerSession> {
 public:
  // `task`: the name under which the session knows this task. `isolated`: nobody else uses the devices.
  WorkerSession(std::string handle, std::string task, std::vector<std::shared_ptr<Device>> devices, bool isolated,
                std::weak_ptr<WorkerDirectory> workers)
      : handle(std::move(handle)),
        task(std::move(task)),
        devices_(std::move(devices)),
        isolated_(isolated),
        workers_(std::move(workers)) {}
  // The same for a cluster that only this session knows.
  void OwnCluster(std::shared_ptr<WorkerDirectory> workers) { workers_ = own_cluster_ = std::move(workers); }
  ~WorkerSession();

  const std::string handle, task;
  std::shared_ptr<WorkerDirectory> workers() const { return workers_.lock(); }
  // Of the first graph on; the threads are those of `defaults`, the worker's own options.
  const SessionRuntime& runtime() const { return *runtime_; }

  // Adds the functions of the graph to those of the session. InvalidArgument: a malformed graph, or a node that is on
  // no device of the session.
  std::shared_ptr<const CompiledStep> Compile(RegisterGraphRequest request, const SessionOptions& defaults);

 private:
  // The session's functions, also for iterators that outlive it.
  struct Library {
    std::mutex mutex;
    FunctionLibraryPtr functions = std::make_shared<FunctionLibrary>();
  };

  void MakeRuntime(SessionOptions options, const SessionOptions& defaults);

  const std::vector<std::shared_ptr<Device>> devices_;
  const bool isolated_;
  std::weak_ptr<WorkerDirectory> workers_;
  std::shared_ptr<WorkerDirectory> own_cluster_;
  const std::shared_ptr<Library> library_ = std::make_shared<Library>();
  std::once_flag runtime_made_;
  std::shared_ptr<SessionRuntime> runtime_;
};

struct RegisteredGraph {
  std::shared_ptr<WorkerSession> session;  // destroyed after the step, whose kernels are the session's
  bool has_session = false;
  std::shared_ptr<const CompiledStep> step;
};

}  // namespace penstock
