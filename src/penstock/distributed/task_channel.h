// Calls of another task, which end when the task no longer answers.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "penstock/base/alarms.h"
#include "penstock/rpc/rpc.h"

namespace penstock {

// A closed connection fails its calls at once. A task that is stopped or cut off says nothing: while calls wait for
// it, it gets a GetStatus call, and when it does not answer within two thirds of the time limit, all its calls end
// with Unavailable. The limit is 30 s, or PENSTOCK_TASK_TIMEOUT_MS (0: none).
class TaskChannel : public std::enable_shared_from_this<TaskChannel> {
 public:
  // `task` is for messages. InvalidArgument: a malformed address.
  static std::shared_ptr<TaskChannel> Make(std::string task, const std::string& address) {
    return std::shared_ptr<TaskChannel>(new TaskChannel(std::move(task), address));
  }

  // As rpc::Channel::CallAsync. Errors of the transport name the task and its address.
  Ref<rpc::Call> CallAsync(const std::string& method, rpc::Message request, rpc::CallOptions options,
                           rpc::Channel::Done done);
  const std::string& task() const { return task_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Clock::time_point begin;
    std::string method;
    Ref<rpc::Call> call;  // null for the moment in which it is made
    bool given_up = false;
  };

  TaskChannel(std::string task, const std::string& address);
  void Watch();  // under the mutex: looks at the calls after an interval
  void LookAtCalls();
  void GiveUp();
  // Removes a call. Returns the status for its caller.
  Status EndOf(int64_t id, const Status& status);

  const std::string task_;
  const std::chrono::milliseconds limit_;
  std::mutex mutex_;  // guards the next four
  int64_t next_ = 0;
  std::map<int64_t, Entry> calls_;
  bool watching_ = false, asking_ = false;
  rpc::Channel channel_;
  Alarm alarm_;  // last: its callback uses the others
};

}  // namespace penstock
