// Stacks of tensors that live within a step.
#include <atomic>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

class Stack : public Resource {
 public:
  Stack(std::string name, DataType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}
  void Push(Tensor value) {
    std::lock_guard lock(mutex_);
    CheckOpen();
    if (value.dtype() != dtype_) {
      throw InvalidArgument("Must have type ", dtype_, " to be pushed on ", DebugString(), ", but is ", value.dtype());
    }
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      throw InvalidArgument("Stack[", name_, "] overflowed its max_size (", max_size_, ")");
    }
    values_.push_back(std::move(value));
  }
  Tensor Pop() {
    std::lock_guard lock(mutex_);
    CheckOpen();
    if (values_.empty()) throw InvalidArgument("Stack[", name_, "] is empty when calling Pop().");
    Tensor top = std::move(values_.back());
    values_.pop_back();
    return top;
  }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    values_.clear();
  }
  DataType dtype() const { return dtype_; }
  std::string DebugString() const override { return StrCat("Stack[", name_, "]"); }

 private:
  void CheckOpen() const {
    if (closed_) throw InvalidArgument("Stack[", name_, "] has already been closed.");
  }
  const std::string name_;
  const DataType dtype_;
  const int64_t max_size_;
  std::mutex mutex_;
  std::vector<Tensor> values_;
  bool closed_ = false;
};

struct MakeStack {
  DataType dtype;
  std::string name;
  explicit MakeStack(const NodeView& node)
      : dtype(node.attr<DataType>("elem_type")), name(node.attr<std::string>("stack_name")) {
    if (name.empty()) name = node.name();
  }
  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> number{0};
    const std::string unique = StrCat(name, "_", number.fetch_add(1));
    const int64_t max_size = k.num_inputs() > 0 ? k.Int(0) : -1;
    SetStepResource(k, {k.device().name(),
                        "_stacks",
                        unique,
                        "tensorflow::Stack",
                        {{dtype, {}}},
                        MakeRef<Stack>(unique, dtype, max_size)});
  }
};

Ref<Stack> StackOf(KernelContext& k) { return NamedResource<Stack>(k, 0, *k.step().step_resources); }

struct Push {
  void operator()(KernelContext& k) const {
    StackOf(k)->Push(k.input(1));
    k.Forward(1, 0);
  }
};

struct Pop {
  void operator()(KernelContext& k) const {
    Ref<Stack> stack = StackOf(k);
    k.Require(stack->dtype() == k.node().output_type(0), "the stack holds ", stack->dtype(), ", not ",
              k.node().output_type(0));
    k.SetOutput(0, stack->Pop());
  }
};

struct Close {
  void operator()(KernelContext& k) const { StackOf(k)->Close(); }
};

}  // namespace

void RegisterStackKernels(KernelRegistry& kernels) {
  kernels.Add<MakeStack>("StackV2").HostInput(0);
  kernels.Add<Push>("StackPushV2");
  kernels.Add<Pop>("StackPopV2");
  kernels.Add<Close>("StackCloseV2");
  kernels.Add<MakeStack>("Stack");
  kernels.Add<Push>("StackPush");
  kernels.Add<Pop>("StackPop");
  kernels.Add<Close>("StackClose");
}

}  // namespace penstock
