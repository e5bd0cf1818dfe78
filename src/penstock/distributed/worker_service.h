// A worker for other processes: the methods of tensorflow.WorkerService.
#pragma once

#include <memory>

#include "penstock/distributed/worker.h"
#include "penstock/rpc/rpc.h"

namespace penstock {

// To be called before the server starts. The server's handlers hold the worker.
void AddWorkerService(const std::shared_ptr<Worker>& worker, rpc::Server* server);

}  // namespace penstock
