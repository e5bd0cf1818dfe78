// Reference variables: creation, assignment, counters.
#include "penstock/base/fork.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/state/variables.h"

namespace penstock {
namespace {

class VariableKernel : public Kernel {
 public:
  explicit VariableKernel(const NodeView& node)
      : dtype_(node.attr<DataType>("dtype")), shape_(node.attr<PartialShape>("shape")), name_(node.name()) {}
  void Run(KernelContext& k) override { k.SetRef(0, Slot(k)); }

 private:
  Ref<VariableSlot> Slot(KernelContext& k) {
    std::lock_guard lock(mutex_);
    if (!slot_) {
      const auto [container, name] = k.ResourceName();
      slot_ = k.resources().FindOrMake<VariableSlot>(container, name, [&] {
        auto slot = MakeRef<VariableSlot>();
        slot->dtype = dtype_;
        slot->shape = shape_;
        slot->name = name_;
        return slot;
      });
      k.Require(slot_->dtype == dtype_, "Trying to share variable ", name, " of type ", slot_->dtype, " as ", dtype_);
    }
    return slot_;
  }
  const DataType dtype_;
  const PartialShape shape_;
  const std::string name_;
  ForkMutex mutex_;
  Ref<VariableSlot> slot_;
};

struct IsInitialized {
  void operator()(KernelContext& k) const {
    VariableSlot& slot = k.ref(0);
    std::lock_guard lock(slot.mutex);
    k.out<bool>(0, {})[0] = slot.value.initialized();
  }
};

std::string TemporaryName(const KernelContext& k, std::string_view var_name) {
  return StrCat(var_name, ":", k.frame_iter, ":tmp_var");
}

struct TemporaryVariable {
  DataType dtype;
  PartialShape shape;
  std::string name;
  explicit TemporaryVariable(const NodeView& node)
      : dtype(node.attr<DataType>("dtype")),
        shape(node.attr<PartialShape>("shape")),
        name(node.attr<std::string>("var_name")) {
    if (name.empty()) name = node.name();
  }
  void operator()(KernelContext& k) const {
    auto slot = MakeRef<VariableSlot>();
    slot->dtype = dtype;
    slot->shape = shape;
    slot->name = name;
    slot->value = Tensor(dtype, shape.AsShape(), k.device().allocator());
    const std::string key = TemporaryName(k, name);
    if (k.step().step_resources->Find("tmp", key)) throw AlreadyExists("Resource tmp/", key, " exists already");
    k.step().step_resources->Put("tmp", key, slot);
    k.SetRef(0, slot);
  }
};

struct DestroyTemporaryVariable {
  std::string name;
  explicit DestroyTemporaryVariable(const NodeView& node) : name(node.attr<std::string>("var_name")) {}
  void operator()(KernelContext& k) const {
    VariableSlot& slot = k.ref(0);
    std::lock_guard lock(slot.mutex);
    RequireInitialized(slot);
    k.SetOutput(0, slot.value);
    const std::string key = TemporaryName(k, name);
    if (!k.step().step_resources->Remove("tmp", key)) throw NotFound("Resource tmp/", key, " does not exist");
  }
};

struct Assign {
  bool validate_shape;
  explicit Assign(const NodeView& node) : validate_shape(node.attr<bool>("validate_shape")) {}
  void operator()(KernelContext& k) const {
    VariableSlot& slot = k.ref(0);
    const Tensor& value = k.input(1);
    std::lock_guard lock(slot.mutex);
    if (validate_shape) {
      const PartialShape expected = slot.value.initialized() ? PartialShape(slot.value.shape()) : slot.shape;
      k.Require(expected.IsCompatibleWith(value.shape()),
                "Assign requires shapes of both tensors to match. lhs shape= ", expected,
                " rhs shape= ", value.shape());
    }
    StoreValue(k, slot, 1);
    k.SetRef(0, k.ref_ptr(0));
  }
};

template <class T, bool kAdd>
struct AssignUpdate {
  void operator()(KernelContext& k) const {
    VariableSlot& slot = k.ref(0);
    const Tensor& value = k.input(1);
    {
      std::lock_guard lock(slot.mutex);
      RequireInitialized(slot);
      k.Require(slot.value.shape() == value.shape(),
                "Parameters and update must be the same size: ", slot.value.shape(), " vs. ", value.shape());
      T* to = WritableValue(k, slot).template mutable_data<T>();
      const T* from = value.data<T>();
      k.Parallel(value.num_elements(), 1, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = kAdd ? WrapAdd(to[i], from[i]) : WrapSub(to[i], from[i]);
      });
    }
    k.SetRef(0, k.ref_ptr(0));
  }
};
template <class T>
using AssignAdd = AssignUpdate<T, true>;
template <class T>
using AssignSub = AssignUpdate<T, false>;

template <class T>
struct CountUpTo {
  T limit;
  explicit CountUpTo(const NodeView& node) : limit(static_cast<T>(node.attr<int64_t>("limit"))) {}
  void operator()(KernelContext& k) const {
    Ref<VariableSlot> slot = VariableInput(k, 0);
    std::lock_guard lock(slot->mutex);
    RequireInitialized(*slot);
    k.Require(slot->value.rank() == 0, "input is not a scalar: ", slot->value.shape());
    const T before = slot->value.template scalar<T>();
    if (before >= limit) throw OutOfRange("Reached limit of ", limit);
    *WritableValue(k, *slot).template mutable_data<T>() = static_cast<T>(before + 1);
    k.SetOutput(0, Tensor(before));
  }
};

}  // namespace

void RegisterStateKernels(KernelRegistry& kernels) {
  kernels.Add<VariableKernel>("VariableV2");
  kernels.Add<VariableKernel>("Variable");
  kernels.Add<IsInitialized>("IsVariableInitialized");
  kernels.Add<TemporaryVariable>("TemporaryVariable");
  kernels.Add<DestroyTemporaryVariable>("DestroyTemporaryVariable");
  kernels.Add<Assign>("Assign");
  kernels.Add<AssignAdd>("AssignAdd", Numbers{});
  kernels.Add<AssignSub>("AssignSub", Numbers{});
  kernels.Add<CountUpTo>("CountUpTo", Indices{});
  kernels.Add<CountUpTo>("ResourceCountUpTo", Indices{});
}

}  // namespace penstock
