#include "penstock/runtime/session_runtime.h"

#include <algorithm>
#include <cstdlib>

#include "penstock/base/strings.h"
#include "penstock/op/attr_key.h"
#include "penstock/runtime/call_state.h"

namespace penstock {

int DefaultThreads(const char* variable) {
  const char* text = std::getenv(variable);
  int64_t number = 0;
  if (text && ParseInt64(text, &number) && number > 0 && number <= 1024) return static_cast<int>(number);
  return NumCores();
}

namespace {

int Threads(int wanted, const char* variable) { return wanted != 0 ? std::max(1, wanted) : DefaultThreads(variable); }

// Sessions share their pools with all others that want as many threads, unless they ask for threads of their own. A
// pool starts its threads when it is first used.
std::shared_ptr<ThreadPool> SharedPool(const std::string& name, int threads) {
  static ForkMutex mutex;
  static auto* pools = new std::map<std::pair<std::string, int>, std::shared_ptr<ThreadPool>>();
  std::lock_guard lock(mutex);
  auto& pool = (*pools)[{name, threads}];
  if (!pool) pool = std::make_shared<ThreadPool>(threads, name.c_str());
  return pool;
}

void MakePools(const SessionOptions& options, std::vector<std::shared_ptr<ThreadPool>>* inter_op,
               std::shared_ptr<ThreadPool>* intra_op) {
  const int inter = Threads(options.inter_op_threads, "TF_NUM_INTEROP_THREADS");
  const int intra = Threads(options.intra_op_threads, "TF_NUM_INTRAOP_THREADS");
  *intra_op =
      options.use_per_session_threads ? std::make_shared<ThreadPool>(intra, "intra_op") : SharedPool("intra_op", intra);
  for (const ThreadPoolOptions& pool : options.inter_op_pools) {
    const int threads = pool.num_threads > 0 ? pool.num_threads : inter;
    inter_op->push_back(pool.global_name.empty() ? std::make_shared<ThreadPool>(threads, "inter_op")
                                                 : SharedPool("inter_op:" + pool.global_name, threads));
  }
  if (!inter_op->empty()) return;
  inter_op->push_back(options.use_per_session_threads ? std::make_shared<ThreadPool>(inter, "inter_op")
                                                      : SharedPool("inter_op", inter));
}

}  // namespace

SessionRuntime::SessionRuntime(SessionOptions given, std::vector<std::shared_ptr<Device>> on, const OpRegistry& ops,
                               std::function<FunctionLibraryPtr()> library)
    : options(std::move(given)), devices(std::move(on)), ops(ops) {
  MakePools(options, &inter_op, &intra_op);
  for (const auto& device : devices) environment.devices.push_back(device.get());
  environment.kernels = &KernelRegistry::Global();
  environment.options = &options;
  environment.inter_op = inter_op[0].get();
  environment.intra_op = intra_op.get();
  environment.make_kernel = [this](const Node& node, const NodeView& view) { return MakeKernel(nullptr, node, view); };
  environment.make_function_kernel = [this](const FuncRef& function, const Node& node, const NodeView& view) {
    return MakeKernel(&function, node, view);
  };
  functions = std::make_unique<FunctionRuntime>(&environment, std::move(library));
  environment.functions = functions.get();
}

std::shared_ptr<Kernel> SessionRuntime::MakeKernel(const FuncRef* function, const Node& node, const NodeView& view) {
  if (node.calls_function()) {
    // A function's name as op type is a call of it.
    AttrMap function_attrs;
    for (const auto& [name, value] : node.attrs()) {
      if (!name.starts_with("_") || name == kCallSiteAttr) function_attrs.Set(name, value);
    }
    const AttrMap attrs = {{"f", FuncRef{node.op_name(), function_attrs}}};
    const OpDef& call = *ops.Find("PartitionedCall");
    return environment.kernels->Make(view.device()->type(), NodeView(node.name(), call, attrs, node.input_types(),
                                                                     node.output_types(), view.device()));
  }
  if (!node.traits().stateful) return environment.kernels->Make(view.device()->type(), view);
  std::string key = function ? CanonicalKey(*function) : std::string();
  for (const std::string& part : {node.name(), node.op_name(), view.device()->name()}) AppendKey(part, &key);
  // A master may send another function under the node's name with another graph.
  for (const auto& [name, value] : node.attrs()) {
    if (const auto* called = value.If<FuncRef>(); called && !name.starts_with("_")) AppendKey(*called, &key);
  }
  for (const DataType type : node.output_types()) AppendKey(static_cast<int64_t>(type), &key);
  std::lock_guard lock(mutex);
  std::shared_ptr<Kernel>& kept = stateful_kernels[key];
  if (!kept) kept = environment.kernels->Make(view.device()->type(), view);
  return kept;
}

}  // namespace penstock
