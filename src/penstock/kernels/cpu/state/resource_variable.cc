// Variables behind resource handles.
#include <algorithm>

#include "penstock/base/fork.h"
#include "penstock/kernel/anonymous.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/gather.h"
#include "penstock/kernels/cpu/state/variables.h"
#include "penstock/ops/integers.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

// The slot is made with the handle and stays with it; a variable that was never assigned, or was destroyed, is a slot
// without a value.
class VarHandle : public Kernel {
 public:
  explicit VarHandle(const NodeView& node)
      : dtype_(node.attr<DataType>("dtype")), shape_(node.attr<PartialShape>("shape")) {}
  void Run(KernelContext& k) override {
    std::lock_guard lock(mutex_);
    if (!handle_.initialized()) handle_ = MakeHandle(k);
    k.SetOutput(0, handle_);
  }

 private:
  Tensor MakeHandle(KernelContext& k) const {
    auto [container, name] = k.ResourceName();
    if (container.empty()) container = k.resources().default_container();
    const bool anonymous = IsAnonymous(k.node());
    const auto make = [&, &name = name] {
      auto slot = MakeRef<VariableSlot>();
      slot->dtype = dtype_;
      slot->shape = shape_;
      slot->name = name;
      return slot;
    };
    Ref<VariableSlot> slot = anonymous ? make() : k.resources().FindOrMake<VariableSlot>(container, name, make);
    Tensor handle(DT_RESOURCE, Shape());
    *handle.mutable_data<ResourceHandle>() = {k.device().name(), container,          name,
                                              "tensorflow::Var", {{dtype_, shape_}}, slot};
    return handle;
  }
  const DataType dtype_;
  const PartialShape shape_;
  ForkMutex mutex_;
  Tensor handle_;
};

struct IsInitialized {
  void operator()(KernelContext& k) const {
    Ref<VariableSlot> slot = VariableInput(k, 0);
    std::lock_guard lock(slot->mutex);
    k.SetOutput(0, Tensor(slot->value.initialized()));
  }
};

// The value for reading: shared, not copied. FailedPrecondition if there is none.
Tensor ReadValue(KernelContext& k, DataType dtype) {
  Ref<VariableSlot> slot = VariableInput(k, 0);
  std::lock_guard lock(slot->mutex);
  if (!slot->value.initialized()) throw UninitializedResource(k.handle(0));
  k.Require(dtype == slot->value.dtype(), "Trying to read variable with wrong dtype. Expected ", dtype, " got ",
            slot->value.dtype());
  return slot->value;
}

struct Read {
  void operator()(KernelContext& k) const { k.SetOutput(0, ReadValue(k, k.node().output_type(0))); }
};

struct Assign {
  bool validate_shape;
  explicit Assign(const NodeView& node) : validate_shape(node.attr<bool>("validate_shape")) {}
  void operator()(KernelContext& k) const {
    Ref<VariableSlot> slot = VariableInput(k, 0);
    const Tensor& value = k.input(1);
    std::lock_guard lock(slot->mutex);
    k.Require(slot->dtype == value.dtype(), "Trying to assign variable with wrong dtype. Expected ", slot->dtype,
              " got ", value.dtype());
    if (validate_shape) {
      k.Require(slot->shape.IsCompatibleWith(value.shape()),
                "Trying to assign to variable with tensor with wrong shape. Expected ", slot->shape, " got ",
                value.shape());
    }
    StoreValue(k, *slot, 1);
  }
};

template <class T, bool kAdd>
struct AssignUpdate {
  void operator()(KernelContext& k) const {
    Ref<VariableSlot> slot = VariableInput(k, 0);
    const Tensor& value = k.input(1);
    std::lock_guard lock(slot->mutex);
    if (!slot->value.initialized()) throw MissingVariable(k.handle(0));
    k.Require(slot->value.dtype() == value.dtype(), "Trying to update a variable of type ", slot->value.dtype(),
              " with ", value.dtype());
    k.Require(slot->value.shape() == value.shape(), "Cannot update variable with shape ", slot->value.shape(),
              " using a Tensor with shape ", value.shape(), ", shapes must be equal.");
    T* to = WritableValue(k, *slot).template mutable_data<T>();
    const T* from = value.data<T>();
    k.Parallel(value.num_elements(), 1, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = kAdd ? WrapAdd(to[i], from[i]) : WrapSub(to[i], from[i]);
    });
  }
};
template <class T>
using AssignAddVariable = AssignUpdate<T, true>;
template <class T>
using AssignSubVariable = AssignUpdate<T, false>;

struct VariableShape {
  void operator()(KernelContext& k) const {
    Shape shape;
    {
      Ref<VariableSlot> slot = VariableInput(k, 0);
      std::lock_guard lock(slot->mutex);
      if (!slot->value.initialized()) throw UninitializedResource(k.handle(0));
      shape = slot->value.shape();
    }
    Tensor& out = k.Output(0, Shape({shape.rank()}));
    for (int i = 0; i < shape.rank(); ++i) {
      if (out.dtype() == DT_INT32) {
        k.Require(shape[i] <= INT32_MAX, "dimension ", shape[i], " is too large for int32");
        out.mutable_data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
      } else {
        out.mutable_data<int64_t>()[i] = shape[i];
      }
    }
  }
};

