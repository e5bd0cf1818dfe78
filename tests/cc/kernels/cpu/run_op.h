// Runs one kernel on given tensors, without a graph: for tests of kernels.
#pragma once

#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/all.h"
#include "penstock/ops/all.h"

namespace penstock::testing {

inline const OpRegistry& TestOps() {
  static const OpRegistry* const ops = [] {
    auto* registry = new OpRegistry;
    RegisterAllOps(*registry);
    return registry;
  }();
  return *ops;
}
inline const KernelRegistry& TestKernels() {
  static const KernelRegistry* const kernels = [] {
    auto* registry = new KernelRegistry;
    RegisterAllCpuKernels(*registry);
    return registry;
  }();
  return *kernels;
}

// The outputs of `op`; type and number attributes are found from the inputs, defaults are filled in. Throws Error.
inline std::vector<Tensor> RunOp(const std::string& op, std::vector<Tensor> inputs, AttrMap attrs = {}, int threads = 2) {
  const OpDef* def = TestOps().Find(op);
  if (!def) throw NotFound("no op ", op);
  for (const AttrDef& attr : def->attrs) {
    if (!attrs.Find(attr.name) && attr.has_default()) attrs.Set(attr.name, attr.default_value);
  }
  std::vector<DataType> input_types, output_types;
  size_t at = 0;
  for (const ArgDef& arg : def->inputs) {
    const bool counted = !arg.number_attr.empty();
    const size_t count = counted ? inputs.size() - (def->inputs.size() - 1) : 1;
    if (counted) attrs.Set(arg.number_attr, static_cast<int64_t>(count));
    if (!arg.type_attr.empty()) attrs.Set(arg.type_attr, inputs[at].dtype());
    for (size_t i = 0; i < count; ++i) input_types.push_back(inputs[at++].dtype());
  }
  for (const ArgDef& arg : def->outputs) {
    output_types.push_back(arg.type_attr.empty() ? arg.type : *attrs.Find(arg.type_attr)->If<DataType>());
  }
  Device device("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator());
  const NodeView node("test", *def, attrs, input_types, output_types, &device);
  const std::unique_ptr<Kernel> kernel = TestKernels().Make("CPU", node);
  std::vector<Value> in(inputs.size()), out(output_types.size());
  std::vector<KernelContext::Input> slots(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    in[i].tensor = inputs[i];
    slots[i] = {&in[i], false};
  }
  StepServices step;
  ThreadPool pool(threads, "test");
  step.intra_op = &pool;
  KernelContext context(node, slots, out, step, device);
  kernel->Run(context);
  std::vector<Tensor> results;
  for (Value& value : out) results.push_back(std::move(value.tensor));
  return results;
}

template <class T>
Tensor Make(const Shape& shape, const std::vector<T>& values) {
  Tensor t(kTypeOf<T>, shape);
  for (size_t i = 0; i < values.size(); ++i) t.mutable_data<T>()[i] = values[i];
  return t;
}
template <class T>
std::vector<T> Values(const Tensor& t) {
  const auto flat = t.flat<T>();
  return std::vector<T>(flat.begin(), flat.end());
}
// Numbers that look random and are the same everywhere, in [-1, 1).
inline Tensor Noise(const Shape& shape, uint32_t seed = 1) {
  Tensor t(DT_FLOAT, shape);
  uint32_t state = seed * 2654435761u + 1;
  for (float& x : t.mutable_flat<float>()) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
  return t;
}

}  // namespace penstock::testing
