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
#include "penstock/runtime/session_runtime.h"

namespace penstock {

// All methods may be called from many threads at once.
class Session {
 public:
  // On devices of its own or, if there are servers, on theirs: those of the first, its target's, and of the others what
  // device_filters lets see; with isolate_session_state, on devices of its own that are named like them.
  // InvalidArgument: a bad device count or thread count, a malformed filter; Unimplemented: other servers than those of
  // the target's cluster.
  Session(std::shared_ptr<Graph> graph, SessionOptions options, std::vector<std::shared_ptr<Server>> servers = {});
  ~Session();

  struct Signature {
    std::vector<Endpoint> feeds, fetches;
    std::vector<Node*> targets;
    std::vector<std::pair<Endpoint, Endpoint>> connections = {};  // (a, b): whoever reads b reads a
  };
  // A step, compiled; the same signature again gives the same step while it is among those last used.
  // `interruptible`: a SIGINT ends it with Cancelled.
  std::shared_ptr<const CompiledStep> Compile(const Signature& signature, bool interruptible = false);
  // A step that sends what the options watch to the debugger: without graph passes, and compiled anew each time.
  std::shared_ptr<const CompiledStep> CompileDebugged(const Signature& signature, const RunOptions& options,
                                                      bool interruptible = false);
  // Runs it. `feeds` in the signature's order and of its types; fetched values come back in `fetches`.
  void Run(const CompiledStep& step, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
           const RunOptions& options = {}, RunMetadata* metadata = nullptr, bool interruptible = false);

  // A run in pieces: starts the step; its feeds come, and its fetches go, by and by. Returns its handle.
  std::string PartialRunSetup(const Signature& signature);
  // Feeds some tensors, then waits for some. InvalidArgument: no such handle; a feed or fetch that the set-up did not
  // name or that was used before; a fetch that needs what was not fed yet. When all was fed and fetched the handle is
  // gone.
  void PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                  const std::vector<Endpoint>& fetches, std::vector<Tensor>* values, bool interruptible = false);

  const std::vector<std::shared_ptr<Device>>& devices() const { return runtime_->devices; }
  Graph& graph() { return *graph_; }
  // Cancels what runs; later calls fail with Cancelled, or with Aborted if the session's server was reset.
  void Close(bool server_was_reset = false);
  bool closed() const { return closed_; }
  // Clears containers (all if empty) of these servers and closes the sessions whose target is the first; without
  // servers, of every session that has none.
  static void Reset(const std::vector<std::string>& containers,
                    const std::vector<std::shared_ptr<Server>>& servers = {});
  static void CloseAll();
  // Of the compiled steps of all sessions together.
  static CacheStats StepCacheStats();

 private:
  struct PartialState;
  void CancelPartialRuns();
  ThreadPool* PoolFor(const RunOptions& options) const;

  std::shared_ptr<Graph> graph_;
  std::vector<std::shared_ptr<Server>> servers_;
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

// The part of `graph` (locked by the caller) that a signature needs, cut off at its feeds and connections.
// Fed tensors become _Arg nodes and fetched ones feed _Retval nodes, numbered as in the signature; with `by_rendezvous`
// they become _Recv and _Send nodes, whose keys are FeedKey(i) and FetchKey(i). InvalidArgument: a tensor is fed or
// connected twice, or a connection closes a cycle.
std::shared_ptr<Graph> Prune(Graph& graph, const Session::Signature& signature, bool by_rendezvous = false);
std::string FeedKey(int i);
std::string FetchKey(int i);

// The devices that a process with these options has.
std::vector<std::shared_ptr<Device>> MakeLocalDevices(const SessionOptions& options);

}  // namespace penstock
