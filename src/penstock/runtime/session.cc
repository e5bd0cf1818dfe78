#include "penstock/runtime/session.h"

#include <algorithm>

#include "penstock/runtime/rendezvous.h"
#include "penstock/runtime/trace.h"

namespace penstock {
namespace {

constexpr char kJobPrefix[] = "/job:localhost/replica:0/task:0";

std::mutex g_sessions_mutex;
std::set<Session*>& Sessions() {
  static auto* sessions = new std::set<Session*>();
  return *sessions;
}

}  // namespace

std::atomic<int64_t> Session::next_step_{1};

std::vector<std::unique_ptr<Device>> MakeLocalDevices(const SessionOptions& options) {
  std::vector<std::unique_ptr<Device>> devices;
  for (const auto& factory : DeviceRegistry::Global().factories()) {
    const auto it = options.device_count.find(factory->type());
    const int count = it == options.device_count.end() ? 1 : it->second;
    for (auto& device : factory->Create(kJobPrefix, count)) devices.push_back(std::move(device));
  }
  if (devices.empty()) throw InvalidArgument("No devices: device_count leaves no device of any type");
  return devices;
}

Session::Session(std::shared_ptr<Graph> graph, SessionOptions options) : graph_(std::move(graph)), options_(std::move(options)) {
  devices_ = MakeLocalDevices(options_);
  const auto threads = [](int wanted) { return wanted > 0 ? wanted : NumCores(); };
  inter_op_ = std::make_unique<ThreadPool>(threads(options_.inter_op_threads), "inter_op");
  intra_op_ = std::make_unique<ThreadPool>(threads(options_.intra_op_threads), "intra_op");
  for (const auto& device : devices_) environment_.devices.push_back(device.get());
  environment_.kernels = &KernelRegistry::Global();
  environment_.options = &options_;
  environment_.inter_op = inter_op_.get();
  environment_.intra_op = intra_op_.get();
  environment_.make_kernel = [this](const Node& node, const NodeView& view) { return MakeKernel("", node, view); };
  environment_.make_function_kernel = [this](const std::string& scope, const Node& node, const NodeView& view) {
    return MakeKernel(scope, node, view);
  };
  functions_ = std::make_unique<FunctionRuntime>(&environment_, [this] {
    std::lock_guard lock(graph_->mutex());
    return graph_->library();
  });
  environment_.functions = functions_.get();
  std::lock_guard lock(g_sessions_mutex);
  Sessions().insert(this);
}

Session::~Session() {
  {
    std::lock_guard lock(g_sessions_mutex);
    Sessions().erase(this);
  }
  Close();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return running_.empty(); });
  lock.unlock();
  // Steps first, then what they used: kernels, resources, devices.
  inter_op_.reset();
  compiled_.clear();
  stateful_kernels_.clear();
  functions_.reset();
  for (const auto& device : devices_) device->resources().ClearAll();
}

std::shared_ptr<Kernel> Session::MakeKernel(const std::string& scope, const Node& node, const NodeView& view) {
  if (node.calls_function()) {
    // A function's name as op type is a call of it.
    AttrMap function_attrs;
    for (const auto& [name, value] : node.attrs()) {
      if (!name.starts_with("_")) function_attrs.Set(name, value);
    }
    const AttrMap attrs = {{"f", FuncRef{node.op_name(), function_attrs}}};
    const OpDef& call = *graph_->ops().Find("PartitionedCall");
    return environment_.kernels->Make(view.device()->type(), NodeView(node.name(), call, attrs, node.input_types(),
                                                                      node.output_types(), view.device()));
  }
  if (!node.traits().stateful) return environment_.kernels->Make(view.device()->type(), view);
  const std::string key = StrCat(scope, "\n", node.name(), "\n", node.op_name(), "\n", view.device()->name());
  std::lock_guard lock(mutex_);
  std::shared_ptr<Kernel>& kept = stateful_kernels_[key];
  if (!kept) kept = environment_.kernels->Make(view.device()->type(), view);
  return kept;
}

