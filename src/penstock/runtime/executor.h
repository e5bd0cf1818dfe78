// Runs Programs. One road for sessions, servers, function calls and eager.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "penstock/kernel/interrupts.h"
#include "penstock/runtime/program.h"

namespace penstock {

struct RunArgs {
  const Tensor* args = nullptr;  // by argument index
  Tensor* rets = nullptr;        // by result index
  StepServices* step = nullptr;
  class StepRecorder* recorder = nullptr;
};

// Whether the step was cancelled, or interrupted where it may be.
inline bool MustStop(const StepServices& step) {
  return (step.cancellation && step.cancellation->cancelled()) ||
         (step.interrupts_seen >= 0 && g_interrupts.load(std::memory_order_relaxed) != step.interrupts_seen);
}

// Runs a straight-line program on this thread. Throws the failing kernel's Error, with the node named.
void RunStraightLine(const Program& program, const RunArgs& run);

// Runs a loop to its end: its inputs are what the Enters get, its outputs what the Exits give. `frame_iter`: which
// round of which loop around it this is.
void RunLoop(const Loop& loop, std::span<KernelContext::Input> inputs, std::span<Value> outputs, const RunArgs& run,
             int64_t frame_iter);
// Tells a frame from all others: by its name and where it was entered, so that all devices that run parts of it agree.
uint64_t FrameKey(int64_t outer, std::string_view name);

// Runs any program; `done` is called once, from any thread, after every kernel has finished. Frees nothing before.
void RunDataflow(const Program& program, const RunArgs& run, std::function<void(Status)> done);

// TensorFlow's form: the message and the node it comes from.
Status AtNode(const Status& status, const Node& node);

// Told about each kernel that ran, when a step is traced.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  virtual void Ran(const Node& node, const Device& device, int64_t start_ns, int64_t end_ns,
                   std::span<const Value> outputs) = 0;
};
// Told about the steps that have no recorder of their own, about function calls and eager ops; mostly nobody.
extern std::atomic<StepRecorder*> g_process_recorder;
int64_t NowNanos();  // since the epoch

}  // namespace penstock
