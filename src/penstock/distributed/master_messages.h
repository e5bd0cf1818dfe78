// Requests to masters and their answers as messages. For sources of this folder only.
#pragma once

#include "penstock/distributed/master_interface.h"
#include "penstock/io/messages.h"
#include "tensorflow/core/protobuf/master.pb.h"

namespace penstock {

void ToProto(const RunStepRequest& request, tensorflow::RunStepRequest* proto);
// InvalidArgument: a malformed tensor.
RunStepRequest FromProto(const tensorflow::RunStepRequest& proto);
// `fetches`: the request's.
void ToProto(const RunStepResponse& response, const std::vector<std::string>& fetches,
             tensorflow::RunStepResponse* proto);
DeviceAttributes FromProto(const tensorflow::DeviceAttributes& proto);
void ToProto(const DeviceAttributes& device, tensorflow::DeviceAttributes* proto);

}  // namespace penstock
