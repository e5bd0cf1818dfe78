// Helpers of the transport's tests.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/strings.h"
#include "penstock/rpc/rpc.h"

namespace penstock::rpc {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline std::string Local(const Server& server) { return StrCat("127.0.0.1:", server.port()); }

inline CallOptions Within(std::chrono::nanoseconds time) {
  CallOptions options;
  options.deadline = Clock::now() + time;
  return options;
}

// The outcome of a call, for tests that wait for it.
class Waiting {
 public:
  Channel::Done Done() {
    return [this](Outcome outcome, Incoming answer) {
      const std::lock_guard lock(mutex_);
      ++calls_;
      outcome_ = std::move(outcome);
      answer_ = std::move(answer);
      changed_.notify_all();
    };
  }
  const Status& Wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, seconds(60), [&] { return calls_ > 0; })) ADD_FAILURE() << "no answer in a minute";
    return outcome_.status;
  }
  const Incoming& answer() const { return answer_; }
  const std::string& details() const { return outcome_.details; }
  int calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> calls_{0};
  Outcome outcome_;
  Incoming answer_;
};

// A condition that other threads make true, within a minute.
template <class Condition>
bool Eventually(Condition condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return condition();
}

// A server with the methods that most tests call.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, const std::string& address = "127.0.0.1:0")
      : server(std::make_unique<Server>(options)) {
    server->AddUnary("/test/Echo",
                     [](Ref<ServerCall> call) { call->Finish({}, Message(std::string(call->request().bytes()))); });
    server->AddUnary("/test/Fail", [](Ref<ServerCall> call) {
      call->Finish(Status(static_cast<Code>(std::stoi(std::string(call->request().bytes()))), "100 % wrong\n\xc3\xa4"),
                   Message("never seen"), std::string("\0payload\xff", 9));
    });
    server->AddUnary("/test/Later", [this](Ref<ServerCall> call) {
      const std::lock_guard lock(mutex);
      kept.push_back(call);
      call->OnCancel([this] { ++cancelled; });
    });
    server->Start(address);
  }
  ~TestServer() {
    server.reset();
    kept.clear();
  }
  size_t kept_calls() {
    const std::lock_guard lock(mutex);
    return kept.size();
  }

  std::mutex mutex;
  std::vector<Ref<ServerCall>> kept;
  std::atomic<int> cancelled{0};
  std::unique_ptr<Server> server;
};

// A blocking socket connected to `port` of this machine.
inline int RawConnect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// A blocking socket that listens on a port of this machine.
inline int RawListen(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(fd, 16), 0);
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return fd;
}

// Resident memory of this process.
inline int64_t MemoryInUse() {
  std::ifstream statm("/proc/self/statm");
  int64_t total, resident;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace penstock::rpc
