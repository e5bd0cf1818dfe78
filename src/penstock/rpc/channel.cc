// Channel: the connection that calls share, how it is made and made again.
#include <atomic>
#include <list>
#include <thread>

#include "penstock/base/fork.h"
#include "penstock/base/strings.h"
#include "penstock/rpc/address.h"
#include "penstock/rpc/client_exchange.h"

namespace penstock::rpc {
namespace {

// Something to run on the loop, once or at a time.
class Later final : public Runnable {
 public:
  explicit Later(std::function<void()> run) : run_(std::move(run)) {}
  void Run() override { run_(); }

 private:
  const std::function<void()> run_;
};

// Waits until a socket has connected.
class Connector final : public Source {
 public:
  using Done = std::function<void(Fd, int error)>;
  Connector(Loop* loop, Fd fd, Done done) : loop_(loop), fd_(std::move(fd)), done_(std::move(done)) {}
  void Start(std::chrono::milliseconds timeout) {
    timer_ = loop_->AddTimer(Clock::now() + timeout, ShareRef(this));
    if (!loop_->Add(fd_.get(), EPOLLOUT, ShareRef(this))) Finish(ENOMEM);
  }
  void OnReady(uint32_t) override {
    int error = 0;
    socklen_t size = sizeof(error);
    if (fd_) getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    Finish(error);
  }
  void OnStop() override { Finish(ECANCELED); }
  void Run() override { Finish(ETIMEDOUT); }

 private:
  void Finish(int error) {
    if (!done_) return;
    const Ref<Connector> keep = ShareRef(this);
    const Done done = std::exchange(done_, nullptr);
    loop_->CancelTimer(timer_);
    loop_->Remove(fd_.get(), this);
    done(std::move(fd_), error);
  }

  Loop* const loop_;
  Fd fd_;
  Done done_;
  Loop::TimerId timer_{};
};

}  // namespace

class Channel::Impl final : public Connection::Owner, public std::enable_shared_from_this<Channel::Impl> {
 public:
  // The caller's handle of a call or stream.
  class Handle final : public ClientStream {
   public:
    Handle(std::weak_ptr<Impl> channel, Ref<ClientExchange> exchange)
        : channel_(std::move(channel)), exchange_(std::move(exchange)) {}
    void Cancel() override {
      if (const auto channel = channel_.lock()) channel->Forget(exchange_);
      exchange_->End({Status(Code::kCancelled, "CANCELLED"), {}}, /*reset=*/true);
    }
    void Write(Message message) override { exchange_->Write(std::move(message)); }
    void CloseWrites() override { exchange_->CloseWrites(); }
    size_t unsent() const override { return exchange_->unsent(); }

   private:
    const std::weak_ptr<Impl> channel_;
    const Ref<ClientExchange> exchange_;
  };

  Impl(std::string address, ChannelOptions options)
      : address_(std::move(address)),
        shared_address_(std::make_shared<const std::string>(address_)),
        options_(options),
        host_(ParseAddress(address_)) {}

  const std::string& address() const { return address_; }

  // `refused`: why the exchange ends before it begins, or OK.
  Ref<ClientStream> Begin(Ref<ClientExchange> exchange, Ref<SharedMessage> request, const Status& refused) {
    auto handle = MakeRef<Handle>(weak_from_this(), exchange);
    Loop* loop = nullptr;
    Status none(Code::kCancelled, "the process ends");
    try {
      loop = UseLoop();
    } catch (const Error& error) {
      none = error.status();
    }
    if (!loop) {
      exchange->EndHere({none, {}});
      return handle;
    }
    exchange->Prepare(loop, shared_address_, options_.max_message, std::move(request));
    if (!refused.ok()) exchange->End({refused, {}});
    if (!exchange->ended()) Start(exchange);
    return handle;
  }

  void Close() {
    std::list<Ref<ClientExchange>> pending;
    Ref<Connection> connection;
    {
      const std::lock_guard lock(mutex_);
      if (generation_ != ForkGeneration()) return;
      closed_ = true;
      pending.swap(pending_);
      connection = std::move(connection_);
      if (greeting_) connection = std::move(greeting_);
    }
    const Status status = MakeError(Code::kCancelled, "the channel to ", address_, " was closed").status();
    for (const auto& exchange : pending) exchange->End({status, {}});
    if (!connection) return;
    const Connection::Lock lock(connection.get());
    connection->Close(status);
  }

  bool connected() {
    const std::lock_guard lock(mutex_);
    return connection_ && generation_ == ForkGeneration();
  }
  Status last_error() {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }

 private:
  enum class State { kIdle, kConnecting, kConnected, kWaiting };

