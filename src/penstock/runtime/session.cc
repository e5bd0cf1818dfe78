#include "penstock/runtime/session.h"

#include <algorithm>
#include <cstdlib>

#include "penstock/graph/export.h"
#include "penstock/io/debug_dump.h"
#include "penstock/kernel/interrupts.h"
#include "penstock/op/attr_key.h"
#include "penstock/runtime/debugger.h"
#include "penstock/runtime/kept_inputs.h"
#include "penstock/runtime/step_scope.h"
#include "penstock/runtime/trace.h"

namespace penstock {
namespace {

constexpr char kJobPrefix[] = "/job:localhost/replica:0/task:0";

// All sessions, with the number of threads that close them. Nothing is called under the mutex; a session that is being
// closed is destroyed afterwards.
ForkMutex g_sessions_mutex;
std::condition_variable g_session_unpinned;
std::map<Session*, int>& Sessions() {
  static auto* sessions = new std::map<Session*, int>();
  return *sessions;
}

// Calls `close` with each session.
template <class Close>
void ForEachSession(Close close) {
  std::vector<Session*> pinned;
  {
    std::lock_guard lock(g_sessions_mutex);
    for (auto& [session, pins] : Sessions()) {
      ++pins;
      pinned.push_back(session);
    }
  }
  for (Session* session : pinned) {
    close(*session);
    std::lock_guard lock(g_sessions_mutex);
    --Sessions()[session];
    g_session_unpinned.notify_all();
  }
}

}  // namespace

std::atomic<int64_t> Session::next_step_{1};

std::vector<std::shared_ptr<Device>> MakeLocalDevices(const SessionOptions& options) {
  return MakeDevices(kJobPrefix, options);
}

Session::Session(std::shared_ptr<Graph> graph, SessionOptions options, std::shared_ptr<Server> server)
    : graph_(std::move(graph)), server_(std::move(server)) {
  std::vector<std::shared_ptr<Device>> devices;
  if (!server_) {
    devices = MakeLocalDevices(options);
  } else {
    for (const std::string& filter : options.device_filters) DeviceName::Parse(filter);  // the own task passes all
    const SessionOptions& defaults = server_->options();
    if (options.operation_timeout_ms == 0) options.operation_timeout_ms = defaults.operation_timeout_ms;
    options.log_device_placement |= defaults.log_device_placement;
    own_devices_ = options.isolate_session_state;
    devices = own_devices_ ? server_->MakeDevicesAlike() : server_->devices();
  }
  runtime_ = std::make_shared<SessionRuntime>(std::move(options), std::move(devices), graph_->ops(), [this] {
    std::lock_guard lock(graph_->mutex());
    return graph_->library();
  });
  if (!own_devices_) runtime_->functions->KeepWithScopes(runtime_);
  std::lock_guard lock(g_sessions_mutex);
  Sessions()[this] = 0;
}

Session::~Session() {
  {
    std::unique_lock<std::mutex> lock(g_sessions_mutex);
    g_session_unpinned.wait(lock, [&] { return Sessions()[this] == 0; });
    Sessions().erase(this);
  }
  Close();
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [&] { return running_.empty() && open_partial_runs_ == 0; });
  lock.unlock();
  // Steps first, then what they used: kernels, resources (iterators call functions), functions, devices.
  partial_runs_.clear();
  compiled_.Clear();
  runtime_->stateful_kernels.clear();
  if (own_devices_) {
    ClearContainers(runtime_->devices, {});
    runtime_->functions.reset();
  } else {
    runtime_->functions->KeepLibrary();  // for iterators that stay with the server
  }
}

std::unique_ptr<CompiledStep> Session::CompilePruned(std::shared_ptr<Graph> pruned, const StepEnvironment& environment,
                                                     bool interruptible) const {
  const int seen = g_interrupts.load(std::memory_order_relaxed);
  return CompileStep(std::move(pruned), environment, [&] {
    RequireOpen();
    if (interruptible && g_interrupts.load(std::memory_order_relaxed) != seen) throw Cancelled("Interrupted.");
  });
}

