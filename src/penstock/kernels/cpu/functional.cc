// Function calls, through the step's FunctionCaller.
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

class Call : public AsyncKernel {
 public:
  Call(const NodeView& node, FuncRef function) : function_(std::move(function)) {}
  explicit Call(const NodeView& node) : Call(node, node.attr<FuncRef>("f")) {}
  void RunAsync(KernelContext& k, Done done) override {
    if (!k.step().functions) throw Internal("this step cannot call functions");
    std::vector<Tensor> args;
    args.reserve(k.num_inputs());
    for (int i = 0; i < k.num_inputs(); ++i) args.push_back(k.Take(i));
    k.step().functions->CallAsync(function_, std::move(args), k,
                                  [&k, done = std::move(done)](Status status, std::vector<Tensor> results) {
                                    if (status.ok()) status = SetOutputs(k, std::move(results));
                                    done(std::move(status));
                                  });
  }

 private:
  static Status SetOutputs(KernelContext& k, std::vector<Tensor> results) {
    if (static_cast<int>(results.size()) != k.num_outputs()) {
      return Status(Code::kInvalidArgument, StrCat("the function returned ", results.size(), " values, but ",
                                                   k.num_outputs(), " are expected"));
    }
    for (int i = 0; i < k.num_outputs(); ++i) {
      if (results[i].dtype() != k.node().output_type(i)) {
        return Status(Code::kInvalidArgument, StrCat("the function's result ", i, " has type ", results[i].dtype(),
                                                     ", but ", k.node().output_type(i), " is expected"));
      }
      k.SetOutput(i, std::move(results[i]));
    }
    return {};
  }
  const FuncRef function_;
};

// The runtime makes the gradient of a function when it is asked for SymbolicGradient{f=...}.
class SymbolicGradient : public Call {
 public:
  explicit SymbolicGradient(const NodeView& node)
      : Call(node, {"SymbolicGradient", {{"f", node.attr<FuncRef>("f")}}}) {}
};

}  // namespace

void RegisterFunctionalKernels(KernelRegistry& kernels) {
  kernels.Add<Call>("PartitionedCall");
  kernels.Add<Call>("StatefulPartitionedCall");
  kernels.Add<SymbolicGradient>("SymbolicGradient");
}

}  // namespace penstock
