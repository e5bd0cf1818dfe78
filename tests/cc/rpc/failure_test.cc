// Servers that are missing, die, restart or never answer; forks.
#include <sys/wait.h>

#include "tests/cc/rpc/testing.h"

namespace penstock::rpc {
namespace {

using namespace std::string_literals;

// An address where nobody listens.
std::string NobodysAddress() {
  int port;
  close(RawListen(&port));
  return StrCat("127.0.0.1:", port);
}

TEST(Failure, MalformedAddressesAreRefused) {
  for (const char* address : {"", "localhost", "localhost:", "localhost:x", "localhost:70000", "a b:1", "::1:80:x"}) {
    EXPECT_THROW(Channel channel(address), Error) << address;
  }
  EXPECT_NO_THROW(Channel("[::1]:80"));
}

TEST(Failure, ARefusedConnectionIsUnavailableAtOnce) {
  const std::string address = NobodysAddress();
  Channel channel(address);
  const auto start = Clock::now();
  const Status status = channel.CallAndWait("/test/Echo", Message(), nullptr).status;
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(), StrCat("failed to connect to ", address, "; last error: ipv4:", address,
                                     ": Failed to connect to remote host: Connection refused"));
  // The next call does not wait for another attempt.
  EXPECT_EQ(channel.CallAndWait("/test/Echo", Message(), nullptr).status.code(), Code::kUnavailable);
  EXPECT_LT(Clock::now() - start, seconds(5));
  EXPECT_FALSE(channel.connected());
  EXPECT_EQ(channel.last_error().code(), Code::kUnavailable);
}

TEST(Failure, AnUnknownHostIsUnavailable) {
  Channel channel("no-such-host.invalid:1234");
  const Status status = channel.CallAndWait("/test/Echo", Message(), nullptr, Within(seconds(30))).status;
  EXPECT_TRUE(status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded) << status.ToString();
}

TEST(Failure, ACallThatWaitsIsAnsweredOnceTheServerIsThere) {
  const std::string address = NobodysAddress();
  Channel channel(address);
  CallOptions options = Within(seconds(60));
  options.wait_for_ready = true;
  Waiting waiting;
  channel.CallAsync("/test/Echo", Message("here?"), options, waiting.Done());
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(waiting.calls(), 0);
  const TestServer test({}, address);
  EXPECT_TRUE(waiting.Wait().ok());
  EXPECT_EQ(waiting.answer().bytes(), "here?");
}

TEST(Failure, ACallThatWaitsEndsAtItsDeadlineOrCancelled) {
  Channel channel(NobodysAddress());
  CallOptions options = Within(milliseconds(200));
  options.wait_for_ready = true;
  EXPECT_EQ(channel.CallAndWait("/test/Echo", Message(), nullptr, options).status.code(), Code::kDeadlineExceeded);
  options.deadline = {};
  Waiting waiting, left;
  const Ref<Call> call = channel.CallAsync("/test/Echo", Message(), options, waiting.Done());
  call->Cancel();
  EXPECT_EQ(waiting.Wait().code(), Code::kCancelled);
  {
    Channel other(NobodysAddress());
    other.CallAsync("/test/Echo", Message(), options, left.Done());
  }
  EXPECT_EQ(left.Wait().code(), Code::kCancelled);
}

TEST(Failure, AServersEndFailsItsCallsAtOnceAndTheChannelFindsTheNext) {
  auto test = std::make_unique<TestServer>();
  const std::string address = Local(*test->server);
  Channel channel(address);
  std::vector<Waiting> waiting(50);
  for (Waiting& each : waiting) channel.CallAsync("/test/Later", Message(), {}, each.Done());
  ASSERT_TRUE(Eventually([&] { return test->kept_calls() == 50; }));
  const auto start = Clock::now();
  test.reset();
  for (Waiting& each : waiting) {
    EXPECT_EQ(each.Wait().code(), Code::kUnavailable);
    EXPECT_EQ(each.Wait().message(), StrCat("Connection with ", address, " was closed by the peer"));
  }
  EXPECT_LT(Clock::now() - start, seconds(5));
  EXPECT_EQ(channel.CallAndWait("/test/Echo", Message(), nullptr).status.code(), Code::kUnavailable);
  const TestServer next({}, address);
  CallOptions options = Within(seconds(30));
  options.wait_for_ready = true;
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr, options).status.ok());
}