namespace {

// Each list with its length, so that no part can pass for another.
std::string KeyOf(const Session::Signature& signature) {
  std::string key;
  const auto count = [&](const auto& list) { AppendKey(static_cast<int64_t>(list.size()), &key); };
  const auto add = [&](const Endpoint& e) {
    AppendKey(int64_t{e.node->id()}, &key);
    AppendKey(int64_t{e.index}, &key);
  };
  for (const auto* endpoints : {&signature.feeds, &signature.fetches}) {
    count(*endpoints);
    for (const Endpoint& e : *endpoints) add(e);
  }
  count(signature.connections);
  for (const auto& [from, to] : signature.connections) add(from), add(to);
  count(signature.targets);
  for (const Node* target : signature.targets) AppendKey(int64_t{target->id()}, &key);
  return key;
}

}  // namespace

std::shared_ptr<const CompiledStep> Session::Compile(const Signature& signature, bool interruptible) {
  const int seen = g_interrupts.load(std::memory_order_relaxed);
  RequireOpen();
  std::string key = KeyOf(signature);
  {
    std::lock_guard lock(mutex_);
    if (const auto* found = compiled_.Find(key)) return *found;
  }
  std::shared_ptr<Graph> pruned;
  {
    std::lock_guard lock(graph_->mutex());
    pruned = Prune(*graph_, signature);
  }
  if (interruptible && g_interrupts.load(std::memory_order_relaxed) != seen) throw Cancelled("Interrupted.");
  std::shared_ptr<const CompiledStep> step = CompilePruned(std::move(pruned), runtime_->environment, interruptible);
  std::shared_ptr<const CompiledStep> evicted;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  return compiled_.Insert(std::move(key), std::move(step), &evicted);
}

std::shared_ptr<const PreparedStep> Session::PrepareDebugged(const Signature& signature, const RunOptions& options,
                                                             bool interruptible) {
  RequireOpen();
  if (options.debug_resets_disk_bytes) ResetDumpedBytes();
  std::shared_ptr<Graph> pruned;
  DebugRun run;
  run.global_step = options.debug_global_step;
  run.session_run_index = debugged_runs_++;
  {
    std::lock_guard lock(mutex_);
    run.executor_step_index = debugged_steps_[KeyOf(signature)]++;
  }
  {
    std::lock_guard lock(graph_->mutex());
    pruned = Prune(*graph_, signature);
    for (const Endpoint& feed : signature.feeds) run.inputs.push_back(feed.name());
    for (const Endpoint& fetch : signature.fetches) run.outputs.push_back(fetch.name());
    for (const Node* target : signature.targets) run.targets.push_back(target->name());
  }
  InsertDebugNodes(*pruned, options.debug_watches, *runtime_->environment.kernels);
  SessionOptions plain = runtime_->options;
  plain.graph.opt_level = -1;
  plain.graph.rewrite.disable_meta_optimizer = true;
  StepEnvironment environment = runtime_->environment;
  environment.options = &plain;
  std::shared_ptr<const CompiledStep> step = CompilePruned(std::move(pruned), environment, interruptible);
  const std::vector<std::string> urls = DebugUrls(options.debug_watches);
  DumpRun(run, urls);
  for (const auto& part : step->partitions) {
    if (part->num_nodes() > 0) DumpGraph(part->Nodes()[0]->assigned_device(), ToGraphDef(*part), urls);
  }
  return step;
}

std::vector<DeviceAttributes> Session::ListDevices() {
  std::vector<DeviceAttributes> all;
  for (const auto& device : devices()) all.push_back(AttributesOf(*device));
  return all;
}

