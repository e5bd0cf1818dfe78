#include "penstock/distributed/remote_master.h"

#include <map>

#include "penstock/distributed/master_messages.h"
#include "penstock/distributed/remote_call.h"

namespace penstock {
namespace {

class RemoteMaster final : public MasterInterface {
 public:
  explicit RemoteMaster(const std::string& address) : channel_(TaskChannel::Make("of the master", address)) {}

  std::string CreateSession(const GraphDef& graph, const std::string& config, const std::string& target,
                            CancellationManager* cancellation) override {
    tensorflow::CreateSessionRequest request;
    ToProto(graph, request.mutable_graph_def());
    ParseMessage(config, request.mutable_config());
    request.set_target(target);
    tensorflow::CreateSessionResponse response;
    Call("CreateSession", request, &response, Waiting(), cancellation);
    return response.session_handle();
  }

  int64_t ExtendSession(const std::string& session, const GraphDef& graph, int64_t version) override {
    tensorflow::ExtendSessionRequest request;
    request.set_session_handle(session);
    ToProto(graph, request.mutable_graph_def());
    request.set_current_graph_version(version);
    tensorflow::ExtendSessionResponse response;
    Call("ExtendSession", request, &response);
    return response.new_graph_version();
  }

  RunStepResponse RunStep(const RunStepRequest& request, CancellationManager* cancellation) override {
    tensorflow::RunStepRequest message;
    ToProto(request, &message);
    tensorflow::RunStepResponse response;
    Call("RunStep", message, &response, {}, cancellation);
    ThrowIfError(Status(static_cast<Code>(response.status_code()), response.status_error_message()));
    RunStepResponse result;
    std::map<std::string, Tensor> values;
    for (const auto& value : response.tensor()) values[value.name()] = FromProto(value.tensor());
    for (const std::string& fetch : request.fetches) {
      const auto it = values.find(fetch);
      if (it == values.end()) throw Internal("The answer of the master lacks the fetched tensor ", fetch);
      result.fetched.push_back(it->second);
    }
    if (response.has_metadata()) result.metadata.others = SerializeMessage(response.metadata());
    return result;
  }

  std::string PartialRunSetup(const std::string& session, const std::vector<std::string>& feeds,
                              const std::vector<std::string>& fetches,
                              const std::vector<std::string>& targets) override {
    tensorflow::PartialRunSetupRequest request;
    request.set_session_handle(session);
    for (const std::string& name : feeds) request.add_feed(name);
    for (const std::string& name : fetches) request.add_fetch(name);
    for (const std::string& name : targets) request.add_target(name);
    tensorflow::PartialRunSetupResponse response;
    Call("PartialRunSetup", request, &response);
    return response.partial_run_handle();
  }

  void CloseSession(const std::string& session) override {
    tensorflow::CloseSessionRequest request;
    request.set_session_handle(session);
    tensorflow::CloseSessionResponse response;
    Call("CloseSession", request, &response);
  }

  std::vector<DeviceAttributes> ListDevices(const std::string& session) override {
    tensorflow::ListDevicesRequest request;
    request.set_session_handle(session);
    tensorflow::ListDevicesResponse response;
    Call("ListDevices", request, &response);
    std::vector<DeviceAttributes> all;
    for (const auto& device : response.local_device()) all.push_back(FromProto(device));
    for (const auto& device : response.remote_device()) all.push_back(FromProto(device));
    return all;
  }

  void Reset(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters) override {
    tensorflow::ResetRequest request;
    for (const std::string& container : containers) request.add_container(container);
    for (const std::string& filter : device_filters) request.add_device_filters(filter);
    tensorflow::ResetResponse response;
    Call("Reset", request, &response, Waiting());
  }

 private:
  static rpc::CallOptions Waiting() {
    rpc::CallOptions options;
    options.wait_for_ready = true;
    return options;
  }
  void Call(std::string_view method, const google::protobuf::Message& request, google::protobuf::Message* response,
            rpc::CallOptions options = {}, CancellationManager* cancellation = nullptr) {
    CallAndWait(*channel_, StrCat("/tensorflow.MasterService/", method), request, response, std::move(options),
                cancellation);
  }

  const std::shared_ptr<TaskChannel> channel_;
};

}  // namespace

std::shared_ptr<MasterInterface> MakeRemoteMaster(const std::string& address) {
  return std::make_shared<RemoteMaster>(address);
}

}  // namespace penstock
