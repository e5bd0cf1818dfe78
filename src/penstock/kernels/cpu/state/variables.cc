#include "penstock/kernels/cpu/state/variables.h"

#include <algorithm>
#include <cstring>

namespace penstock {

Error UninitializedResource(const ResourceHandle& handle) {
  return FailedPrecondition("Error while reading resource variable ", handle.name,
                            " from Container: ", handle.container,
                            ". This could mean that the variable was uninitialized. Could not find variable ",
                            handle.name, ": it was never given a value, or has been deleted.");
}

Error MissingVariable(const ResourceHandle& handle) {
  return NotFound("Could not find resource: ", handle.container, "/", handle.name,
                  ": the variable was never given a value, or has been deleted.");
}

Ref<VariableSlot> VariableInput(KernelContext& k, int i) {
  if (k.is_ref(i)) return k.ref_ptr(i);
  const Tensor& t = k.input(i);
  k.Require(t.dtype() == DT_RESOURCE && t.num_elements() == 1, "input ", i, " must be one resource handle");
  const ResourceHandle& handle = *t.data<ResourceHandle>();
  Ref<Resource> any = handle.resource ? handle.resource : k.resources().Find(handle.container, handle.name);
  if (!any) throw UninitializedResource(handle);
  auto* slot = dynamic_cast<VariableSlot*>(any.get());
  if (!slot) {
    throw InvalidArgument("Trying to access resource ", handle.name, " as a variable, but it is ", any->DebugString());
  }
  return ShareRef(slot);
}

void RequireInitialized(const VariableSlot& slot) {
  if (!slot.value.initialized()) throw FailedPrecondition("Attempting to use uninitialized value ", slot.name);
}

SlotLocks::SlotLocks(const std::vector<Ref<VariableSlot>>& slots) {
  for (const auto& slot : slots) locked_.push_back(slot.get());
  std::sort(locked_.begin(), locked_.end(), std::less<>());
  locked_.erase(std::unique(locked_.begin(), locked_.end()), locked_.end());
  for (VariableSlot* slot : locked_) slot->mutex.lock();
}

SlotLocks::~SlotLocks() {
  for (VariableSlot* slot : locked_) slot->mutex.unlock();
}

Tensor& WritableValue(KernelContext& k, VariableSlot& slot) {
  if (!slot.value.unique()) slot.value = slot.value.Clone();
  ++slot.version;
  return slot.value;
}

void StoreValue(KernelContext& k, VariableSlot& slot, int i) {
  if (k.CanTake(i)) {
    slot.value = k.Take(i);
  } else {
    const Tensor& from = k.input(i);
    const bool fits = slot.value.dtype() == from.dtype() && slot.value.shape() == from.shape() && slot.value.unique() &&
                      IsPod(from.dtype());
    if (fits) {
      // raw() may be the same memory when a variable is assigned to itself.
      std::memmove(slot.value.mutable_raw(), from.raw(), from.bytes());
    } else {
      slot.value = from.Clone();
    }
  }
  ++slot.version;
}

}  // namespace penstock
