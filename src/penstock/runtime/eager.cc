#include "penstock/runtime/eager.h"

#include <algorithm>
#include <array>

#include "penstock/base/denormals.h"
#include "penstock/base/log.h"
#include "penstock/device/cpu_device.h"
#include "penstock/kernel/anonymous.h"
#include "penstock/kernel/may_block.h"
#include "penstock/op/attr_key.h"
#include "penstock/runtime/call_state.h"
#include "penstock/runtime/kept_inputs.h"
#include "penstock/runtime/session_runtime.h"
#include "penstock/runtime/step_scope.h"

namespace penstock {
namespace {

// Tensors differ from call to call and are large; functions come and go.
bool WorthKeeping(const AttrMap& attrs) {
  return std::ranges::none_of(attrs, [](const auto& attr) {
    const auto& v = attr.second.v;
    return std::holds_alternative<std::shared_ptr<const Tensor>>(v) || std::holds_alternative<FuncRef>(v) ||
           std::holds_alternative<std::vector<Tensor>>(v) || std::holds_alternative<std::vector<FuncRef>>(v);
  });
}

// Whether each call makes another object, which only its handle names: an op that could share one by name, but has
// none. Gives resources the anonymous name, so that they end with their handles.
bool MakesOwnObject(std::string_view op, AttrMap* attrs) {
  const OpDef* def = OpRegistry::Global().Find(op);
  if (!def || !def->FindAttr("shared_name")) return false;
  const AttrValue* given = attrs->Find("shared_name");
  const std::string* name = given ? given->If<std::string>() : nullptr;
  if (name && !name->empty()) return *name == kAnonymousName || op == "VarHandleOp";
  const auto is_handle = [](const ArgDef& output) { return output.type == DT_RESOURCE; };
  if (std::ranges::any_of(def->outputs, is_handle)) attrs->Set("shared_name", kAnonymousName);
  return true;
}

}  // namespace

int64_t EagerValue::NewId() {
  static std::atomic<int64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

EagerContext& EagerContext::Global() {
  static auto* context = new EagerContext();  // never destroyed: values may outlive everything else
  return *context;
}

EagerContext::EagerContext() {
  SetDeviceCount(1);
  set_soft_placement(true);
  environment_.kernels = &KernelRegistry::Global();
  environment_.options = &options_;
  SetThreads(0, 0);
  environment_.make_kernel = [this](const Node& node, const NodeView& view) { return MakeKernel(node, view); };
  environment_.make_function_kernel = [this](const FuncRef& function, const Node& node,
                                             const NodeView& view) -> std::shared_ptr<Kernel> {
    if (!node.traits().stateful) return MakeKernel(node, view);
    std::string key = CanonicalKey(function);
    AppendKey(node.name(), &key);
    AppendKey(node.op_name(), &key);
    std::lock_guard lock(mutex_);
    const auto [at, fresh] = function_kernels_.try_emplace(std::move(key), FunctionNames(function), nullptr);
    std::shared_ptr<Kernel>& kept = at->second.kernel;
    if (!kept) kept = MakeKernel(node, view);
    return kept;
  };
  runtime_ = std::make_unique<FunctionRuntime>(&environment_, [this] {
    std::lock_guard lock(functions_graph_->mutex());
    return functions_graph_->library();
  });
  environment_.functions = runtime_.get();
}

void EagerContext::SetThreads(int inter_op, int intra_op) {
  std::lock_guard lock(mutex_);
  const auto set = [&](std::atomic<ThreadPool*>* pool, int threads, const char* name) {
    if (*pool && (*pool).load()->threads() == threads) return;
    pools_.push_back(std::make_unique<ThreadPool>(threads, name));
    *pool = pools_.back().get();
  };
  set(&inter_op_, inter_op > 0 ? inter_op : DefaultThreads("TF_NUM_INTEROP_THREADS"), "eager_inter_op");
  set(&intra_op_, intra_op > 0 ? intra_op : DefaultThreads("TF_NUM_INTRAOP_THREADS"), "eager_intra_op");
  environment_.inter_op = inter_op_;
  environment_.intra_op = intra_op_;
}

bool EagerContext::SetDeviceCount(int count) {
  std::lock_guard lock(mutex_);
  if (count < static_cast<int>(devices_.size())) return false;
  auto made = MakeCpuDeviceFactory()->Create("/job:localhost/replica:0/task:0", count);
  for (size_t i = devices_.size(); i < made.size(); ++i) {
    environment_.devices.push_back(made[i].get());
    devices_.push_back(std::move(made[i]));
  }
  return true;
}

Device& EagerContext::device(int number) {
  std::lock_guard lock(mutex_);
  return *devices_.at(static_cast<size_t>(number));
}

int EagerContext::FindDevice(std::string_view name) {
  const DeviceName wanted = DeviceName::Parse(name);
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (wanted.Matches(devices_[i]->parsed_name())) return static_cast<int>(i);
  }
  return -1;
}

// A function's name as op type is a call of it.
std::shared_ptr<Kernel> EagerContext::MakeKernel(const Node& node, const NodeView& view) {
  const KernelRegistry& kernels = KernelRegistry::Global();
  if (!node.calls_function()) {
    if (!kernels.Find("CPU", view.op(), view.attrs()) && kernels.HasKernel(view.op().name)) {
      throw NotFound("Could not find device for node: {{node ", view.name(), "}} = ", view.op().name,
                     KernelRegistry::DescribeAttrs(view.attrs()), "\nAll kernels registered for op ", view.op().name,
                     ":\n", kernels.DescribeKernels(view.op().name));
    }
    return kernels.Make("CPU", view);
  }
  AttrMap function_attrs;
  for (const auto& [name, value] : node.attrs()) {
    if (!name.starts_with("_") || name == kCallSiteAttr) function_attrs.Set(name, value);
  }
  const AttrMap attrs = {{"f", FuncRef{node.op_name(), function_attrs}}};
  const OpDef& call = *OpRegistry::Global().Find("PartitionedCall");
  return kernels.Make("CPU",
                      NodeView(node.name(), call, attrs, node.input_types(), node.output_types(), view.device()));
}

std::shared_ptr<const EagerOp> EagerContext::Make(std::string_view op, std::span<const DataType> types, AttrMap attrs,
                                                  const std::string& name, int device) {
  auto made = std::make_shared<EagerOp>();
  made->device_ = device;
  made->graph_ = std::make_unique<Graph>();
  Graph& graph = *made->graph_;
  {
    std::lock_guard lock(functions_graph_->mutex());
    graph.set_library(functions_graph_->library());
  }
  NodeSpec spec;
  spec.op = op;
  spec.name = name;
  for (size_t i = 0; i < types.size(); ++i) {
    spec.inputs.push_back({graph.AddNode({.op = "_Arg",
                                          .name = StrCat("input_", i),
                                          .inputs = {},
                                          .control_inputs = {},
                                          .attrs = {{"T", types[i]}, {"index", static_cast<int64_t>(i)}},
                                          .device = ""}),
                           0});
  }
  spec.attrs = std::move(attrs);
  made->node_ = graph.AddNode(std::move(spec));
  const Node& node = *made->node_;
  for (const DataType type : node.input_types()) {
    if (IsRef(type)) throw Unimplemented("op ", op, " works on references, which eager execution does not have");
  }
  made->view_ = std::make_unique<NodeView>(node.name(), node.op(), node.attrs(), node.input_types(),
                                           node.output_types(), &this->device(device));
  made->kernel_ = MakeKernel(node, *made->view_);
  made->may_take_long_ = made->kernel_->is_async() || dynamic_cast<const MayBlock*>(made->kernel_.get());
  made->keeps_inputs_ = MayKeepInputs(node);
  made->long_above_ = node.traits().cost == Cost::kHeavy ? size_t{1} << 13 : size_t{1} << 16;
  return made;
}

std::shared_ptr<const EagerOp> EagerContext::Prepare(std::string_view op, std::span<const DataType> types,
                                                     AttrMap attrs, int device) {
  bool keep = WorthKeeping(attrs);
  std::string key;
  if (keep) {
    AppendKey(op, &key);
    AppendKey(int64_t{device}, &key);
    AppendKey(static_cast<int64_t>(types.size()), &key);
    for (const DataType type : types) AppendKey(int64_t{type}, &key);
    AppendKey(attrs, &key);
    std::lock_guard lock(mutex_);
    if (const auto* found = ops_.Find(key)) return *found;
  }
  keep = !MakesOwnObject(op, &attrs) && keep;
  const std::string name = StrCat(op, "_", next_name_.fetch_add(1));
  Log(LogSubject::kEager, "makes the kernel of ", name, keep ? "" : ", which is not cached");
  std::shared_ptr<const EagerOp> made =
      Make(op, types, std::move(attrs), name.starts_with("_") ? "eager" + name : name, device);
  if (!keep) return made;
  std::shared_ptr<const EagerOp> evicted;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  return ops_.Insert(std::move(key), std::move(made), &evicted);
}

void EagerContext::RunKernel(const EagerOp& op, std::span<KernelContext::Input> inputs, std::span<Value> outputs) {
  if (op.keeps_inputs_) OwnInputs(inputs);
  StepScope step({.step_id = next_step_.fetch_add(1, std::memory_order_relaxed),
                  .cancellation = cancellation_,
                  .functions = runtime_.get(),
                  .intra_op = intra_op_,
                  .resources = &step_resources_});
  if (op.kernel_->is_async()) step.MakeExecutor(inter_op_);
  KernelContext context(*op.view_, inputs, outputs, step.services(), *op.view_->device());
  StepRecorder* const recorder = g_process_recorder.load(std::memory_order_acquire);
  const int64_t start = recorder ? NowNanos() : 0;
  try {
    const ScopedDenormals denormals(ScopedDenormals::kZero);
    if (StepExecutor* executor = step.executor()) {
      ThrowIfError(executor->RunToEnd([&](Kernel::Done done) { op.kernel_->RunAsync(context, std::move(done)); },
                                      cancellation_, {}));
    } else {
      op.kernel_->Run(context);
    }
    if (recorder) recorder->Ran(*op.node_, *op.view_->device(), start, NowNanos(), outputs);
  } catch (...) {
    const Status status = CurrentStatus();
    const std::string tag = StrCat(" [Op:", op.op().name, "]");
    throw Error(status.message().ends_with(tag) ? status
                                                : Status(status.code(), status.message() + tag, status.node()));
  }
}

std::vector<Tensor> EagerContext::Run(const EagerOp& op, std::span<const Tensor> inputs) {
  const size_t num_outputs = static_cast<size_t>(op.node_->num_outputs());
  std::vector<Value> values(inputs.size() + num_outputs);
  std::vector<KernelContext::Input> in(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[i].tensor = inputs[i];
    in[i] = {&values[i], false};
  }
  const std::span<Value> outputs(values.data() + inputs.size(), num_outputs);
  RunKernel(op, in, outputs);
  std::vector<Tensor> results;
  results.reserve(num_outputs);
  for (Value& output : outputs) results.push_back(std::move(output.tensor));
  return results;
}

void EagerContext::Run(const EagerOp& op, std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
  std::array<Value, kFew> values;
  std::array<KernelContext::Input, kFew> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[i].tensor = *inputs[i];
    in[i] = {&values[i], false};
  }
  const std::span<Value> results(values.data() + inputs.size(), outputs.size());
  RunKernel(op, {in.data(), inputs.size()}, results);
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = std::move(results[i].tensor);
}