// params [batch..., n, inner...], indices [batch..., rest...] -> [batch..., rest..., inner...]
struct Gather {
  int batch_dims;
  explicit Gather(const NodeView& node) : batch_dims(static_cast<int>(node.attr<int64_t>("batch_dims"))) {}
  void operator()(KernelContext& k) const {
    const Tensor params = ReadValue(k, k.node().output_type(0));
    const Tensor& indices = k.input(1);
    k.Require(batch_dims >= 0 && batch_dims <= indices.rank(), "batch_dims ", batch_dims,
              " is out of range of the indices' rank ", indices.rank());
    k.Require(params.rank() > batch_dims, "params must be at least ", batch_dims + 1, " dimensional, but has shape ",
              params.shape());
    Shape shape;
    int64_t batches = 1, inner = 1;
    for (int d = 0; d < batch_dims; ++d) {
      k.Require(params.dim(d) == indices.dim(d), "params.shape[", d, "]: ", params.dim(d),
                " should be equal to indices.shape[", d, "]: ", indices.dim(d));
      batches *= params.dim(d);
    }
    for (int d = 0; d < indices.rank(); ++d) shape.AddDim(indices.dim(d));
    for (int d = batch_dims + 1; d < params.rank(); ++d) {
      shape.AddDim(params.dim(d));
      inner *= params.dim(d);
    }
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    GatherInto(k, params, indices, {.batches = batches, .outer = 1, .limit = params.dim(batch_dims), .inner = inner},
               out);
  }
};

struct GatherNd {
  void operator()(KernelContext& k) const {
    const Tensor params = ReadValue(k, k.node().output_type(0));
    const Tensor& indices = k.input(1);
    k.Require(indices.rank() >= 1, "indices must be at least a vector");
    const int depth = static_cast<int>(std::min<int64_t>(indices.dim(indices.rank() - 1), kMaxRank + 1));
    k.Require(depth <= params.rank(), "index innermost dimension length must be <= params rank; saw: ", depth, " vs. ",
              params.rank());
    Shape outer = indices.shape();
    outer.RemoveDim(outer.rank() - 1);
    Shape shape = outer;
    int64_t inner = 1;
    for (int d = depth; d < params.rank(); ++d) {
      shape.AddDim(params.dim(d));
      inner *= params.dim(d);
    }
    const std::vector<int64_t> flat = shapes::Integers(indices);
    Tensor& out = k.Output(0, shape);
    for (int64_t i = 0; i < outer.num_elements(); ++i) {
      int64_t at = 0;
      for (int d = 0; d < depth; ++d) {
        const int64_t index = flat[i * depth + d];
        if (index < 0 || index >= params.dim(d)) {
          const std::vector<int64_t> bad(flat.begin() + i * depth, flat.begin() + (i + 1) * depth);
          throw InvalidArgument("indices", Position{outer, i}, " = [", StrJoin(bad, ", "),
                                "] does not index into param shape ", params.shape());
        }
        at = at * params.dim(d) + index;
      }
      CopyElements(params, at * inner, inner, &out, i * inner);
    }
  }
};

struct Destroy {
  bool ignore_lookup_error;
  explicit Destroy(const NodeView& node) : ignore_lookup_error(node.attr<bool>("ignore_lookup_error")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).num_elements() == 1, "input 0 must be one resource handle");
    const ResourceHandle& handle = k.handle(0);
    Ref<Resource> any = handle.resource ? handle.resource : k.resources().Find(handle.container, handle.name);
    bool existed;
    if (auto* slot = dynamic_cast<VariableSlot*>(any.get())) {
      std::lock_guard lock(slot->mutex);
      existed = slot->value.initialized();
      slot->value = Tensor();
      ++slot->version;
    } else {
      existed = k.resources().Remove(handle.container, handle.name);
    }
    if (!existed && !ignore_lookup_error) {
      throw NotFound("Resource ", handle.container, "/", handle.name, "/", handle.type_name, " does not exist.");
    }
  }
};

struct Nothing {
  void operator()(KernelContext&) const {}
};

}  // namespace

void RegisterResourceVariableKernels(KernelRegistry& kernels) {
  kernels.Add<VarHandle>("VarHandleOp");
  kernels.Add<IsInitialized>("VarIsInitializedOp").HostOutput(0);
  kernels.Add<Read>("ReadVariableOp");
  kernels.Add<Assign>("AssignVariableOp");
  kernels.Add<AssignAddVariable>("AssignAddVariableOp", Numbers{}, "dtype");
  kernels.Add<AssignSubVariable>("AssignSubVariableOp", Numbers{}, "dtype");
  kernels.Add<VariableShape>("VariableShape").HostOutput(0);
  kernels.Add<Gather>("ResourceGather");
  kernels.Add<GatherNd>("ResourceGatherNd");
  kernels.Add<Destroy>("DestroyResourceOp");
  kernels.Add<Nothing>("DisableCopyOnRead");
}

}  // namespace penstock