void Session::Run(const PreparedStep& prepared, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
                  const RunOptions& options, RunMetadata* metadata, bool interruptible) {
  const auto& compiled = static_cast<const CompiledStep&>(prepared);
  for (size_t i = 0; i < feeds.size(); ++i) {
    const DataType wanted = compiled.arg_types[i];
    if (feeds[i].dtype() != wanted) {
      throw InvalidArgument("Feed ", i, " has type ", ToString(feeds[i].dtype()), ", but the tensor is of type ",
                            ToString(wanted));
    }
  }
  const auto cancellation = MakeRef<CancellationManager>();
  {
    std::lock_guard lock(mutex_);
    RequireOpen();
    running_.insert(cancellation.get());
  }
  struct Leave {
    Session* session;
    CancellationManager* cancellation;
    ~Leave() {
      std::lock_guard lock(session->mutex_);
      session->running_.erase(cancellation);
      if (session->running_.empty()) session->idle_.notify_all();
    }
  } leave{this, cancellation.get()};

  StepScope step({.step_id = next_step_.fetch_add(1, std::memory_order_relaxed),
                  .cancellation = cancellation,
                  .functions = runtime_->functions.get(),
                  .intra_op = runtime_->intra_op.get(),
                  .interrupts_seen = interruptible ? g_interrupts.load() : -1});
  ThreadPool* const pool = PoolFor(options);
  if (!compiled.straight_line()) step.MakeExecutor(pool);
  std::unique_ptr<StepTrace> trace;
  const bool measured = compiled.costs.CountRun(runtime_->options.graph) && metadata;
  if (metadata && (measured || options.trace_level > 0)) trace = std::make_unique<StepTrace>();
  fetches->assign(compiled.ret_types.size(), Tensor());
  const RunArgs run{feeds.data(), fetches->data(), &step.services(), trace.get()};
  const int64_t timeout = options.timeout_ms > 0 ? options.timeout_ms : runtime_->options.operation_timeout_ms;
  if (metadata && options.output_partition_graphs && !runtime_->options.disable_output_partition_graphs) {
    for (const auto& part : compiled.partitions) metadata->partition_graphs.push_back(ToGraphDef(*part));
  }
  RunStep(compiled, run, step.executor(), timeout);
  step.ClearResources();
  CheckNoneKept(feeds, *fetches);
  if (trace) trace->Fill(metadata);
  if (measured) {
    compiled.costs.Add(metadata->devices);
    metadata->cost_nodes = compiled.costs.Nodes(compiled.partitions);
  }
  for (size_t i = 0; i < fetches->size(); ++i) {
    if (!(*fetches)[i].initialized()) throw InvalidArgument("fetch ", i, " has no value: it is dead in this step");
  }
}

ThreadPool* Session::PoolFor(const RunOptions& options) const {
  const int index = options.inter_op_thread_pool;
  if (index < -1 || index >= static_cast<int>(runtime_->inter_op.size())) {
    throw InvalidArgument("Invalid inter_op_thread_pool: ", index);
  }
  return runtime_->inter_op[std::max(0, index)].get();
}

void Session::CloseWith(bool server_was_reset) {
  std::vector<Ref<CancellationManager>> running;
  {
    std::lock_guard lock(mutex_);
    if (!closed_) aborted_ = server_was_reset;
    closed_ = true;
    for (CancellationManager* each : running_) running.push_back(ShareRef(each));
  }
  for (const auto& cancellation : running) cancellation->Cancel();
  CancelPartialRuns();
}

void Session::Reset(const std::vector<std::string>& containers, const std::shared_ptr<Server>& server) {
  if (server) server->Clear(containers);
  ForEachSession([&](Session& session) {
    if (session.server_ != server) return;
    if (!server) ClearContainers(session.runtime_->devices, containers);
    session.CloseWith(server != nullptr);
  });
}

CacheStats Session::StepCacheStats() {
  CacheStats all;
  std::lock_guard lock(g_sessions_mutex);
  for (const auto& [session, pins] : Sessions()) {
    std::lock_guard session_lock(session->mutex_);
    all += session->compiled_.stats();
  }
  return all;
}

void Session::CloseAll() {
  ForEachSession([](Session& session) { session.Close(); });
}

}  // namespace penstock
