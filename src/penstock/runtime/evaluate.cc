#include "penstock/runtime/evaluate.h"

#include "penstock/base/denormals.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernel/py_function.h"

namespace penstock {

static Device& HostDevice() {
  static Device* device = new Device("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator());
  return *device;
}

std::optional<std::vector<Tensor>> EvaluateNode(const Node& node, std::span<const Tensor> inputs) {
  Device* device = &HostDevice();
  try {
    const NodeView view(node.name(), node.op(), node.attrs(), node.input_types(), node.output_types(), device);
    if (!KernelRegistry::Global().Find("CPU", node.op(), node.attrs())) return std::nullopt;
    const std::unique_ptr<Kernel> kernel = KernelRegistry::Global().Make("CPU", view);
    if (kernel->is_async()) return std::nullopt;
    std::vector<Value> values(inputs.size()), outputs(node.num_outputs());
    std::vector<KernelContext::Input> in;
    for (size_t i = 0; i < inputs.size(); ++i) {
      values[i].tensor = inputs[i];
      in.push_back({&values[i], false});
    }
    StepServices step;
    KernelContext context(view, in, outputs, step, *device);
    const ScopedDenormals denormals(ScopedDenormals::kZero);
    kernel->Run(context);
    std::vector<Tensor> results;
    for (Value& output : outputs) {
      if (!output.tensor.initialized()) return std::nullopt;
      results.push_back(std::move(output.tensor));
    }
    return results;
  } catch (const Error&) {
    return std::nullopt;  // the error shows when the step runs, with its node named
  }
}

std::optional<std::vector<Tensor>> EvaluatePyFunction(const Node& node, std::span<const Tensor> inputs) {
  const PyFunctionHook hook = GetPyFunctionHook();
  if (!hook) return std::nullopt;
  try {
    std::vector<Tensor> results =
        hook(node.attr<std::string>("token"), HostDevice().name(), {inputs.begin(), inputs.end()});
    if (static_cast<int>(results.size()) != node.num_outputs()) return std::nullopt;
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (results[i].dtype() != node.output_type(i)) return std::nullopt;
    }
    return results;
  } catch (const Error&) {
    return std::nullopt;  // the error shows when the step runs
  }
}

}  // namespace penstock
