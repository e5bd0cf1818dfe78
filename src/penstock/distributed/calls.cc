#include "penstock/distributed/calls.h"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace penstock {

void CallGroup::Finish(size_t call, Status status) {
  std::lock_guard lock(mutex_);
  statuses_[call] = std::move(status);
  if (--left_ == 0) over_.notify_all();
}

bool CallGroup::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return over_.wait_for(lock, time, [&] { return left_ == 0; });
}

void CallGroup::Wait() {
  std::unique_lock lock(mutex_);
  over_.wait(lock, [&] { return left_ == 0; });
}

void CallGroup::ThrowFirstError() const {
  for (const Status& status : statuses_) ThrowIfError(status);
}

std::vector<std::string> VisibleTasks(const WorkerDirectory& workers, const std::string& own,
                                      const std::vector<std::string>& device_filters) {
  std::vector<DeviceName> filters;
  for (const std::string& filter : device_filters) {
    DeviceName& name = filters.emplace_back(DeviceName::Parse(filter));
    name.has_type = name.has_id = false;
  }
  std::vector<std::string> visible = {own};
  for (const std::string& task : workers.tasks()) {
    const DeviceName name = DeviceName::Parse(task);
    const auto matches = [&](const DeviceName& filter) { return filter.Matches(name); };
    if (task != own && (filters.empty() || std::ranges::any_of(filters, matches))) visible.push_back(task);
  }
  return visible;
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRetry = std::chrono::milliseconds(100);  // between attempts to reach a task
constexpr auto kReport = std::chrono::seconds(10);       // between messages about tasks that do not answer

// One call of GetStatus for each of some tasks. Answers may come after everybody has given up.
struct StatusCalls : CallGroup {
  explicit StatusCalls(size_t n) : CallGroup(n), devices(n) {}
  std::vector<std::vector<DeviceAttributes>> devices;
  const Ref<CancellationManager> cancellation = MakeRef<CancellationManager>();

  static std::shared_ptr<StatusCalls> Begin(WorkerDirectory& workers, const std::vector<std::string>& tasks) {
    const auto calls = std::make_shared<StatusCalls>(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const auto worker = workers.Find(tasks[i]);
      if (!worker) throw InvalidArgument("No task ", tasks[i], " in the cluster");
      worker->GetStatus(calls->cancellation, [calls, worker, i](Status status, std::vector<DeviceAttributes> devices) {
        calls->devices[i] = std::move(devices);
        calls->Finish(i, std::move(status));
      });
    }
    return calls;
  }
};

// A task that has another name in a session's own cluster tells the names that its devices have elsewhere.
std::vector<DeviceAttributes> Renamed(std::vector<DeviceAttributes> devices, const std::string& task) {
  for (DeviceAttributes& device : devices) {
    const DeviceName name = DeviceName::Parse(device.name);
    device.name = StrCat(task, "/device:", name.type, ":", name.id);
  }
  return devices;
}

}  // namespace

std::vector<std::vector<DeviceAttributes>> DevicesOfTasks(WorkerDirectory& workers,
                                                          const std::vector<std::string>& tasks, int64_t limit_ms,
                                                          CancellationManager* cancellation) {
  std::vector<std::vector<DeviceAttributes>> found(tasks.size());
  std::vector<size_t> missing(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) missing[i] = i;
  const auto start = Clock::now();
  auto next_report = start + kReport;
  const auto cancelled = [&] { return cancellation && cancellation->cancelled(); };
  const auto late = [&] { return limit_ms > 0 && Clock::now() >= start + std::chrono::milliseconds(limit_ms); };
  const auto report = [&] {
    if (Clock::now() < next_report) return;
    next_report += kReport;
    for (const size_t i : missing) {
      std::fprintf(stderr, "CreateSession still waiting for response from worker: %s\n", tasks[i].c_str());
    }
  };
  while (true) {
    std::vector<std::string> asked;
    for (const size_t i : missing) asked.push_back(tasks[i]);
    const auto calls = StatusCalls::Begin(workers, asked);
    while (!calls->WaitFor(kRetry) && !cancelled() && !late()) report();
    if (cancelled() || late()) calls->cancellation->Cancel();
    calls->Wait();
    std::vector<size_t> still;
    Status last;
    for (size_t i = 0; i < missing.size(); ++i) {
      const Status& status = calls->statuses()[i];
      if (status.ok()) {
        found[missing[i]] = Renamed(std::move(calls->devices[i]), tasks[missing[i]]);
      } else if (status.code() == Code::kUnavailable || status.code() == Code::kCancelled) {
        if (still.empty()) last = status;
        still.push_back(missing[i]);
      } else {
        throw Error(status);
      }
    }
    if (still.empty()) return found;
    missing = std::move(still);
    const std::string& task = tasks[missing[0]];
    if (cancelled()) throw Cancelled("Cancelled while waiting for an answer from ", task, ": ", last.message());
    if (late()) throw DeadlineExceeded("No answer from ", task, " within ", limit_ms, " ms: ", last.message());
    report();
    std::this_thread::sleep_for(kRetry);
  }
}

void ClearContainersOfTasks(WorkerDirectory& workers, const std::vector<std::string>& tasks,
                            const std::vector<std::string>& containers) {
  const auto calls = std::make_shared<CallGroup>(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto worker = workers.Find(tasks[i]);
    worker->CleanupAll(containers, [calls, worker, i](Status status) { calls->Finish(i, std::move(status)); });
  }
  calls->Wait();
  calls->ThrowFirstError();
}

}  // namespace penstock
