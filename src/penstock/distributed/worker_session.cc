#include "penstock/distributed/worker_session.h"

#include "penstock/graph/import.h"
#include "penstock/runtime/server.h"

namespace penstock {

WorkerSession::~WorkerSession() {
  if (!runtime_) return;
  std::map<std::string, std::shared_ptr<Kernel>> kernels;  // destroyed without the lock
  {
    std::lock_guard lock(runtime_->mutex);  // iterators that stay with the devices may call functions
    kernels.swap(runtime_->stateful_kernels);
  }
  kernels.clear();
  if (isolated_) ClearContainers(devices_, {});
}

void WorkerSession::MakeRuntime(SessionOptions options, const SessionOptions& defaults) {
  options.intra_op_threads = defaults.intra_op_threads;
  options.inter_op_threads = defaults.inter_op_threads;
  options.use_per_session_threads = false;
  options.inter_op_pools.clear();
  runtime_ = std::make_shared<SessionRuntime>(std::move(options), devices_, OpRegistry::Global(),
                                              [] { return std::make_shared<const FunctionLibrary>(); });
}

std::shared_ptr<const RegisteredGraph> WorkerSession::Compile(RegisterGraphRequest request, bool has_session,
                                                              const SessionOptions& defaults) {
  for (const NodeDef& node : request.graph.nodes) {
    DeviceName name;
    if (!DeviceName::TryParse(node.device, &name) || !name.has_job || !name.has_task || !name.has_id) {
      throw InvalidArgument("Missing device name in: {{node ", node.name, "}}");
    }
  }
  std::call_once(runtime_made_, [&] { MakeRuntime(std::move(request.options), defaults); });
  auto graph = std::make_shared<Graph>(runtime_->ops);
  ImportOptions options;
  options.uniquify_names = false;
  options.allow_internal_names = true;
  options.validate_colocation = false;  // nodes may be colocated with some that the step does not need
  ImportGraphDef(std::move(request.graph), options, graph.get());
  auto registered = std::make_shared<RegisteredGraph>();
  registered->session = shared_from_this();
  registered->has_session = has_session;
  registered->functions = std::make_shared<GraphFunctions>(runtime_, graph->library());
  registered->functions->calls.KeepWithScopes(registered->functions);
  StepEnvironment environment = registered->functions->environment;
  environment.is_part = true;
  registered->step = CompileStep(std::move(graph), environment);
  return registered;
}

}  // namespace penstock
