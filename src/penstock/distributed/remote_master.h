// A master in another process.
#pragma once

#include <memory>
#include <string>

#include "penstock/distributed/master_interface.h"

namespace penstock {

// Of the task at `address`, "host:port". Every call but CreateSession fails with Unavailable if the master cannot be
// reached; CreateSession waits for it. InvalidArgument: a malformed address.
std::shared_ptr<MasterInterface> MakeRemoteMaster(const std::string& address);

}  // namespace penstock
