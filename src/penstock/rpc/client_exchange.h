// A client's side of a call or stream.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/strings.h"
#include "penstock/rpc/connection.h"
#include "penstock/rpc/rpc.h"
#include "penstock/rpc/wire.h"

namespace penstock::rpc {

inline Status TooLarge(std::string_view method, size_t size) {
  return Status(Code::kResourceExhausted,
                StrCat(method, ": a message of ", size, " bytes is larger than ", kMaxMessage, " bytes"));
}

// A call or stream. It ends once: who claims it first says how.
class ClientExchange final : public Exchange {
 public:
  ClientExchange(std::string_view method, CallOptions options, Channel::Done done, StreamEvents events)
      : unary_(done != nullptr),
        method_(method),
        options_(std::move(options)),
        done_(std::move(done)),
        events_(std::move(events)) {}

  bool wait_for_ready() const { return options_.wait_for_ready; }
  bool ended() const { return state_.load() != kOpen; }
  size_t unsent() const { return writer_.pending(); }

  // Before the exchange has begun.
  void Prepare(Loop* loop, std::shared_ptr<const std::string> address, size_t max_message, Ref<SharedMessage> request) {
    loop_ = loop;
    address_ = std::move(address);
    reader_.Configure(max_message, &options_.place);
    if (request) {
      writer_.Add(std::move(request));
      writer_.Close();
    }
    if (!options_.deadline) return;
    if (*options_.deadline <= Clock::now()) return Expire();
    timer_ = loop_->AddTimer(*options_.deadline, ShareRef(this));
  }

  // Sends the request; false if the connection takes none.
  bool Attach(const Ref<Connection>& connection) {
    Connection::Lock lock(connection.get());
    if (ended()) return true;
    if (!connection->open()) return false;
    connection_ = connection;
    std::string timeout;
    std::vector<std::string> encoded;
    const Headers headers = RequestHeaders(&timeout, &encoded);
    {
      const std::lock_guard early(mutex_);
      connection->SubmitRequest(ShareRef(this), headers);
      attached_.store(true);
    }
    if (ended()) connection->Reset(this, NGHTTP2_CANCEL);
    connection->Flush(&lock);
    return true;
  }

  void Write(Message message) {
    if (message.size() > kMaxMessage) return End({TooLarge(method_, message.size()), {}}, /*reset=*/true);
    auto shared = MakeRef<SharedMessage>(std::move(message));
    if (!attached_.load()) {
      const std::lock_guard lock(mutex_);
      if (!attached_.load()) return writer_.Add(std::move(shared));
    }
    Connection::Lock lock(connection_.get());
    if (ended()) return;
    connection_->Write(this, std::move(shared));
    connection_->Flush(&lock);
  }
  void CloseWrites() {
    if (!attached_.load()) {
      const std::lock_guard lock(mutex_);
      if (!attached_.load()) return writer_.Close();
    }
    Connection::Lock lock(connection_.get());
    if (ended()) return;
    connection_->CloseWrites(this);
    connection_->Flush(&lock);
  }

  // Ends the exchange unless it has ended already.
  void End(Outcome outcome, bool reset = false) {
    int open = kOpen;
    if (!state_.compare_exchange_strong(open, kClaimed)) return;
    outcome_ = std::move(outcome);
    // First, so that nothing is received to the caller's place once the caller knows of the end.
    if (reset && attached_.load()) {
      Connection::Lock lock(connection_.get());
      connection_->Reset(this, NGHTTP2_CANCEL);
      connection_->Flush(&lock);
    }
    state_.store(kEnded);
    loop_->Schedule(ShareRef(this));
  }
  // Where there is no loop to run on.
  void EndHere(Outcome outcome) {
    state_.store(kEnded);
    told_ = true;
    if (done_) done_(std::move(outcome), {});
    if (events_.on_end) events_.on_end(std::move(outcome));
  }
  void Expire() {
    End({Status(Code::kDeadlineExceeded, StrCat("Deadline Exceeded: ", method_, " at ", *address_)), {}}, true);
  }

  void Run() override {
    if (!unary_) DeliverMessages();
    if (options_.deadline && !ended() && *options_.deadline <= Clock::now()) {
      timer_ = {};
      return Expire();
    }
    if (state_.load() != kEnded || told_) return;
    told_ = true;
    if (timer_.second) loop_->CancelTimer(timer_);
    const auto done = std::move(done_);
    const auto events = std::move(events_);
    if (done) done(std::move(outcome_), std::move(answer_));
    if (events.on_end) events.on_end(std::move(outcome_));
  }

 private:
  enum State { kOpen, kClaimed, kEnded };

