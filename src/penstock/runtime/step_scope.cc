#include "penstock/runtime/step_scope.h"

#include "penstock/runtime/rendezvous.h"

namespace penstock {

StepScope::StepScope(Parts parts) {
  services_.step_id = parts.step_id;
  services_.cancellation = std::move(parts.cancellation);
  services_.functions = parts.functions;
  services_.step_resources = parts.resources ? parts.resources : &own_resources_.emplace();
  services_.intra_op = parts.intra_op;
  services_.interrupts_seen = parts.interrupts_seen;
  services_.session_handle = std::move(parts.session_handle);
}

void StepScope::MakeExecutor(ThreadPool* pool, Ref<Rendezvous> rendezvous) {
  rendezvous_ = rendezvous ? std::move(rendezvous) : Ref<Rendezvous>(MakeRef<LocalRendezvous>());
  services_.rendezvous = rendezvous_.get();
  executor_ = MakeRef<StepExecutor>(pool);
  services_.schedule = executor_->Poster();
}

CallCancellation::CallCancellation(const Ref<CancellationManager>& caller, std::string_view function)
    : caller_(caller) {
  if (caller_ && !caller_->Register([own = own_] { own->Cancel(); }, &token_)) {
    throw Cancelled("Function ", function, " was cancelled before it began");
  }
}

}  // namespace penstock
