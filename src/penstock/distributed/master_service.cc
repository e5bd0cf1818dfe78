#include "penstock/distributed/master_service.h"

#include "penstock/distributed/master_messages.h"
#include "penstock/kernel/py_function.h"

namespace penstock {
namespace {

template <class Request, class Response>
using Method = void (*)(Master& master, const Request& request, CancellationManager* cancellation, Response* response);

// Parses the request, calls the method on a thread that may wait, and answers. A caller that goes away cancels.
template <class Request, class Response>
void Add(const std::shared_ptr<Master>& master, rpc::Server* server, std::string_view name,
         Method<Request, Response> method) {
  server->AddUnary(StrCat("/tensorflow.MasterService/", name), [master, method](const Ref<rpc::ServerCall>& call) {
    const auto cancellation = MakeRef<CancellationManager>();
    call->OnCancel([cancellation] {
      if (!RunOnGrowingPool([cancellation] { cancellation->Cancel(); })) cancellation->Cancel();
    });
    const auto answer = [master, method, call, cancellation] {
      try {
        Request request;
        ParseMessage(call->request().bytes(), &request);
        Response response;
        method(*master, request, cancellation.get(), &response);
        call->Finish(Status(), rpc::Message(SerializeMessage(response)));
      } catch (...) {
        call->Finish(CurrentStatus());
      }
    };
    if (!RunOnGrowingPool(answer)) {
      call->Finish(Status(Code::kResourceExhausted, "The master cannot start a thread for the call"));
    }
  });
}

}  // namespace

void AddMasterService(const std::shared_ptr<Master>& master, rpc::Server* server) {
  Add<tensorflow::CreateSessionRequest, tensorflow::CreateSessionResponse>(
      master, server, "CreateSession", [](auto& m, const auto& request, auto* cancellation, auto* response) {
        response->set_session_handle(m.CreateSession(FromProto(request.graph_def()), SerializeMessage(request.config()),
                                                     request.target(), cancellation));
        response->set_graph_version(0);
      });
  Add<tensorflow::ExtendSessionRequest, tensorflow::ExtendSessionResponse>(
      master, server, "ExtendSession", [](auto& m, const auto& request, auto*, auto* response) {
        response->set_new_graph_version(
            m.ExtendSession(request.session_handle(), FromProto(request.graph_def()), request.current_graph_version()));
      });
  Add<tensorflow::RunStepRequest, tensorflow::RunStepResponse>(
      master, server, "RunStep", [](auto& m, const auto& proto, auto* cancellation, auto* response) {
        const RunStepRequest request = FromProto(proto);
        try {
          ToProto(m.RunStep(request, cancellation), request.fetches, response);
        } catch (const Error& error) {
          if (!proto.store_errors_in_response_body()) throw;
          response->Clear();
          response->set_status_code(static_cast<tensorflow::error::Code>(error.code()));
          response->set_status_error_message(error.status().message());
        }
      });
  Add<tensorflow::PartialRunSetupRequest, tensorflow::PartialRunSetupResponse>(
      master, server, "PartialRunSetup", [](auto& m, const auto& request, auto*, auto* response) {
        response->set_partial_run_handle(m.PartialRunSetup(
            request.session_handle(), {request.feed().begin(), request.feed().end()},
            {request.fetch().begin(), request.fetch().end()}, {request.target().begin(), request.target().end()}));
      });
  Add<tensorflow::CloseSessionRequest, tensorflow::CloseSessionResponse>(
      master, server, "CloseSession",
      [](auto& m, const auto& request, auto*, auto*) { m.CloseSession(request.session_handle()); });
  Add<tensorflow::ListDevicesRequest, tensorflow::ListDevicesResponse>(
      master, server, "ListDevices", [](auto& m, const auto& request, auto*, auto* response) {
        for (const DeviceAttributes& device : m.ListDevices(request.session_handle())) {
          const bool is_local = TaskOfDevice(device.name) == m.task();
          ToProto(device, is_local ? response->add_local_device() : response->add_remote_device());
        }
      });
  Add<tensorflow::ResetRequest, tensorflow::ResetResponse>(
      master, server, "Reset", [](auto& m, const auto& request, auto*, auto*) {
        m.Reset({request.container().begin(), request.container().end()},
                {request.device_filters().begin(), request.device_filters().end()});
      });
}

}  // namespace penstock
