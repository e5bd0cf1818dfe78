#include "penstock/distributed/worker.h"

#include <charconv>
#include <random>

#include "penstock/distributed/derived.h"
#include "penstock/graph/export.h"
#include "penstock/runtime/step_scope.h"
#include "penstock/runtime/trace.h"

namespace penstock {
namespace {

// Another one in each life of the process: a handle of an earlier life names no graph.
uint64_t FirstGraph() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) & ~uint64_t{0xFFFFFF};
}

std::string HandleOf(uint64_t graph) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string handle(16, '0');
  for (int i = 15; i >= 0; --i, graph >>= 4) handle[i] = kDigits[graph & 15];
  return handle;
}

// Calls `compute` and then `done` with its value or its error.
template <class Result, class Compute>
void Answer(const std::function<void(Status, Result)>& done, Compute compute) {
  Result result{};
  Status status;
  try {
    result = compute();
  } catch (...) {
    status = CurrentStatus();
  }
  done(std::move(status), std::move(result));
}

template <class Compute>
void Answer(const std::function<void(Status)>& done, Compute compute) {
  Status status;
  try {
    compute();
  } catch (...) {
    status = CurrentStatus();
  }
  done(std::move(status));
}

}  // namespace

// A step's part on this task, from its first RunGraph to the end of its kernels; runs in pieces have several calls.
class Worker::Step : public std::enable_shared_from_this<Step> {
 public:
  Step(std::shared_ptr<Worker> worker, std::shared_ptr<const RegisteredGraph> graph, Ref<StepRendezvous> rendezvous,
       const RunGraphRequest& request)
      : worker_(std::move(worker)), graph_(std::move(graph)), rendezvous_(std::move(rendezvous)) {
    scope_.emplace(StepScope::Parts{.step_id = request.step_id,
                                    .cancellation = cancellation_,
                                    .functions = &graph_->functions->calls,
                                    .intra_op = runtime().intra_op.get(),
                                    .session_handle = request.session});
    scope_->MakeExecutor(runtime().inter_op[0].get(), rendezvous_);
    if (request.record_costs || request.record_timeline) trace_ = std::make_unique<StepTrace>();
    // A kernel that waits for a value is not reached otherwise.
    CancellationManager::Token token;
    cancellation_->Register(
        [rendezvous = rendezvous_] { rendezvous->Abort(Status(Code::kCancelled, "Step was cancelled.")); }, &token);
  }

  const Ref<CancellationManager>& cancellation() const { return cancellation_; }
  const SessionRuntime& runtime() const { return graph_->session->runtime(); }
  const WorkerSession* session() const { return graph_->session.get(); }
  const CompiledStep& compiled() const { return *graph_->step; }

  // Runs the kernels; `done` is called with their status. `here`: on this thread if they cannot block.
  void Start(bool here, std::function<void(Status)> done) {
    const auto run = [self = shared_from_this(), done = std::move(done)] {
      const RunArgs args{nullptr, nullptr, &self->scope_->services(), self->trace_.get()};
      RunStepAsync(self->compiled(), args, [self, done](Status status) {
        if (!status.ok()) {
          if (self->cancelled_) status = Derived(status);
          self->rendezvous_->Abort(status);
        }
        self->scope_->ClearResources();
        self->worker_->Forget(self.get());
        done(std::move(status));
      });
    };
    if (here && compiled().straight_line() && !compiled().may_block()) return run();
    scope_->executor()->Post(run);
  }

  void Cancel() {
    cancelled_ = true;
    cancellation_->Cancel();
  }

  void Send(const NamedTensors& values) {
    for (const auto& [key, value] : values) rendezvous_->Send(key, value, false);
  }

  // Receives values that the client fetches. `has_ended`: what is not there now will not come.
  void Receive(const std::vector<std::string>& keys, bool has_ended, Done<NamedTensors> done) {
    struct Receipt {
      std::mutex mutex;
      size_t left;
      Status status;
      NamedTensors values;
      Done<NamedTensors> done;
    };
    if (keys.empty()) return done(Status(), {});
    auto receipt = std::make_shared<Receipt>();
    receipt->left = keys.size();
    receipt->done = std::move(done);
    for (const std::string& key : keys) receipt->values.emplace_back(key, Tensor());
    for (size_t i = 0; i < keys.size(); ++i) {
      rendezvous_->ReceiveAsync(keys[i], [receipt, i](Status status, Tensor value, bool is_dead) {
        {
          std::lock_guard lock(receipt->mutex);
          if (receipt->left == 0) return;
          auto& [key, received] = receipt->values[i];
          if (status.ok() && is_dead) {
            status = Status(Code::kInvalidArgument, StrCat("The tensor returned for ", key, " was not valid."));
          }
          if (receipt->status.ok()) receipt->status = std::move(status);
          received = std::move(value);
          if (--receipt->left > 0) return;
        }
        receipt->done(receipt->status, std::move(receipt->values));
      });
    }
    if (!has_ended) return;
    {
      std::lock_guard lock(receipt->mutex);
      if (receipt->left == 0) return;
      receipt->left = 0;
    }
    receipt->done(Status(Code::kInternal, "the step has ended and did not send it"), {});
  }

