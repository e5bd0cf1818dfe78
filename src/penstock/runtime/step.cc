#include "penstock/runtime/step.h"

#include <condition_variable>

#include "penstock/base/branches.h"
#include "penstock/base/denormals.h"
#include "penstock/graph/lower.h"
#include "penstock/graph/reread.h"
#include "penstock/optimize/optimizer.h"
#include "penstock/runtime/evaluate.h"
#include "penstock/runtime/partition.h"

namespace penstock {
namespace {

constinit BranchTable<2> roads{"executor/road", {"straight line", "dataflow"}};

}  // namespace

std::unique_ptr<CompiledStep> CompileStep(std::shared_ptr<Graph> graph, const StepEnvironment& environment,
                                          FunctionRef<void()> poll, bool is_function) {
  auto compiled = std::make_unique<CompiledStep>();
  for (const Node* node : graph->Nodes()) {
    const Flow flow = node->traits().flow;
    if (flow != Flow::kArg && flow != Flow::kRetval) continue;
    auto& types = flow == Flow::kArg ? compiled->arg_types : compiled->ret_types;
    const size_t index = static_cast<size_t>(node->attr<int64_t>("index"));
    if (types.size() <= index) types.resize(index + 1);
    types[index] = node->attr<DataType>("T");
  }
  LowerControlFlow(*graph, !is_function);
  InlineCalls(*graph);
  LowerControlFlow(*graph);  // what came out of the calls
  GiveCallsTheirState(*graph, environment.path);
  RereadVariables(*graph);
  Optimize(*graph, *environment.options, [&](const Node& node, std::span<const Tensor> inputs) {
    poll();
    return EvaluateNode(node, inputs);
  });
  Place(*graph, environment.devices,
        {.allow_soft_placement = environment.options->allow_soft_placement,
         .log_device_placement = environment.options->log_device_placement,
         .kernels = environment.kernels,
         .spread = environment.options->graph.place_pruned_graph});
  const auto device_named = [&](const std::string& name) -> Device* {
    for (Device* device : environment.devices) {
      if (device->name() == name) return device;
    }
    throw Internal("no device ", name);
  };
  const auto parts = Partition(*graph, [&](const std::string& name) { return device_named(name)->incarnation(); });
  for (const auto& [device, part] : parts) {
    compiled->partitions.push_back(part);
    compiled->programs.push_back(
        CompileProgram(part, device_named(device), environment.make_kernel, environment.inter_op->threads()));
  }
  return compiled;
}

// The step's own recorder, or the process's.
static RunArgs Recorded(RunArgs run) {
  if (!run.recorder) run.recorder = g_process_recorder.load(std::memory_order_acquire);
  return run;
}

void RunStepAsync(const CompiledStep& compiled, const RunArgs& args, const StepEnvironment& environment,
                  std::function<void(Status)> done) {
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  const RunArgs run = Recorded(args);
  roads.Enter(compiled.straight_line() ? 0 : 1);
  if (compiled.straight_line()) {
    Status status;
    try {
      RunStraightLine(*compiled.programs[0], run);
    } catch (...) {
      status = CurrentStatus();
    }
    done(status);
    return;
  }
  if (compiled.programs.empty()) return done(Status());
  struct Join {
    std::mutex mutex;
    size_t left;
    Status status;
    std::function<void(Status)> done;
  };
  auto join = std::make_shared<Join>();
  join->left = compiled.programs.size();
  join->done = std::move(done);
  const auto finish = [join](Status status) {
    bool last;
    {
      std::lock_guard lock(join->mutex);
      // The reason counts, not that the others were stopped because of it.
      if (join->status.ok() || (join->status.code() == Code::kCancelled && !status.ok()))
        join->status = std::move(status);
      last = --join->left == 0;
    }
    if (last) join->done(join->status);
  };
  // All but the last start on the pool; this thread takes the last.
  for (size_t i = 0; i + 1 < compiled.programs.size(); ++i) {
    auto start = [program = compiled.programs[i].get(), run, finish] { RunDataflow(*program, run, finish); };
    if (run.step->schedule) {
      run.step->schedule(std::move(start));
    } else {
      environment.inter_op->Schedule(std::move(start));
    }
  }
  RunDataflow(*compiled.programs.back(), run, finish);
}

void RunStep(const CompiledStep& compiled, const RunArgs& run, const StepEnvironment& environment, int64_t timeout_ms) {
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  if (compiled.straight_line() && timeout_ms <= 0) {
    roads.Enter(0);
    return RunStraightLine(*compiled.programs[0], Recorded(run));
  }
  struct Wait {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    Status status;
  };
  auto wait = std::make_shared<Wait>();
  const auto finish = [wait](Status status) {
    std::lock_guard lock(wait->mutex);
    wait->status = std::move(status);
    wait->done = true;
    wait->ready.notify_all();
  };
  if (timeout_ms > 0) {  // somebody has to watch the clock: this thread
    environment.inter_op->Schedule(
        [&compiled, &environment, run, finish] { RunStepAsync(compiled, run, environment, finish); });
  } else {
    RunStepAsync(compiled, run, environment, finish);
  }
  const int64_t deadline = timeout_ms > 0 ? NowNanos() + timeout_ms * 1'000'000 : INT64_MAX;
  bool expired = false, stopped = false;
  const auto stop = [&](std::unique_lock<std::mutex>& lock) {
    stopped = true;
    lock.unlock();
    if (run.step->cancellation) run.step->cancellation->Cancel();
    const Status why(Code::kCancelled, "Step was cancelled.");
    if (run.step->rendezvous) run.step->rendezvous->Abort(why);
    lock.lock();
  };
  std::unique_lock lock(wait->mutex);
  while (!wait->done) {
    wait->ready.wait_for(lock, std::chrono::milliseconds(timeout_ms > 0 ? std::min<int64_t>(timeout_ms, 20) : 50));
    if (wait->done || stopped) continue;
    const bool interrupted = run.step->interrupts_seen >= 0 && g_interrupts.load() != run.step->interrupts_seen;
    expired = NowNanos() > deadline;
    const bool cancelled = run.step->cancellation && run.step->cancellation->cancelled();
    if (interrupted || expired || cancelled) stop(lock);
  }
  if (expired && !wait->status.ok())
    throw DeadlineExceeded("Timed out waiting for notification: the step did not finish within ", timeout_ms, " ms");
  ThrowIfError(wait->status);
}

}  // namespace penstock
