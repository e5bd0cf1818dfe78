// Two workers in this process, and as much of a master as tests need.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <random>

#include "penstock/distributed/derived.h"
#include "penstock/distributed/remote_worker.h"
#include "penstock/distributed/worker.h"
#include "penstock/distributed/worker_service.h"
#include "penstock/engine/engine.h"
#include "penstock/graph/export.h"
#include "penstock/runtime/partition.h"
#include "penstock/runtime/prune.h"

namespace penstock {

// What an asynchronous call gave. Waits for 3 s at most.
template <class Result = bool>
class Answer {
 public:
  auto Done() {
    return [state = state_](Status status, Result result = {}) {
      state->set_value({std::move(status), std::move(result)});
    };
  }
  bool IsThere() { return future_.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready; }
  std::pair<Status, Result> Get() {
    if (future_.wait_for(std::chrono::seconds(3)) != std::future_status::ready) {
      return {Status(Code::kDeadlineExceeded, "the test waited in vain"), Result()};
    }
    return future_.get();
  }
  Result Value() {
    auto [status, result] = Get();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return result;
  }
  Status Error() { return Get().first; }

 private:
  std::shared_ptr<std::promise<std::pair<Status, Result>>> state_ =
      std::make_shared<std::promise<std::pair<Status, Result>>>();
  std::future<std::pair<Status, Result>> future_ = state_->get_future();
};

// A value that was received.
struct Received {
  Tensor value;
  bool is_dead = false;
};
inline Rendezvous::Received Into(Answer<Received>& answer) {
  return [done = answer.Done()](Status status, Tensor value, bool is_dead) {
    done(std::move(status), {std::move(value), is_dead});
  };
}

class TaskMap final : public WorkerDirectory {
 public:
  std::shared_ptr<WorkerInterface> Find(const std::string& task) override {
    const auto it = tasks_.find(task);
    return it == tasks_.end() ? nullptr : it->second.lock();
  }
  std::vector<std::string> tasks() const override {
    std::vector<std::string> names;
    for (const auto& [name, worker] : tasks_) names.push_back(name);
    return names;
  }
  void Set(const std::string& task, const std::shared_ptr<WorkerInterface>& worker) { tasks_[task] = worker; }

 private:
  std::map<std::string, std::weak_ptr<WorkerInterface>> tasks_;
};

inline const std::string kPs = "/job:ps/replica:0/task:0", kWorker = "/job:worker/replica:0/task:0";
inline const std::string kPsCpu = kPs + "/device:CPU:0", kWorkerCpu = kWorker + "/device:CPU:0";

// A job "ps" and a job "worker" of one task each. Its graph is placed by hand; steps are run as a master runs them.
class TwoTasks {
 public:
  // `remote`: calls of the tasks go over the transport, those of each other too.
  explicit TwoTasks(WorkerOptions options = {}, bool remote = false) : options_(std::move(options)), remote_(remote) {
    Initialize();
    Start(kPs);
    Start(kWorker);
  }
  ~TwoTasks() {
    for (const auto& [name, worker] : workers_) worker->Stop();
  }

  // The task, in another life if it was there before.
  void Start(const std::string& task) {
    const DeviceName name = DeviceName::Parse(task);
    servers_[task] = std::make_shared<Server>(name.job, name.task, SessionOptions());
    workers_[task] = std::make_shared<Worker>(servers_[task], task, directory_, options_);
    calls_[task] = workers_[task];
    if (remote_) {
      auto transport = std::make_unique<rpc::Server>();
      AddWorkerService(workers_[task], transport.get());
      transport->Start("localhost:0");
      calls_[task] = MakeRemoteWorker(task, StrCat("localhost:", transport->port()));
      transports_[task] = std::move(transport);
    }
    directory_->Set(task, calls_[task]);
  }
  Worker& worker(const std::string& task) { return *workers_[task]; }
  int port(const std::string& task) { return transports_[task]->port(); }
  // The task as others see it.
  WorkerInterface& Calls(const std::string& task) { return *calls_[task]; }
  uint64_t Incarnation(const std::string& device) {
    return servers_[TaskOfDevice(device)]->devices()[0]->incarnation();
  }

  Node* Add(const std::string& device, const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    Node* node = graph->AddNode({.op = op,
                                 .name = graph->UniqueName(op),
                                 .inputs = std::move(inputs),
                                 .control_inputs = {},
                                 .attrs = std::move(attrs),
                                 .device = device});
    node->set_assigned_device(device);
    return node;
  }
  Node* Constant(const std::string& device, const Tensor& value) {
    return Add(device, "Const", {}, {{"value", value}, {"dtype", value.dtype()}});
  }
  Node* Placeholder(DataType type) { return Add(kWorkerCpu, "Placeholder", {}, {{"dtype", type}}); }

