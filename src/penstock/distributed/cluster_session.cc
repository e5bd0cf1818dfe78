#include "penstock/distributed/cluster_session.h"

#include <algorithm>

#include "penstock/base/alarms.h"
#include "penstock/graph/export.h"
#include "penstock/kernel/interrupts.h"
#include "penstock/runtime/step_executor.h"

namespace penstock {
namespace {

// A step by names. A tensor that is fetched twice is requested once; one that is fed is not requested.
struct NamedStep final : PreparedStep {
  std::vector<std::string> feeds, fetches, targets;
  struct Source {
    bool is_feed;
    size_t index;
  };
  std::vector<Source> sources;  // of each fetched value
};

}  // namespace

class ClusterSession::Cancellable {
 public:
  Cancellable(ClusterSession* session, bool interruptible) : session_(session) {
    {
      std::lock_guard lock(session->mutex_);
      if (session->closed_) throw Cancelled("Session has been closed.");
      session->running_.insert(cancellation_.get());
    }
    if (!interruptible) return;
    try {
      interrupt_ = Alarm::OnInterrupt([cancellation = cancellation_] { cancellation->Cancel(); });
    } catch (const Error&) {  // no thread can be had: an interrupt is seen when the call returns
    }
  }
  ~Cancellable() {
    std::lock_guard lock(session_->mutex_);
    session_->running_.erase(cancellation_.get());
  }
  CancellationManager* get() const { return cancellation_.get(); }

 private:
  ClusterSession* const session_;
  const Ref<CancellationManager> cancellation_ = MakeRef<CancellationManager>();
  Alarm interrupt_;
};

ClusterSession::ClusterSession(std::shared_ptr<Graph> graph, std::shared_ptr<MasterInterface> master,
                               std::string target, std::string config)
    : graph_(std::move(graph)),
      master_(std::move(master)),
      target_(std::move(target)),
      config_(std::move(config)),
      options_(ParseConfig(config_)) {}

ClusterSession::~ClusterSession() { Close(); }

std::string ClusterSession::Create(const GraphDef& graph, CancellationManager* cancellation) const {
  // The master keeps to the time limit too, if there is one.
  Deadline deadline(options_.operation_timeout_ms, ShareRef(cancellation));
  try {
    return master_->CreateSession(graph, config_, target_, cancellation);
  } catch (const Error& error) {
    const Status status = deadline.StatusOf(error.status());
    if (status.code() != Code::kDeadlineExceeded) throw;
    throw DeadlineExceeded("The session was not created within ", options_.operation_timeout_ms,
                           " ms by the master of ", target_, ": ", error.what());
  }
}

std::string ClusterSession::Extend(CancellationManager* cancellation) {
  std::lock_guard extending(extend_mutex_);
  GraphDef added;
  int next_node;
  FunctionLibraryPtr library;
  {
    std::lock_guard lock(graph_->mutex());
    next_node = graph_->num_ids();
    library = graph_->library();
    if (!handle_.empty() && next_node == next_node_ && library == library_) return handle_;
    added = ToGraphDef(*graph_, next_node_);
  }
  // The calls themselves may take long: the graph can be changed meanwhile.
  if (handle_.empty()) {
    handle_ = Create(added, cancellation);
  } else {
    version_ = master_->ExtendSession(handle_, added, version_);
  }
  next_node_ = next_node;
  library_ = std::move(library);
  return handle_;
}

std::shared_ptr<const PreparedStep> ClusterSession::Prepare(const StepSignature& signature, bool interruptible) {
  if (!signature.connections.empty()) throw Unimplemented("Tensor connections in a session of a cluster");
  const Cancellable call(this, interruptible);
  Extend(call.get());
  auto step = std::make_shared<NamedStep>();
  for (const Endpoint& feed : signature.feeds) {
    step->arg_types.push_back(BaseType(feed.type()));
    step->feeds.push_back(feed.name());
  }
  const auto index_of = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
  };
  for (const Endpoint& fetch : signature.fetches) {
    step->ret_types.push_back(BaseType(fetch.type()));
    const std::string name = fetch.name();
    const size_t feed = index_of(step->feeds, name);
    if (feed < step->feeds.size()) {
      step->sources.push_back({true, feed});
      continue;
    }
    const size_t at = index_of(step->fetches, name);
    if (at == step->fetches.size()) step->fetches.push_back(name);
    step->sources.push_back({false, at});
  }
  for (const Node* target : signature.targets) step->targets.push_back(target->name());
  return step;
}

