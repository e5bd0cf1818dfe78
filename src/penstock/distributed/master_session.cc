#include "penstock/distributed/master_session.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "penstock/distributed/calls.h"
#include "penstock/graph/export.h"
#include "penstock/graph/import.h"
#include "penstock/graph/lower.h"
#include "penstock/op/attr_key.h"
#include "penstock/runtime/call_state.h"
#include "penstock/runtime/partition.h"
#include "penstock/runtime/placer.h"

namespace penstock {
namespace {

std::string KeyOf(const RunStepRequest& request) {
  std::string key;
  AppendKey(static_cast<int64_t>(request.feeds.size()), &key);
  for (const auto& [name, value] : request.feeds) AppendKey(name, &key);
  for (const auto* names : {&request.fetches, &request.targets}) {
    AppendKey(static_cast<int64_t>(names->size()), &key);
    for (const std::string& name : *names) AppendKey(name, &key);
  }
  return key;
}

// A call on a device that is known now is a call that is placed there.
void PlaceRemoteCalls(Graph& graph) {
  for (Node* node : graph.Nodes()) {
    if (node->op_name() != "RemoteCall") continue;
    const Tensor* target = graph.ConstantValue(node->input(0));
    if (!target || target->num_elements() != 1) {
      throw Unimplemented("{{node ", node->name(), "}}: on a cluster the target of RemoteCall must be a constant");
    }
    const std::string device(target->data<TString>()->view());
    NodeSpec call{
        .op = "StatefulPartitionedCall", .name = "", .inputs = {}, .control_inputs = {}, .attrs = {}, .device = ""};
    call.inputs.assign(node->inputs().begin() + 1, node->inputs().end());
    call.control_inputs = node->control_inputs();
    call.attrs = {
        {"Tin", *node->attrs().Find("Tin")}, {"Tout", *node->attrs().Find("Tout")}, {"f", *node->attrs().Find("f")}};
    graph.Become(node, std::move(call));
    node->set_device(device);
  }
}

}  // namespace

MasterSession::MasterSession(std::string handle, std::string task, std::shared_ptr<WorkerDirectory> workers,
                             const GraphDef& graph, SessionOptions options, CancellationManager* cancellation)
    : handle_(std::move(handle)), task_(std::move(task)), workers_(std::move(workers)), options_(std::move(options)) {
  if (options_.use_per_session_threads || !options_.inter_op_pools.empty()) {
    throw InvalidArgument("Distributed session does not support session thread pool options.");
  }
  tasks_ = VisibleTasks(*workers_, task_, options_.device_filters);
  FindDevices(cancellation);
  AddAndPlace(graph);
  CreateWorkerSessions();
}

MasterSession::~MasterSession() { Close(); }

void MasterSession::FindDevices(CancellationManager* cancellation) {
  const auto found = DevicesOfTasks(*workers_, tasks_, options_.operation_timeout_ms, cancellation);
  for (const auto& devices : found) attributes_.insert(attributes_.end(), devices.begin(), devices.end());
  const auto own = std::ranges::find(found[0], "CPU", &DeviceAttributes::type);
  if (own == found[0].end()) throw Internal("The master's task ", task_, " has no CPU device");
  client_ = {own->name, own->incarnation};
  for (const DeviceAttributes& device : attributes_) {
    devices_.push_back(std::make_unique<Device>(device.name, device.type, nullptr));
    placeable_.push_back(devices_.back().get());
    incarnations_[device.name] = device.incarnation;
  }
}

void MasterSession::CreateWorkerSessions() {
  const auto calls = std::make_shared<CallGroup>(tasks_.size());
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const DeviceName name = DeviceName::Parse(tasks_[i]);
    WorkerSessionRequest request;
    request.session = handle_;
    request.server.cluster = options_.cluster;
    request.server.job = name.job;
    request.server.task = name.task;
    request.isolate_state =
        options_.isolate_session_state || (!options_.cluster.empty() && !options_.shares_state_in_own_cluster);
    if (options_.share_cluster_devices_in_session) request.cluster_devices = attributes_;
    request.master_task = task_;
    request.master_incarnation = static_cast<int64_t>(client_.incarnation);
    workers_->Find(tasks_[i])->CreateSession(std::move(request),
                                             [calls, i](Status status) { calls->Finish(i, std::move(status)); });
  }
  calls->Wait();
  calls->ThrowFirstError();
}