  // A step that is cut by task and registered.
  struct Prepared {
    std::map<std::string, std::string> handles;  // by task
    std::vector<std::string> feed_keys, fetch_keys;
  };
  const std::shared_ptr<TaskMap>& directory() const { return directory_; }
  std::string session;  // created ones; empty: the workers' own
  Prepared Prepare(const StepSignature& signature) {
    const ClientDevice client{kWorkerCpu, Incarnation(kWorkerCpu)};
    const std::shared_ptr<Graph> pruned = Prune(*graph, signature, &client);
    for (Node* node : pruned->Nodes()) {
      if (node->assigned_device().empty()) node->set_assigned_device(kWorkerCpu);
    }
    const auto parts = Partition(*pruned, {.incarnation = [&](const std::string& d) { return Incarnation(d); },
                                           .part_of = TaskOfDevice,
                                           .add_control_loops = true});
    Prepared prepared;
    for (const auto& [task, part] : parts) {
      RegisterGraphRequest request;
      request.session = session;
      request.has_session = !session.empty();
      request.graph = ToGraphDef(*part);
      Answer<std::string> handle;
      Calls(task).RegisterGraph(std::move(request), handle.Done());
      prepared.handles[task] = handle.Value();
    }
    for (size_t i = 0; i < signature.feeds.size(); ++i) {
      prepared.feed_keys.push_back(FeedKey(client, static_cast<int>(i)));
    }
    for (size_t i = 0; i < signature.fetches.size(); ++i) {
      prepared.fetch_keys.push_back(FetchKey(client, static_cast<int>(i)));
    }
    return prepared;
  }

  RunGraphRequest PartOf(const Prepared& prepared, const std::string& task, int64_t step_id) const {
    RunGraphRequest request;
    request.session = session;
    request.has_session = !session.empty();
    request.graph = prepared.handles.at(task);
    request.step_id = step_id;
    return request;
  }

  // Runs all parts, those of `order` in this order.
  struct Result {
    std::map<std::string, Status> statuses;  // by task
    std::vector<Tensor> fetched;
    Status status() const {
      for (const auto& [task, status] : statuses) {
        if (!status.ok() && !IsDerived(status)) return status;
      }
      for (const auto& [task, status] : statuses) {
        if (!status.ok()) return status;
      }
      return Status();
    }
  };
  Result Run(const Prepared& prepared, const std::vector<Tensor>& feeds, std::vector<std::string> order = {}) {
    const int64_t step_id = ++next_step_;
    if (order.empty()) {
      for (const auto& [task, handle] : prepared.handles) order.push_back(task);
    }
    std::map<std::string, Answer<RunGraphResponse>> answers;
    for (const std::string& task : order) {
      RunGraphRequest request = PartOf(prepared, task, step_id);
      if (task == kWorker) {
        for (size_t i = 0; i < feeds.size(); ++i) request.sends.emplace_back(prepared.feed_keys[i], feeds[i]);
        request.receives = prepared.fetch_keys;
      }
      Calls(task).RunGraph(std::move(request), cancellation, answers[task].Done());
    }
    Result result;
    for (auto& [task, answer] : answers) {
      auto [status, response] = answer.Get();
      result.statuses[task] = status;
      for (auto& [key, value] : response.received) result.fetched.push_back(value);
    }
    for (const std::string& task : order) Cleanup(task, step_id);
    return result;
  }
  // One step from its signature to its first fetch; errors are thrown.
  Tensor RunOnce(const StepSignature& signature, const std::vector<Tensor>& feeds = {}) {
    Result result = Run(Prepare(signature), feeds);
    ThrowIfError(result.status());
    return result.fetched.empty() ? Tensor() : result.fetched[0];
  }
  void Cleanup(const std::string& task, int64_t step_id) {
    Answer<> cleaned;
    Calls(task).CleanupStep(step_id, cleaned.Done());
    EXPECT_TRUE(cleaned.Error().ok());
  }

  const std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Ref<CancellationManager> cancellation;

 private:
  const WorkerOptions options_;
  const bool remote_;
  std::map<std::string, std::shared_ptr<Server>> servers_;
  const std::shared_ptr<TaskMap> directory_ = std::make_shared<TaskMap>();
  std::map<std::string, std::shared_ptr<Worker>> workers_;
  std::map<std::string, std::unique_ptr<rpc::Server>> transports_;
  std::map<std::string, std::shared_ptr<WorkerInterface>> calls_;
  int64_t next_step_ = int64_t{1} << 40;
};

}  // namespace penstock
