// From a graph to numbers: optimise, place, partition, compile; then run. Sessions, workers and calls of functions,
// also of functions that eager programs call, go this way. A single op that runs eagerly does not: EagerContext
// (eager.h) makes its kernel once for each signature and calls it directly.
#pragma once

#include <memory>
#include <vector>

#include "penstock/io/config.h"
#include "penstock/runtime/call_state.h"
#include "penstock/runtime/cost_graph.h"
#include "penstock/runtime/executor.h"
#include "penstock/runtime/placer.h"

namespace penstock {

// What compiling and running need besides the graph; outlives every step.
struct StepEnvironment {
  std::vector<Device*> devices;
  const KernelRegistry* kernels = nullptr;
  const SessionOptions* options = nullptr;
  KernelMaker make_kernel;  // keeps kernels with state between steps
  std::function<std::shared_ptr<Kernel>(const FuncRef& function, const Node&, const NodeView&)> make_function_kernel;
  ThreadPool* inter_op = nullptr;
  ThreadPool* intra_op = nullptr;
  FunctionCaller* functions = nullptr;
  CallPath path;         // of a function's body
  bool is_part = false;  // graphs are a master's parts: they have the loops that drive loops over several devices
};

class StepExecutor;  // step_executor.h

// A step as its session hands it out: what it is fed and gives.
struct PreparedStep {
  virtual ~PreparedStep() = default;
  std::vector<DataType> arg_types, ret_types;
};

struct CompiledStep final : PreparedStep {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::shared_ptr<const Graph>> partitions;
  mutable CostGraph costs;
  bool straight_line() const { return programs.size() == 1 && programs[0]->straight_line(); }
  // Of a straight line: whether it may wait for other threads.
  bool may_block() const { return programs[0]->may_block; }
};

// `graph` holds what is to run, with _Arg and _Retval nodes numbered from 0; it is changed and kept. Folding constants
// may take as long as a step: `poll` is called before each of them, and may throw. `is_function`: all with state in it
// runs, also what stands in a branch and gives nothing that is read.
std::unique_ptr<CompiledStep> CompileStep(
    std::shared_ptr<Graph> graph, const StepEnvironment& environment, FunctionRef<void()> poll = [] {},
    bool is_function = false);

// `args`, `rets` and `step` must stay until `done` is called (once, from any thread). The step needs cancellation, a
// rendezvous and an executor that `schedule` posts to. Does not wait: a straight line that may block runs on another
// thread, unless this one only waits for the step's end.
void RunStepAsync(const CompiledStep& compiled, const RunArgs& run, std::function<void(Status)> done);
// On this thread as far as possible; throws the step's error. A step that is no straight line needs an executor, which
// its `schedule` posts to.
void RunStep(const CompiledStep& compiled, const RunArgs& run, StepExecutor* executor, int64_t timeout_ms = 0);

}  // namespace penstock
