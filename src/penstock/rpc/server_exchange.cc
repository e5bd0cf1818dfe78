#include "penstock/rpc/server_exchange.h"

namespace penstock::rpc {
namespace {

// Longer texts do not pass the limits that gRPC sets for headers.
constexpr size_t kMaxText = 3072;

class UnaryCall final : public ServerCall {
 public:
  explicit UnaryCall(Ref<ServerExchange> exchange) : exchange_(std::move(exchange)) {}
  ~UnaryCall() override {
    Message none;
    exchange_->Finish(Status(Code::kInternal, StrCat(method(), " was not answered")), &none, {});
  }
  std::string_view method() const override { return exchange_->method(); }
  const Incoming& request() const override { return exchange_->request(); }
  Incoming TakeRequest() override { return std::move(exchange_->request()); }
  std::optional<Clock::time_point> deadline() const override { return exchange_->deadline(); }
  std::string_view peer() const override { return exchange_->peer(); }
  std::string_view metadata(std::string_view name) const override { return exchange_->metadata(name); }
  void Finish(Status status, Message answer, std::string details) override {
    exchange_->Finish(std::move(status), &answer, std::move(details));
  }
  void OnCancel(std::function<void()> callback) override { exchange_->OnCancel(std::move(callback)); }
  bool cancelled() const override { return exchange_->cancelled(); }

 private:
  const Ref<ServerExchange> exchange_;
};

class StreamCall final : public ServerStream {
 public:
  explicit StreamCall(Ref<ServerExchange> exchange) : exchange_(std::move(exchange)) {}
  ~StreamCall() override { Finish(Status(Code::kInternal, StrCat(method(), " was not finished")), {}); }
  std::string_view method() const override { return exchange_->method(); }
  std::optional<Clock::time_point> deadline() const override { return exchange_->deadline(); }
  std::string_view peer() const override { return exchange_->peer(); }
  void SetEvents(Events events) override { exchange_->SetEvents(std::move(events)); }
  void Write(Message message) override { exchange_->Write(std::move(message)); }
  void Finish(Status status, std::string details) override {
    exchange_->Finish(std::move(status), nullptr, std::move(details));
  }
  size_t unsent() const override { return exchange_->unsent(); }

