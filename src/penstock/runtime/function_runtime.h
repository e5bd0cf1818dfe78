// Calls of functions: instantiated and compiled once for each (name, attributes), run on the common road.
#pragma once

#include <map>
#include <mutex>

#include "penstock/graph/function_library.h"
#include "penstock/runtime/step.h"

namespace penstock {

class FunctionRuntime final : public FunctionCaller {
 public:
  FunctionRuntime(StepEnvironment* environment, std::function<FunctionLibraryPtr()> library)
      : environment_(environment), library_(std::move(library)) {}
  void CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller, Results done) override;
  // NotFound, InvalidArgument: the function, or what it calls, cannot be made.
  std::shared_ptr<const CompiledStep> Find(const FuncRef& function);
  void Forget(const std::string& name);  // drops what was compiled for a function that is gone

 private:
  StepEnvironment* environment_;
  std::function<FunctionLibraryPtr()> library_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const CompiledStep>> compiled_;
};

}  // namespace penstock
