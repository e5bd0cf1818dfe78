#include "penstock/runtime/function_runtime.h"

#include <condition_variable>
#include <map>

#include "penstock/base/log.h"
#include "penstock/base/threads.h"
#include "penstock/graph/lower.h"
#include "penstock/kernel/py_function.h"
#include "penstock/op/attr_key.h"
#include "penstock/runtime/call_state.h"
#include "penstock/runtime/rendezvous.h"
#include "penstock/runtime/step_scope.h"

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

void CheckArgs(const std::string& function, const std::vector<DataType>& types, std::span<const Tensor> args) {
  if (args.size() != types.size()) {
    throw InvalidArgument("Function ", function, " expects ", types.size(), " arguments, but got ", args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() != types[i]) {
      throw InvalidArgument("Expects arg[", i, "] to be ", ToString(types[i]), " but ", ToString(args[i].dtype()),
                            " is provided");
    }
  }
}

// Marks the error of a node with the function that it is in, as TensorFlow does; Python takes the mark away when it has
// found the node's line.
Status InFunction(Status status, const std::string& function) {
  if (status.ok() || status.node().empty() || status.message().find("{{function_node ") != std::string::npos) {
    return status;
  }
  return Status(status.code(), StrCat("{{function_node ", function, "}} ", status.message()), status.node());
}

// A call within a step. `find` gives the function, or throws.
template <class Find>
void CallWithin(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller,
                const StepEnvironment& environment, Find find, FunctionCaller::Results done) {
  auto call = std::make_shared<Call>();
  try {
    if (caller.step().call_depth >= kDeepestCall) {
      throw ResourceExhausted("Function ", function.name, " is called more than ", kDeepestCall, " levels deep");
    }
    if (StackIsShort()) {
      throw ResourceExhausted("Function ", function.name, " is called ", caller.step().call_depth,
                              " levels deep, which the thread's stack has no more room for");
    }
    call->compiled = find();
    CheckArgs(function.name, call->compiled->arg_types, args);
  } catch (...) {
    done(CurrentStatus(), {});
    return;
  }
  call->args = std::move(args);
  call->rets.resize(call->compiled->ret_types.size());
  call->step = caller.step();
  call->step.rendezvous = call->rendezvous.get();
  ++call->step.call_depth;
  const RunArgs run{call->args.data(), call->rets.data(), &call->step, nullptr};
  const auto start = [call, run, name = function.name, done = std::move(done)] {
    RunStepAsync(*call->compiled, run, [call, name, done](Status status) {
      done(InFunction(std::move(status), name), std::move(call->rets));
    });
  };
  if (StepExecutor::Current()) return start();
  call->step.schedule(start);  // a thread of a kernel's own calls, which runs no tasks of the step
}

}  // namespace

// Lets calls of bound functions in until the runtime goes.
class FunctionRuntime::Gate {
 public:
  class Pass {
   public:
    explicit Pass(Gate& gate) : gate_(gate) {
      gate_.inside_.fetch_add(1);
      if (!gate_.closed_.load()) return;
      Leave();
      throw Cancelled("The session that a function belongs to is closed.");
    }
    ~Pass() { Leave(); }
    Pass(const Pass&) = delete;

   private:
    void Leave() {
      if (gate_.inside_.fetch_sub(1) > 1 || !gate_.closed_.load()) return;
      std::lock_guard lock(gate_.mutex_);
      gate_.empty_.notify_all();
    }
    Gate& gate_;
  };

  void Close() {
    closed_.store(true);
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [&] { return inside_.load() == 0; });
  }

 private:
  std::atomic<int64_t> inside_{0};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::condition_variable empty_;
};

