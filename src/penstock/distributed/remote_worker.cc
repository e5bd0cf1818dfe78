#include "penstock/distributed/remote_worker.h"

#include <mutex>

#include "penstock/distributed/derived.h"
#include "penstock/distributed/master_messages.h"
#include "penstock/distributed/task_channel.h"
#include "penstock/distributed/tensor_wire.h"
#include "penstock/distributed/worker_messages.h"
#include "penstock/rpc/rpc.h"

namespace penstock {
namespace {

// Not 0, which would mean that requests are not counted.
int64_t NewRequestId() { return RandomId() | 1; }

// Ends a call when `cancellation` is cancelled, until the call has ended.
class CancelLink {
 public:
  explicit CancelLink(Ref<CancellationManager> cancellation) : cancellation_(std::move(cancellation)) {}

  void Begin(const Ref<rpc::Call>& call) {
    if (!cancellation_) return;
    CancellationManager::Token token;
    if (!cancellation_->Register([call] { call->Cancel(); }, &token)) return call->Cancel();
    {
      std::lock_guard lock(mutex_);
      if (!over_) {
        token_ = token;
        linked_ = true;
        return;
      }
    }
    cancellation_->Deregister(token);
  }
  // How the call ended, given its status: an error that follows from cancellation is derived.
  Status End(Status status) {
    bool linked;
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      linked = linked_;
    }
    if (!cancellation_) return status;
    // Cancel runs the callbacks of all calls: a loop's thread must not wait for them.
    if (cancellation_->cancelled()) return status.code() == Code::kCancelled ? Derived(status) : status;
    if (linked) cancellation_->Deregister(token_);
    return status;
  }

 private:
  const Ref<CancellationManager> cancellation_;
  std::mutex mutex_;
  bool over_ = false, linked_ = false;
  CancellationManager::Token token_ = 0;
};

class RemoteWorker final : public WorkerInterface {
 public:
  RemoteWorker(const std::string& task, const std::string& address)
      : task_(task), channel_(TaskChannel::Make(task, address)) {}

  void GetStatus(Ref<CancellationManager> cancellation, Done<std::vector<DeviceAttributes>> done) override {
    Call("GetStatus", {}, std::move(cancellation), [done = std::move(done)](Status status, const rpc::Incoming& body) {
      std::vector<DeviceAttributes> devices;
      if (status.ok()) {
        status = Parsed<tensorflow::GetStatusResponse>(body, [&](const auto& response) {
          for (const auto& device : response.device_attributes()) {
            devices.push_back(FromProto(device));
          }
        });
      }
      done(std::move(status), std::move(devices));
    });
  }

  void CreateSession(WorkerSessionRequest request, Finished done) override {
    tensorflow::CreateWorkerSessionRequest proto;
    ToProto(request, &proto);
    CallFor("CreateWorkerSession", proto, std::move(done));
  }

  void DeleteSession(std::string session, Finished done) override {
    tensorflow::DeleteWorkerSessionRequest proto;
    proto.set_session_handle(session);
    CallFor("DeleteWorkerSession", proto, std::move(done));
  }

  void RegisterGraph(RegisterGraphRequest request, Done<std::string> done) override {
    rpc::Message message;
    try {
      tensorflow::RegisterGraphRequest proto;
      ToProto(request, &proto);
      message = rpc::Message(SerializeMessage(proto));
    } catch (...) {
      return done(CurrentStatus(), {});
    }
    Call("RegisterGraph", std::move(message), nullptr,
         [done = std::move(done)](Status status, const rpc::Incoming& body) {
           std::string handle;
           if (status.ok()) {
             status = Parsed<tensorflow::RegisterGraphResponse>(
                 body, [&](const auto& response) { handle = response.graph_handle(); });
           }
           done(std::move(status), std::move(handle));
         });
  }

  void DeregisterGraph(std::string session, bool has_session, std::string graph, Finished done) override {
    tensorflow::DeregisterGraphRequest proto;
    proto.set_session_handle(session);
    proto.set_create_worker_session_called(has_session);
    proto.set_graph_handle(graph);
    CallFor("DeregisterGraph", proto, std::move(done));
  }