int64_t MasterSession::Extend(const GraphDef& graph, int64_t version) {
  std::lock_guard lock(graph_mutex_);
  if (version != version_) {
    throw Aborted("The graph of the session has version ", version_, " and cannot be extended from version ", version);
  }
  AddAndPlace(graph);
  steps_.Clear();
  return ++version_;
}

void MasterSession::AddAndPlace(const GraphDef& graph) {
  ImportOptions import;
  import.uniquify_names = false;
  import.allow_internal_names = true;
  import.validate_colocation = false;  // nodes may be with older ones
  std::unordered_set<std::string_view> added;
  for (const NodeDef& node : graph.nodes) added.insert(node.name);
  for (const NodeDef& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      const TensorName name = ParseTensorName(input);
      Node* const older = added.contains(name.node) ? nullptr : graph_.FindNode(name.node);
      if (!older) continue;
      if (name.index < 0) {
        import.control_input_map[input] = older;
      } else {
        import.input_map[input] = {older, name.index};
      }
    }
  }
  ImportGraphDef(graph, import, &graph_);
  Place(graph_, placeable_,
        {.allow_soft_placement = options_.allow_soft_placement, .log_device_placement = options_.log_device_placement});
  // Placed nodes keep their devices when the graph grows. Nodes with bodies have no place.
  for (Node* node : graph_.Nodes()) {
    if (!HasBodies(*node)) node->set_device(node->assigned_device());
  }
}

StepSignature MasterSession::SignatureOf(const RunStepRequest& request) const {
  const auto endpoint = [&](const std::string& name, std::string_view what) {
    const TensorName parsed = ParseTensorName(name);
    Node* const node = graph_.FindNode(parsed.node);
    if (!node || parsed.index < 0) throw NotFound(what, ": unable to find tensor ", name, " in the graph");
    if (parsed.index >= node->num_outputs()) {
      throw InvalidArgument(what, " ", name, ": the node has ", node->num_outputs(), " outputs");
    }
    return Endpoint{node, parsed.index};
  };
  StepSignature signature;
  for (const auto& [name, value] : request.feeds) {
    const Endpoint feed = endpoint(name, "FeedInputs");
    if (value.initialized() && value.dtype() != BaseType(feed.type())) {
      throw InvalidArgument("The feed ", name, " is of type ", ToString(BaseType(feed.type())), ", but got ",
                            ToString(value.dtype()));
    }
    signature.feeds.push_back(feed);
  }
  for (const std::string& name : request.fetches) signature.fetches.push_back(endpoint(name, "FetchOutputs"));
  for (const std::string& name : request.targets) {
    Node* const node = graph_.FindNode(ParseTensorName(name).node);
    if (!node) throw NotFound("PruneForTargets: Some target nodes not found: ", name);
    signature.targets.push_back(node);
  }
  return signature;
}

std::shared_ptr<const RegisteredStep> MasterSession::Find(const RunStepRequest& request) {
  std::string key = KeyOf(request);
  std::lock_guard lock(graph_mutex_);
  if (const auto* found = steps_.Find(key)) return *found;
  std::shared_ptr<const RegisteredStep> evicted;
  return steps_.Insert(std::move(key), Register(request), &evicted);
}

std::shared_ptr<const RegisteredStep> MasterSession::Register(const RunStepRequest& request) {
  const std::shared_ptr<Graph> graph = Prune(graph_, SignatureOf(request), &client_);
  for (Node* node : graph->Nodes()) {
    if (node->attr_or<bool>("client_terminated", false)) node->set_device(client_.name);
  }
  PlaceRemoteCalls(*graph);
  auto step = std::make_shared<RegisteredStep>();
  step->feeds_of_fetches = FeedsOfFetches(*graph, request.feeds.size(), request.fetches.size());
  LowerControlFlow(*graph, true);
  InlineCalls(*graph);
  LowerControlFlow(*graph);  // that was in the calls
  GiveCallsTheirState(*graph, {});
  Place(*graph, placeable_, {.allow_soft_placement = options_.allow_soft_placement});
  const auto parts = Partition(
      *graph,
      {.incarnation = [&](const std::string& device) { return incarnations_.at(device); }, .part_of = TaskOfDevice});
  step->session = handle_;
  // The master's own part comes last, as it may run on the calling thread.
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> ordered(parts.begin(), parts.end());
  std::ranges::stable_partition(ordered, [&](const auto& part) { return part.first != task_; });
  for (const auto& [task, part] : ordered) step->parts.push_back({task, workers_->Find(task), ""});
  const auto calls = std::make_shared<CallGroup>(parts.size());
  size_t i = 0;
  for (const auto& [task, part] : ordered) {
    RegisterGraphRequest register_request;
    register_request.session = handle_;
    register_request.has_session = true;
    register_request.graph = ToGraphDef(*part);
    register_request.options = options_;
    register_request.collective_graph_key = request.options.collective_graph_key;
    step->parts[i].worker->RegisterGraph(std::move(register_request),
                                         [calls, step, i](Status status, std::string handle) {
                                           step->parts[i].graph = std::move(handle);
                                           calls->Finish(i, std::move(status));
                                         });
    ++i;
  }
  calls->Wait();
  calls->ThrowFirstError();
  return step;
}

