// What the steps of a session run with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/fork.h"
#include "penstock/io/config.h"
#include "penstock/op/op_registry.h"
#include "penstock/runtime/function_runtime.h"
#include "penstock/runtime/step.h"

namespace penstock {

// As many threads as an environment variable says, else as many as the process may use cores.
int DefaultThreads(const char* variable);

// Functions that iterators call keep it where devices outlive the session: those of a server.
struct SessionRuntime {
  // `ops`: those that nodes of the session's graph are of.
  SessionRuntime(SessionOptions options, std::vector<std::shared_ptr<Device>> devices, const OpRegistry& ops,
                 std::function<FunctionLibraryPtr()> library);
  // The kernel of a node, which is kept if it has state: one for each node of `function` (null: of the graph) and
  // device.
  std::shared_ptr<Kernel> MakeKernel(const FuncRef* function, const Node& node, const NodeView& view);

  const SessionOptions options;
  const std::vector<std::shared_ptr<Device>> devices;
  const OpRegistry& ops;
  std::vector<std::shared_ptr<ThreadPool>> inter_op;  // more than one only if the options list them
  std::shared_ptr<ThreadPool> intra_op;
  StepEnvironment environment;
  std::unique_ptr<FunctionRuntime> functions;
  ForkMutex mutex;  // guards the kernels
  std::map<std::string, std::shared_ptr<Kernel>> stateful_kernels;
};

}  // namespace penstock
