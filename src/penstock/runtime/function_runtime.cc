#include "penstock/runtime/function_runtime.h"

#include "penstock/graph/lower.h"
#include "penstock/runtime/rendezvous.h"

namespace penstock {
namespace {

constexpr int kDeepestCall = 1000;

// What one call needs until it is over.
struct Call {
  std::shared_ptr<const CompiledStep> compiled;
  std::vector<Tensor> args, rets;
  StepServices step;
  Ref<LocalRendezvous> rendezvous = MakeRef<LocalRendezvous>();
};

std::string KeyOf(const FuncRef& function) {
  std::string key = function.name;
  for (const auto& [name, value] : function.attrs) {
    const FuncRef* nested = value.If<FuncRef>();
    key += StrCat("\n", name, "=", nested ? KeyOf(*nested) : value.ToString());
  }
  return key;
}

}  // namespace

std::shared_ptr<const CompiledStep> FunctionRuntime::Find(const FuncRef& function) {
  const std::string key = KeyOf(function);
  {
    std::lock_guard lock(mutex_);
    const auto it = compiled_.find(key);
    if (it != compiled_.end()) return it->second;
  }
  FunctionBody body = InstantiateCallee(function, library_());
  // Kernels with state belong to this function, not to a node of the same name elsewhere.
  StepEnvironment environment = *environment_;
  environment.make_kernel = [this, key](const Node& node, const NodeView& view) {
    return environment_->make_function_kernel(key, node, view);
  };
  std::shared_ptr<const CompiledStep> compiled = CompileStep(body.graph, environment);
  std::lock_guard lock(mutex_);
  return compiled_.try_emplace(key, compiled).first->second;
}

void FunctionRuntime::Forget(const std::string& name) {
  std::lock_guard lock(mutex_);
  std::erase_if(compiled_, [&](const auto& entry) {
    return entry.first.starts_with(name) && (entry.first.size() == name.size() || entry.first[name.size()] == '\n');
  });
}

void FunctionRuntime::CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller,
                                Results done) {
  auto call = std::make_shared<Call>();
  try {
    if (caller.step().call_depth >= kDeepestCall) {
      throw ResourceExhausted("Function ", function.name, " is called more than ", kDeepestCall, " levels deep");
    }
    call->compiled = Find(function);
    const auto& types = call->compiled->arg_types;
    if (args.size() != types.size()) {
      throw InvalidArgument("Function ", function.name, " expects ", types.size(), " arguments, but got ", args.size());
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].dtype() != types[i]) {
        throw InvalidArgument("Expects arg[", i, "] to be ", ToString(types[i]), " but ", ToString(args[i].dtype()),
                              " is provided");
      }
    }
  } catch (...) {
    done(CurrentStatus(), {});
    return;
  }
  call->args = std::move(args);
  call->rets.resize(call->compiled->ret_types.size());
  call->step = caller.step();
  call->step.rendezvous = call->rendezvous.get();
  call->step.schedule = [pool = environment_->inter_op](std::function<void()> task) {
    pool->Schedule(std::move(task));
  };
  ++call->step.call_depth;
  const RunArgs run{call->args.data(), call->rets.data(), &call->step, nullptr};
  RunStepAsync(*call->compiled, run, *environment_, [call, done = std::move(done)](Status status) {
    done(std::move(status), std::move(call->rets));
  });
}

}  // namespace penstock
