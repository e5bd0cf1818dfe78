// Kernels whose output is an object with a name: queues, tables, accumulators of the device, arrays and stacks of the
// step. The handle is a resource or, in the first version of an op, a reference to two strings.
#pragma once

#include <mutex>
#include <string>

#include "penstock/base/fork.h"
#include "penstock/kernel/anonymous.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Makes the object, or finds the one of that name, when it first runs. An anonymous one ends with its handles.
template <class R>
class NamedResourceKernel : public Kernel {
 public:
  NamedResourceKernel(const NodeView& node, std::string type_name)
      : resource_(node.output_type(0) == DT_RESOURCE), type_name_(std::move(type_name)) {}

  void Run(KernelContext& k) override {
    std::lock_guard lock(mutex_);
    if (!object_) Find(k);
    if (resource_) {
      k.SetOutput(0, handle_);
    } else {
      k.SetRef(0, ref_);
    }
  }

 protected:
  virtual Ref<R> Make(KernelContext& k, const std::string& name) const = 0;
  // Throws unless a node with these attributes may share the object.
  virtual void CheckSharing(KernelContext& k, const R& object) const = 0;

 private:
  void Find(KernelContext& k) {
    auto [container, name] = k.ResourceName();
    const bool anonymous = IsAnonymous(k.node());
    if (anonymous) name = k.node().name();
    const auto make = [&, &n = name] { return Make(k, n); };
    Ref<R> object = anonymous ? make() : k.resources().FindOrMake<R>(container, name, make);
    CheckSharing(k, *object);
    if (resource_) {
      handle_ = Tensor(DT_RESOURCE, Shape());
      *handle_.mutable_data<ResourceHandle>() = {k.device().name(), container, name, type_name_, {}, object};
    } else {
      ref_ = MakeRef<VariableSlot>();
      ref_->dtype = DT_STRING;
      ref_->name = name;
      ref_->value = Tensor::Vector<TString>({TString(container), TString(name)});
    }
    object_ = object;
  }

  const bool resource_;
  const std::string type_name_;
  ForkMutex mutex_;
  Ref<R> object_;
  Tensor handle_;
  Ref<VariableSlot> ref_;
};

// Hands an object that ends with its step over as output 0: a resource that holds it, or, in older versions of the op,
// its container and name, by value or by reference.
inline void SetStepResource(KernelContext& k, ResourceHandle handle) {
  const DataType type = k.node().output_type(0);
  if (type == DT_RESOURCE) {
    Tensor tensor(DT_RESOURCE, Shape());
    *tensor.mutable_data<ResourceHandle>() = std::move(handle);
    return k.SetOutput(0, tensor);
  }
  k.step().step_resources->Put(handle.container, handle.name, handle.resource);
  Tensor names = Tensor::Vector<TString>({TString(handle.container), TString(handle.name)});
  if (!IsRef(type)) return k.SetOutput(0, names);
  auto slot = MakeRef<VariableSlot>();
  slot->dtype = DT_STRING;
  slot->name = handle.name;
  slot->value = std::move(names);
  k.SetRef(0, slot);
}

// The object behind input i, a handle of any kind; names are looked up in `named`.
template <class R>
Ref<R> NamedResource(KernelContext& k, int i, const ResourceManager& named) {
  if (!k.is_ref(i) && k.input(i).dtype() == DT_RESOURCE) return k.Lookup<R>(i);
  Tensor names = k.input(i);
  if (k.is_ref(i)) {
    std::lock_guard lock(k.ref(i).mutex);
    names = k.ref(i).value;
  }
  k.Require(names.dtype() == DT_STRING && names.num_elements() == 2, "A handle must have two elements");
  const TString* name = names.data<TString>();
  Ref<R> object = named.FindAs<R>(name[0], name[1]);
  if (!object) throw NotFound("Resource ", name[0].view(), "/", name[1].view(), " does not exist");
  return object;
}
template <class R>
Ref<R> NamedResource(KernelContext& k, int i) {
  return NamedResource<R>(k, i, k.resources());
}

}  // namespace penstock