std::shared_ptr<const CompiledStep> EagerContext::PrepareFunction(const std::string& name) {
  return runtime_->Find({name, {}});
}

std::vector<Tensor> EagerContext::Call(const std::string& name, const CompiledStep& function,
                                       std::span<const Tensor> args, const Ref<CancellationManager>& cancellation) {
  const std::vector<DataType>& types = function.arg_types;
  if (args.size() != types.size()) {
    throw InvalidArgument("Function ", name, " expects ", types.size(), " arguments, but got ", args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() == types[i]) continue;
    throw InvalidArgument("cannot compute ", name, " as input #", i, "(zero-based) was expected to be a ",
                          ToString(types[i]), " tensor but is a ", ToString(args[i].dtype()), " tensor [Op:", name,
                          "]");
  }
  const CallCancellation own(cancellation, name);
  StepScope step({.step_id = next_step_.fetch_add(1, std::memory_order_relaxed),
                  .cancellation = own.get(),
                  .functions = runtime_.get(),
                  .intra_op = intra_op_});
  if (!function.straight_line()) step.MakeExecutor(inter_op_);
  std::vector<Tensor> results(function.ret_types.size());
  try {
    RunStep(function, {args.data(), results.data(), &step.services(), nullptr}, step.executor());
  } catch (...) {
    const Status status = CurrentStatus();
    throw Error(Status(status.code(), StrCat(status.message(), " [Op:", name, "]"), status.node()));
  }
  return results;
}

void EagerContext::RemoveFunction(const std::string& name) {
  {
    std::lock_guard lock(functions_graph_->mutex());
    if (functions_graph_->library()->Find(name))
      functions_graph_->set_library(functions_graph_->library()->Without(name));
  }
  runtime_->Forget(name);
  std::lock_guard lock(mutex_);
  std::erase_if(function_kernels_, [&](const auto& entry) { return entry.second.names.Contain(name); });
}

CacheStats EagerContext::signature_cache_stats() {
  std::lock_guard lock(mutex_);
  return ops_.stats();
}

void EagerContext::ClearCaches() {
  std::lock_guard lock(mutex_);
  generation_.fetch_add(1, std::memory_order_relaxed);
  ops_.Clear();
  function_kernels_.clear();
}

}  // namespace penstock
