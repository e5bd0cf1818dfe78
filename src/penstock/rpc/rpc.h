// Calls between processes in gRPC's protocol (HTTP/2 without TLS), as bytes: no protocol buffers here.
//
// Threads: a few loop threads of the process serve all connections. They start with the first Server or the first call
// of a Channel. Callbacks (`done`, handlers, events of streams, cancellations) run on a loop's thread with no lock
// held; they must not block, and may call anything declared here. All classes may be used by any thread.
//
// Fork: a child has none of the parent's connections, and its first call opens another one; calls that were in
// flight are the parent's. A Server of the parent does not serve in the child.
//
// Errors of the transport: Unavailable with the address if no connection can be made or one is lost, DeadlineExceeded,
// Cancelled, ResourceExhausted for bodies above a limit; everything else is the peer's Status, code by code.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/ref.h"
#include "penstock/base/status.h"
#include "penstock/rpc/message.h"

namespace penstock::rpc {

using Clock = std::chrono::steady_clock;

// Further headers of a request: names in lower case; those that end with "-bin" have arbitrary bytes as values.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// How a call ended. `details` travels beside the status as "grpc-status-details-bin": TensorFlow 2 keeps payloads of
// its statuses there.
struct Outcome {
  Status status;
  std::string details;
};

struct CallOptions {
  std::optional<Clock::time_point> deadline;
  // Whether to wait for a connection until the deadline. Otherwise the call fails as soon as an attempt to connect
  // fails, and at once for a moment after one that failed.
  bool wait_for_ready = false;
  PlaceBody place;  // of the answer
  Metadata metadata;
};

// A call or stream in flight, as its caller sees it.
class Call : public RefCounted {
 public:
  // Ends it with Cancelled unless it has ended; `done` is then called soon, on a loop's thread. Notifies the peer.
  virtual void Cancel() = 0;
};

// A stream in flight, as its caller sees it.
class ClientStream : public Call {
 public:
  virtual void Write(Message message) = 0;  // in order; ignored once the stream has ended
  virtual void CloseWrites() = 0;           // no more messages will follow
  // Bytes that Write took and that are not yet sent, for callers that want to hold back.
  virtual size_t unsent() const = 0;
};

// Each is called on one thread at a time, on_end once and last.
struct StreamEvents {
  std::function<void(Incoming)> on_message;
  std::function<void(Outcome)> on_end;
};

struct ChannelOptions {
  size_t max_message = kMaxMessage;  // of an answer
  // How long data may stay unacknowledged, and an idle connection without a sign of life, before the kernel gives the
  // connection up. Zero: the system's defaults.
  std::chrono::milliseconds tcp_timeout{30'000};
  std::chrono::milliseconds connect_timeout{20'000};
  // Wait between attempts to connect; doubles with each failure up to the second value.
  std::chrono::milliseconds min_backoff{50}, max_backoff{1'000};
};

// Calls to one address, "host:port". One connection, opened by the first call and again after it was lost; any number
// of calls at once. A closed connection fails all its calls at once.
class Channel {
 public:
  using Done = std::function<void(Outcome, Incoming)>;

  // InvalidArgument for a malformed address. Opens nothing.
  explicit Channel(std::string address, ChannelOptions options = {});
  // Ends its calls with Cancelled.
  ~Channel();

  const std::string& address() const;

  // `method` as "/package.Service/Method". `done` is called exactly once, and never inside of CallAsync; except where
  // no loop runs: with Cancelled after StopAllLoops, with ResourceExhausted if no thread can be started.
  Ref<Call> CallAsync(std::string_view method, Message request, CallOptions options, Done done);
  // The same, waited for. Not on a loop's thread.
  Outcome CallAndWait(std::string_view method, Message request, Incoming* answer, CallOptions options = {});
  // A stream of messages in both directions.
  Ref<ClientStream> OpenStream(std::string_view method, StreamEvents events, CallOptions options = {});

  // Whether a connection is open, and why the last one failed or was lost. For error messages.
  bool connected() const;
  Status last_error() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// A call that a server received.
class ServerCall : public RefCounted {
 public:
  virtual std::string_view method() const = 0;
  virtual const Incoming& request() const = 0;
  virtual Incoming TakeRequest() = 0;
  virtual std::optional<Clock::time_point> deadline() const = 0;
  virtual std::string_view peer() const = 0;                           // "127.0.0.1:4711"
  virtual std::string_view metadata(std::string_view name) const = 0;  // of a further header; empty if there is none
  // Answers; the first call counts. `answer` is sent only with OK. A handler that drops the call without an answer has
  // it answered with Internal.
  virtual void Finish(Status status, Message answer = {}, std::string details = {}) = 0;
  // Calls back once if the caller cancels, goes away, or its deadline passes before Finish; at once if it has already.
  // Never after Finish has returned on another thread, except for a callback that runs at that moment.
  virtual void OnCancel(std::function<void()> callback) = 0;
  virtual bool cancelled() const = 0;
};

// A stream that a server received. The handler sets its events before it returns.
class ServerStream : public RefCounted {
 public:
  struct Events {
    std::function<void(Incoming)> on_message;
    std::function<void()> on_writes_closed;  // the client will write no more
    std::function<void()> on_cancel;         // the client has gone; once, not after Finish
  };
  virtual std::string_view method() const = 0;
  virtual std::optional<Clock::time_point> deadline() const = 0;
  virtual std::string_view peer() const = 0;
  virtual void SetEvents(Events events) = 0;
  virtual void Write(Message message) = 0;
  virtual void Finish(Status status, std::string details = {}) = 0;
  virtual size_t unsent() const = 0;
};

struct ServerOptions {
  size_t max_message = kMaxMessage;  // of a request
  std::chrono::milliseconds tcp_timeout{30'000};
  // How long a new connection may take to greet.
  std::chrono::milliseconds greeting_timeout{10'000};
};

class Server {
 public:
  using UnaryHandler = std::function<void(Ref<ServerCall>)>;
  using StreamHandler = std::function<void(Ref<ServerStream>)>;

  explicit Server(ServerOptions options = {});
  // Shuts down without waiting for calls.
  ~Server();

  // To be called before Start. `method` as "/package.Service/Method". Other methods are answered with Unimplemented.
  void AddUnary(std::string method, UnaryHandler handler, PlaceBody place = {});
  void AddStream(std::string method, StreamHandler handler);

  // Listens on "host:port". Port 0 chooses one. Host "localhost": the loopback only; empty, "0.0.0.0" or "[::]": all
  // interfaces. InvalidArgument for a malformed address, Unavailable if the port is taken or the address is not ours.
  void Start(const std::string& address);
  int port() const;  // 0 before Start

  // Accepts nothing more, waits up to `grace` for calls in flight, then cancels the others and closes all
  // connections. No handler runs after it has returned (unless it is called by one). May be called again.
  void Shutdown(std::chrono::milliseconds grace = {});

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// Ends all loop threads: every connection is closed, calls in flight end with Cancelled, nothing can be started again.
// Called automatically at the process's end.
void StopAllLoops();

}  // namespace penstock::rpc
