#include "penstock/distributed/worker_service.h"

#include "penstock/distributed/master_messages.h"
#include "penstock/distributed/tensor_wire.h"
#include "penstock/distributed/worker_messages.h"
#include "penstock/kernel/py_function.h"

namespace penstock {
namespace {

using Call = Ref<rpc::ServerCall>;
constexpr size_t kLongStatus = 3072;      // bytes: TensorFlow cuts longer messages, which are headers
constexpr size_t kLongRequest = 1 << 16;  // bytes: no longer one is read on the loop's thread

void Fail(rpc::ServerCall& call, const Status& status) {
  std::string details = StatusDetails(status);
  if (status.message().size() <= kLongStatus) return call.Finish(status, {}, std::move(details));
  call.Finish(Status(status.code(), status.message().substr(0, kLongStatus) + " ... [truncated]"), {},
              std::move(details));
}

void Finish(rpc::ServerCall& call, const Status& status, rpc::Message answer) {
  if (!status.ok()) return Fail(call, status);
  if (answer.size() <= rpc::kMaxMessage) return call.Finish(Status(), std::move(answer));
  Fail(call,
       Status(Code::kInternal, StrCat("The answer has ", answer.size(), " bytes: more than 2 GB cannot be sent")));
}

void Finish(rpc::ServerCall& call, const Status& status, const google::protobuf::Message& answer) {
  if (!status.ok()) return Fail(call, status);
  call.Finish(Status(), rpc::Message(SerializeMessage(answer)));
}

// Cancelled when the caller gives the call up.
Ref<CancellationManager> CancellationOf(const Call& call) {
  const auto cancellation = MakeRef<CancellationManager>();
  call->OnCancel([cancellation] { cancellation->Cancel(); });
  return cancellation;
}

// On a thread that may compute and wait.
void Elsewhere(const Call& call, const std::function<void()>& work) {
  if (!RunOnGrowingPool(work)) {
    Fail(*call, Status(Code::kResourceExhausted, "The worker cannot start a thread for the call"));
  }
}

template <class Handle>
void Handled(const Call& call, Handle handle) {
  try {
    handle();
  } catch (...) {
    Fail(*call, CurrentStatus());
  }
}

class Service : public std::enable_shared_from_this<Service> {
 public:
  explicit Service(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}

  void AddTo(rpc::Server* server) {
    Add<tensorflow::GetStatusRequest>(server, "GetStatus", kHere, &Service::GetStatus);
    Add<tensorflow::CreateWorkerSessionRequest>(server, "CreateWorkerSession", kElsewhere, &Service::CreateSession);
    Add<tensorflow::DeleteWorkerSessionRequest>(server, "DeleteWorkerSession", kElsewhere, &Service::DeleteSession);
    Add<tensorflow::RegisterGraphRequest>(server, "RegisterGraph", kElsewhere, &Service::RegisterGraph);
    Add<tensorflow::DeregisterGraphRequest>(server, "DeregisterGraph", kElsewhere, &Service::DeregisterGraph);
    Add<tensorflow::CleanupGraphRequest>(server, "CleanupGraph", kHere, &Service::CleanupGraph);
    Add<tensorflow::CleanupAllRequest>(server, "CleanupAll", kElsewhere, &Service::CleanupAll);
    Add<tensorflow::RecvTensorRequest>(server, "RecvTensor", kHere, &Service::ReceiveTensor);
    Add<tensorflow::MarkRecvFinishedRequest>(server, "MarkRecvFinished", kHere, &Service::MarkReceiveFinished);
    Add<tensorflow::LoggingRequest>(server, "Logging", kHere, &Service::Logging);
    Add<tensorflow::TracingRequest>(server, "Tracing", kHere, &Service::Tracing);
    server->AddUnary(Name("RunGraph"), [self = shared_from_this()](const Call& call) {
      if (call->request().size() <= kLongRequest) return self->RunGraph(call);
      Elsewhere(call, [self, call] { self->RunGraph(call); });
    });
  }

 private:
  enum Where { kHere, kElsewhere };
  static std::string Name(std::string_view method) { return StrCat("/tensorflow.WorkerService/", method); }