// Functions that keep their stateful kernels to themselves. Their steps run on the pool that grows: threads of a
// pipeline wait for them, and are no threads of a step.
class FunctionRuntime::Scope final : public FunctionScope,
                                     public FunctionScopes,
                                     public std::enable_shared_from_this<Scope> {
 public:
  Scope(FunctionRuntime* runtime, std::shared_ptr<Gate> gate, FunctionLibraryPtr library)
      : owner_(runtime->owner_.lock()), runtime_(runtime), gate_(std::move(gate)), library_(std::move(library)) {}

  std::shared_ptr<const BoundFunction> Bind(const FuncRef& function, const FunctionLibraryPtr& library) override {
    if (library && library != library_) return With(library)->Bind(function, nullptr);
    const Gate::Pass pass(*gate_);
    return std::make_shared<Bound>(shared_from_this(), function.name, Find(function));
  }

  void CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller, Results done) override {
    CallWithin(
        function, std::move(args), caller, *runtime_->environment_, [&] { return Find(function); }, std::move(done));
  }

  std::shared_ptr<FunctionScope> NewScope(FunctionLibraryPtr library) override {
    return std::make_shared<Scope>(runtime_, gate_, library ? std::move(library) : library_);
  }
  FunctionLibraryPtr library() const override { return library_ ? library_ : runtime_->CurrentLibrary(); }
  FunctionLibraryPtr own_library() const override { return library_; }
  FunctionCaller& caller() override { return *this; }

 private:
  class Bound final : public BoundFunction {
   public:
    Bound(std::shared_ptr<Scope> scope, std::string name, std::shared_ptr<const CompiledStep> compiled)
        : scope_(std::move(scope)), name_(std::move(name)), compiled_(std::move(compiled)) {}
    const std::vector<DataType>& arg_types() const override { return compiled_->arg_types; }
    const std::vector<DataType>& result_types() const override { return compiled_->ret_types; }
    bool may_wait() const override { return !compiled_->straight_line(); }

    void Call(std::span<const Tensor> args, const Ref<CancellationManager>& cancellation, int interrupts_seen,
              std::vector<Tensor>* results) const override {
      const Gate::Pass pass(*scope_->gate_);
      CheckArgs(name_, compiled_->arg_types, args);
      results->clear();
      results->resize(compiled_->ret_types.size());
      std::optional<CallCancellation> own;  // a straight line starts nothing that its failure would have to cancel
      if (!compiled_->straight_line()) own.emplace(cancellation, name_);
      StepScope step({.step_id = scope_->next_step_.fetch_add(1, std::memory_order_relaxed),
                      .cancellation = own ? own->get() : cancellation,
                      .functions = scope_.get(),
                      .intra_op = scope_->runtime_->environment_->intra_op,
                      .interrupts_seen = interrupts_seen});
      if (own) step.MakeExecutor(nullptr);
      try {
        RunStep(*compiled_, {args.data(), results->data(), &step.services(), nullptr}, step.executor());
      } catch (...) {
        throw Error(InFunction(CurrentStatus(), name_));
      }
    }

   private:
    const std::shared_ptr<Scope> scope_;
    const std::string name_;
    const std::shared_ptr<const CompiledStep> compiled_;
  };

  // The scope, as old as this one, of a library that a dataset brought along.
  std::shared_ptr<Scope> With(const FunctionLibraryPtr& library) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Scope>& scope = others_[library];
    if (!scope) scope = std::make_shared<Scope>(runtime_, gate_, library);
    return scope;
  }

  std::shared_ptr<const CompiledStep> Find(const FuncRef& function) {
    const std::string key = CanonicalKey(function);
    {
      std::lock_guard lock(mutex_);
      const auto it = compiled_.find(key);
      if (it != compiled_.end()) return it->second;
    }
    if (!library_) {
      if (auto found = runtime_->stateless_.Find(key)) return found;
    }
    const StepEnvironment& environment = *runtime_->environment_;
    bool has_state = false;
    auto compiled = runtime_->Compile(function, library(), [&](const Node& node, const NodeView& view) {
      if (!node.traits().stateful || node.calls_function()) {
        return environment.make_function_kernel(function, node, view);
      }
      has_state = true;
      return std::shared_ptr<Kernel>(environment.kernels->Make(view.device()->type(), view));
    });
    if (!has_state && !library_) return runtime_->stateless_.Insert(key, function, std::move(compiled));
    std::lock_guard lock(mutex_);
    return compiled_.try_emplace(key, std::move(compiled)).first->second;
  }

  const std::shared_ptr<const void> owner_;  // first, as it goes last
  FunctionRuntime* const runtime_;           // there while the gate is open
  const std::shared_ptr<Gate> gate_;
  const FunctionLibraryPtr library_;  // null: the session's
  std::atomic<int64_t> next_step_{1};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const CompiledStep>> compiled_;  // with kernels of their own: kept with this
  std::map<FunctionLibraryPtr, std::shared_ptr<Scope>> others_;
};