std::shared_ptr<const PreparedStep> ClusterSession::PrepareDebugged(const StepSignature&, const RunOptions&, bool) {
  throw Unimplemented("The debugger watches sessions of this process only, not those of a cluster");
}

void ClusterSession::Run(const PreparedStep& prepared, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
                         const RunOptions& options, RunMetadata* metadata, bool interruptible) {
  const auto& step = static_cast<const NamedStep&>(prepared);
  const Cancellable call(this, interruptible);
  RunStepRequest request;
  request.session = Extend(call.get());
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].dtype() != step.arg_types[i]) {
      throw InvalidArgument("Feed ", i, " has type ", ToString(feeds[i].dtype()), ", but the tensor is of type ",
                            ToString(step.arg_types[i]));
    }
    request.feeds.emplace_back(step.feeds[i], feeds[i]);
  }
  request.fetches = step.fetches;
  request.targets = step.targets;
  request.options = options;
  RunStepResponse response;
  if (!step.fetches.empty() || !step.targets.empty()) response = master_->RunStep(request, call.get());
  if (response.fetched.size() != step.fetches.size()) {
    throw Internal("The master gave ", response.fetched.size(), " values for ", step.fetches.size(), " fetches");
  }
  fetches->clear();
  for (const auto& [is_feed, index] : step.sources) {
    fetches->push_back(is_feed ? feeds[index] : response.fetched[index]);
  }
  if (metadata) *metadata = std::move(response.metadata);
}

std::string ClusterSession::PartialRunSetup(const StepSignature& signature) {
  const Cancellable call(this, false);
  std::vector<std::string> feeds, fetches, targets;
  for (const Endpoint& feed : signature.feeds) feeds.push_back(feed.name());
  for (const Endpoint& fetch : signature.fetches) {
    if (std::ranges::find(fetches, fetch.name()) == fetches.end()) fetches.push_back(fetch.name());
  }
  for (const Node* target : signature.targets) targets.push_back(target->name());
  return master_->PartialRunSetup(Extend(call.get()), feeds, fetches, targets);
}

void ClusterSession::PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                                const std::vector<Endpoint>& fetches, std::vector<Tensor>* values, bool interruptible) {
  const Cancellable call(this, interruptible);
  RunStepRequest request;
  {
    std::lock_guard lock(extend_mutex_);
    request.session = handle_;
  }
  request.partial_run = handle;
  for (const auto& [endpoint, value] : feeds) request.feeds.emplace_back(endpoint.name(), value);
  std::vector<size_t> sources;  // a tensor that is fetched twice is requested once
  for (const Endpoint& fetch : fetches) {
    const auto it = std::ranges::find(request.fetches, fetch.name());
    sources.push_back(static_cast<size_t>(it - request.fetches.begin()));
    if (it == request.fetches.end()) request.fetches.push_back(fetch.name());
  }
  const std::vector<Tensor> fetched = master_->RunStep(request, call.get()).fetched;
  values->clear();
  for (const size_t source : sources) values->push_back(fetched.at(source));
}

std::vector<DeviceAttributes> ClusterSession::ListDevices() {
  const Cancellable call(this, false);
  std::string handle;
  {
    std::lock_guard extending(extend_mutex_);
    if (handle_.empty()) {  // without the graph's nodes, which may name missing devices
      GraphDef empty;
      {
        std::lock_guard lock(graph_->mutex());
        empty.versions = graph_->versions();
      }
      handle_ = Create(empty, call.get());
    }
    handle = handle_;
  }
  return master_->ListDevices(handle);
}

void ClusterSession::Close() {
  std::vector<Ref<CancellationManager>> running;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (CancellationManager* each : running_) running.push_back(ShareRef(each));
  }
  for (const auto& cancellation : running) cancellation->Cancel();
  std::string handle;
  {
    std::lock_guard lock(extend_mutex_);
    handle.swap(handle_);
  }
  if (handle.empty()) return;
  try {
    master_->CloseSession(handle);
  } catch (const Error&) {  // the master has gone, and the session with it
  }
}

}  // namespace penstock
