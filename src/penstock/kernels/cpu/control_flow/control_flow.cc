// Switch, Merge and the ops that carry values between frames. What is alive and what is dead is the executor's
// business; these only hand values over.
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

struct Switch {
  void operator()(KernelContext& k) const {
    const Tensor& pred = k.input(1);
    k.Require(pred.rank() == 0, "The second input must be a scalar, but it has shape ", pred.shape());
    k.Forward(0, *pred.data<bool>() ? 1 : 0);
  }
};

struct Merge {
  void operator()(KernelContext& k) const {
    for (int i = 0; i < k.num_inputs(); ++i) {
      if (!k.is_ref(i) && !k.input(i).initialized()) continue;
      k.Forward(i, 0);
      k.SetOutput(1, Tensor(int32_t{i}));
      return;
    }
    throw Internal("Merge ran without a live input");
  }
};

struct RefSelect {
  void operator()(KernelContext& k) const {
    const int64_t index = k.Int(0);
    k.Require(index >= 0 && index < k.num_inputs() - 1, "Index must be in the range [0, ", k.num_inputs() - 1,
              ") but got ", index);
    k.Forward(static_cast<int>(index) + 1, 0);
  }
};

struct Pass {
  void operator()(KernelContext& k) const { k.Forward(0, 0); }
};

struct LoopCondition {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0, "The loop condition must be a scalar, but it has shape ", k.shape(0));
    k.Forward(0, 0);
  }
};

struct Nothing {
  void operator()(KernelContext&) const {}
};

// Ends the step, not the process: whatever a graph holds must not take its host down.
struct Abort {
  std::string message;
  explicit Abort(const NodeView& node) : message(node.attr<std::string>("error_msg")) {}
  void operator()(KernelContext&) const { throw Aborted("Abort_op intentional failure; ", message); }
};

}  // namespace

void RegisterControlFlowKernels(KernelRegistry& kernels) {
  kernels.Add<Switch>("Switch").HostInput(1);
  kernels.Add<Switch>("RefSwitch").HostInput(1);
  kernels.Add<Merge>("Merge").HostOutput(1);
  kernels.Add<Merge>("RefMerge").HostOutput(1);
  kernels.Add<RefSelect>("RefSelect").HostInput(0);
  for (const char* op : {"Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "RefIdentity",
                         "DebugGradientRefIdentity"})
    kernels.Add<Pass>(op);
  kernels.Add<LoopCondition>("LoopCond").HostInput(0).HostOutput(0);
  kernels.Add<Nothing>("ControlTrigger");
  kernels.Add<Abort>("Abort");
}

}  // namespace penstock