  void Fill(const RunGraphRequest& request, RunMetadata* metadata) const {
    if (request.record_partition_graphs) {
      for (const auto& part : compiled().partitions) metadata->partition_graphs.push_back(ToGraphDef(*part));
    }
    if (trace_) trace_->Fill(metadata);
  }

  // Of a run in pieces: how the kernels ended, for the last piece.
  void SetOver(Status status) {
    std::function<void(Status)> waiting;
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      status_ = status;
      waiting = std::move(waiting_);
    }
    if (waiting) waiting(std::move(status));
  }
  void WhenOver(std::function<void(Status)> done) {
    Status status;
    {
      std::lock_guard lock(mutex_);
      if (!over_) {
        waiting_ = std::move(done);
        return;
      }
      status = status_;
    }
    done(std::move(status));
  }

 private:
  const std::shared_ptr<Worker> worker_;
  const std::shared_ptr<const RegisteredGraph> graph_;
  const Ref<StepRendezvous> rendezvous_;
  const Ref<CancellationManager> cancellation_ = MakeRef<CancellationManager>();
  std::atomic<bool> cancelled_{false};  // from outside
  std::optional<StepScope> scope_;
  std::unique_ptr<StepTrace> trace_;
  std::mutex mutex_;
  bool over_ = false;
  Status status_;
  std::function<void(Status)> waiting_;
};

Worker::Worker(std::shared_ptr<Server> server, std::string task, const std::shared_ptr<WorkerDirectory>& workers,
               WorkerOptions options)
    : server_(std::move(server)),
      task_(std::move(task)),
      workers_(workers),
      options_(std::move(options)),
      steps_(options_.patience),
      next_graph_(FirstGraph()) {}

Worker::~Worker() = default;

void Worker::Stop() {
  std::vector<std::shared_ptr<Step>> running;
  std::map<std::string, SessionPtr> sessions;
  std::map<std::string, std::shared_ptr<const RegisteredGraph>> graphs;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, step] : running_) running.push_back(step);
    sessions.swap(sessions_);
    graphs.swap(graphs_);
    partial_.clear();
    by_master_.clear();
  }
  for (const auto& step : running) step->Cancel();
  steps_.CleanupAll(nullptr, Status(Code::kCancelled, "The worker was stopped."));
}

void Worker::GetStatus(Ref<CancellationManager>, Done<std::vector<DeviceAttributes>> done) {
  std::vector<DeviceAttributes> devices;
  for (const auto& device : server_->devices()) devices.push_back(AttributesOf(*device));
  done(Status(), std::move(devices));
}

Worker::SessionPtr Worker::NewSession(const WorkerSessionRequest& request) {
  const bool has_cluster = !request.server.cluster.empty();
  const std::string task = has_cluster ? TaskName(request.server.job, request.server.task) : task_;
  std::vector<std::shared_ptr<Device>> devices;
  if (request.isolate_state || task != task_) {
    devices = MakeDevices(task, server_->options());
    for (size_t i = 0; i < devices.size() && !request.isolate_state; ++i) {  // other names, but the same resources
      const auto& device = server_->devices()[i];
      devices[i]->SetResources(std::shared_ptr<ResourceManager>(device, &device->resources()));
    }
  } else {
    devices = server_->devices();
  }
  auto session =
      std::make_shared<WorkerSession>(request.session, task, std::move(devices), request.isolate_state, workers_);
  if (has_cluster) {
    if (!options_.make_directory) throw Unimplemented("A session with its own cluster (ConfigProto.cluster_def)");
    session->OwnCluster(options_.make_directory(request.server));
  }
  return session;
}

void Worker::CreateSession(WorkerSessionRequest request, Finished done) {
  Answer(done, [&] {
    if (request.session.empty()) throw InvalidArgument("Session must be non-empty.");
    const SessionPtr session = NewSession(request);
    std::vector<SessionPtr> old;
    {
      std::lock_guard lock(mutex_);
      // A master that died has not deleted its sessions.
      const auto [first, last] = by_master_.equal_range(request.master_task);
      if (first != last && first->second.incarnation != request.master_incarnation) {
        for (auto it = first; it != last; ++it) {
          const auto found = sessions_.find(it->second.session);
          if (found == sessions_.end()) continue;
          old.push_back(found->second);
          sessions_.erase(found);
        }
        by_master_.erase(first, last);
      }
      sessions_.emplace(request.session, session);
      if (!request.master_task.empty()) {
        by_master_.emplace(request.master_task, Created{request.master_incarnation, request.session});
      }
    }
    for (const SessionPtr& each : old) EndSteps(each);
  });
}

