// Runs in pieces: the step starts at set-up; feeds and fetches pass through its rendezvous one by one.
#include <algorithm>

#include "penstock/runtime/session.h"
#include "penstock/runtime/step_scope.h"

namespace penstock {

struct Session::PartialState {
  std::shared_ptr<const CompiledStep> compiled;
  Signature signature;
  std::vector<std::vector<int>> needs;  // by fetch: the feeds that it is computed from
  const Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();
  std::optional<StepScope> step;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> fed, fetched;
  bool over = false;  // the step ended
  Status status;

  bool AllUsed() const {
    const auto yes = [](bool b) { return b; };
    return std::ranges::all_of(fed, yes) && std::ranges::all_of(fetched, yes);
  }
};

namespace {

const ClientDevice kClient{"client"};

int IndexOf(const std::vector<Endpoint>& list, Endpoint e) {
  const auto it = std::ranges::find(list, e);
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

}  // namespace

void Session::CancelPartialRuns() {
  std::vector<std::shared_ptr<PartialState>> states;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [handle, state] : partial_runs_) states.push_back(state);
  }
  // Without the lock: the end of a step takes it.
  for (const auto& state : states) state->cancellation->Cancel();
}

std::string Session::PartialRunSetup(const Signature& signature) {
  RequireOpen();
  if (signature.fetches.empty() && signature.targets.empty()) {
    throw InvalidArgument("Must specify at least one target to fetch or execute.");
  }
  auto state = std::make_shared<PartialState>();
  state->signature = signature;
  // A fetch that is named twice is one.
  auto& fetches = state->signature.fetches;
  std::vector<Endpoint> once;
  for (const Endpoint& e : fetches) {
    if (IndexOf(once, e) < 0) once.push_back(e);
  }
  fetches = std::move(once);
  std::shared_ptr<Graph> pruned;
  {
    std::lock_guard lock(graph_->mutex());
    pruned = Prune(*graph_, state->signature, &kClient);
  }
  state->needs = FeedsOfFetches(*pruned, signature.feeds.size(), fetches.size());
  state->compiled = CompileStep(std::move(pruned), runtime_->environment);
  state->fed.resize(signature.feeds.size());
  state->fetched.resize(fetches.size());
  const int64_t step_id = next_step_.fetch_add(1);
  state->step.emplace(StepScope::Parts{.step_id = step_id,
                                       .cancellation = state->cancellation,
                                       .functions = runtime_->functions.get(),
                                       .intra_op = runtime_->intra_op.get()});
  state->step->MakeExecutor(runtime_->inter_op[0].get());
  // A cancelled step must not wait for feeds that never come.
  CancellationManager::Token token;
  state->cancellation->Register(
      [weak = std::weak_ptr(state)] {
        if (const auto s = weak.lock()) s->step->rendezvous().Abort(Status(Code::kCancelled, "Step was cancelled."));
      },
      &token);
  const std::string handle = StrCat("partial_run/", step_id);
  {
    std::lock_guard lock(mutex_);
    RequireOpen();
    ++open_partial_runs_;
    partial_runs_[handle] = state;
  }
  const RunArgs run{nullptr, nullptr, &state->step->services(), nullptr};
  state->step->executor()->Post([this, state, run] {
    RunStepAsync(*state->compiled, run, [this, state](Status status) {
      // Propagates a failed step's error to every pending fetch.
      if (!status.ok()) state->step->rendezvous().Abort(status);
      {
        std::lock_guard lock(state->mutex);
        state->status = std::move(status);
        state->over = true;
        state->changed.notify_all();
      }
      std::lock_guard lock(mutex_);
      --open_partial_runs_;
      idle_.notify_all();
    });
  });
  return handle;
}

