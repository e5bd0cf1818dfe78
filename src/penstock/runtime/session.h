// Session: runs parts of one graph on the devices of this process.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "penstock/io/config.h"
#include "penstock/runtime/function_runtime.h"
#include "penstock/runtime/step.h"

namespace penstock {

// All methods may be called from many threads at once.
class Session {
 public:
  // InvalidArgument: a bad device count or thread count.
  Session(std::shared_ptr<Graph> graph, SessionOptions options);
  ~Session();

  struct Signature {
    std::vector<Endpoint> feeds, fetches;
    std::vector<Node*> targets;
  };
  // A step, compiled; the same signature again gives the same step. Stays valid while the session lives.
  std::shared_ptr<const CompiledStep> Compile(const Signature& signature);
  // Runs it. `feeds` in the signature's order and of its types; fetched values come back in `fetches`.
  void Run(const CompiledStep& step, std::span<const Tensor> feeds, std::vector<Tensor>* fetches, const RunOptions& options = {},
           RunMetadata* metadata = nullptr, bool interruptible = false);

  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  Graph& graph() { return *graph_; }
  // Cancels what runs; later calls fail with Cancelled.
  void Close();
  bool closed() const { return closed_; }
  // Clears containers (all if empty) of every session of this process and closes them, as TensorFlow's direct session does.
  static void Reset(const std::vector<std::string>& containers);

 private:
  std::shared_ptr<Graph> Prune(const Signature& signature);
  std::shared_ptr<Kernel> MakeKernel(const std::string& scope, const Node& node, const NodeView& view);

  std::shared_ptr<Graph> graph_;
  SessionOptions options_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<ThreadPool> inter_op_, intra_op_;
  StepEnvironment environment_;
  std::unique_ptr<FunctionRuntime> functions_;
  std::mutex mutex_;
  std::map<std::vector<int>, std::shared_ptr<const CompiledStep>> compiled_;
  std::map<std::string, std::shared_ptr<Kernel>> stateful_kernels_;
  std::set<CancellationManager*> running_;
  std::condition_variable idle_;
  std::atomic<bool> closed_{false};
  static std::atomic<int64_t> next_step_;
};

// The devices that a process with these options has.
std::vector<std::unique_ptr<Device>> MakeLocalDevices(const SessionOptions& options);

}  // namespace penstock
