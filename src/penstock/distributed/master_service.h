// tensorflow.MasterService: a master for clients of other processes.
#pragma once

#include <memory>

#include "penstock/distributed/master.h"
#include "penstock/rpc/rpc.h"

namespace penstock {

// Adds the service's methods. Calls run on threads of the growing pool, as they wait for steps.
void AddMasterService(const std::shared_ptr<Master>& master, rpc::Server* server);

}  // namespace penstock
