// Runs a small graph on either executor.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>

#include "penstock/engine/engine.h"
#include "penstock/graph/graph_scope.h"
#include "penstock/runtime/executor.h"
#include "penstock/runtime/rendezvous.h"
#include "penstock/runtime/step.h"
#include "penstock/runtime/step_executor.h"

namespace penstock {

class Runner {
 public:
  Runner() { Initialize(); }

  // `nest_loops`: as CompileProgram has it.
  std::vector<Tensor> Run(std::shared_ptr<Graph> graph, std::vector<Tensor> args, size_t rets, bool dataflow,
                          bool nest_loops = true, int threads = 2) {
    ThreadPool pool(threads, "test");
    const auto make = [&](const Node&, const NodeView& view) -> std::shared_ptr<Kernel> {
      return KernelRegistry::Global().Make("CPU", view);
    };
    const auto program = CompileProgram(std::move(graph), &device_, make, 1, nest_loops);
    Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();
    const auto executor = MakeRef<StepExecutor>(&pool);
    Ref<LocalRendezvous> rendezvous = MakeRef<LocalRendezvous>();
    StepServices step;
    step.cancellation = cancellation;
    step.rendezvous = rendezvous.get();
    step.schedule = executor->Poster();
    std::vector<Tensor> results(rets);
    const RunArgs run{args.data(), results.data(), &step, nullptr};
    if (!dataflow) {
      EXPECT_TRUE(program->straight_line());
      RunStraightLine(*program, run);
      return results;
    }
    ThrowIfError(executor->RunToEnd(
        [&](std::function<void(Status)> done) { RunDataflow(*program, run, std::move(done)); }, cancellation, {}));
    return results;
  }

 private:
  Device device_{"/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator()};
};

inline Node* Add(Graph& graph, const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
  return graph.AddNode({.op = op,
                        .name = graph.UniqueName(op),
                        .inputs = std::move(inputs),
                        .control_inputs = {},
                        .attrs = std::move(attrs),
                        .device = ""});
}
inline Node* Arg(Graph& graph, int index, DataType type) {
  return Add(graph, "_Arg", {}, {{"T", type}, {"index", index}});
}
inline void Ret(Graph& graph, Endpoint value, int index) { Add(graph, "_Retval", {value}, {{"index", index}}); }

}  // namespace penstock
