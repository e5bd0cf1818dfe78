// Access to variables, by reference or by resource handle, for kernels that read or change them.
#pragma once

#include <type_traits>
#include <vector>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// The slot of the variable that input i names. FailedPrecondition if a handle names none.
Ref<VariableSlot> VariableInput(KernelContext& k, int i);
// FailedPrecondition unless the slot holds a value. The caller holds its mutex.
void RequireInitialized(const VariableSlot& slot);
// The errors about a handle whose variable is absent or holds nothing: for reading it (FailedPrecondition), for
// updating it (NotFound).
Error UninitializedResource(const ResourceHandle& handle);
Error MissingVariable(const ResourceHandle& handle);

// Holds the mutexes of several variables, each taken once, in one order everywhere.
class SlotLocks {
 public:
  explicit SlotLocks(const std::vector<Ref<VariableSlot>>& slots);
  ~SlotLocks();
  SlotLocks(const SlotLocks&) = delete;

 private:
  std::vector<VariableSlot*> locked_;
};

// The slot's value for writing in place: copied first if somebody else holds its buffer. Counts a new version. The
// caller holds the mutex and has checked that there is a value.
Tensor& WritableValue(KernelContext& k, VariableSlot& slot);
// Makes input i the slot's value. Takes its buffer over if nobody else reads it, or copies it. The caller holds the
// mutex.
void StoreValue(KernelContext& k, VariableSlot& slot, int i);

// Arithmetic that wraps around for integers, as TensorFlow's.
template <class T>
T WrapAdd(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a + b;
  }
}
template <class T>
T WrapSub(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a != b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a - b;
  }
}

}  // namespace penstock
