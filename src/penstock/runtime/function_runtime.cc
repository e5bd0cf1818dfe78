#include "penstock/runtime/function_runtime.h"

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

}  // namespace

std::shared_ptr<const CompiledStep> FunctionRuntime::Find(const FuncRef& function) {
  std::string key = function.name;
  for (const auto& [name, value] : function.attrs) key += StrCat("\0", name, "=", value);
  {
    std::lock_guard lock(mutex_);
    const auto it = compiled_.find(key);
    if (it != compiled_.end()) return it->second;
  }
  const FunctionLibraryPtr library = library_();
  const FunctionDef* def = library->Find(function.name);
  if (!def) throw NotFound("Function ", function.name, " is not defined.");
  FunctionBody body = Instantiate(*def, function.attrs, library);
  // Kernels with state belong to this function, not to a node of the same name elsewhere.
  StepEnvironment environment = *environment_;
  environment.make_kernel = [this, key](const Node& node, const NodeView& view) {
    return environment_->make_function_kernel(key, node, view);
  };
  std::shared_ptr<const CompiledStep> compiled = CompileStep(body.graph, environment);
  std::lock_guard lock(mutex_);
  return compiled_.try_emplace(key, compiled).first->second;
}

void FunctionRuntime::CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller, Results done) {
  auto call = std::make_shared<Call>();
  try {
    if (caller.step().call_depth >= kDeepestCall) {
      throw ResourceExhausted("Function ", function.name, " calls itself more than ", kDeepestCall, " times");
    }
    call->compiled = Find(function);
    if (args.size() != call->compiled->arg_types.size()) {
      throw InvalidArgument("Function ", function.name, " expects ", call->compiled->arg_types.size(), " arguments, but got ",
                            args.size());
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].dtype() != call->compiled->arg_types[i]) {
        throw InvalidArgument("Expects arg[", i, "] to be ", ToString(call->compiled->arg_types[i]), " but ",
                              ToString(args[i].dtype()), " is provided");
      }
    }
  } catch (...) {
    done(CurrentStatus(), {});
    return;
  }
  call->args = std::move(args);
  call->rets.resize(call->compiled->ret_types.size());
  const StepServices& outer = caller.step();
  call->step.step_id = outer.step_id;
  call->step.rendezvous = call->rendezvous.get();
  call->step.cancellation = outer.cancellation;
  call->step.functions = outer.functions;
  call->step.step_resources = outer.step_resources;
  call->step.intra_op = outer.intra_op;
  call->step.schedule = outer.schedule;
  call->step.session_handle = outer.session_handle;
  call->step.interrupts_seen = outer.interrupts_seen;
  call->step.call_depth = outer.call_depth + 1;
  const RunArgs run{call->args.data(), call->rets.data(), &call->step, nullptr};
  RunStepAsync(*call->compiled, run, *environment_, [call, done = std::move(done)](Status status) {
    done(std::move(status), std::move(call->rets));
  });
}

}  // namespace penstock
