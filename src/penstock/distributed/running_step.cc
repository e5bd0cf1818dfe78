#include "penstock/distributed/running_step.h"

#include <algorithm>
#include <iterator>

#include "penstock/distributed/derived.h"
#include "penstock/runtime/step_executor.h"

namespace penstock {
namespace {

constexpr auto kCauseIsLate = std::chrono::seconds(2);

}  // namespace

RegisteredStep::~RegisteredStep() {
  for (Part& part : parts) {
    if (!part.graph.empty()) part.worker->DeregisterGraph(session, true, part.graph, [](Status) {});
  }
}

std::vector<RunGraphRequest> CallsOfStep(const RegisteredStep& step, int64_t step_id, const RunOptions& options) {
  std::vector<RunGraphRequest> calls;
  for (const RegisteredStep::Part& part : step.parts) {
    RunGraphRequest& call = calls.emplace_back();
    call.session = step.session;
    call.has_session = true;
    call.graph = part.graph;
    call.step_id = step_id;
    call.request_id = RandomId();
    call.record_timeline = options.trace_level > 0;
    call.record_partition_graphs = options.output_partition_graphs;
  }
  return calls;
}

void CleanupStep(const RegisteredStep& step, int64_t step_id) {
  for (const RegisteredStep::Part& part : step.parts) part.worker->CleanupStep(step_id, [](Status) {});
}

RunStepResponse RunningStep::Run(int64_t timeout_ms) {
  left_ = calls_.size();
  Deadline deadline(timeout_ms, cancellation_);
  for (size_t i = 0; i < calls_.size(); ++i) {
    step_.parts[i].worker->RunGraph(std::move(calls_[i]), cancellation_, [this, i](Status status, RunGraphResponse r) {
      Finish(i, std::move(status), std::move(r));
    });
  }
  {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [&] { return left_ == 0; });
  }
  ThrowIfError(WithoutMark(deadline.StatusOf(status_)));
  RunStepResponse response;
  for (RunGraphResponse& one : responses_) {
    for (auto& [key, value] : one.received) response.fetched.push_back(std::move(value));
    response.metadata.has_step_stats |= one.metadata.has_step_stats;
    response.metadata.others += one.metadata.others;
    std::ranges::move(one.metadata.devices, std::back_inserter(response.metadata.devices));
    std::ranges::move(one.metadata.partition_graphs, std::back_inserter(response.metadata.partition_graphs));
  }
  return response;
}

void RunningStep::Finish(size_t part, Status status, RunGraphResponse response) {
  bool cancel = false, wait = false;
  {
    std::lock_guard lock(mutex_);
    // An error that follows from another task's failure, or from cancellation, gives way to a cause. That one is on its
    // way: a call that is cancelled would lose it.
    if (!status.ok() && (status_.ok() || (IsDerived(status_) && !IsDerived(status)))) {
      cancel = !IsDerived(status);
      wait = !cancel;
      status_ = Status(status.code(), StrCat("From ", step_.parts[part].task, ":\n", status.message()), status.node());
    }
    responses_[part] = std::move(response);
  }
  if (wait) {
    try {
      alarm_ = Alarm::At(std::chrono::steady_clock::now() + kCauseIsLate, [own = cancellation_] { own->Cancel(); });
    } catch (const Error&) {  // no thread can be had
      cancel = true;
    }
  }
  if (cancel) cancellation_->Cancel();
  std::lock_guard lock(mutex_);
  if (--left_ == 0) over_.notify_all();
}

}  // namespace penstock
