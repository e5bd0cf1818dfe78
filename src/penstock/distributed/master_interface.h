// What a client asks of a master: tensorflow.MasterService, as structs. Master implements it in its own process and
// RemoteMaster over the transport. Calls wait for their answer, and throw its error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "penstock/distributed/worker_interface.h"

namespace penstock {

struct RunStepRequest {
  std::string session;
  NamedTensors feeds;                         // by tensor name, "x:0"
  std::vector<std::string> fetches, targets;  // tensors; nodes
  RunOptions options;
  std::string partial_run;  // handle; empty: a whole step
  int64_t request_id = 0;
};

struct RunStepResponse {
  std::vector<Tensor> fetched;  // in the request's order
  RunMetadata metadata;
};

class MasterInterface {
 public:
  virtual ~MasterInterface() = default;
  // Waits until every task of the cluster that the options let see has answered. `config`: a serialized ConfigProto.
  // The session's handle.
  virtual std::string CreateSession(const GraphDef& graph, const std::string& config, const std::string& target,
                                    CancellationManager* cancellation) = 0;
  // Adds nodes. Aborted: `version`, the number of extensions so far, is not the session's. The new number.
  virtual int64_t ExtendSession(const std::string& session, const GraphDef& graph, int64_t version) = 0;
  virtual RunStepResponse RunStep(const RunStepRequest& request, CancellationManager* cancellation) = 0;
  // The handle of a run in pieces.
  virtual std::string PartialRunSetup(const std::string& session, const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches,
                                      const std::vector<std::string>& targets) = 0;
  virtual void CloseSession(const std::string& session) = 0;
  // All devices of a session's tasks; of the master's cluster if `session` is empty.
  virtual std::vector<DeviceAttributes> ListDevices(const std::string& session) = 0;
  // Clears containers (all if empty) on every task that the filters let see, and closes the master's sessions.
  virtual void Reset(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters) = 0;
};

}  // namespace penstock
