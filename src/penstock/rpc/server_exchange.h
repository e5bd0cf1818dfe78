// A server's side of a call or stream.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/strings.h"
#include "penstock/rpc/connection.h"
#include "penstock/rpc/rpc.h"
#include "penstock/rpc/wire.h"

namespace penstock::rpc {

// A method of a server, with one of the two handlers.
struct Method {
  std::string path;
  Server::UnaryHandler unary;
  Server::StreamHandler stream;
  PlaceBody place;
};

// The part of a server that its exchanges share.
class ServerCore {
 public:
  virtual ~ServerCore() = default;
  virtual const Method* Find(std::string_view path) const = 0;  // null if there is none
  virtual size_t max_message() const = 0;
  // Between the two, a call is in flight. False: no more calls.
  virtual bool CallBegins() = 0;
  virtual void CallEnds() = 0;
};

class ServerExchange final : public Exchange {
 public:
  ServerExchange(std::shared_ptr<ServerCore> core, Connection* connection)
      : core_(std::move(core)), connection_(ShareRef(connection)) {}
  ~ServerExchange() override;

  std::string_view method() const { return method_ ? std::string_view(method_->path) : std::string_view(path_); }
  std::optional<Clock::time_point> deadline() const { return deadline_; }
  std::string_view peer() const { return connection_->name(); }
  std::string_view metadata(std::string_view name) const;
  Incoming& request() { return request_; }
  size_t unsent() const { return writer_.pending(); }
  bool cancelled();

  void OnCancel(std::function<void()> callback);
  void SetEvents(ServerStream::Events events);
  void Write(Message message);
  // `answer`: of a unary call that succeeds.
  void Finish(Status status, Message* answer, std::string details);

  void Run() override;

 private:
  void OnHeader(std::string_view name, std::string_view value) override;
  void OnHeadersEnd() override;
  void OnMessages(std::vector<Incoming>* messages) override;
  void OnInputEnd() override;
  void OnBroken(Status status) override;
  void OnClosed(Status status) override;
  bool SubmitTrailers() override;

  // All of these: with the connection's lock held.
  void Begin();
  void Respond(Status status, Message* answer, std::string details);
  void SendHeaders();
  Headers StatusHeaders(bool first);
  void End();
  void CallCancelled(std::function<void()> callback);

  const std::shared_ptr<ServerCore> core_;
  const Ref<Connection> connection_;
  const Method* method_ = nullptr;
  std::string path_;
  std::optional<Clock::time_point> deadline_;
  Loop::TimerId timer_{};
  Metadata metadata_;
  Incoming request_;

  // Guarded by the connection's lock.
  bool headers_ended_ = false, bad_request_ = false;
  bool begun_ = false, counted_ = false, ready_ = false;  // the method is known; in flight; its handler may run
  bool got_message_ = false, input_closed_ = false, headers_sent_ = false;
  bool finished_ = false, closed_ = false, cancelled_ = false;
  std::string encoding_;
  Status status_;
  std::string message_, details_, code_;  // of the trailers, as they are sent
  std::function<void()> on_cancel_;
  std::vector<Incoming> inbox_;
  // The loop's.
  bool dispatched_ = false, told_closed_ = false, told_cancel_ = false;
  ServerStream::Events events_;
};

}  // namespace penstock::rpc