// A copy of what the fetches and targets need, cut off at the feeds: fed tensors become _Arg nodes, fetched ones feed _Retval
// nodes.
std::shared_ptr<Graph> Session::Prune(const Signature& signature) {
  std::lock_guard lock(graph_->mutex());
  auto pruned = std::make_shared<Graph>(graph_->ops());
  pruned->set_library(graph_->library());
  pruned->versions() = graph_->versions();
  std::map<std::pair<int, int>, int> feed_of;
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    const Endpoint feed = signature.feeds[i];
    if (!feed_of.try_emplace({feed.node->id(), feed.index}, static_cast<int>(i)).second) {
      throw InvalidArgument("Endpoint \"", feed.name(), "\" fed more than once.");
    }
  }
  const auto fed = [&](Endpoint e) { return feed_of.contains({e.node->id(), e.index}); };

  std::vector<bool> needed(graph_->num_ids());
  std::vector<Node*> stack, nodes;
  const auto need = [&](Node* node) {
    if (needed[node->id()]) return;
    needed[node->id()] = true;
    stack.push_back(node);
  };
  for (const Endpoint& fetch : signature.fetches) {
    if (!fed(fetch)) need(fetch.node);
  }
  for (Node* target : signature.targets) need(target);
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    nodes.push_back(node);
    for (const Endpoint& input : node->inputs()) {
      if (!fed(input)) need(input.node);
    }
    for (Node* control : node->control_inputs()) need(control);
  }
  std::ranges::sort(nodes, {}, [](const Node* node) { return node->id(); });

  std::vector<Node*> copy(graph_->num_ids());
  for (Node* node : nodes) copy[node->id()] = pruned->CopyNode(*node, {}, {});
  std::vector<Node*> args;
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    const Endpoint feed = signature.feeds[i];
    Node* arg = pruned->AddNode({.op = "_Arg",
                                 .name = pruned->UniqueName(StrCat("_arg_", feed.node->name(), "_", feed.index, "_", i)),
                                 .inputs = {},
                                 .control_inputs = {},
                                 .attrs = {{"T", BaseType(feed.type())}, {"index", static_cast<int64_t>(i)}},
                                 .device = ""});
    pruned->SetShape({arg, 0}, feed.shape());
    pruned->SetHandleData({arg, 0}, feed.node->info(feed.index).handle_data);
    args.push_back(arg);
  }
  const auto value = [&](Endpoint e) -> Endpoint {
    const auto it = feed_of.find({e.node->id(), e.index});
    if (it != feed_of.end()) return {args[it->second], 0};
    return {copy[e.node->id()], e.index};
  };
  for (Node* node : nodes) {
    std::vector<Endpoint> inputs;
    for (const Endpoint& input : node->inputs()) inputs.push_back(value(input));
    std::vector<Node*> controls;
    for (Node* control : node->control_inputs()) controls.push_back(copy[control->id()]);
    pruned->SetInputs(copy[node->id()], std::move(inputs), controls);
  }
  for (size_t i = 0; i < signature.fetches.size(); ++i) {
    const Endpoint fetch = signature.fetches[i];
    pruned->AddNode({.op = "_Retval",
                     .name = pruned->UniqueName(StrCat("_retval_", fetch.node->name(), "_", fetch.index, "_", i)),
                     .inputs = {value(fetch)},
                     .control_inputs = {},
                     .attrs = {{"T", BaseType(fetch.type())}, {"index", static_cast<int64_t>(i)}},
                     .device = ""});
  }
  return pruned;
}

std::shared_ptr<const CompiledStep> Session::Compile(const Signature& signature) {
  if (closed_) throw Cancelled("Session has been closed.");
  std::vector<int> key;
  const auto add = [&](const std::vector<Endpoint>& endpoints) {
    key.push_back(static_cast<int>(endpoints.size()));
    for (const Endpoint& e : endpoints) {
      key.push_back(e.node->id());
      key.push_back(e.index);
    }
  };
  add(signature.feeds);
  add(signature.fetches);
  for (const Node* target : signature.targets) key.push_back(target->id());
  {
    std::lock_guard lock(mutex_);
    const auto it = compiled_.find(key);
    if (it != compiled_.end()) return it->second;
  }
  std::shared_ptr<const CompiledStep> step = CompileStep(Prune(signature), environment_);
  std::lock_guard lock(mutex_);
  return compiled_.try_emplace(key, std::move(step)).first->second;
}

void Session::Run(const CompiledStep& compiled, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
                  const RunOptions& options, RunMetadata* metadata, bool interruptible) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    const DataType wanted = compiled.arg_types[i];
    if (feeds[i].dtype() != wanted) {
      throw InvalidArgument("Feed ", i, " has type ", ToString(feeds[i].dtype()), ", but the tensor is of type ", ToString(wanted));
    }
  }
  CancellationManager cancellation;
  {
    std::lock_guard lock(mutex_);
    if (closed_) throw Cancelled("Session has been closed.");
    running_.insert(&cancellation);
  }
  struct Leave {
    Session* session;
    CancellationManager* cancellation;
    ~Leave() {
      std::lock_guard lock(session->mutex_);
      session->running_.erase(cancellation);
      if (session->running_.empty()) session->idle_.notify_all();
    }
  } leave{this, &cancellation};

  ResourceManager step_resources;
  StepServices step;
  step.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
  step.cancellation = &cancellation;
  step.functions = functions_.get();
  step.step_resources = &step_resources;
  step.intra_op = intra_op_.get();
  step.interrupts_seen = interruptible ? g_interrupts.load() : -1;
  Ref<LocalRendezvous> rendezvous;
  if (!compiled.straight_line()) {
    rendezvous = MakeRef<LocalRendezvous>();
    step.rendezvous = rendezvous.get();
    step.schedule = [this](std::function<void()> task) { inter_op_->Schedule(std::move(task)); };
  }
  std::unique_ptr<StepTrace> trace;
  if (metadata && options.trace_level > 0) trace = std::make_unique<StepTrace>();
  fetches->assign(compiled.ret_types.size(), Tensor());
  const RunArgs run{feeds.data(), fetches->data(), &step, trace.get()};
  const int64_t timeout = options.timeout_ms > 0 ? options.timeout_ms : options_.operation_timeout_ms;
  RunStep(compiled, run, environment_, timeout);
  if (trace) trace->Fill(metadata);
  for (size_t i = 0; i < fetches->size(); ++i) {
    if (!(*fetches)[i].initialized()) throw InvalidArgument("fetch ", i, " has no value: it is dead in this step");
  }
}

void Session::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (CancellationManager* cancellation : running_) cancellation->Cancel();
}

void Session::Reset(const std::vector<std::string>& containers) {
  std::lock_guard lock(g_sessions_mutex);
  for (Session* session : Sessions()) {
    for (const auto& device : session->devices_) {
      if (containers.empty()) device->resources().ClearAll();
      for (const std::string& container : containers) device->resources().Clear(container);
    }
    session->Close();
  }
}

}  // namespace penstock
