#include "penstock/distributed/master_messages.h"

namespace penstock {

void ToProto(const RunStepRequest& request, tensorflow::RunStepRequest* proto) {
  proto->set_session_handle(request.session);
  for (const auto& [name, value] : request.feeds) {
    auto* feed = proto->add_feed();
    feed->set_name(name);
    ToProto(value, feed->mutable_tensor());
  }
  for (const std::string& name : request.fetches) proto->add_fetch(name);
  for (const std::string& name : request.targets) proto->add_target(name);
  ParseMessage(SerializeRunOptions(request.options), proto->mutable_options());
  proto->set_partial_run_handle(request.partial_run);
  proto->set_store_errors_in_response_body(true);
  proto->set_request_id(request.request_id);
}

RunStepRequest FromProto(const tensorflow::RunStepRequest& proto) {
  RunStepRequest request;
  const ClaimLimit limit;
  request.session = proto.session_handle();
  for (const auto& feed : proto.feed()) request.feeds.emplace_back(feed.name(), FromProto(feed.tensor()));
  request.fetches.assign(proto.fetch().begin(), proto.fetch().end());
  request.targets.assign(proto.target().begin(), proto.target().end());
  request.options = ParseRunOptions(proto.options().SerializeAsString());
  request.partial_run = proto.partial_run_handle();
  request.request_id = proto.request_id();
  return request;
}

void ToProto(const RunStepResponse& response, const std::vector<std::string>& fetches,
             tensorflow::RunStepResponse* proto) {
  for (size_t i = 0; i < fetches.size(); ++i) {
    auto* tensor = proto->add_tensor();
    tensor->set_name(fetches[i]);
    ToProto(response.fetched[i], tensor->mutable_tensor());
  }
  ParseMessage(SerializeRunMetadata(response.metadata), proto->mutable_metadata());
}

DeviceAttributes FromProto(const tensorflow::DeviceAttributes& proto) {
  return {proto.name(), proto.device_type(), proto.memory_limit(), proto.incarnation(), proto.physical_device_desc()};
}

void ToProto(const DeviceAttributes& device, tensorflow::DeviceAttributes* proto) {
  proto->set_name(device.name);
  proto->set_device_type(device.type);
  proto->set_memory_limit(device.memory_limit);
  proto->set_incarnation(device.incarnation);
  proto->set_physical_device_desc(device.physical_description);
  proto->set_xla_global_id(-1);
}

}  // namespace penstock
