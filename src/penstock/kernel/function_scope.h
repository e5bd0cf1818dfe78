// Functions that are called outside of the step that asked for them: by iterators.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "penstock/kernel/services.h"

namespace penstock {

// A function that is found once and called often.
class BoundFunction {
 public:
  virtual ~BoundFunction() = default;
  virtual const std::vector<DataType>& arg_types() const = 0;
  virtual const std::vector<DataType>& result_types() const = 0;
  // Runs on the calling thread as far as possible, and throws what fails. `interrupts_seen` as in StepServices.
  // Thread-safe.
  virtual void Call(std::span<const Tensor> args, CancellationManager* cancellation, int interrupts_seen,
                    std::vector<Tensor>* results) const = 0;
};

// Functions with state (random numbers, say) of their own: what an iterator has.
class FunctionScope {
 public:
  virtual ~FunctionScope() = default;
  // NotFound, InvalidArgument: the function, or what it calls, cannot be made.
  virtual std::shared_ptr<const BoundFunction> Bind(const FuncRef& function) = 0;
};

// A FunctionCaller that can be asked for scopes. They may outlive it; their functions then fail with Cancelled.
class FunctionScopes : public FunctionCaller {
 public:
  virtual std::shared_ptr<FunctionScope> NewScope() = 0;
};

}  // namespace penstock
