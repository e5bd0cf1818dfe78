// Calls with protobuf messages over a channel. For sources of this folder only.
#pragma once

#include <string>

#include "google/protobuf/message.h"
#include "penstock/distributed/task_channel.h"
#include "penstock/kernel/services.h"

namespace penstock {

// Waits for the answer; throws the call's error. `cancellation` ends the call with Cancelled.
void CallAndWait(TaskChannel& channel, const std::string& method, const google::protobuf::Message& request,
                 google::protobuf::Message* response, rpc::CallOptions options = {},
                 CancellationManager* cancellation = nullptr);

}  // namespace penstock
