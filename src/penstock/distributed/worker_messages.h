// Requests to workers and their answers as messages. For sources of this folder only.
#pragma once

#include "penstock/distributed/worker_interface.h"
#include "penstock/io/messages.h"
#include "penstock/rpc/message.h"
#include "tensorflow/core/protobuf/worker.pb.h"

namespace penstock {

void ToProto(const WorkerSessionRequest& request, tensorflow::CreateWorkerSessionRequest* proto);
WorkerSessionRequest FromProto(const tensorflow::CreateWorkerSessionRequest& proto);
void ToProto(const RegisterGraphRequest& request, tensorflow::RegisterGraphRequest* proto);
// InvalidArgument: a malformed graph.
RegisterGraphRequest FromProto(const tensorflow::RegisterGraphRequest& proto);

// RunGraphRequest; the answer is asked to hold the step's error.
rpc::Message EncodeRunGraph(const RunGraphRequest& request);
// `errors_in_body`: whether the answer is to hold the step's error.
RunGraphRequest DecodeRunGraph(std::string_view bytes, bool* errors_in_body);
// RunGraphResponse, of `status` if that is an error.
rpc::Message EncodeRan(const Status& status, const RunGraphResponse& response);
// Its values in the order of `receives`. Throws the error that it holds.
RunGraphResponse DecodeRan(std::string_view bytes, const std::vector<std::string>& receives);

// The payloads that TensorFlow 2 sends beside a status: they mark a derived error, and a worker that has started again.
std::string StatusDetails(const Status& status);
// The status with the mark that `details` give it.
Status WithDetails(Status status, std::string_view details);

}  // namespace penstock