RunStepResponse MasterSession::Run(const RunStepRequest& request, CancellationManager* cancellation) {
  {
    std::lock_guard lock(mutex_);
    ThrowIfError(closed_);
  }
  if (!request.partial_run.empty()) return PartialRun(request, cancellation);
  const std::shared_ptr<const RegisteredStep> step = Find(request);
  const int64_t id = RandomId();
  std::vector<RunGraphRequest> calls = CallsOfStep(*step, id, request.options);
  if (RunGraphRequest* own = OwnCall(*step, &calls)) {
    for (size_t i = 0; i < request.feeds.size(); ++i)
      own->sends.push_back(Fed(static_cast<int>(i), request.feeds[i].second));
    for (size_t i = 0; i < request.fetches.size(); ++i) own->receives.push_back(FetchKey(client_, static_cast<int>(i)));
  }
  struct Cleanup {
    const RegisteredStep& step;
    int64_t id;
    ~Cleanup() { CleanupStep(step, id); }
  } cleanup{*step, id};
  return RunCalls(*step, std::move(calls), request.options, cancellation);
}

RunGraphRequest* MasterSession::OwnCall(const RegisteredStep& step, std::vector<RunGraphRequest>* calls) const {
  for (size_t i = 0; i < step.parts.size(); ++i) {
    if (step.parts[i].task == task_) return &(*calls)[i];
  }
  return nullptr;
}

std::pair<std::string, Tensor> MasterSession::Fed(int index, const Tensor& value) const {
  // A borrowed array is the caller's again after the step, which may have put it into a queue or a dataset.
  const bool borrowed = value.buffer() && value.buffer()->borrowed();
  return {FeedKey(client_, index), borrowed ? value.Clone() : value};
}

RunStepResponse MasterSession::RunCalls(const RegisteredStep& step, std::vector<RunGraphRequest> calls,
                                        const RunOptions& options, CancellationManager* cancellation) {
  RunningStep running(step, std::move(calls));
  Enter(&running);
  CancellationManager::Token token = 0;
  const auto cancel = [own = running.cancellation()] { own->Cancel(); };
  const bool linked = cancellation && cancellation->Register(cancel, &token);
  if (cancellation && !linked) cancel();
  struct Guard {
    MasterSession* session;
    RunningStep* running;
    CancellationManager* cancellation;
    CancellationManager::Token token;
    ~Guard() {
      if (cancellation) cancellation->Deregister(token);
      session->Leave(running);
    }
  } guard{this, &running, linked ? cancellation : nullptr, token};
  return running.Run(options.timeout_ms > 0 ? options.timeout_ms : options_.operation_timeout_ms);
}

void MasterSession::Enter(RunningStep* running) {
  std::lock_guard lock(mutex_);
  ThrowIfError(closed_);
  running_.insert(running);
}

void MasterSession::Leave(RunningStep* running) {
  std::lock_guard lock(mutex_);
  running_.erase(running);
  if (running_.empty()) idle_.notify_all();
}

void MasterSession::Close(const Status& reason) {
  std::vector<Ref<CancellationManager>> cancellations;
  {
    std::lock_guard lock(mutex_);
    if (!closed_.ok()) return;
    closed_ = reason;
    for (RunningStep* running : running_) cancellations.push_back(running->cancellation());
  }
  for (const auto& cancellation : cancellations) cancellation->Cancel();
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return running_.empty(); });
  }
  {
    std::lock_guard lock(graph_mutex_);
    steps_.Clear();
  }
  EndPartialRuns();
  for (const std::string& task : tasks_) {
    if (const auto worker = workers_->Find(task)) worker->DeleteSession(handle_, [worker](Status) {});
  }
}

}  // namespace penstock