void Session::PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                         const std::vector<Endpoint>& fetches, std::vector<Tensor>* values, bool interruptible) {
  std::shared_ptr<PartialState> state;
  {
    std::lock_guard lock(mutex_);
    RequireOpen();
    const auto it = partial_runs_.find(handle);
    if (it == partial_runs_.end()) throw InvalidArgument("Must run 'setup' before performing partial runs!");
    state = it->second;
  }
  const int interrupts = g_interrupts.load();
  Alarm interrupt;  // its callback takes the mutex: the lock goes first
  std::unique_lock lock(state->mutex);
  // Everything is checked before anything is done.
  std::vector<int> feed_indices, fetch_indices;
  for (const auto& [e, value] : feeds) {
    const int i = IndexOf(state->signature.feeds, e);
    if (i < 0) throw InvalidArgument("The feed ", e.name(), " was not specified in partial_run_setup.");
    if (state->fed[i] || std::ranges::find(feed_indices, i) != feed_indices.end()) {
      throw InvalidArgument("The feed ", e.name(), " has already been fed.");
    }
    if (value.dtype() != BaseType(e.type())) {
      throw InvalidArgument("The feed ", e.name(), " is of type ", ToString(e.type()), ", but got ",
                            ToString(value.dtype()));
    }
    feed_indices.push_back(i);
  }
  for (const Endpoint& e : fetches) {
    const int i = IndexOf(state->signature.fetches, e);
    if (i < 0) throw InvalidArgument("The fetch ", e.name(), " was not specified in partial_run_setup.");
    if (state->fetched[i]) throw InvalidArgument("The fetch ", e.name(), " has already been fetched.");
    for (const int need : state->needs[i]) {
      if (!state->fed[need] && std::ranges::find(feed_indices, need) == feed_indices.end()) {
        throw InvalidArgument("Fetch ", e.name(), " can't be computed from the feeds that have been fed so far.");
      }
    }
    fetch_indices.push_back(i);
  }
  for (const int i : feed_indices) state->fed[i] = true;
  for (const int i : fetch_indices) state->fetched[i] = true;
  lock.unlock();

  struct Fetched {
    std::vector<Tensor> values;
    size_t left;
    Status status;
  };
  auto got = std::make_shared<Fetched>();
  got->values.resize(fetches.size());
  std::map<int, int> first;  // a tensor fetched twice in one call is received once
  for (size_t i = 0; i < fetches.size(); ++i) first.try_emplace(fetch_indices[i], static_cast<int>(i));
  got->left = first.size();
  try {
    for (size_t i = 0; i < feeds.size(); ++i)
      state->step->rendezvous().Send(FeedKey(kClient, feed_indices[i]), feeds[i].second, false);
  } catch (const Error&) {
    // The step failed already: the fetches say how.
  }
  for (const auto& [fetch, at] : first) {
    state->step->rendezvous().ReceiveAsync(FetchKey(kClient, fetch), [state, got, at = at, name = fetches[at].name()](
                                                                         Status status, Tensor value, bool is_dead) {
      std::lock_guard lock(state->mutex);
      if (status.ok() && is_dead)
        status = Status(Code::kInvalidArgument, StrCat("The tensor returned for ", name, " was not valid."));
      if (got->status.ok()) got->status = std::move(status);
      got->values[at] = std::move(value);
      --got->left;
      state->changed.notify_all();
    });
  }
  lock.lock();
  const auto wait_until = [&](auto condition) {
    if (interruptible && !condition()) {
      lock.unlock();
      try {
        interrupt = Alarm::OnInterrupt([state] { state->cancellation->Cancel(); });
      } catch (const Error&) {  // no thread can be had: an interrupt is seen when the step goes on
      }
      if (g_interrupts.load() != interrupts) state->cancellation->Cancel();
      lock.lock();
    }
    state->changed.wait(lock, condition);
  };
  wait_until([&] { return got->left == 0; });
  const bool ended = state->AllUsed() || !got->status.ok();
  if (ended) {
    wait_until([&] { return state->over; });
    std::lock_guard session_lock(mutex_);
    partial_runs_.erase(handle);
  }
  ThrowIfError(state->over && !state->status.ok() ? state->status : got->status);
  for (size_t i = 0; i < fetches.size(); ++i) got->values[i] = got->values[first[fetch_indices[i]]];
  *values = std::move(got->values);
}

}  // namespace penstock
