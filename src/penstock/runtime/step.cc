#include "penstock/runtime/step.h"

#include "penstock/base/branches.h"
#include "penstock/base/denormals.h"
#include "penstock/base/log.h"
#include "penstock/graph/lower.h"
#include "penstock/graph/reread.h"
#include "penstock/kernel/py_function.h"
#include "penstock/optimize/optimizer.h"
#include "penstock/runtime/evaluate.h"
#include "penstock/runtime/partition.h"
#include "penstock/runtime/step_executor.h"

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
    return IsPyFunction(node) ? EvaluatePyFunction(node, inputs) : EvaluateNode(node, inputs);
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
  const auto parts =
      Partition(*graph, {.incarnation = [&](const std::string& name) { return device_named(name)->incarnation(); },
                         .part_of = nullptr,
                         .add_control_loops = !environment.is_part});
  for (const auto& [device, part] : parts) {
    compiled->partitions.push_back(part);
    compiled->programs.push_back(
        CompileProgram(part, device_named(device), environment.make_kernel, environment.inter_op->threads()));
  }
  if (LogOn(LogSubject::kCompile)) {
    size_t instructions = 0;
    for (const auto& program : compiled->programs) instructions += program->instructions.size();
    Log(LogSubject::kCompile, "compiled ", instructions, " instructions in ", parts.size(), " partitions, ",
        compiled->straight_line() ? "straight line" : "dataflow", is_function ? ", for a function" : "");
  }
  return compiled;
}

// The step's own recorder, or the process's.
static RunArgs Recorded(RunArgs run) {
  if (!run.recorder) run.recorder = g_process_recorder.load(std::memory_order_acquire);
  return run;
}

static Status RunHere(const Program& program, const RunArgs& run) {
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  try {
    RunStraightLine(program, run);
    return {};
  } catch (...) {
    return CurrentStatus();
  }
}

void RunStepAsync(const CompiledStep& compiled, const RunArgs& args, std::function<void(Status)> done) {
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  const RunArgs run = Recorded(args);
  roads.Enter(compiled.straight_line() ? 0 : 1);
  if (compiled.straight_line()) {
    const Program& program = *compiled.programs[0];
    const StepExecutor* executor = StepExecutor::Current();
    if (program.may_block && !(executor && executor->IsIdleHome()) &&
        RunOnGrowingPool([&program, run, done] { done(RunHere(program, run)); })) {
      return;
    }
    return done(RunHere(program, run));
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
  // All but the last start elsewhere; this thread takes the last.
  for (size_t i = 0; i + 1 < compiled.programs.size(); ++i) {
    run.step->schedule([program = compiled.programs[i].get(), run, finish] { RunDataflow(*program, run, finish); });
  }
  StepExecutor::Current()->Offer();
  RunDataflow(*compiled.programs.back(), run, finish);
}

void RunStep(const CompiledStep& compiled, const RunArgs& args, StepExecutor* executor, int64_t timeout_ms) {
  const ScopedDenormals denormals(ScopedDenormals::kZero);
  const RunArgs run = Recorded(args);
  StepServices& step = *run.step;
  Log(LogSubject::kExecutor, "step ", step.step_id, ": ", compiled.straight_line() ? "straight line" : "dataflow");
  if (compiled.straight_line()) {
    roads.Enter(0);
    if (timeout_ms <= 0) return RunStraightLine(*compiled.programs[0], run);
    Deadline deadline(timeout_ms, step.cancellation);
    Status status = RunHere(*compiled.programs[0], run);
    ThrowIfError(deadline.StatusOf(std::move(status)));
    return;
  }
  // Who waits for a value of another device is not reached otherwise.
  CancellationManager::Token token = 0;
  const auto abort = [rendezvous = step.rendezvous] {
    rendezvous->Abort(Status(Code::kCancelled, "Step was cancelled."));
  };
  if (!step.cancellation->Register(abort, &token)) throw Cancelled("Step was cancelled.");
  const auto start = [&](std::function<void(Status)> done) { RunStepAsync(compiled, run, std::move(done)); };
  const StepLimits limits{.timeout_ms = timeout_ms, .interrupts_seen = step.interrupts_seen};
  Status status = executor->RunToEnd(start, step.cancellation, limits);
  step.cancellation->Deregister(token);
  ThrowIfError(status);
}

}  // namespace penstock