FunctionRuntime::FunctionRuntime(StepEnvironment* environment, std::function<FunctionLibraryPtr()> library)
    : environment_(environment), library_(std::move(library)), gate_(std::make_shared<Gate>()) {}

FunctionRuntime::~FunctionRuntime() { gate_->Close(); }

FunctionLibraryPtr FunctionRuntime::CurrentLibrary() const {
  {
    std::lock_guard lock(mutex_);
    if (kept_library_) return kept_library_;
  }
  return library_();
}

void FunctionRuntime::KeepLibrary() {
  FunctionLibraryPtr now = library_();
  std::lock_guard lock(mutex_);
  kept_library_ = std::move(now);
}

std::shared_ptr<FunctionScope> FunctionRuntime::NewScope(FunctionLibraryPtr library) {
  return std::make_shared<Scope>(this, gate_, std::move(library));
}

std::shared_ptr<const CompiledStep> FunctionRuntime::Compile(const FuncRef& function, const FunctionLibraryPtr& library,
                                                             MakeFunctionKernel make_kernel) const {
  Log(LogSubject::kFunction, "compiles function ", function.name);
  FuncRef plain = function;
  plain.attrs.Erase(kTargetDeviceAttr);
  plain.attrs.Erase(kCallSiteAttr);
  FunctionBody body = InstantiateCallee(plain, library);
  KeepNeeded(body);
  if (const AttrValue* target = function.attrs.Find(kTargetDeviceAttr)) {
    for (Node* node : body.graph->Nodes()) {
      if (node->device().empty()) node->set_device(*target->If<std::string>());
    }
  }
  StepEnvironment environment = *environment_;
  environment.make_kernel = std::move(make_kernel);
  environment.path = PathOf(function);
  return CompileStep(body.graph, environment, [] {}, true);
}

std::shared_ptr<const CompiledStep> FunctionRuntime::Find(const FuncRef& function) {
  const std::string key = CanonicalKey(function);
  if (auto found = compiled_.Find(key)) return found;
  // Kernels with state belong to this function, not to a node of the same name elsewhere.
  auto compiled = Compile(function, CurrentLibrary(), [&](const Node& node, const NodeView& view) {
    return environment_->make_function_kernel(function, node, view);
  });
  return compiled_.Insert(key, function, std::move(compiled));
}

void FunctionRuntime::Forget(const std::string& name) {
  compiled_.Forget(name);
  stateless_.Forget(name);
}

CacheStats FunctionRuntime::cache_stats() const {
  CacheStats stats = compiled_.stats();
  return stats += stateless_.stats();
}

std::shared_ptr<const CompiledStep> FunctionRuntime::Cache::Find(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto* found = entries_.Find(key);
  return found ? (*found)->step : nullptr;
}

std::shared_ptr<const CompiledStep> FunctionRuntime::Cache::Insert(const std::string& key, const FuncRef& function,
                                                                   std::shared_ptr<const CompiledStep> step) {
  auto fresh = std::make_shared<const Compiled>(FunctionNames(function), std::move(step));
  std::shared_ptr<const Compiled> evicted;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  return entries_.Insert(key, std::move(fresh), &evicted)->step;
}

void FunctionRuntime::Cache::Forget(const std::string& name) {
  std::lock_guard lock(mutex_);
  entries_.EraseIf([&](const auto& entry) { return entry->names.Contain(name); });
}

CacheStats FunctionRuntime::Cache::stats() const {
  std::lock_guard lock(mutex_);
  return entries_.stats();
}

void FunctionRuntime::CallAsync(const FuncRef& function, std::vector<Tensor> args, KernelContext& caller,
                                Results done) {
  CallWithin(function, std::move(args), caller, *environment_, [&] { return Find(function); }, std::move(done));
}

}  // namespace penstock
