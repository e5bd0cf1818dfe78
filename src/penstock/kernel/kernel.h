// The kernel interface: what a device's implementation of an op is, and what it sees while it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/base/threads.h"
#include "penstock/op/attr_value.h"
#include "penstock/op/op_def.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

class KernelContext;
class Device;

// A node as its kernel sees it when it is made: once for each compiled step, or once for each session if it has state.
class NodeView {
 public:
  NodeView(std::string_view name, const OpDef& op, const AttrMap& attrs, std::span<const DataType> input_types,
           std::span<const DataType> output_types, Device* device)
      : name_(name),
        op_(&op),
        attrs_(&attrs),
        input_types_(input_types),
        output_types_(output_types),
        device_(device) {}
  std::string_view name() const { return name_; }
  const OpDef& op() const { return *op_; }
  const AttrMap& attrs() const { return *attrs_; }
  int num_inputs() const { return static_cast<int>(input_types_.size()); }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType input_type(int i) const { return input_types_[i]; }
  DataType output_type(int i) const { return output_types_[i]; }
  Device* device() const { return device_; }
  template <class T>
  const T& attr(std::string_view name) const {
    const AttrValue* value = attrs_->Find(name);
    const T* typed = value ? value->If<T>() : nullptr;
    if (!typed) throw InvalidArgument("attribute '", name, "' of op ", op_->name, " is missing or of another kind");
    return *typed;
  }
  template <class T>
  T attr_or(std::string_view name, T otherwise) const {
    const AttrValue* value = attrs_->Find(name);
    const T* typed = value ? value->If<T>() : nullptr;
    return typed ? *typed : otherwise;
  }

 private:
  std::string_view name_;
  const OpDef* op_;
  const AttrMap* attrs_;
  std::span<const DataType> input_types_, output_types_;
  Device* device_;
};

// What a kernel computes of each element, if that is all it does: chains of such kernels are joined into one.
struct ElementwiseLoop {
  // y[i] = f(x[i]); y may be x.
  void (*unary)(const void* x, void* y, int64_t n) = nullptr;
  // Or, of two inputs, out[i] = f(a[i * sa], b[i * sb]); sa and sb are 0 or 1; out may be a or b.
  void (*binary)(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) = nullptr;
  int64_t picoseconds = 0;  // for one element
  bool stretches = true;    // inputs of different shapes are stretched to one; else they are refused
};

// Run may be called from many threads at once (steps of one session); a kernel without state is const in effect.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Throws Error; the executor adds op and node.
  virtual void Run(KernelContext& k) = 0;
  // A kernel that waits (Recv, queues, RPCs, py_func) is asynchronous: RunAsync returns at once and calls `done`
  // exactly once, from any thread, when its outputs are set; it holds no thread meanwhile.
  virtual bool is_async() const { return false; }
  using Done = std::function<void(Status)>;
  virtual void RunAsync(KernelContext& k, Done done);
  // Null unless inputs and output are of one type, and output elements follow from elements of the inputs.
  virtual const ElementwiseLoop* elementwise() const { return nullptr; }
};

class AsyncKernel : public Kernel {
 public:
  bool is_async() const override { return true; }
  void Run(KernelContext& k) final;  // RunAsync and wait
  void RunAsync(KernelContext& k, Done done) override = 0;
};

}  // namespace penstock
