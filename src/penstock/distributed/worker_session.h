// A session on one task: its devices, functions, kernels with state, and the graphs that a master registered.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/distributed/worker_interface.h"
#include "penstock/runtime/session_runtime.h"

namespace penstock {

class WorkerSession;

// The functions of one registered graph, compiled. A master may send another function under the same name with another
// graph: it prunes and optimizes them with the graph. Iterators that call functions keep it.
struct GraphFunctions {
  GraphFunctions(std::shared_ptr<SessionRuntime> session, FunctionLibraryPtr library)
      : runtime(std::move(session)),
        environment(runtime->environment),
        calls(&environment, [library] { return library; }) {
    environment.functions = &calls;
  }
  const std::shared_ptr<SessionRuntime> runtime;
  StepEnvironment environment;
  FunctionRuntime calls;
};

struct RegisteredGraph {
  std::shared_ptr<WorkerSession> session;  // destroyed after the step, whose kernels are the session's
  bool has_session = false;                // created by a call
  std::shared_ptr<GraphFunctions> functions;
  std::shared_ptr<const CompiledStep> step;
};

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
  // With the options of the session's first graph; the threads are those of `defaults`, the worker's own options.
  const SessionRuntime& runtime() const { return *runtime_; }

  // Compiles a graph. InvalidArgument: a malformed one, or a node that is on no device of the session.
  std::shared_ptr<const RegisteredGraph> Compile(RegisterGraphRequest request, bool has_session,
                                                 const SessionOptions& defaults);

 private:
  void MakeRuntime(SessionOptions options, const SessionOptions& defaults);

  const std::vector<std::shared_ptr<Device>> devices_;
  const bool isolated_;
  std::weak_ptr<WorkerDirectory> workers_;
  std::shared_ptr<WorkerDirectory> own_cluster_;
  std::once_flag runtime_made_;
  std::shared_ptr<SessionRuntime> runtime_;
};

}  // namespace penstock
