// Server: listens, and hands each connection to a loop.
#include <sys/socket.h>

#include <condition_variable>
#include <unordered_map>
#include <unordered_set>

#include "penstock/base/fork.h"
#include "penstock/rpc/address.h"
#include "penstock/rpc/server_exchange.h"

namespace penstock::rpc {
namespace {

struct PathHash {
  using is_transparent = void;
  size_t operator()(std::string_view path) const { return std::hash<std::string_view>()(path); }
};

// A listening socket.
class Listener final : public Source {
 public:
  using Accepted = std::function<void(Fd, std::string peer)>;
  Listener(Loop* loop, Fd fd, Accepted accepted) : loop_(loop), fd_(std::move(fd)), accepted_(std::move(accepted)) {}

  bool Start() { return loop_->Add(fd_.get(), EPOLLIN, ShareRef(this)); }
  Loop* loop() const { return loop_; }

  // No connection is handed on after it has returned, unless it is called while one is.
  void Stop() {
    const std::lock_guard lock(mutex_);
    if (!fd_) return;
    loop_->Remove(fd_.get(), this);
    fd_.Close();
  }

  void OnReady(uint32_t) override {
    for (int i = 0; i < 64; ++i) {
      SocketAddress peer;
      peer.size = sizeof(peer.storage);
      Fd accepted;
      {
        const std::lock_guard lock(mutex_);
        if (!fd_) return;
        accepted = Fd(
            accept4(fd_.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!accepted && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
          // Nothing to take it with: others may close theirs meanwhile.
          loop_->Change(fd_.get(), 0, this);
          loop_->AddTimer(Clock::now() + std::chrono::milliseconds(100), ShareRef(this));
          return;
        }
      }
      if (!accepted && errno != EINTR && errno != ECONNABORTED) return;
      if (accepted) accepted_(std::move(accepted), peer.ToString());
    }
  }
  void Run() override {
    const std::lock_guard lock(mutex_);
    if (fd_) loop_->Change(fd_.get(), EPOLLIN, this);
  }
  void OnStop() override { Stop(); }

 private:
  Loop* const loop_;
  std::mutex mutex_;
  Fd fd_;
  const Accepted accepted_;
};

}  // namespace

class Server::Impl final : public ServerCore,
                           public Connection::Owner,
                           public std::enable_shared_from_this<Server::Impl> {
 public:
  explicit Impl(ServerOptions options) : options_(options) {}

  void Add(Method method) {
    if (listener_) throw FailedPrecondition("methods are added before the server starts");
    std::string path = method.path;
    methods_.insert_or_assign(std::move(path), std::move(method));
  }

  void Start(const std::string& address) {
    if (listener_) throw FailedPrecondition("the server has started already");
    const HostPort host = ParseAddress(address);
    std::vector<SocketAddress> addresses = KnownAddresses(host);
    if (addresses.empty()) addresses = LookUp(host);
    Loop* loop = Loop::Next();
    if (!loop) throw Cancelled("the process ends");
    int port = 0;
    Fd fd;
    for (size_t i = 0; i < addresses.size() && !fd; ++i) {
      try {
        fd = Listen(addresses[i], &port);
      } catch (const Error&) {
        // All interfaces: where there is no IPv6, IPv4's. Otherwise the first address is the one that is meant.
        if (!host.host.empty() || i + 1 == addresses.size()) throw;
      }
    }
    generation_ = ForkGeneration();
    port_ = port;
    listener_ = MakeRef<Listener>(loop, std::move(fd), [self = weak_from_this()](Fd accepted, std::string peer) {
      if (const auto server = self.lock()) server->Accepted(std::move(accepted), std::move(peer));
    });
    if (!listener_->Start()) throw Unavailable("Cannot listen on ", address);
  }

  int port() const { return port_; }

  void Shutdown(std::chrono::milliseconds grace) {
    if (!listener_ || generation_ != ForkGeneration()) return;
    listener_->Stop();
    std::vector<Ref<Connection>> connections;
    std::unique_lock lock(mutex_);
    stopping_ = true;
    connections.assign(connections_.begin(), connections_.end());
    lock.unlock();
    if (grace.count() > 0) {
      for (const Ref<Connection>& connection : connections) {
        const Connection::Lock lock_connection(connection.get());
        connection->Drain();
      }
      lock.lock();
      idle_.wait_for(lock, grace, [&] { return calls_ == 0; });
      lock.unlock();
    }
    for (const Ref<Connection>& connection : connections) {
      const Connection::Lock lock_connection(connection.get());
      connection->Close(Status(Code::kUnavailable, "the server was shut down"));
    }
    std::unordered_set<Loop*> loops{listener_->loop()};
    for (const Ref<Connection>& connection : connections) loops.insert(connection->loop());
    for (Loop* loop : loops) {
      if (loop != Loop::Here()) loop->Drain();
    }
  }

  const Method* Find(std::string_view path) const override {
    const auto it = methods_.find(path);
    return it == methods_.end() ? nullptr : &it->second;
  }
  size_t max_message() const override { return options_.max_message; }

  bool CallBegins() override {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    ++calls_;
    return true;
  }
  void CallEnds() override {
    const std::lock_guard lock(mutex_);
    if (--calls_ == 0) idle_.notify_all();
  }

  Ref<Exchange> Accept(Connection* connection) override {
    return MakeRef<ServerExchange>(shared_from_this(), connection);
  }
  void OnGreeted(Connection*) override {}
  void OnEnd(Connection* connection, const Status&) override {
    const std::lock_guard lock(mutex_);
    connections_.erase(ShareRef(connection));
  }

 private:
  struct ByAddress {
    size_t operator()(const Ref<Connection>& connection) const { return std::hash<Connection*>()(connection.get()); }
    bool operator()(const Ref<Connection>& a, const Ref<Connection>& b) const { return a.get() == b.get(); }
  };

  void Accepted(Fd fd, std::string peer) {
    Loop* loop = Loop::Next();
    if (!loop) return;
    const auto connection = MakeRef<Connection>(loop, TcpStream(std::move(fd), options_.tcp_timeout), /*server=*/true,
                                                std::move(peer), shared_from_this());
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      connections_.insert(connection);
    }
    connection->Start(options_.greeting_timeout);
  }

  const ServerOptions options_;
  std::unordered_map<std::string, Method, PathHash, std::equal_to<>> methods_;
  Ref<Listener> listener_;
  int port_ = 0, generation_ = 0;

  std::mutex mutex_;  // guards the members below; taken after a connection's
  std::condition_variable idle_;
  std::unordered_set<Ref<Connection>, ByAddress, ByAddress> connections_;
  size_t calls_ = 0;
  bool stopping_ = false;
};

Server::Server(ServerOptions options) : impl_(std::make_shared<Impl>(options)) {}
Server::~Server() { Shutdown(); }

void Server::AddUnary(std::string method, UnaryHandler handler, PlaceBody place) {
  impl_->Add({std::move(method), std::move(handler), nullptr, std::move(place)});
}
void Server::AddStream(std::string method, StreamHandler handler) {
  impl_->Add({std::move(method), nullptr, std::move(handler), {}});
}
void Server::Start(const std::string& address) { impl_->Start(address); }
int Server::port() const { return impl_->port(); }
void Server::Shutdown(std::chrono::milliseconds grace) { impl_->Shutdown(grace); }

}  // namespace penstock::rpc
