// A session of a client: its graph is in this process, its steps are run by a master.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "penstock/distributed/master_interface.h"
#include "penstock/runtime/session_interface.h"

namespace penstock {

class ClusterSession final : public SessionInterface {
 public:
  // Asks nothing of the master before the first step. `config`: a serialized ConfigProto.
  ClusterSession(std::shared_ptr<Graph> graph, std::shared_ptr<MasterInterface> master, std::string target,
                 std::string config);
  ~ClusterSession() override;

  std::shared_ptr<const PreparedStep> Prepare(const StepSignature& signature, bool interruptible) override;
  // Unimplemented: debuggers watch local sessions only.
  std::shared_ptr<const PreparedStep> PrepareDebugged(const StepSignature& signature, const RunOptions& options,
                                                      bool interruptible) override;
  void Run(const PreparedStep& step, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
           const RunOptions& options, RunMetadata* metadata, bool interruptible) override;
  std::string PartialRunSetup(const StepSignature& signature) override;
  void PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                  const std::vector<Endpoint>& fetches, std::vector<Tensor>* values, bool interruptible) override;
  std::vector<DeviceAttributes> ListDevices() override;
  void Close() override;

 private:
  // A call that ends when the session closes or the user interrupts.
  class Cancellable;
  // A session's handle. DeadlineExceeded: the master did not create it within the options' time limit.
  std::string Create(const GraphDef& graph, CancellationManager* cancellation) const;
  // Gives the master the nodes that it does not have yet. The session's handle.
  std::string Extend(CancellationManager* cancellation);

  const std::shared_ptr<Graph> graph_;
  const std::shared_ptr<MasterInterface> master_;
  const std::string target_, config_;
  const SessionOptions options_;

  std::mutex extend_mutex_;  // held while the master is extended; guards the next four
  std::string handle_;       // empty: there is no session yet
  int next_node_ = 0;
  FunctionLibraryPtr library_;
  int64_t version_ = 0;

  std::mutex mutex_;  // guards the rest
  bool closed_ = false;
  std::set<CancellationManager*> running_;  // of calls, which hold them
};

}  // namespace penstock