  // The channel's loop in this process. A forked child leaves the state of its parent as it is.
  Loop* UseLoop() {
    const std::lock_guard lock(mutex_);
    if (loop_ && generation_ == ForkGeneration()) return loop_->stopped() ? nullptr : loop_;
    if (loop_) {
      static auto* left = new std::vector<std::pair<std::list<Ref<ClientExchange>>, std::vector<Ref<Connection>>>>;
      left->emplace_back(std::move(pending_), std::vector<Ref<Connection>>{connection_, greeting_});
      pending_ = {};
      connection_ = greeting_ = nullptr;
      state_ = State::kIdle;
      retrying_ = false;
    }
    generation_ = ForkGeneration();
    loop_ = Loop::Next();
    return loop_;
  }

  void Start(const Ref<ClientExchange>& exchange) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (const Ref<Connection> connection = connection_) {
        lock.unlock();
        if (exchange->Attach(connection)) return;
        lock.lock();
        if (connection_.get() == connection.get()) Disconnected();
        continue;
      }
      if (state_ == State::kWaiting && Clock::now() < retry_at_ && !exchange->wait_for_ready()) {
        const Status error = last_error_;
        lock.unlock();
        return exchange->End({error, {}});
      }
      pending_.push_back(exchange);
      const bool connect = state_ == State::kIdle || (state_ == State::kWaiting && Clock::now() >= retry_at_);
      const bool wait = state_ == State::kWaiting && !connect;
      if (connect) state_ = State::kConnecting;
      lock.unlock();
      if (connect) Connect();
      if (wait) RetryLater();
      return;
    }
  }

  void Forget(const Ref<ClientExchange>& exchange) {
    const std::lock_guard lock(mutex_);
    if (generation_ != ForkGeneration()) return;
    pending_.remove_if([&](const auto& each) { return each.get() == exchange.get(); });
  }

  // With mutex_ held.
  void Disconnected() {
    connection_ = nullptr;
    if (state_ == State::kConnected) state_ = State::kIdle;
  }

  // Looks the host up, and tries its addresses one after the other.
  void Connect() {
    if (std::vector<SocketAddress> addresses = KnownAddresses(host_); !addresses.empty()) {
      return TryAddress(std::move(addresses), 0, {});
    }
    try {
      std::thread([self = shared_from_this(), loop = loop_] {
        std::vector<SocketAddress> addresses;
        Status error;
        try {
          addresses = LookUp(self->host_);
        } catch (...) {
          error = CurrentStatus();
        }
        loop->Schedule(MakeRef<Later>([self, addresses, error] {
          if (error.ok()) return self->TryAddress(addresses, 0, {});
          self->Failed(error);
        }));
      }).detach();
    } catch (const std::system_error&) {
      Failed(MakeError(Code::kResourceExhausted, "Cannot start a thread to look up ", host_.host).status());
    }
  }

  void TryAddress(std::vector<SocketAddress> addresses, size_t i, std::string error) {
    for (; i < addresses.size(); ++i) {
      Fd fd = StartConnect(addresses[i]);
      if (!fd) {
        error =
            StrCat("ipv", addresses[i].storage.ss_family == AF_INET ? 4 : 6, ":", addresses[i], ": ", ErrorText(errno));
        continue;
      }
      auto connector = MakeRef<Connector>(
          loop_, std::move(fd), [self = shared_from_this(), addresses, i, error](Fd connected, int code) {
            if (code == 0) return self->Connected(std::move(connected));
            // The first address counts: the second one of "localhost" is often not served.
            const std::string text = StrCat("ipv", addresses[i].storage.ss_family == AF_INET ? 4 : 6, ":", addresses[i],
                                            ": Failed to connect to remote host: ", ErrorText(code));
            self->TryAddress(addresses, i + 1, error.empty() ? text : error);
          });
      return connector->Start(options_.connect_timeout);
    }
    Failed(MakeError(Code::kUnavailable, "failed to connect to ", address_, "; last error: ", error).status());
  }

  void Connected(Fd fd) {
    const auto connection = MakeRef<Connection>(loop_, TcpStream(std::move(fd), options_.tcp_timeout), /*server=*/false,
                                                address_, shared_from_this());
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      greeting_ = connection;
    }
    connection->Start(options_.connect_timeout);
  }

  void OnGreeted(Connection* connection) override {
    std::list<Ref<ClientExchange>> pending;
    {
      const std::lock_guard lock(mutex_);
      if (greeting_.get() != connection) return;
      connection_ = std::move(greeting_);
      state_ = State::kConnected;
      backoff_ = {};
      last_error_ = {};
      pending.swap(pending_);
    }
    for (const auto& exchange : pending) {
      if (!exchange->Attach(ShareRef(connection))) Start(exchange);
    }
  }

  Ref<Exchange> Accept(Connection*) override { return {}; }  // a client gets no requests

  void OnEnd(Connection* connection, const Status& why) override {
    {
      const std::lock_guard lock(mutex_);
      if (connection_.get() == connection) Disconnected();
      if (greeting_.get() != connection) {
        if (!connection_) last_error_ = why;
        return;
      }
      greeting_ = nullptr;
    }
    Failed(Status(Code::kUnavailable, StrCat("failed to connect to ", address_, "; last error: ", why.message())));
  }

  void Failed(const Status& error) {
    std::list<Ref<ClientExchange>> failed;
    bool retry;
    {
      const std::lock_guard lock(mutex_);
      state_ = State::kWaiting;
      last_error_ = error;
      backoff_ = std::clamp(backoff_ * 2, options_.min_backoff, options_.max_backoff);
      retry_at_ = Clock::now() + backoff_;
      for (auto it = pending_.begin(); it != pending_.end();) {
        const auto next = std::next(it);
        if (!(*it)->wait_for_ready()) failed.splice(failed.end(), pending_, it);
        it = next;
      }
      retry = !pending_.empty();
    }
    for (const auto& exchange : failed) exchange->End({error, {}});
    if (retry) RetryLater();
  }

  // Connects again at the time for it, if anybody still waits for a connection then.
  void RetryLater() {
    const std::lock_guard lock(mutex_);
    if (retrying_ || state_ != State::kWaiting) return;
    retrying_ = true;
    loop_->AddTimer(retry_at_, MakeRef<Later>([self = weak_from_this()] {
                      if (const auto impl = self.lock()) impl->Retry();
                    }));
  }
  void Retry() {
    {
      const std::lock_guard lock(mutex_);
      retrying_ = false;
      pending_.remove_if([](const auto& each) { return each->ended(); });
      if (state_ != State::kWaiting || pending_.empty() || closed_) return;
      state_ = State::kConnecting;
    }
    Connect();
  }

  const std::string address_;
  const std::shared_ptr<const std::string> shared_address_;  // for exchanges, which may outlive the channel
  const ChannelOptions options_;
  const HostPort host_;

  ForkMutex mutex_;  // guards the members below; no other lock is taken under it but the loop's
  int generation_ = 0;
  Loop* loop_ = nullptr;
  State state_ = State::kIdle;
  bool closed_ = false, retrying_ = false;
  Ref<Connection> connection_, greeting_;  // in use; not yet known to speak HTTP/2
  std::list<Ref<ClientExchange>> pending_;
  Status last_error_;
  std::chrono::milliseconds backoff_{};
  Clock::time_point retry_at_{};
};

