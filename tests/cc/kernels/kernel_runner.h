// Runs single kernels on given tensors, without a graph or a session around them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/kernel/kernel_context.h"
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

// What the kernels of one test share: a device with its resources, and a step.
struct TestStep {
  explicit TestStep(int threads = 2) : pool(threads, "test") {
    services.cancellation = cancellation;
    services.step_resources = &step_resources;
    services.intra_op = &pool;
  }
  Device device{"/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator()};
  ThreadPool pool;
  Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();
  ResourceManager step_resources;
  StepServices services;
};

// One kernel; keeps its state from run to run. Types are those of the definition with the given attributes; defaults
// are filled in. Throws Error.
class KernelRunner {
 public:
  KernelRunner(TestStep* step, const std::string& op, AttrMap attrs)
      : step_(step), op_(TestOps().Find(op)), attrs_(std::move(attrs)) {
    if (!op_) throw NotFound("no op ", op);
    for (const AttrDef& attr : op_->attrs) {
      if (!attrs_.Find(attr.name) && attr.has_default()) attrs_.Set(attr.name, attr.default_value);
    }
    in_types_ = Types(op_->inputs);
    out_types_ = Types(op_->outputs);
    node_ = std::make_unique<NodeView>(name_, *op_, attrs_, in_types_, out_types_, &step_->device);
    kernel_ = TestKernels().Make("CPU", *node_);
  }

  std::vector<Tensor> Run(std::vector<Tensor> inputs) {
    std::vector<Value> in(inputs.size()), out(out_types_.size());
    std::vector<KernelContext::Input> slots(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      in[i].tensor = inputs[i];  // the caller's vector holds it too, so that no kernel takes the buffer over
      slots[i] = {&in[i], false};
    }
    KernelContext k(*node_, slots, out, step_->services, step_->device);
    kernel_->Run(k);
    std::vector<Tensor> results;
    for (Value& value : out) results.push_back(std::move(value.tensor));
    return results;
  }

 private:
  std::vector<DataType> Types(const std::vector<ArgDef>& args) const {
    std::vector<DataType> types;
    for (const ArgDef& arg : args) {
      if (!arg.type_list_attr.empty()) {
        const auto* list = attrs_.Find(arg.type_list_attr)->If<std::vector<DataType>>();
        types.insert(types.end(), list->begin(), list->end());
        continue;
      }
      const DataType type = arg.type_attr.empty() ? arg.type : *attrs_.Find(arg.type_attr)->If<DataType>();
      const int64_t count = arg.number_attr.empty() ? 1 : *attrs_.Find(arg.number_attr)->If<int64_t>();
      types.insert(types.end(), count, type);
    }
    return types;
  }

  TestStep* step_;
  const OpDef* op_;
  AttrMap attrs_;
  const std::string name_ = "node";
  std::vector<DataType> in_types_, out_types_;
  std::unique_ptr<NodeView> node_;
  std::unique_ptr<Kernel> kernel_;
};

// The outputs of `op`, called once; type and number attributes follow from the inputs.
inline std::vector<Tensor> RunOp(const std::string& op, std::vector<Tensor> inputs, AttrMap attrs = {},
                                 int threads = 2) {
  const OpDef* def = TestOps().Find(op);
  if (!def) throw NotFound("no op ", op);
  size_t at = 0;
  for (const ArgDef& arg : def->inputs) {
    const size_t count = arg.number_attr.empty() ? 1 : inputs.size() - (def->inputs.size() - 1);
    if (!arg.number_attr.empty()) attrs.Set(arg.number_attr, static_cast<int64_t>(count));
    if (!arg.type_attr.empty()) attrs.Set(arg.type_attr, inputs[at].dtype());
    at += count;
  }
  TestStep step(threads);
  return KernelRunner(&step, op, std::move(attrs)).Run(std::move(inputs));
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