  void RunGraph(RunGraphRequest request, Ref<CancellationManager> cancellation, Done<RunGraphResponse> done) override {
    rpc::Message message;
    try {
      message = EncodeRunGraph(request);
    } catch (...) {
      return done(CurrentStatus(), {});
    }
    Call("RunGraph", std::move(message), std::move(cancellation),
         [done = std::move(done), receives = std::move(request.receives)](Status status, const rpc::Incoming& body) {
           RunGraphResponse response;
           if (status.ok()) {
             try {
               response = DecodeRan(body.bytes(), receives);
             } catch (...) {
               status = CurrentStatus();
             }
           }
           done(std::move(status), std::move(response));
         });
  }

  void CleanupStep(int64_t step_id, Finished done) override {
    tensorflow::CleanupGraphRequest proto;
    proto.set_step_id(step_id);
    CallFor("CleanupGraph", proto, std::move(done));
  }

  void CleanupAll(std::vector<std::string> containers, Finished done) override {
    tensorflow::CleanupAllRequest proto;
    for (const std::string& container : containers) proto.add_container(container);
    CallFor("CleanupAll", proto, std::move(done));
  }

  void ReceiveTensor(int64_t step_id, std::string key, Ref<CancellationManager> cancellation,
                     Rendezvous::Received done) override {
    tensorflow::RecvTensorRequest proto;
    proto.set_step_id(step_id);
    proto.set_rendezvous_key(key);
    proto.set_request_id(NewRequestId());
    const auto reader = std::make_shared<ReceivedReader>();
    rpc::CallOptions options;
    options.place = [reader](std::string_view head, size_t size) { return reader->Place(head, size); };
    Call(
        "RecvTensor", rpc::Message(SerializeMessage(proto)), std::move(cancellation),
        [reader, done = std::move(done)](Status status, const rpc::Incoming& body) {
          std::pair<Tensor, bool> received;
          if (status.ok()) {
            try {
              received = reader->Read(body);
            } catch (...) {
              status = CurrentStatus();
            }
          }
          done(std::move(status), std::move(received.first), received.second);
        },
        std::move(options));
  }

 private:
  using Answered = std::function<void(Status, const rpc::Incoming&)>;

  template <class Response, class Use>
  static Status Parsed(const rpc::Incoming& body, Use use) {
    try {
      Response response;
      ParseMessage(body.bytes(), &response);
      use(response);
      return Status();
    } catch (...) {
      return CurrentStatus();
    }
  }

  void CallFor(std::string_view method, const google::protobuf::Message& request, Finished done) {
    Call(method, rpc::Message(SerializeMessage(request)), nullptr,
         [done = std::move(done)](Status status, const rpc::Incoming&) { done(std::move(status)); });
  }

  void Call(std::string_view method, rpc::Message request, Ref<CancellationManager> cancellation, Answered answered,
            rpc::CallOptions options = {}) {
    if (request.size() > rpc::kMaxMessage) {
      const Status status(Code::kInvalidArgument, StrCat("A ", method, " request to ", task_, " has ", request.size(),
                                                         " bytes: more than 2 GB cannot be sent"));
      return answered(status, {});
    }
    const auto link = std::make_shared<CancelLink>(std::move(cancellation));
    link->Begin(channel_->CallAsync(
        StrCat("/tensorflow.WorkerService/", method), std::move(request), std::move(options),
        [link, answered = std::move(answered), task = task_](rpc::Outcome outcome, rpc::Incoming body) {
          Status status = link->End(WithDetails(std::move(outcome.status), outcome.details));
          if (status.code() == Code::kUnavailable) status = Status(status.code(), StrCat(task, ": ", status.message()));
          answered(std::move(status), body);
        }));
  }

  const std::string task_;
  const std::shared_ptr<TaskChannel> channel_;
};

}  // namespace

std::shared_ptr<WorkerInterface> MakeRemoteWorker(const std::string& task, const std::string& address) {
  return std::make_shared<RemoteWorker>(task, address);
}

}  // namespace penstock