void Worker::DeleteSession(std::string session, Finished done) {
  Answer(done, [&] {
    SessionPtr found;
    {
      std::lock_guard lock(mutex_);
      const auto it = sessions_.find(session);
      if (it == sessions_.end()) return;
      found = std::move(it->second);
      sessions_.erase(it);
      std::erase_if(by_master_, [&](const auto& each) { return each.second.session == session; });
    }
    EndSteps(found);
  });
}

void Worker::EndSteps(const SessionPtr& session) {
  std::vector<std::shared_ptr<Step>> running;
  std::vector<std::shared_ptr<const RegisteredGraph>> graphs;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, step] : running_) {
      if (step->session() == session.get()) running.push_back(step);
    }
    for (auto it = graphs_.begin(); it != graphs_.end();) {
      if (it->second->session == session) {
        graphs.push_back(std::move(it->second));
        it = graphs_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const auto& step : running) step->Cancel();
  steps_.CleanupAll(session.get(), Status(Code::kCancelled, StrCat("Session ", session->handle, " was deleted.")));
}

Worker::SessionPtr Worker::FindSession(const std::string& handle, bool has_session) {
  std::lock_guard lock(mutex_);
  if (!has_session || handle.empty()) {
    const auto it = own_sessions_.find(handle);
    return it == own_sessions_.end() ? nullptr : it->second.lock();
  }
  const auto it = sessions_.find(handle);
  if (it != sessions_.end()) return it->second;
  throw Aborted("Session handle is not found: ", handle, ". Possibly this worker (\"", task_, "\") just restarted.");
}

