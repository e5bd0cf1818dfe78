#include "penstock/distributed/worker_session.h"

#include "penstock/graph/import.h"
#include "penstock/runtime/server.h"

namespace penstock {

WorkerSession::~WorkerSession() {
  if (!runtime_) return;
  // What its steps used: kernels, resources (iterators call functions), functions, devices.
  runtime_->stateful_kernels.clear();
  if (isolated_) {
    ClearContainers(runtime_->devices, {});
    runtime_->functions.reset();
  } else {
    runtime_->functions->KeepLibrary();  // for iterators that stay with the devices
  }
}

void WorkerSession::MakeRuntime(SessionOptions options, const SessionOptions& defaults) {
  options.intra_op_threads = defaults.intra_op_threads;
  options.inter_op_threads = defaults.inter_op_threads;
  options.use_per_session_threads = false;
  options.inter_op_pools.clear();
  runtime_ = std::make_shared<SessionRuntime>(std::move(options), devices_, OpRegistry::Global(), [library = library_] {
    std::lock_guard lock(library->mutex);
    return library->functions;
  });
  if (!isolated_) runtime_->functions->KeepWithScopes(runtime_);
}

std::shared_ptr<const CompiledStep> WorkerSession::Compile(RegisterGraphRequest request,
                                                           const SessionOptions& defaults) {
  for (const NodeDef& node : request.graph.nodes) {
    DeviceName name;
    if (!DeviceName::TryParse(node.device, &name) || !name.has_job || !name.has_task || !name.has_id) {
      throw InvalidArgument("Missing device name in: {{node ", node.name, "}}");
    }
  }
  std::call_once(runtime_made_, [&] { MakeRuntime(std::move(request.options), defaults); });
  auto graph = std::make_shared<Graph>(runtime_->ops);
  {
    std::lock_guard lock(library_->mutex);
    graph->set_library(library_->functions);
  }
  std::vector<std::string> names;
  for (const auto& function : request.graph.functions) names.push_back(function->signature.name);
  const auto gradients = request.graph.gradients;
  ImportOptions options;
  options.uniquify_names = false;
  options.allow_internal_names = true;
  options.validate_colocation = false;  // nodes may be colocated with some that the step does not need
  ImportGraphDef(std::move(request.graph), options, graph.get());
  if (!names.empty() || !gradients.empty()) {
    std::vector<std::shared_ptr<const FunctionDef>> functions;
    for (const std::string& name : names) functions.push_back(graph->library()->FindShared(name));
    std::lock_guard lock(library_->mutex);
    library_->functions = library_->functions->WithAll(functions, gradients);
  }
  StepEnvironment environment = runtime_->environment;
  environment.is_part = true;
  return CompileStep(std::move(graph), environment);
}

}  // namespace penstock
