// KernelContext: one run of one kernel: inputs, outputs, and what the step offers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "penstock/device/device.h"
#include "penstock/kernel/kernel.h"
#include "penstock/kernel/services.h"

namespace penstock {

// A value in flight: a tensor, or a reference to a variable's slot.
struct Value {
  Tensor tensor;
  Ref<VariableSlot> ref;
};

class KernelContext {
 public:
  struct Input {
    Value* value;
    bool last_use;  // nobody reads this value after this kernel: its buffer may be taken
  };
  KernelContext(const NodeView& node, std::span<Input> inputs, std::span<Value> outputs, StepServices& step,
                Device& device)
      : node_(&node), inputs_(inputs), outputs_(outputs), step_(&step), device_(&device) {}

  const NodeView& node() const { return *node_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  // --- inputs
  const Tensor& input(int i) const { return inputs_[i].value->tensor; }
  const Shape& shape(int i) const { return input(i).shape(); }
  template <class T>
  std::span<const T> in(int i) const {
    return input(i).flat<T>();
  }
  // A scalar (or one-element vector) input. InvalidArgument otherwise.
  template <class T>
  const T& Scalar(int i) const {
    const Tensor& t = input(i);
    Require(t.num_elements() == 1 && t.rank() <= 1, "input ", i, " must be a scalar, but has shape ", t.shape());
    return *t.data<T>();
  }
  // An int32 or int64 scalar input.
  int64_t Int(int i) const;
  // An int32 or int64 vector (or scalar) input.
  std::vector<int64_t> Ints(int i) const;
  // An int32 or int64 input that is an axis of `rank` dimensions, made non-negative. InvalidArgument out of range.
  int Axis(int i, int rank) const;
  // Input i, a vector that is a shape. InvalidArgument: negative sizes or too many elements.
  Shape ShapeInput(int i) const;
  // The slot behind a reference input.
  VariableSlot& ref(int i) const { return *inputs_[i].value->ref; }
  const Ref<VariableSlot>& ref_ptr(int i) const { return inputs_[i].value->ref; }
  bool is_ref(int i) const { return static_cast<bool>(inputs_[i].value->ref); }
  const ResourceHandle& handle(int i) const { return *input(i).data<ResourceHandle>(); }
  // The object behind a resource handle. NotFound (FailedPrecondition for variables) if it is gone or of another type.
  template <class T>
  Ref<T> Lookup(int i) const {
    Ref<Resource> any = LookupAny(i);
    T* typed = dynamic_cast<T*>(any.get());
    if (!typed)
      throw InvalidArgument("resource ", handle(i).name, " is of another type than ", node().op().name, " needs");
    typed->AddRef();
    return Ref<T>(typed);
  }

  // --- outputs
  // Uninitialised memory for output i (of the node's declared type).
  Tensor& Output(int i, const Shape& shape);
  Tensor& Output(int i, DataType dtype, const Shape& shape);
  // Output i in the buffer of the first of `candidates` that is last used here, is held by nobody else, and has the
  // right type and size; fresh memory otherwise. The buffer still holds the input's values.
  Tensor& OutputLike(int i, std::initializer_list<int> candidates, const Shape& shape);
  template <class T>
  std::span<T> out(int i, const Shape& shape) {
    return Output(i, shape).template mutable_flat<T>();
  }
  template <class T>
  std::span<T> OutLike(int i, int input = 0) {
    return OutputLike(i, {input}, shape(input)).template mutable_flat<T>();
  }
  void SetOutput(int i, Tensor value) { outputs_[i].tensor = std::move(value); }
  void SetRef(int i, Ref<VariableSlot> slot) { outputs_[i].ref = std::move(slot); }
  // Hands input i over as output o without copying.
  void Forward(int i, int o);
  // Scratch memory.
  Tensor Temp(DataType dtype, const Shape& shape) const { return Tensor(dtype, shape, device().allocator()); }
  // Whether input i's buffer may be written: last use, and held by nobody else.
  bool CanTake(int i) const {
    return inputs_[i].last_use && !inputs_[i].value->ref && inputs_[i].value->tensor.unique();
  }
  Tensor Take(int i) { return CanTake(i) ? std::move(inputs_[i].value->tensor) : input(i); }
  // For Switch and Merge: an output that is not set is dead.
  bool output_set(int i) const { return outputs_[i].tensor.initialized() || outputs_[i].ref; }

  // --- checks
  // InvalidArgument with the parts as message unless `ok`; op and node are added by the executor.
  template <class... Parts>
  static void Require(bool ok, const Parts&... parts) {
    if (!ok) [[unlikely]]
      throw InvalidArgument(parts...);
  }

  // --- the step
  // fn(begin, end) over [0, total), in parallel where it pays; unit_cost: about nanoseconds for one unit.
  void Parallel(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn) const;
  StepServices& step() const { return *step_; }
  Device& device() const { return *device_; }
  ResourceManager& resources() const { return device_->resources(); }
  bool cancelled() const { return step_->cancellation && step_->cancellation->cancelled(); }
  // Which frame and iteration this runs in, for rendezvous keys and TensorArrays.
  int64_t frame_iter = 0;
  bool is_dead = false;  // only transfers (_Send) ever see a dead run
  // The container and name that a stateful node's object has: from its `container` and `shared_name` attributes, or its
  // own.
  std::pair<std::string, std::string> ResourceName() const;

 private:
  Ref<Resource> LookupAny(int i) const;
  const NodeView* node_;
  std::span<Input> inputs_;
  std::span<Value> outputs_;
  StepServices* step_;
  Device* device_;
};

}  // namespace penstock
