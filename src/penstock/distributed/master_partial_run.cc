// Runs in pieces on a cluster: each call sends some feeds to the parts, which go on running, and waits for some
// fetches.
#include <algorithm>

#include "penstock/distributed/master_session.h"

namespace penstock {

struct MasterSession::PartialState {
  std::shared_ptr<const RegisteredStep> step;
  int64_t id = 0;
  std::vector<std::string> feeds, fetches;
  std::mutex mutex;  // guards the rest
  std::vector<bool> fed, fetched;

  bool AllUsed() const {
    const auto yes = [](bool b) { return b; };
    return std::ranges::all_of(fed, yes) && std::ranges::all_of(fetched, yes);
  }
};

namespace {

int IndexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto it = std::ranges::find(names, name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

}  // namespace

std::string MasterSession::PartialRunSetup(const std::vector<std::string>& feeds,
                                           const std::vector<std::string>& fetches,
                                           const std::vector<std::string>& targets) {
  if (fetches.empty() && targets.empty()) {
    throw InvalidArgument("Must specify at least one target to fetch or execute.");
  }
  RunStepRequest request;
  for (const std::string& feed : feeds) request.feeds.emplace_back(feed, Tensor());
  request.fetches = fetches;
  request.targets = targets;
  auto state = std::make_shared<PartialState>();
  state->step = Find(request);
  state->id = RandomId();
  state->feeds = feeds;
  state->fetches = fetches;
  state->fed.resize(feeds.size());
  state->fetched.resize(fetches.size());
  const std::string handle = StrCat("partial_run/", state->id);
  std::lock_guard lock(mutex_);
  ThrowIfError(closed_);
  partial_runs_[handle] = std::move(state);
  return handle;
}

RunStepResponse MasterSession::PartialRun(const RunStepRequest& request, CancellationManager* cancellation) {
  std::shared_ptr<PartialState> state;
  {
    std::lock_guard lock(mutex_);
    const auto it = partial_runs_.find(request.partial_run);
    if (it == partial_runs_.end()) throw InvalidArgument("Must run 'setup' before performing partial runs!");
    state = it->second;
  }
  std::vector<RunGraphRequest> calls = CallsOfStep(*state->step, state->id, request.options);
  bool is_last = false;
  {
    // Everything is checked before anything is done.
    std::lock_guard lock(state->mutex);
    std::vector<bool> fed = state->fed, fetched = state->fetched;
    RunGraphRequest none;
    RunGraphRequest* own = OwnCall(*state->step, &calls);
    if (!own) own = &none;
    for (const auto& [name, value] : request.feeds) {
      const int i = IndexOf(state->feeds, name);
      if (i < 0) throw InvalidArgument("The feed ", name, " was not specified in partial_run_setup.");
      if (fed[i]) throw InvalidArgument("The feed ", name, " has already been fed.");
      fed[i] = true;
      own->sends.push_back(Fed(i, value));
    }
    for (const std::string& name : request.fetches) {
      const int i = IndexOf(state->fetches, name);
      if (i < 0) throw InvalidArgument("The fetch ", name, " was not specified in partial_run_setup.");
      if (fetched[i]) throw InvalidArgument("The fetch ", name, " has already been fetched.");
      for (const int need : state->step->feeds_of_fetches[i]) {
        if (!fed[need]) {
          throw InvalidArgument("Fetch ", name, " can't be computed from the feeds that have been fed so far.");
        }
      }
      fetched[i] = true;
      own->receives.push_back(FetchKey(client_, i));
    }
    state->fed = std::move(fed);
    state->fetched = std::move(fetched);
    is_last = state->AllUsed();
  }
  for (RunGraphRequest& call : calls) {
    call.is_partial = true;
    call.is_last_partial = is_last;
  }
  const auto end = [&] {
    std::lock_guard lock(mutex_);
    if (partial_runs_.erase(request.partial_run) > 0) CleanupStep(*state->step, state->id);
  };
  try {
    RunStepResponse response = RunCalls(*state->step, std::move(calls), request.options, cancellation);
    if (is_last) end();
    return response;
  } catch (const Error&) {
    end();
    throw;
  }
}

void MasterSession::EndPartialRuns() {
  std::map<std::string, std::shared_ptr<PartialState>> ended;
  {
    std::lock_guard lock(mutex_);
    ended.swap(partial_runs_);
  }
  for (const auto& [handle, state] : ended) CleanupStep(*state->step, state->id);
}

}  // namespace penstock
