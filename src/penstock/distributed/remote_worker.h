// A worker in another process.
#pragma once

#include <memory>
#include <string>

#include "penstock/distributed/worker_interface.h"

namespace penstock {

// `task` is for messages. The connection to `address`, "host:port", opens with the first call. InvalidArgument: a
// malformed address.
std::shared_ptr<WorkerInterface> MakeRemoteWorker(const std::string& task, const std::string& address);

}  // namespace penstock