Worker::SessionPtr Worker::FindOrMakeSession(const std::string& handle, bool has_session) {
  SessionPtr session = FindSession(handle, has_session);
  if (session) return session;
  WorkerSessionRequest request;
  request.session = handle;
  SessionPtr fresh = NewSession(request);
  std::lock_guard lock(mutex_);
  std::erase_if(own_sessions_, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<WorkerSession>& kept = own_sessions_[handle];
  session = kept.lock();
  if (session) return session;
  kept = fresh;
  return fresh;
}

std::shared_ptr<const RegisteredGraph> Worker::FindGraph(const std::string& session, bool has_session,
                                                         const std::string& graph, std::string_view hint) {
  has_session = has_session && !session.empty();
  const SessionPtr found = has_session ? FindSession(session, true) : nullptr;
  std::lock_guard lock(mutex_);
  const auto it = graphs_.find(graph);
  // The handle says it all for a master that creates no sessions.
  if (it == graphs_.end() || it->second->has_session != has_session || (found && it->second->session != found)) {
    throw Aborted("Graph handle is not found: ", graph, hint);
  }
  return it->second;
}

void Worker::RegisterGraph(RegisterGraphRequest request, Done<std::string> done) {
  Answer(done, [&] {
    const bool has_session = request.has_session && !request.session.empty();
    const SessionPtr session = FindOrMakeSession(request.session, has_session);
    auto graph = session->Compile(std::move(request), has_session, server_->options());
    std::lock_guard lock(mutex_);
    const std::string handle = HandleOf(++next_graph_);
    graphs_[handle] = std::move(graph);
    return handle;
  });
}

void Worker::DeregisterGraph(std::string session, bool has_session, std::string graph, Finished done) {
  Answer(done, [&] {
    const auto found = FindGraph(session, has_session, graph, ". Possibly, this worker just restarted.");
    std::lock_guard lock(mutex_);
    graphs_.erase(graph);  // `found` goes without the lock
  });
}

void Worker::Forget(Step* step) {
  std::shared_ptr<Step> forgotten;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  const auto it = running_.find(step);
  if (it == running_.end()) return;
  forgotten = std::move(it->second);
  running_.erase(it);
}

void Worker::RunGraph(RunGraphRequest request, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done) {
  Run(std::move(request), true, std::move(cancellation), std::move(done));
}

void Worker::RunGraphElsewhere(RunGraphRequest request, Ref<CancellationManager> cancellation,
                               Done<RunGraphResponse> done) {
  Run(std::move(request), false, std::move(cancellation), std::move(done));
}

void Worker::Run(RunGraphRequest given, bool here, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done) {
  auto request = std::make_shared<const RunGraphRequest>(std::move(given));
  std::shared_ptr<Step> step;
  bool is_first = true;
  try {
    if (!recent_.Insert(request->request_id)) {
      throw Aborted("The same ", request->is_partial ? "PartialRunGraph" : "RunGraph",
                    " (Worker) request was received twice. graph_handle: \"", request->graph,
                    "\" step_id: ", request->step_id, " request_id: ", request->request_id);
    }
    const auto graph = FindGraph(request->session, request->has_session, request->graph, "");
    if (request->is_partial) {
      std::lock_guard lock(mutex_);
      const auto it = partial_.find(request->step_id);
      if (it != partial_.end()) step = it->second;
    }
    is_first = !step;
    if (is_first) {
      const SessionPtr& session = graph->session;
      auto rendezvous = steps_.Begin(request->step_id, session.get(), session->task, session->workers());
      step = std::make_shared<Step>(shared_from_this(), graph, std::move(rendezvous), *request);
      std::lock_guard lock(mutex_);
      running_[step.get()] = step;
      if (request->is_partial) partial_[request->step_id] = step;
    }
    step->Send(request->sends);
  } catch (...) {
    const Status status = CurrentStatus();
    if (step && is_first) {
      Forget(step.get());
      std::lock_guard lock(mutex_);
      partial_.erase(request->step_id);
    }
    return done(status, {});
  }

  CancellationManager::Token token = 0;
  if (cancellation && !cancellation->Register([step] { step->Cancel(); }, &token)) step->Cancel();
  const auto finish = [step, request, cancellation, token, done = std::move(done)](Status status, NamedTensors values) {
    // The cancelling thread runs the callbacks of all its calls: there is no need to wait for them.
    if (cancellation && !cancellation->cancelled()) cancellation->Deregister(token);
    RunGraphResponse response;
    if (status.ok()) {
      response.received = std::move(values);
      try {
        step->Fill(*request, &response.metadata);
      } catch (...) {
        status = CurrentStatus();
      }
    }
    done(std::move(status), std::move(response));
  };
  if (request->is_partial) {
    if (is_first) step->Start(here, [step](Status status) { step->SetOver(std::move(status)); });
    step->Receive(request->receives, false,
                  [this, self = shared_from_this(), step, request, finish](Status status, NamedTensors values) {
                    if (!request->is_last_partial && status.ok()) return finish(status, std::move(values));
                    {
                      std::lock_guard lock(mutex_);
                      partial_.erase(request->step_id);
                    }
                    // The kernels' error is the cause of a value that does not come.
                    step->WhenOver([status, values = std::move(values), finish](Status ended) {
                      finish(ended.ok() ? status : ended, values);
                    });
                  });
    return;
  }
  step->Start(here, [step, request, finish](Status status) {
    if (!status.ok()) return finish(std::move(status), {});
    step->Receive(request->receives, true, [request, finish](Status failed, NamedTensors values) {
      if (!failed.ok()) {
        failed = Status(Code::kInternal, StrCat("Failed to fetch outputs for step ", request->step_id,
                                                ". (Original error message: ", failed.message(), ")"));
      }
      finish(std::move(failed), std::move(values));
    });
  });
}

void Worker::CleanupStep(int64_t step_id, Finished done) {
  std::shared_ptr<Step> partial;
  {
    std::lock_guard lock(mutex_);
    const auto it = partial_.find(step_id);
    if (it != partial_.end()) {
      partial = std::move(it->second);
      partial_.erase(it);
    }
  }
  if (partial) partial->Cancel();
  steps_.Cleanup(step_id);
  done(Status());
}

void Worker::CleanupAll(std::vector<std::string> containers, Finished done) {
  Answer(done, [&] { server_->Clear(containers); });
}

void Worker::CheckSource(const std::string& key) const {
  const auto malformed = [&] { return InvalidArgument("Invalid  rendezvous key: ", key); };
  const size_t end = key.find(';'), next = end == std::string::npos ? end : key.find(';', end + 1);
  if (next == std::string::npos) throw malformed();
  DeviceName source;
  if (!DeviceName::TryParse(key.substr(0, end), &source) || !source.has_type || !source.has_id) throw malformed();
  uint64_t incarnation = 0;
  const auto [rest, error] = std::from_chars(key.data() + end + 1, key.data() + next, incarnation, 16);
  if (error != std::errc() || rest != key.data() + next) throw malformed();
  for (const auto& device : server_->devices()) {
    if (device->parsed_name().type != source.type || device->parsed_name().id != source.id) continue;
    if (device->incarnation() == incarnation) return;
    throw Aborted("RecvTensor expects a different device incarnation: ", incarnation, " vs. ", device->incarnation(),
                  ". Your worker job (\"", task_,
                  "\") was probably restarted. Check your worker job for the reason why it was restarted.");
  }
  throw InvalidArgument(source.type, ":", source.id, " unknown device.");
}

void Worker::ReceiveTensor(int64_t step_id, std::string key, Ref<CancellationManager> cancellation,
                           Rendezvous::Received done) {
  try {
    CheckSource(key);
  } catch (...) {
    return done(CurrentStatus(), Tensor(), false);
  }
  steps_.ReceiveLocally(step_id, key, cancellation, std::move(done));
}

}  // namespace penstock