Channel::Channel(std::string address, ChannelOptions options)
    : impl_(std::make_shared<Impl>(std::move(address), options)) {}
Channel::~Channel() { impl_->Close(); }

const std::string& Channel::address() const { return impl_->address(); }
bool Channel::connected() const { return impl_->connected(); }
Status Channel::last_error() const { return impl_->last_error(); }

Ref<Call> Channel::CallAsync(std::string_view method, Message request, CallOptions options, Done done) {
  const size_t size = request.size();
  auto exchange = MakeRef<ClientExchange>(method, std::move(options), std::move(done), StreamEvents());
  Status refused;
  if (size > kMaxMessage) refused = TooLarge(method, size);
  return impl_->Begin(std::move(exchange), MakeRef<SharedMessage>(std::move(request)), refused);
}

Ref<ClientStream> Channel::OpenStream(std::string_view method, StreamEvents events, CallOptions options) {
  return impl_->Begin(MakeRef<ClientExchange>(method, std::move(options), nullptr, std::move(events)), nullptr, {});
}

Outcome Channel::CallAndWait(std::string_view method, Message request, Incoming* answer, CallOptions options) {
  // Shared: the loop may still be waking the caller when that has gone on.
  struct Waiter {
    std::atomic<int> done{0};
    Outcome outcome;
    Incoming answer;
  };
  const auto waiter = std::make_shared<Waiter>();
  CallAsync(method, std::move(request), std::move(options), [waiter](Outcome outcome, Incoming incoming) {
    waiter->outcome = std::move(outcome);
    waiter->answer = std::move(incoming);
    waiter->done.store(1, std::memory_order_release);
    waiter->done.notify_one();
  });
  waiter->done.wait(0, std::memory_order_acquire);
  if (answer) *answer = std::move(waiter->answer);
  return std::move(waiter->outcome);
}

void StopAllLoops() { Loop::StopAll(); }

}  // namespace penstock::rpc