TEST(Failure, AServerShutsDownAfterItsCalls) {
  TestServer test;
  Channel channel(Local(*test.server));
  Waiting answered, late;
  channel.CallAsync("/test/Later", Message(), {}, answered.Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == 1; }));
  std::thread shutdown([&] { test.server->Shutdown(seconds(30)); });
  // New calls are refused meanwhile.
  EXPECT_TRUE(Eventually(
      [&] { return channel.CallAndWait("/test/Echo", Message(), nullptr).status.code() == Code::kUnavailable; }));
  test.kept[0]->Finish({}, Message("in time"));
  test.kept.clear();
  EXPECT_TRUE(answered.Wait().ok()) << answered.Wait().ToString();
  EXPECT_EQ(answered.answer().bytes(), "in time");
  shutdown.join();
}

TEST(Failure, AServerWaitsNoLongerThanItIsTold) {
  TestServer test;
  Channel channel(Local(*test.server));
  Waiting waiting;
  channel.CallAsync("/test/Later", Message(), {}, waiting.Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == 1; }));
  const auto start = Clock::now();
  test.server->Shutdown(milliseconds(100));
  EXPECT_GE(Clock::now() - start, milliseconds(100));
  EXPECT_LT(Clock::now() - start, seconds(10));
  EXPECT_EQ(waiting.Wait().code(), Code::kUnavailable);
  EXPECT_EQ(test.cancelled, 1);
}

TEST(Failure, ATakenPortIsNamed) {
  TestServer test;
  Server second;
  try {
    second.Start(Local(*test.server));
    FAIL() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnavailable);
    EXPECT_EQ(error.what(), StrCat("Cannot listen on ", Local(*test.server), ": Address already in use"));
  }
}

TEST(Failure, ServersListenWhereTheyAreTold) {
  for (const char* address : {"localhost:0", ":0", "0.0.0.0:0"}) {
    TestServer test({}, address);
    Channel channel(StrCat("localhost:", test.server->port()));
    EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr).status.ok()) << address;
  }
}

// A peer that is no HTTP/2 server: the call fails with a text that says so.
TEST(Failure, APeerThatIsNoServerIsUnavailable) {
  for (const std::string& greeting : {"HTTP/1.1 400 Bad Request\r\n\r\n"s, "\x15\x03\x01\x00\x02\x02\x46"s,
                                      std::string(100'000, 'x'), std::string(1000, '\0'), ""s}) {
    int port;
    const int listener = RawListen(&port);
    std::thread peer([&] {
      const int fd = accept(listener, nullptr, nullptr);
      send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
      shutdown(fd, SHUT_WR);
      char byte;
      while (read(fd, &byte, 1) > 0) {
      }
      close(fd);
    });
    Channel channel(StrCat("127.0.0.1:", port));
    const Status status = channel.CallAndWait("/test/Echo", Message(), nullptr, Within(seconds(30))).status;
    EXPECT_EQ(status.code(), Code::kUnavailable) << status.ToString();
    EXPECT_TRUE(status.message().starts_with(StrCat("failed to connect to 127.0.0.1:", port))) << status.ToString();
    peer.join();
    close(listener);
  }
}

TEST(Failure, APeerThatDoesNotAnswerIsUnavailable) {
  int port;
  const int listener = RawListen(&port);  // connects, and says nothing
  ChannelOptions options;
  options.connect_timeout = milliseconds(300);
  Channel channel(StrCat("127.0.0.1:", port), options);
  const Status status = channel.CallAndWait("/test/Echo", Message(), nullptr).status;
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(), StrCat("failed to connect to 127.0.0.1:", port, "; last error: 127.0.0.1:", port,
                                     " does not answer as HTTP/2"));
  close(listener);
}

TEST(Failure, CallsMayBeMadeByCallbacks) {
  TestServer test;
  Channel channel(Local(*test.server));
  std::atomic<int> done{0};
  std::function<void(int)> next = [&](int left) {
    channel.CallAsync("/test/Echo", Message(StrCat(left)), {}, [&, left](Outcome outcome, Incoming) {
      if (outcome.status.ok()) ++done;
      if (left > 0) next(left - 1);
    });
  };
  next(499);
  EXPECT_TRUE(Eventually([&] { return done == 500; }));
}

TEST(Failure, AChannelMayGoInItsOwnCallback) {
  TestServer test;
  auto channel = std::make_unique<Channel>(Local(*test.server));
  std::atomic<bool> gone{false};
  channel->CallAsync("/test/Echo", Message(), {}, [&](Outcome, Incoming) {
    channel.reset();
    gone = true;
  });
  EXPECT_TRUE(Eventually([&] { return gone.load(); }));
}

TEST(Failure, AForkedChildOpensItsOwnConnection) {
  TestServer test;
  Channel channel(Local(*test.server));
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr).status.ok());
  Waiting parents;
  channel.CallAsync("/test/Later", Message(), {}, parents.Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == 1; }));
  const pid_t child = fork();
  if (child == 0) {
    Incoming answer;
    const Outcome outcome = channel.CallAndWait("/test/Echo", Message("child"), &answer, Within(seconds(20)));
    const bool right = outcome.status.ok() && answer.bytes() == "child";
    _exit(right ? 0 : 1);
  }
  int result = -1;
  waitpid(child, &result, 0);
  EXPECT_EQ(result, 0);
  // The parent goes on, its call too.
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr).status.ok());
  test.kept[0]->Finish({}, Message("parent"));
  EXPECT_TRUE(parents.Wait().ok());
}

