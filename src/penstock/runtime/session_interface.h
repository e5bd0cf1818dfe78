// A session as front ends use it: in this process or on a cluster.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/device/device_attributes.h"
#include "penstock/io/config.h"
#include "penstock/runtime/prune.h"
#include "penstock/runtime/step.h"

namespace penstock {

// All methods may be called from many threads at once.
class SessionInterface {
 public:
  virtual ~SessionInterface() = default;

  // A step, compiled; the same signature again gives the same step while it is among those last used.
  // `interruptible`: a SIGINT ends it with Cancelled.
  virtual std::shared_ptr<const PreparedStep> Prepare(const StepSignature& signature, bool interruptible = false) = 0;
  // A step that sends what the options watch to the debugger: without graph passes, and compiled again each time.
  virtual std::shared_ptr<const PreparedStep> PrepareDebugged(const StepSignature& signature, const RunOptions& options,
                                                              bool interruptible = false) = 0;
  // Runs a step that this session has prepared. `feeds` in the signature's order and of its types; fetched values come
  // back in `fetches`.
  virtual void Run(const PreparedStep& step, std::span<const Tensor> feeds, std::vector<Tensor>* fetches,
                   const RunOptions& options = {}, RunMetadata* metadata = nullptr, bool interruptible = false) = 0;

  // A run in pieces: starts the step; its feeds come, and its fetches go, by and by. Returns its handle.
  virtual std::string PartialRunSetup(const StepSignature& signature) = 0;
  // Feeds some tensors, then waits for some. InvalidArgument: no such handle; a feed or fetch that the set-up did not
  // name or that was used before; a fetch that needs what was not fed yet. When all was fed and fetched the handle is
  // gone.
  virtual void PartialRun(const std::string& handle, const std::vector<std::pair<Endpoint, Tensor>>& feeds,
                          const std::vector<Endpoint>& fetches, std::vector<Tensor>* values,
                          bool interruptible = false) = 0;

  virtual std::vector<DeviceAttributes> ListDevices() = 0;
  // Cancels what runs; later calls fail with Cancelled.
  virtual void Close() = 0;
};

}  // namespace penstock
