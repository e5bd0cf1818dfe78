// What an iterator's handle names, and iterations that begin and end within one step.
#pragma once

#include <memory>
#include <mutex>

#include "penstock/base/fork.h"
#include "penstock/data/dataset.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock::data {

// One pass over a dataset, used by any thread, by one at a time.
class Iteration {
 public:
  // Throws what the dataset throws when it begins.
  Iteration(Ref<const Dataset> dataset, std::shared_ptr<FunctionScope> functions, const KernelContext& k);
  ~Iteration();
  Iteration(const Iteration&) = delete;
  // The next element; false at the end. Cancelling the step cancels the whole iteration.
  bool Next(StepServices& step, Element* element);
  Ref<SavedState> Save(StepServices& step);
  void Restore(StepServices& step, Ref<const SavedState> saved);
  const std::shared_ptr<IteratorContext>& shared_context() const { return context_; }

 private:
  class Turn;
  // Runs `work` when it is this step's turn.
  template <class Work>
  auto InTurn(StepServices& step, Work work);
  // It has, or may have, threads that stayed in the process from which this one was forked.
  bool LostItsThreads() const { return context_->ends_slowly.load() && ForkGeneration() != fork_generation_; }
  const int fork_generation_ = ForkGeneration();
  std::mutex turn_mutex_;
  std::condition_variable turn_ended_;
  bool is_taken_ = false;  // somebody's turn; guarded by turn_mutex_
  Ref<const Dataset> dataset_;
  std::shared_ptr<IteratorContext> context_;
  std::unique_ptr<Iterator> iterator_;
};

class IteratorResource final : public Resource {
 public:
  explicit IteratorResource(ElementSpec spec) : spec_(std::move(spec)) {}
  const ElementSpec& spec() const { return spec_; }
  // InvalidArgument unless the dataset's elements fit.
  void Begin(const KernelContext& k, Ref<const Dataset> dataset);
  bool Next(StepServices& step, Element* element) {
    return Current("GetNext", "getting the next element")->Next(step, element);
  }
  Ref<SavedState> Save(StepServices& step) { return Current("Save", "saving it")->Save(step); }
  // FailedPrecondition if a function has state, which is not saved. `library`: that of functions without one.
  void RequireNoState(const FunctionLibraryPtr& library);
  void Restore(StepServices& step, Ref<const SavedState> saved) {
    Current("Restore", "restoring it")->Restore(step, std::move(saved));
  }
  std::string DebugString() const override { return "Iterator resource"; }

 private:
  // FailedPrecondition if it has not begun.
  std::shared_ptr<Iteration> Current(std::string_view what, std::string_view before);
  const ElementSpec spec_;
  std::mutex mutex_;
  std::shared_ptr<FunctionScope> functions_;
  std::shared_ptr<Iteration> current_;
};

// A function scope for what a kernel iterates over.
std::shared_ptr<FunctionScope> NewScope(const KernelContext& k);

}  // namespace penstock::data
