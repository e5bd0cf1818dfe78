// The services of a step and their lifetime.
#pragma once

#include <optional>

#include "penstock/runtime/step_executor.h"

namespace penstock {

// Makes the services of one step, and owns the objects that they point to. Must outlive the step.
class StepScope {
 public:
  struct Parts {
    int64_t step_id = 0;
    Ref<CancellationManager> cancellation;
    FunctionCaller* functions = nullptr;
    ThreadPool* intra_op = nullptr;
    ResourceManager* resources = nullptr;  // null: made for this step, and gone with it
    int interrupts_seen = -1;
    std::string session_handle;
  };
  explicit StepScope(Parts parts);
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;

  // Gives the step an executor on `pool` (null: the pool that grows) and a rendezvous, by default a local one. All but
  // straight lines need both.
  void MakeExecutor(ThreadPool* pool, Ref<Rendezvous> rendezvous = {});

  StepServices& services() { return services_; }
  StepExecutor* executor() const { return executor_.get(); }  // null before MakeExecutor
  Rendezvous& rendezvous() const { return *rendezvous_; }
  void ClearResources() { services_.step_resources->ClearAll(); }

 private:
  std::optional<ResourceManager> own_resources_;
  Ref<Rendezvous> rendezvous_;
  Ref<StepExecutor> executor_;
  StepServices services_;
};

// The cancellation of a function call. It is cancelled with its caller's; a call that fails cancels only the work
// that it started.
class CallCancellation {
 public:
  // `caller`: null if nobody else can cancel the call. Cancelled: the caller's is cancelled already.
  CallCancellation(const Ref<CancellationManager>& caller, std::string_view function);
  ~CallCancellation() {
    if (caller_) caller_->Deregister(token_);
  }
  CallCancellation(const CallCancellation&) = delete;
  CallCancellation& operator=(const CallCancellation&) = delete;
  const Ref<CancellationManager>& get() const { return own_; }

 private:
  const Ref<CancellationManager> own_ = MakeRef<CancellationManager>();
  const Ref<CancellationManager> caller_;
  CancellationManager::Token token_ = 0;
};

}  // namespace penstock
