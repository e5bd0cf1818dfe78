// Calls of functions: instantiated and compiled once for each (name, attributes), run on the common road.
#pragma once

#include <memory>
#include <string>

#include "penstock/base/fork.h"
#include "penstock/base/lru_cache.h"
#include "penstock/graph/function_library.h"
#include "penstock/kernel/function_scope.h"
#include "penstock/runtime/step.h"

namespace penstock {

class FunctionRuntime final : public FunctionScopes {
 public:
  FunctionRuntime(StepEnvironment* environment, std::function<FunctionLibraryPtr()> library);
  // Waits for calls of bound functions that run; later ones fail.
  ~FunctionRuntime() override;
  void CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller, Results done) override;
  std::shared_ptr<FunctionScope> NewScope(FunctionLibraryPtr library = nullptr) override;
  FunctionLibraryPtr library() const override { return CurrentLibrary(); }
  FunctionLibraryPtr own_library() const override { return nullptr; }
  // NotFound, InvalidArgument: the function, or what it calls, cannot be made.
  std::shared_ptr<const CompiledStep> Find(const FuncRef& function);
  // From now on scopes keep `owner`, which has this runtime: it goes with the last of them, and no call fails.
  void KeepWithScopes(const std::shared_ptr<const void>& owner) { owner_ = owner; }
  void KeepLibrary();                    // the library stays as it is now: who gives it may go
  void Forget(const std::string& name);  // drops what was compiled for a function that is gone, and for its calls
  CacheStats cache_stats() const;

 private:
  class Gate;
  class Scope;
  using MakeFunctionKernel = std::function<std::shared_ptr<Kernel>(const Node&, const NodeView&)>;
  std::shared_ptr<const CompiledStep> Compile(const FuncRef& function, const FunctionLibraryPtr& library,
                                              MakeFunctionKernel make_kernel) const;

  FunctionLibraryPtr CurrentLibrary() const;

  StepEnvironment* environment_;
  std::function<FunctionLibraryPtr()> library_;
  FunctionLibraryPtr kept_library_;  // in its place
  std::weak_ptr<const void> owner_;
  const std::shared_ptr<Gate> gate_;
  struct Compiled {
    FunctionNames names;
    std::shared_ptr<const CompiledStep> step;
  };
  // Compiled functions by key. One that is evicted is compiled again when it is next called; its kernels with state are
  // kept elsewhere.
  class Cache {
   public:
    std::shared_ptr<const CompiledStep> Find(const std::string& key);  // null if absent
    std::shared_ptr<const CompiledStep> Insert(const std::string& key, const FuncRef& function,
                                               std::shared_ptr<const CompiledStep> step);
    void Forget(const std::string& name);
    CacheStats stats() const;

   private:
    mutable ForkMutex mutex_;
    LruCache<std::string, std::shared_ptr<const Compiled>> entries_{4096};
  };

  mutable ForkMutex mutex_;  // guards kept_library_
  Cache compiled_;
  Cache stateless_;  // of scopes: those that they may share
};

}  // namespace penstock
