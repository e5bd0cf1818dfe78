// Ops that run as they are called, on the kernels that steps run on. A call's signature (op, attributes, input types)
// is checked and given its kernel once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/runtime/function_runtime.h"

namespace penstock {

// A value with an identity: gradient tapes know it by its id. Copies share both.
struct EagerValue {
  Tensor tensor;
  int64_t id = 0;
  int device = 0;  // its number among EagerContext's
  static int64_t NewId();
};

// A signature, ready to run.
class EagerOp {
 public:
  const Node& node() const { return *node_; }
  const OpDef& op() const { return node_->op(); }
  const AttrMap& attrs() const { return node_->attrs(); }
  // Worth letting other threads go on meanwhile.
  bool may_take_long() const { return may_take_long_; }
  // How many bytes of inputs are so many that others should go on meanwhile.
  size_t long_above() const { return long_above_; }
  int device() const { return device_; }

 private:
  friend class EagerContext;
  std::unique_ptr<Graph> graph_;  // of stand-ins for the inputs and the node
  Node* node_ = nullptr;
  std::unique_ptr<NodeView> view_;
  std::shared_ptr<Kernel> kernel_;
  bool may_take_long_ = false;
  size_t long_above_ = 0;
  bool keeps_inputs_ = false;
  int device_ = 0;
};

// The process's eager device, kernels and functions. Thread-safe.
class EagerContext {
 public:
  static EagerContext& Global();

  // InvalidArgument, NotFound: as Graph::AddNode. Signatures with tensors or functions as attributes are made anew each
  // time, as are ops that make a resource without a shared name.
  std::shared_ptr<const EagerOp> Prepare(std::string_view op, std::span<const DataType> types, AttrMap attrs,
                                         int device = 0);
  // The op's error, with "[Op:NAME]" behind its message.
  std::vector<Tensor> Run(const EagerOp& op, std::span<const Tensor> inputs);
  // Few inputs and outputs: without a list of either. `outputs` has as many as the op.
  void Run(const EagerOp& op, std::span<const Tensor* const> inputs, std::span<Tensor> outputs);
  static constexpr size_t kFew = 8;  // inputs and outputs together

  // A function of `functions()`, compiled. NotFound, InvalidArgument: it cannot be made.
  std::shared_ptr<const CompiledStep> PrepareFunction(const std::string& name);
  // InvalidArgument: wrong number or types of arguments; otherwise the function's error.
  // Cancelled: `cancellation` is one that others may cancel, and they did.
  std::vector<Tensor> Call(const std::string& name, const CompiledStep& function, std::span<const Tensor> args,
                           const Ref<CancellationManager>& cancellation = {});
  void RemoveFunction(const std::string& name);

  // The process ends: what waits stops waiting, and nothing waits again.
  void Stop() { cancellation_->Cancel(); }

  // Forgets all kernels, and with them the state of random ones.
  void ClearCaches();
  // Changes with ClearCaches: whoever keeps an EagerOp asks for it anew.
  int64_t generation() const { return generation_.load(std::memory_order_relaxed); }
  CacheStats signature_cache_stats();
  CacheStats function_cache_stats() const { return runtime_->cache_stats(); }
  // Holds the functions that ops may call.
  const std::shared_ptr<Graph>& functions() const { return functions_graph_; }
  // The host is divided into so many devices. They only grow: false if there are more already.
  bool SetDeviceCount(int count);
  // Whether functions that are compiled from now on take another device where there is none of those they name: yes at
  // first.
  void set_soft_placement(bool soft) { options_.allow_soft_placement = soft; }
  // The threads that ops and functions use from now on; 0: as many as the environment says (see DefaultThreads).
  void SetThreads(int inter_op, int intra_op);
  Device& device(int number);
  // The number of the device that a name, or part of one, describes; -1 if there is none. InvalidArgument: malformed.
  int FindDevice(std::string_view name);

 private:
  EagerContext();
  std::shared_ptr<const EagerOp> Make(std::string_view op, std::span<const DataType> types, AttrMap attrs,
                                      const std::string& name, int device);
  void RunKernel(const EagerOp& op, std::span<KernelContext::Input> inputs, std::span<Value> outputs);
  std::shared_ptr<Kernel> MakeKernel(const Node& node, const NodeView& view);

  SessionOptions options_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<ThreadPool>> pools_;  // those of the past too: steps may still use them
  std::atomic<ThreadPool*> inter_op_{nullptr}, intra_op_{nullptr};
  ResourceManager step_resources_;  // TensorArrays and the like, which have no step to end with
  const Ref<CancellationManager> cancellation_ = MakeRef<CancellationManager>();
  std::shared_ptr<Graph> functions_graph_ = std::make_shared<Graph>();
  StepEnvironment environment_;
  std::unique_ptr<FunctionRuntime> runtime_;
  ForkMutex mutex_;
  LruCache<std::string, std::shared_ptr<const EagerOp>> ops_{8192};
  struct FunctionKernel {
    FunctionNames names;
    std::shared_ptr<Kernel> kernel;
  };
  std::map<std::string, FunctionKernel> function_kernels_;
  std::atomic<int64_t> next_name_{0}, next_step_{1}, generation_{0};
};

}  // namespace penstock
