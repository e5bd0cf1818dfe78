#include "penstock/data/iterator_resource.h"

#include "penstock/base/alarms.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/fused_function.h"
#include "penstock/kernel/py_function.h"

namespace penstock::data {

constexpr std::string_view kRootKey = "root", kDatasetKey = "dataset";
constexpr char kRoot[] = "Iterator::Root";

Iteration::Iteration(Ref<const Dataset> dataset, std::shared_ptr<FunctionScope> functions, const KernelContext& k)
    : dataset_(std::move(dataset)),
      context_(std::make_shared<IteratorContext>(std::move(functions), &k.device(), k.step().intra_op)) {
  context_->options = dataset_->options();
  iterator_ = dataset_->Begin({context_, kRoot});
}

Iteration::~Iteration() {
  if (LostItsThreads()) {  // waiting for them would have no end: what they share is never freed
    (void)iterator_.release();
    return;
  }
  context_->cancellation->Cancel();
  if (!context_->ends_slowly.load()) return;
  // Threads have to end, or functions to be called: whoever drops an iterator may hold what those wait for (Python's
  // lock).
  auto* const iterator = iterator_.release();
  if (!RunOnGrowingPool([iterator] { delete iterator; })) {
    // No thread can be had, and waiting here may have no end: the iterator is never freed.
  }
}

// Waits until no other step uses the iterator, and keeps others waiting while it lives.
class Iteration::Turn {
 public:
  Turn(Iteration& iteration, const StepServices& step, const std::function<void()>& wake) : iteration_(iteration) {
    Alarm interrupt;  // its callback takes the mutex: the lock goes first
    std::unique_lock lock(iteration_.turn_mutex_);
    const int seen = step.interrupts_seen;
    if (iteration_.is_taken_ && seen >= 0) {
      lock.unlock();
      interrupt = Alarm::OnInterrupt(wake);
      lock.lock();
    }
    while (iteration_.is_taken_) {
      const bool interrupted = seen >= 0 && g_interrupts.load(std::memory_order_relaxed) != seen;
      if (interrupted || iteration_.context_->stopped()) throw Cancelled("Operation was cancelled");
      iteration_.turn_ended_.wait(lock);
    }
    iteration_.is_taken_ = true;
  }
  ~Turn() {
    std::lock_guard lock(iteration_.turn_mutex_);
    iteration_.is_taken_ = false;
    iteration_.turn_ended_.notify_all();
  }
  Turn(const Turn&) = delete;

 private:
  Iteration& iteration_;
};

template <class Work>
auto Iteration::InTurn(StepServices& step, Work work) {
  if (LostItsThreads()) {
    throw FailedPrecondition("The iterator's threads are in the process that this one was forked from: iterators that ",
                             "have threads must be made where they are used");
  }
  CancellationManager::Token token = 0;
  const auto wake = [this] {
    std::lock_guard lock(turn_mutex_);
    turn_ended_.notify_all();
  };
  const auto cancel = [context = context_, wake] {
    context->cancellation->Cancel();
    wake();
  };
  if (step.cancellation && !step.cancellation->Register(cancel, &token)) throw Cancelled("Operation was cancelled");
  struct Deregister {
    StepServices& step;
    CancellationManager::Token token;
    ~Deregister() {
      if (step.cancellation) step.cancellation->Deregister(token);
    }
  } deregister{step, token};
  const Turn turn(*this, step, wake);
  context_->interrupts_seen.store(step.interrupts_seen, std::memory_order_relaxed);
  context_->ThrowIfStopped();
  return work();
}

bool Iteration::Next(StepServices& step, Element* element) {
  return InTurn(step, [&] { return iterator_->Next(element); });
}

Ref<SavedState> Iteration::Save(StepServices& step) {
  return InTurn(step, [&] {
    auto saved = MakeRef<SavedState>();
    State state(saved.get());
    state.Nested(kRootKey, *iterator_);
    context_->SaveShared(state);
    state.Inside(kDatasetKey, [&] { dataset_->Visit(state); });
    return saved;
  });
}

void Iteration::Restore(StepServices& step, Ref<const SavedState> saved) {
  const Place place{context_, kRoot};
  InTurn(step, [&] {
    iterator_ = dataset_->Begin(place);
    try {
      State state(*saved);
      state.Nested(kRootKey, *iterator_);
      context_->RestoreShared(saved);
      state.Inside(kDatasetKey, [&] { dataset_->Visit(state); });
    } catch (...) {  // it may stand anywhere
      iterator_ = dataset_->Begin(place);
      throw;
    }
    return true;
  });
}

std::shared_ptr<FunctionScope> NewScope(const KernelContext& k) { return FunctionsOf(k).NewScope(); }

void IteratorResource::Begin(const KernelContext& k, Ref<const Dataset> dataset) {
  spec_.RequireCompatible(dataset->spec());
  std::shared_ptr<FunctionScope> functions;
  {
    std::lock_guard lock(mutex_);
    if (!functions_) functions_ = NewScope(k);
    functions = functions_;
  }
  auto fresh = std::make_shared<Iteration>(std::move(dataset), std::move(functions), k);
  std::lock_guard lock(mutex_);
  current_.swap(fresh);
}

void IteratorResource::RequireNoState(const FunctionLibraryPtr& library) {
  Current("Save", "saving it")
      ->shared_context()
      ->ForEachBound([&](const FuncRef& f, const FunctionLibraryPtr& its_own) {
        data::RequireNoState(f, its_own ? its_own : library);
      });
}

std::shared_ptr<Iteration> IteratorResource::Current(std::string_view what, std::string_view before) {
  std::lock_guard lock(mutex_);
  if (!current_) {
    throw FailedPrecondition(what,
                             "() failed because the iterator has not been initialized. Ensure that you have run the ",
                             "initializer operation for this iterator before ", before, ".");
  }
  return current_;
}

}  // namespace penstock::data
