#include "penstock/distributed/remote_call.h"

#include <condition_variable>

#include "penstock/io/messages.h"

namespace penstock {

void CallAndWait(TaskChannel& channel, const std::string& method, const google::protobuf::Message& request,
                 google::protobuf::Message* response, rpc::CallOptions options, CancellationManager* cancellation) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    Status status;
    rpc::Incoming body;
  };
  const auto answer = std::make_shared<Answer>();
  const Ref<rpc::Call> call = channel.CallAsync(method, rpc::Message(SerializeMessage(request)), std::move(options),
                                                [answer](rpc::Outcome outcome, rpc::Incoming body) {
                                                  std::lock_guard lock(answer->mutex);
                                                  answer->status = std::move(outcome.status);
                                                  answer->body = std::move(body);
                                                  answer->over = true;
                                                  answer->changed.notify_all();
                                                });
  CancellationManager::Token token = 0;
  const bool linked = cancellation && cancellation->Register([call] { call->Cancel(); }, &token);
  if (cancellation && !linked) call->Cancel();
  {
    std::unique_lock lock(answer->mutex);
    answer->changed.wait(lock, [&] { return answer->over; });
  }
  if (linked) cancellation->Deregister(token);
  ThrowIfError(answer->status);
  ParseMessage(answer->body.bytes(), response);
}

}  // namespace penstock