  template <class Request>
  void Add(rpc::Server* server, std::string_view method, Where where,
           void (Service::*handle)(const Call& call, const Request& request)) {
    const auto answer = [self = shared_from_this(), handle](const Call& call) {
      Handled(call, [&] {
        Request request;
        ParseMessage(call->request().bytes(), &request);
        ((*self).*handle)(call, request);
      });
    };
    server->AddUnary(Name(method), [answer, where](const Call& call) {
      if (where == kHere && call->request().size() <= kLongRequest) return answer(call);
      Elsewhere(call, [answer, call] { answer(call); });
    });
  }

  // Answers with an empty message.
  static WorkerInterface::Finished Empty(const Call& call) {
    return [call](Status status) { Finish(*call, status, rpc::Message()); };
  }

  void GetStatus(const Call& call, const tensorflow::GetStatusRequest&) {
    worker_->GetStatus(nullptr, [call](Status status, std::vector<DeviceAttributes> devices) {
      tensorflow::GetStatusResponse response;
      for (const DeviceAttributes& device : devices) ToProto(device, response.add_device_attributes());
      Finish(*call, status, response);
    });
  }

  void CreateSession(const Call& call, const tensorflow::CreateWorkerSessionRequest& request) {
    worker_->CreateSession(FromProto(request), Empty(call));
  }

  void DeleteSession(const Call& call, const tensorflow::DeleteWorkerSessionRequest& request) {
    worker_->DeleteSession(request.session_handle(), Empty(call));
  }

  void RegisterGraph(const Call& call, const tensorflow::RegisterGraphRequest& request) {
    worker_->RegisterGraph(FromProto(request), [call](Status status, std::string handle) {
      tensorflow::RegisterGraphResponse response;
      response.set_graph_handle(handle);
      Finish(*call, status, response);
    });
  }

  void DeregisterGraph(const Call& call, const tensorflow::DeregisterGraphRequest& request) {
    worker_->DeregisterGraph(request.session_handle(), request.create_worker_session_called(), request.graph_handle(),
                             Empty(call));
  }

  void RunGraph(const Call& call) {
    Handled(call, [&] {
      bool errors_in_body = false;
      RunGraphRequest request = DecodeRunGraph(call->request().bytes(), &errors_in_body);
      worker_->RunGraphElsewhere(std::move(request), CancellationOf(call),
                                 [call, errors_in_body](Status status, RunGraphResponse response) {
                                   Handled(call, [&] {
                                     if (!errors_in_body && !status.ok()) return Fail(*call, status);
                                     Finish(*call, Status(), EncodeRan(status, response));
                                   });
                                 });
    });
  }

  void CleanupGraph(const Call& call, const tensorflow::CleanupGraphRequest& request) {
    worker_->CleanupStep(request.step_id(), Empty(call));
  }

  void CleanupAll(const Call& call, const tensorflow::CleanupAllRequest& request) {
    worker_->CleanupAll({request.container().begin(), request.container().end()}, Empty(call));
  }

  void ReceiveTensor(const Call& call, const tensorflow::RecvTensorRequest& request) {
    if (!recent_.Insert(request.request_id())) {
      throw Aborted("The same RecvTensor (GrpcWorker) request was received twice. ", request.ShortDebugString());
    }
    worker_->ReceiveTensor(request.step_id(), request.rendezvous_key(), CancellationOf(call),
                           [call](Status status, Tensor value, bool is_dead) {
                             Handled(call, [&] {
                               ThrowIfError(status);
                               Finish(*call, Status(), EncodeReceived(value, is_dead));
                             });
                           });
  }

  // Answers are not kept to be sent again.
  void MarkReceiveFinished(const Call& call, const tensorflow::MarkRecvFinishedRequest&) { Empty(call)(Status()); }
  // Nothing is logged.
  void Logging(const Call& call, const tensorflow::LoggingRequest&) { Empty(call)(Status()); }
  void Tracing(const Call&, const tensorflow::TracingRequest&) { throw Unimplemented("Tracing"); }

  const std::shared_ptr<Worker> worker_;
  RecentRequests recent_;
};

}  // namespace

void AddWorkerService(const std::shared_ptr<Worker>& worker, rpc::Server* server) {
  std::make_shared<Service>(worker)->AddTo(server);
}

}  // namespace penstock