 private:
  const Ref<ServerExchange> exchange_;
};

}  // namespace

ServerExchange::~ServerExchange() {
  if (counted_) core_->CallEnds();
}

std::string_view ServerExchange::metadata(std::string_view name) const {
  for (const auto& [key, value] : metadata_) {
    if (key == name) return value;
  }
  return {};
}

bool ServerExchange::cancelled() {
  Connection::Lock lock(connection_.get());
  return cancelled_;
}

void ServerExchange::OnCancel(std::function<void()> callback) {
  {
    Connection::Lock lock(connection_.get());
    if (finished_) return;
    if (!cancelled_) {
      on_cancel_ = std::move(callback);
      return;
    }
  }
  callback();
}

void ServerExchange::SetEvents(ServerStream::Events events) { events_ = std::move(events); }

void ServerExchange::Write(Message message) {
  if (message.size() > kMaxMessage) {
    return Finish(Status(Code::kResourceExhausted, StrCat(method(), ": a message of ", message.size(),
                                                          " bytes is larger than ", kMaxMessage, " bytes")),
                  nullptr, {});
  }
  auto shared = MakeRef<SharedMessage>(std::move(message));
  Connection::Lock lock(connection_.get());
  if (finished_ || closed_) return;
  SendHeaders();
  connection_->Write(this, std::move(shared));
  connection_->Flush(&lock);
}

void ServerExchange::Finish(Status status, Message* answer, std::string details) {
  std::function<void()> unused;  // released without the lock
  Connection::Lock lock(connection_.get());
  if (finished_ || closed_) return;
  unused = std::move(on_cancel_);
  Respond(std::move(status), answer, std::move(details));
  connection_->Flush(&lock);
}

void ServerExchange::OnHeader(std::string_view name, std::string_view value) {
  if (headers_ended_) return;  // trailers say nothing to us
  if (name == ":path") {
    path_ = value;
  } else if (name == ":method") {
    bad_request_ |= value != "POST";
  } else if (name == "content-type") {
    bad_request_ |= !value.starts_with("application/grpc");
  } else if (name == "grpc-timeout") {
    if (const auto timeout = ParseTimeout(value)) deadline_ = Clock::now() + *timeout;
  } else if (name == "grpc-encoding") {
    encoding_ = value;
  } else if (name.starts_with("grpc-") || name.starts_with(":") || name == "te" || name == "user-agent") {
  } else if (name.ends_with("-bin")) {
    metadata_.emplace_back(name, ParseBase64(value).value_or(""));
  } else {
    metadata_.emplace_back(name, value);
  }
}

void ServerExchange::OnHeadersEnd() {
  if (headers_ended_) return;
  headers_ended_ = true;
  method_ = core_->Find(path_);
  reader_.Configure(core_->max_message(), method_ ? &method_->place : nullptr);
  reader_.set_encoding(std::move(encoding_));
  if (bad_request_) return Respond(Status(Code::kInternal, "the request is not gRPC's"), nullptr, {});
  if (!method_) return Respond(Status(Code::kUnimplemented, StrCat("unknown method ", path_)), nullptr, {});
  if (!core_->CallBegins()) {
    return Respond(Status(Code::kUnavailable, "the server shuts down"), nullptr, {});
  }
  counted_ = true;
  if (deadline_) timer_ = connection_->loop()->AddTimer(*deadline_, ShareRef(this));
  begun_ = true;
  if (method_->stream) Begin();
}

// Lets the handler run, unless the peer reads too slowly for another answer.
void ServerExchange::Begin() {
  ready_ = true;
  if (!connection_->HoldBack(this)) connection_->loop()->Schedule(ShareRef(this));
}

void ServerExchange::OnMessages(std::vector<Incoming>* messages) {
  if (!begun_ || finished_) return;
  if (method_->stream) {
    for (Incoming& message : *messages) inbox_.push_back(std::move(message));
    return connection_->loop()->Schedule(ShareRef(this));
  }
  if (got_message_ || messages->size() > 1) throw Internal("more than one message as the request of ", path_);
  got_message_ = true;
  request_ = std::move(messages->front());
}

void ServerExchange::OnInputEnd() {
  input_closed_ = true;
  if (!begun_ || finished_) return;
  if (method_->stream) return connection_->loop()->Schedule(ShareRef(this));
  if (got_message_) return Begin();
  Respond(Status(Code::kInternal, StrCat("a request of ", path_, " without a message")), nullptr, {});
}

void ServerExchange::OnBroken(Status status) {
  if (!finished_) Respond(std::move(status), nullptr, {});
}

void ServerExchange::OnClosed(Status) {
  closed_ = true;
  if (timer_.second) connection_->loop()->CancelTimer(timer_);
  timer_ = {};
  if (!finished_) cancelled_ = true;
  if (begun_ && (!finished_ || method_->stream)) connection_->loop()->Schedule(ShareRef(this));
}

void ServerExchange::SendHeaders() {
  if (headers_sent_) return;
  headers_sent_ = true;
  connection_->SubmitResponse(
      this, {ConstantHeader(":status", "200"), ConstantHeader("content-type", "application/grpc")}, /*body=*/true);
}

void ServerExchange::Respond(Status status, Message* answer, std::string details) {
  finished_ = true;
  if (timer_.second) connection_->loop()->CancelTimer(timer_);
  timer_ = {};
  if (answer && status.ok() && answer->size() > kMaxMessage) {
    status = Status(Code::kResourceExhausted, StrCat(method(), ": an answer of ", answer->size(),
                                                     " bytes is larger than ", kMaxMessage, " bytes"));
  }
  status_ = std::move(status);
  details_ = details.empty() ? std::string() : Base64(details);
  if (!headers_sent_ && !(answer && status_.ok())) {
    connection_->SubmitResponse(this, StatusHeaders(/*first=*/true), /*body=*/false);
    return;
  }
  SendHeaders();
  if (answer && status_.ok()) connection_->Write(this, MakeRef<SharedMessage>(std::move(*answer)));
  connection_->CloseWrites(this);
}

Headers ServerExchange::StatusHeaders(bool first) {
  Headers headers;
  if (first) {
    headers = {ConstantHeader(":status", "200"), ConstantHeader("content-type", "application/grpc")};
  }
  if (status_.ok()) {
    headers.push_back(ConstantHeader("grpc-status", "0"));
  } else {
    code_ = std::to_string(static_cast<int>(status_.code()));
    std::string text = status_.message();
    if (text.size() > kMaxText) {
      text.resize(kMaxText);
      text.append(" ... [truncated]");
    }
    message_ = PercentEncode(text);
    headers.push_back(Header("grpc-status", code_));
    headers.push_back(Header("grpc-message", message_));
    headers.back().flags |= NGHTTP2_NV_FLAG_NO_INDEX;
  }
  if (!details_.empty()) headers.push_back(Header("grpc-status-details-bin", details_));
  return headers;
}

bool ServerExchange::SubmitTrailers() {
  connection_->SubmitTrailers(this, StatusHeaders(/*first=*/false));
  return true;
}

void ServerExchange::Run() {
  bool dispatch = false, closed_input = false, cancel = false;
  std::vector<Incoming> inbox;
  std::function<void()> on_cancel;
  {
    Connection::Lock lock(connection_.get());
    if (deadline_ && timer_.second && *deadline_ <= Clock::now()) {
      timer_ = {};
      if (!finished_ && ready_) {
        cancelled_ = true;
      } else if (!finished_) {  // the request has not come whole
        Respond(Status(Code::kDeadlineExceeded, "Deadline Exceeded"), nullptr, {});
        connection_->Flush(&lock);
      }
    }
    if (ready_ && !dispatched_ && !finished_ && !closed_) dispatched_ = dispatch = true;
    if (dispatched_ && !dispatch) {
      inbox.swap(inbox_);
      closed_input = input_closed_ && !told_closed_;
      told_closed_ |= closed_input;
      cancel = cancelled_ && !told_cancel_ && !finished_;
      told_cancel_ |= cancel;
      if (cancel) on_cancel = std::move(on_cancel_);
    }
  }
  if (dispatch) {
    const Ref<ServerExchange> self = ShareRef(this);
    if (method_->unary) {
      const auto call = MakeRef<UnaryCall>(self);
      try {
        method_->unary(call);
      } catch (...) {
        call->Finish(CurrentStatus(), {}, {});
      }
    } else {
      const auto stream = MakeRef<StreamCall>(self);
      try {
        method_->stream(stream);
      } catch (...) {
        stream->Finish(CurrentStatus(), {});
      }
      connection_->loop()->Schedule(self);  // for messages that came meanwhile
    }
    if (cancelled()) connection_->loop()->Schedule(self);
    return;
  }
  if (method_ && method_->stream) {
    for (Incoming& message : inbox) {
      if (events_.on_message) events_.on_message(std::move(message));
    }
    if (closed_input && events_.on_writes_closed) events_.on_writes_closed();
    if (cancel && events_.on_cancel) events_.on_cancel();
    bool over;
    {
      Connection::Lock lock(connection_.get());
      over = finished_ || closed_;
    }
    if (over) events_ = {};  // they may hold the stream
    return;
  }
  if (on_cancel) on_cancel();
}

}  // namespace penstock::rpc
