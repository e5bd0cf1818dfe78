// Runs single kernels, without a graph or a session around them.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/kernel/kernel_context.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/op/op_registry.h"

namespace penstock {

// What the kernels of one test share: a device with its resources, and a step.
struct TestStep {
  explicit TestStep(int threads = 2) : pool(threads, "test") {
    services.cancellation = &cancellation;
    services.step_resources = &step_resources;
    services.intra_op = &pool;
  }
  Device device{"/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator()};
  ThreadPool pool;
  CancellationManager cancellation;
  ResourceManager step_resources;
  StepServices services;
};

// One kernel; keeps its state from run to run. Types are those of the definition with the given attributes.
class KernelRunner {
 public:
  KernelRunner(TestStep* step, std::string op, AttrMap attrs, std::string name = "node")
      : step_(step), op_(OpRegistry::Global().Find(op)), attrs_(std::move(attrs)), name_(std::move(name)) {
    if (!op_) throw NotFound("no op ", op);
    for (const AttrDef& attr : op_->attrs) {
      if (!attrs_.Find(attr.name) && attr.has_default()) attrs_.Set(attr.name, attr.default_value);
    }
    in_types_ = Types(op_->inputs);
    out_types_ = Types(op_->outputs);
    node_ = std::make_unique<NodeView>(name_, *op_, attrs_, in_types_, out_types_, &step_->device);
    kernel_ = KernelRegistry::Global().Make("CPU", *node_);
  }

  std::vector<Value> Run(std::vector<Value> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      // As the executor does where a value is wanted.
      if (inputs[i].ref && !IsRef(in_types_[i])) inputs[i] = Value{inputs[i].ref->value, {}};
    }
    std::vector<KernelContext::Input> slots;
    for (Value& value : inputs) slots.push_back({&value, false});
    std::vector<Value> outputs(out_types_.size());
    KernelContext k(*node_, slots, outputs, step_->services, step_->device);
    kernel_->Run(k);
    return outputs;
  }
  Tensor Run1(std::vector<Tensor> inputs) {
    std::vector<Value> values;
    for (Tensor& t : inputs) values.push_back(Value{std::move(t), {}});
    return Run(std::move(values))[0].tensor;
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
      types.insert(types.end(), count, arg.is_ref ? RefType(type) : type);
    }
    return types;
  }

  TestStep* step_;
  const OpDef* op_;
  AttrMap attrs_;
  const std::string name_;
  std::vector<DataType> in_types_, out_types_;
  std::unique_ptr<NodeView> node_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace penstock