// A child that lives on does not keep the connections of a parent that was killed.
TEST(Failure, AForkedChildHoldsNoSocketOfItsParent) {
  int ready[2], port_pipe[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(port_pipe), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    TestServer test;
    const int port = test.server->port();
    [[maybe_unused]] ssize_t n = write(port_pipe[1], &port, sizeof(port));
    while (test.kept_calls() == 0) usleep(1000);
    const pid_t child = fork();
    if (child == 0) {
      sleep(20);
      _exit(0);
    }
    n = write(ready[1], &child, sizeof(child));
    pause();
    _exit(0);
  }
  int port;
  ASSERT_EQ(read(port_pipe[0], &port, sizeof(port)), ssize_t{sizeof(port)});
  Channel channel(StrCat("127.0.0.1:", port));
  Waiting waiting;
  channel.CallAsync("/test/Later", Message(), {}, waiting.Done());
  pid_t child;
  ASSERT_EQ(read(ready[0], &child, sizeof(child)), ssize_t{sizeof(child)});
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const auto start = Clock::now();
  EXPECT_EQ(waiting.Wait().code(), Code::kUnavailable);
  EXPECT_LT(Clock::now() - start, seconds(5));
  Server next;  // the port is free
  EXPECT_NO_THROW(next.Start(StrCat("127.0.0.1:", port)));
  kill(child, SIGKILL);
}

// Calls in flight end when the process does, and nothing can be begun after that.
TEST(Failure, AProcessEndsWithCallsInFlight) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto* test = new TestServer;
    auto* channel = new Channel(Local(*test->server));
    channel->CallAsync("/test/Later", Message(), {}, [fd = report[1]](Outcome outcome, Incoming) {
      const char code = static_cast<char>(outcome.status.code());
      [[maybe_unused]] const ssize_t n = write(fd, &code, 1);
    });
    while (test->kept_calls() == 0) usleep(1000);
    StopAllLoops();
    Waiting late;
    channel->CallAsync("/test/Echo", Message(), {}, late.Done());
    std::exit(late.Wait().code() == Code::kCancelled ? 3 : 4);
  }
  close(report[1]);
  char code = 0;
  EXPECT_EQ(read(report[0], &code, 1), 1);
  EXPECT_TRUE(code == static_cast<char>(Code::kCancelled) || code == static_cast<char>(Code::kUnavailable));
  int result = 0;
  waitpid(child, &result, 0);
  EXPECT_EQ(WEXITSTATUS(result), 3);
  EXPECT_TRUE(WIFEXITED(result));
}

}  // namespace
}  // namespace penstock::rpc
