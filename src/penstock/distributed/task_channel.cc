#include "penstock/distributed/task_channel.h"

#include <cstdlib>
#include <vector>

namespace penstock {
namespace {

std::chrono::milliseconds Limit() {
  const char* text = std::getenv("PENSTOCK_TASK_TIMEOUT_MS");
  int64_t ms = 0;
  return std::chrono::milliseconds(text && ParseInt64(text, &ms) && ms >= 0 ? ms : 30'000);
}

}  // namespace

TaskChannel::TaskChannel(std::string task, const std::string& address)
    : task_(std::move(task)), limit_(Limit()), channel_(address) {}

Ref<rpc::Call> TaskChannel::CallAsync(const std::string& method, rpc::Message request, rpc::CallOptions options,
                                      rpc::Channel::Done done) {
  int64_t id;
  {
    std::lock_guard lock(mutex_);
    id = next_++;
    calls_[id] = {Clock::now(), method, nullptr};
    if (limit_.count() > 0 && !watching_) Watch();
  }
  Ref<rpc::Call> call = channel_.CallAsync(
      method, std::move(request), std::move(options),
      [self = shared_from_this(), id, done = std::move(done)](rpc::Outcome outcome, rpc::Incoming body) {
        outcome.status = self->EndOf(id, outcome.status);
        done(std::move(outcome), std::move(body));
      });
  std::lock_guard lock(mutex_);
  const auto it = calls_.find(id);
  if (it != calls_.end()) it->second.call = call;
  return call;
}

Status TaskChannel::EndOf(int64_t id, const Status& status) {
  Entry entry;
  {
    std::lock_guard lock(mutex_);
    const auto it = calls_.find(id);
    entry = std::move(it->second);
    calls_.erase(it);
  }
  if (!entry.given_up || status.ok()) return status;
  return Status(Code::kUnavailable, StrCat("Task ", task_, " at ", channel_.address(), " did not answer within ",
                                           limit_.count(), " ms (waiting for ", entry.method, ")"));
}

void TaskChannel::Watch() {
  watching_ = true;
  try {
    alarm_ = Alarm::At(Clock::now() + limit_ / 6, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->LookAtCalls();
    });
  } catch (const Error&) {  // no thread can be had: the next call tries again
    watching_ = false;
  }
}

void TaskChannel::LookAtCalls() {
  {
    std::lock_guard lock(mutex_);
    watching_ = false;
    if (calls_.empty()) return;
    Watch();
    if (asking_ || Clock::now() - calls_.begin()->second.begin < limit_ / 6) return;
    asking_ = true;
  }
  rpc::CallOptions options;
  options.deadline = Clock::now() + limit_ * 2 / 3;
  channel_.CallAsync("/tensorflow.WorkerService/GetStatus", {}, std::move(options),
                     [self = shared_from_this()](const rpc::Outcome& outcome, const rpc::Incoming&) {
                       {
                         std::lock_guard lock(self->mutex_);
                         self->asking_ = false;
                       }
                       // Any other answer shows that somebody is there.
                       if (outcome.status.code() == Code::kDeadlineExceeded) self->GiveUp();
                     });
}

void TaskChannel::GiveUp() {
  std::vector<Ref<rpc::Call>> calls;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, entry] : calls_) {
      if (!entry.call) continue;
      entry.given_up = true;
      calls.push_back(entry.call);
    }
  }
  for (const auto& call : calls) call->Cancel();
}

}  // namespace penstock
