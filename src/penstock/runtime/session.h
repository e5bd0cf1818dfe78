// Session: runs parts of one graph on the devices of this process.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "penstock/runtime/server.h"
#include "penstock/runtime/session_interface.h"
#include "penstock/runtime/session_runtime.h"

namespace penstock {

class Session final : public SessionInterface {
 public:
  // On its own devices or, if there is a server, on the server's; with isolate_session_state, on its own devices
  // that are named like them. InvalidArgument: a bad device count or thread count, a malformed filter.
  Session(std::shared_ptr<Graph> graph, SessionOptions options, std::shared_ptr<Server> server = nullptr);
  ~Session() override;

  using Signature = StepSignature;
  std::shared_ptr<const CompiledStep> Compile(const Signature& signature, bool interruptible = false);
  std::shared_ptr<const PreparedStep> Prepare(const Signature& signature, bool interruptible = false) override {
    return Compile(signature, interruptible);
  }
  std::shared_ptr<const PreparedStep> PrepareDebugged(const Signature& signature, const RunOptions& options,
                                                      bool interruptible = false) override;
  void Run(const PreparedStep& step, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
           const RunOptions& options = {}, RunMetadata* metadata = nullptr, bool interruptible = false) override;
  std::string PartialRunSetup(const Signature& signature) override;
  void PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                  const std::vector<Endpoint>& fetches, std::vector<Tensor>* values,
                  bool interruptible = false) override;
  std::vector<DeviceAttributes> ListDevices() override;

  const std::vector<std::shared_ptr<Device>>& devices() const { return runtime_->devices; }
  Graph& graph() { return *graph_; }
  void Close() override { CloseWith(false); }
  // Later calls fail with Cancelled, or with Aborted if the session's server was reset.
  void CloseWith(bool server_was_reset);
  bool closed() const { return closed_; }
  // Clears containers (all if empty) of a server and closes its sessions; without a server, of every session that has
  // none.
  static void Reset(const std::vector<std::string>& containers, const std::shared_ptr<Server>& server = nullptr);
  static void CloseAll();
  // Of the compiled steps of all sessions together.
  static CacheStats StepCacheStats();

 private:
  struct PartialState;
  void CancelPartialRuns();
  ThreadPool* PoolFor(const RunOptions& options) const;

  std::shared_ptr<Graph> graph_;
  const std::shared_ptr<Server> server_;
  bool own_devices_ = true;
  std::shared_ptr<SessionRuntime> runtime_;
  ForkMutex mutex_;
  LruCache<std::string, std::shared_ptr<const CompiledStep>> compiled_{1024};
  std::set<CancellationManager*> running_;  // of each step that runs, which holds it
  std::map<std::string, std::shared_ptr<PartialState>> partial_runs_;
  int open_partial_runs_ = 0;
  std::condition_variable idle_;
  void RequireOpen() const {
    if (aborted_) throw Aborted("Session has been closed, as its server was reset.");
    if (closed_) throw Cancelled("Session has been closed.");
  }
  std::unique_ptr<CompiledStep> CompilePruned(std::shared_ptr<Graph> pruned, const StepEnvironment& environment,
                                              bool interruptible) const;

  std::atomic<bool> closed_{false}, aborted_{false};
  std::atomic<int64_t> debugged_runs_{0};
  std::map<std::string, int64_t> debugged_steps_;  // how often a signature was debugged
  static std::atomic<int64_t> next_step_;
};

// The devices that a process with these options has.
std::vector<std::shared_ptr<Device>> MakeLocalDevices(const SessionOptions& options);

}  // namespace penstock