  Headers RequestHeaders(std::string* timeout, std::vector<std::string>* encoded) const {
    Headers headers;
    headers.reserve(7 + options_.metadata.size());
    headers.push_back(ConstantHeader(":method", "POST"));
    headers.push_back(ConstantHeader(":scheme", "http"));
    headers.push_back(Header(":path", method_));
    headers.push_back(Header(":authority", *address_));
    headers.push_back(ConstantHeader("te", "trailers"));
    headers.push_back(ConstantHeader("content-type", "application/grpc"));
    if (options_.deadline) {
      *timeout = FormatTimeout(*options_.deadline - Clock::now());
      headers.push_back(Header("grpc-timeout", *timeout));
      headers.back().flags |= NGHTTP2_NV_FLAG_NO_INDEX;  // no two are alike
    }
    encoded->reserve(options_.metadata.size());
    for (const auto& [name, value] : options_.metadata) {
      const bool binary = name.ends_with("-bin");
      headers.push_back(Header(name, binary ? encoded->emplace_back(Base64(value)) : value));
    }
    return headers;
  }

  void DeliverMessages() {
    for (;;) {
      std::vector<Incoming> inbox;
      {
        const std::lock_guard lock(mutex_);
        inbox.swap(inbox_);
      }
      if (inbox.empty() || told_) return;
      for (Incoming& message : inbox) {
        if (events_.on_message) events_.on_message(std::move(message));
      }
    }
  }

  void OnHeader(std::string_view name, std::string_view value) override {
    if (name == ":status") {
      http_status_ = value;
    } else if (name == "grpc-status") {
      grpc_status_ = value;
    } else if (name == "grpc-message") {
      grpc_message_ = PercentDecode(value);
    } else if (name == "grpc-status-details-bin") {
      details_ = ParseBase64(value).value_or("");
    } else if (name == "grpc-encoding") {
      reader_.set_encoding(std::string(value));
    } else if (name == "content-type") {
      grpc_ = value.starts_with("application/grpc");
    }
  }
  void OnHeadersEnd() override {}

  void OnMessages(std::vector<Incoming>* messages) override {
    if (ended()) return;
    if (!unary_) {
      {
        const std::lock_guard lock(mutex_);
        for (Incoming& message : *messages) inbox_.push_back(std::move(message));
      }
      return loop_->Schedule(ShareRef(this));
    }
    if (answered_ || messages->size() > 1) throw Internal("more than one message as the answer of ", method_);
    answered_ = true;
    answer_ = std::move(messages->front());
  }

  void OnInputEnd() override {
    Code code;
    if (!grpc_status_.empty()) {
      code = ParseCode(grpc_status_);
    } else if (http_status_ != "200" || !grpc_) {
      code = CodeOfHttpStatus(http_status_);
      grpc_message_ = StrCat("Received http2 header with status: ", http_status_, " from ", *address_);
    } else {
      code = Code::kUnknown;
      grpc_message_ = StrCat("Stream closed by ", *address_, " without grpc-status");
    }
    if (code == Code::kOk && unary_ && !answered_) {
      code = Code::kInternal;
      grpc_message_ = StrCat("No message returned for unary request ", method_);
    }
    const Status status = code == Code::kOk ? Status() : Status(code, std::move(grpc_message_));
    End({status, std::move(details_)});
    // The answer came before all was sent: the rest is not wanted.
    if (writer_.pending() > 0 || !writer_.closed()) connection_->Reset(this, NGHTTP2_CANCEL);
  }
  void OnBroken(Status status) override { End({std::move(status), {}}); }
  void OnClosed(Status status) override {
    if (status.ok()) status = Status(Code::kUnknown, StrCat("Stream closed by ", *address_, " without grpc-status"));
    End({std::move(status), {}});
  }

  const bool unary_;
  const std::string method_;
  CallOptions options_;
  Channel::Done done_;
  StreamEvents events_;
  Loop* loop_ = nullptr;
  std::shared_ptr<const std::string> address_;
  Loop::TimerId timer_{};

  std::atomic<int> state_{kOpen};
  std::atomic<bool> attached_{false};
  Ref<Connection> connection_;  // set before attached_
  Outcome outcome_;             // set before kEnded
  bool told_ = false;           // the loop's

  // Guarded by the connection's lock.
  Incoming answer_;
  bool answered_ = false, grpc_ = false;
  std::string http_status_, grpc_status_, grpc_message_, details_;

  std::mutex
      mutex_;  // taken after the connection's; guards the members below, and the writer before there is a connection
  std::vector<Incoming> inbox_;
};

}  // namespace penstock::rpc
