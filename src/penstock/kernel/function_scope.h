// Functions that are called outside of the step that asked for them: by iterators.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "penstock/graph/function_library.h"
#include "penstock/kernel/services.h"

namespace penstock {

// An attribute of a call: the device where what asks for none runs.
inline constexpr std::string_view kTargetDeviceAttr = "_target_device";

// A function that is found once and called often.
class BoundFunction {
 public:
  virtual ~BoundFunction() = default;
  virtual const std::vector<DataType>& arg_types() const = 0;
  virtual const std::vector<DataType>& result_types() const = 0;
  // Whether a call may wait for something that happens elsewhere: for a Python function, a queue.
  virtual bool may_wait() const = 0;
  // Runs on the calling thread as far as possible, and throws what fails. `interrupts_seen` as in StepServices.
  // Thread-safe.
  virtual void Call(std::span<const Tensor> args, const Ref<CancellationManager>& cancellation, int interrupts_seen,
                    std::vector<Tensor>* results) const = 0;
};

// Functions with state (random numbers, say) of their own: what an iterator has.
class FunctionScope {
 public:
  virtual ~FunctionScope() = default;
  // The function of `library`, or of the scope's own if that is null.
  // NotFound, InvalidArgument: the function, or what it calls, cannot be made.
  virtual std::shared_ptr<const BoundFunction> Bind(const FuncRef& function,
                                                    const FunctionLibraryPtr& library = nullptr) = 0;
  virtual FunctionCaller& caller() = 0;  // for steps whose functions are those of this scope
};

// A FunctionCaller that can be asked for scopes. They may outlive it; their functions then fail with Cancelled.
class FunctionScopes : public FunctionCaller {
 public:
  // Its functions are those of `library`, or the same as here if that is null.
  virtual std::shared_ptr<FunctionScope> NewScope(FunctionLibraryPtr library = nullptr) = 0;
  virtual FunctionLibraryPtr library() const = 0;      // where functions are found now
  virtual FunctionLibraryPtr own_library() const = 0;  // null: it is the session's, which grows
};

}  // namespace penstock
