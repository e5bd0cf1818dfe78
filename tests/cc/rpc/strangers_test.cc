// Malformed and hostile input: a server neither crashes nor hangs nor fills the memory, and serves others as before.
#include <poll.h>
#include <signal.h>

#include <random>

#include "tests/cc/rpc/testing.h"

namespace penstock::rpc {
namespace {

using namespace std::string_literals;

constexpr int64_t kMemory = 150 << 20;  // by how much a process may grow

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string Frame(int type, int flags, uint32_t stream, std::string_view payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame.append(payload);
}

std::string Number(uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// A literal header without indexing, which needs no compression.
std::string RawHeader(std::string_view name, std::string_view value) {
  EXPECT_LT(name.size(), 127u);
  EXPECT_LT(value.size(), 127u);
  return StrCat('\0', static_cast<char>(name.size()), name, static_cast<char>(value.size()), value);
}

std::string Request(std::string_view path) {
  return RawHeader(":method", "POST") + RawHeader(":scheme", "http") + RawHeader(":path", path) +
         RawHeader("content-type", "application/grpc") + RawHeader("te", "trailers");
}

enum { kData = 0, kHeaders = 1, kPriority = 2, kReset = 3, kSettings = 4, kPing = 6, kContinuation = 9 };
enum { kEndStream = 1, kEndHeaders = 4 };

const std::string kGreeting = kPreface + Frame(kSettings, 0, 0, "");

// Sends all of it, and discards the answers, until the peer closes. True if all was taken.
bool SendAll(int fd, std::string_view bytes) {
  char trash[65536];
  while (!bytes.empty()) {
    pollfd ready{fd, POLLIN | POLLOUT, 0};
    if (poll(&ready, 1, 10'000) <= 0) return false;
    if (ready.revents & POLLIN && recv(fd, trash, sizeof(trash), MSG_DONTWAIT) == 0) return false;
    if (!(ready.revents & POLLOUT)) continue;
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(n);
  }
  return true;
}

// Whether the server closes the connection within the time.
bool Closes(int fd, int milliseconds) {
  char trash[65536];
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (Clock::now() < end) {
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, 100) <= 0) continue;
    if (recv(fd, trash, sizeof(trash), 0) <= 0) return true;
  }
  return false;
}

// A server, and a well-behaved client beside the strangers.
class Strangers : public testing::Test {
 protected:
  Strangers() : channel_(Local(*test_.server)) {
    ServedAsBefore();
    before_ = MemoryInUse();
  }
  void TearDown() override {
    ServedAsBefore();
    EXPECT_LT(MemoryInUse() - before_, kMemory);
  }
  void ServedAsBefore() {
    Incoming answer;
    const Outcome outcome = channel_.CallAndWait("/test/Echo", Message("well?"), &answer, Within(seconds(20)));
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    EXPECT_EQ(answer.bytes(), "well?");
  }
  int Connect() { return RawConnect(test_.server->port()); }

  TestServer test_{{.greeting_timeout = milliseconds(500)}};
  Channel channel_;
  int64_t before_ = 0;
};

TEST_F(Strangers, OtherProtocolsAreHungUpOn) {
  std::mt19937 random(1);
  std::string noise(100'000, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  for (const std::string& greeting :
       {"GET / HTTP/1.1\r\nHost: x\r\n\r\n"s, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s + std::string(512, 'r'),
        "SSH-2.0-OpenSSH_9.2\r\n"s, std::string(70'000, '\0'), noise, kPreface + noise,
        kPreface + Frame(kPing, 0, 0, "12345678")}) {
    const int fd = Connect();
    SendAll(fd, greeting);
    EXPECT_TRUE(Closes(fd, 5000)) << greeting.substr(0, 20);
    close(fd);
  }
}

TEST_F(Strangers, SilentConnectionsAreClosed) {
  std::vector<int> fds;
  for (int i = 0; i < 200; ++i) {
    fds.push_back(Connect());
    if (i % 2) SendAll(fds.back(), kPreface.substr(0, i % 20));
  }
  for (const int fd : fds) {
    EXPECT_TRUE(Closes(fd, 5000));
    close(fd);
  }
}

TEST_F(Strangers, ResetConnectionsAreForgotten) {
  for (int i = 0; i < 500; ++i) {
    const int fd = Connect();
    SendAll(fd, kGreeting + Frame(kHeaders, kEndHeaders, 1, Request("/test/Later")) + Frame(kData, 0, 1, "\0\0"s));
    const linger hard{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close(fd);
  }
}

TEST_F(Strangers, EndlessHeadersEnd) {
  // One block without an end, in frames that continue it; headers that are too many, in one frame.
  for (const bool continued : {true, false}) {
    const int fd = Connect();
    const std::string filler = [] {
      std::string all;
      while (all.size() < 16'000) all += RawHeader("x-filler", std::string(100, 'f'));
      return all;
    }();
    SendAll(fd, kGreeting);
    bool open = true;
    for (int i = 0; open && i < 20'000; ++i) {
      const uint32_t stream = continued ? 1 : 2 * i + 1;
      std::string block = continued && i > 0 ? "" : Request("/test/Echo");
      if (!continued) {
        for (int k = 0; k < 40; ++k) block += filler;
      } else {
        block += filler;
      }
      open =
          SendAll(fd, Frame(continued && i > 0 ? kContinuation : kHeaders, continued ? 0 : kEndHeaders, stream, block));
      if (!continued && i == 200) break;  // each of them is reset
    }
    EXPECT_TRUE(!continued || !open);
    close(fd);
  }
}

TEST_F(Strangers, RapidResetsEndTheConnection) {
  const int fd = Connect();
  SendAll(fd, kGreeting);
  bool open = true;
  uint32_t stream = 1;
  const std::string block = Request("/test/Later");
  const auto start = Clock::now();
  // A machine on which these take longer than the permitted rate keeps the connection.
  for (int i = 0; open && i < 5000 && Clock::now() - start < seconds(10); ++i) {
    std::string frames;
    for (int k = 0; k < 100; ++k, stream += 2) {
      frames += Frame(kHeaders, kEndHeaders, stream, block) + Frame(kData, kEndStream, stream, "\0\0\0\0\0"s) +
                Frame(kReset, 0, stream, Number(8));
    }
    open = SendAll(fd, frames);
  }
  EXPECT_TRUE(!open || Clock::now() - start >= seconds(10));
  close(fd);
}

TEST_F(Strangers, WindowsThatNeverOpenHoldNoMemory) {
  const int fd = Connect();
  // Streams get no window at all: every answer has to wait.
  SendAll(fd, kPreface + Frame(kSettings, 0, 0, "\0\4\0\0\0\0"s));
  const std::string body = "\0\0\x01\0\0"s + std::string(65'536, 'e');
  uint32_t stream = 1;
  std::thread sender([&] {
    for (int i = 0; i < 10'000; ++i, stream += 2) {  // 650 MB in all
      std::string frames = Frame(kHeaders, kEndHeaders, stream, Request("/test/Echo"));
      for (size_t at = 0; at < body.size(); at += 16'384) {
        const std::string_view part = std::string_view(body).substr(at, 16'384);
        frames += Frame(kData, at + part.size() == body.size() ? kEndStream : 0, stream, part);
      }
      // A client that respects the connection's window would have to stop; this one does not.
      pollfd ready{fd, POLLOUT, 0};
      if (poll(&ready, 1, 1000) <= 0 || !SendAll(fd, frames)) return;
    }
  });
  sender.join();
  EXPECT_LT(MemoryInUse() - before_, kMemory);
  close(fd);
}

TEST_F(Strangers, LengthsAloneTakeNoMemory) {
  const int fd = Connect();
  SendAll(fd, kGreeting);
  for (uint32_t stream = 1; stream < 20'000; stream += 2) {
    if (!SendAll(fd, Frame(kHeaders, kEndHeaders, stream, Request("/test/Echo")) +
                         Frame(kData, 0, stream, "\0\x7f\xff\xff\xff"s + "few"))) {
      break;
    }
  }
  ServedAsBefore();
  EXPECT_LT(MemoryInUse() - before_, kMemory);
  close(fd);
}

TEST_F(Strangers, PingsAndSettingsDoNotPileUp) {
  for (const std::string& frame : {Frame(kPing, 0, 0, "12345678"), Frame(kSettings, 0, 0, "\0\3\0\0\0\1"s),
                                   Frame(kPriority, 0, 3, "\0\0\0\1\1"s)}) {
    const int fd = Connect();
    SendAll(fd, kGreeting);
    std::string many;
    for (int i = 0; i < 5000; ++i) many += frame;
    for (int i = 0; i < 200; ++i) {  // reads nothing
      pollfd ready{fd, POLLOUT, 0};
      if (poll(&ready, 1, 500) <= 0 || send(fd, many.data(), many.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    }
    ServedAsBefore();
    close(fd);
  }
}

TEST_F(Strangers, FlippedBytesDoNoHarm) {
  const std::string right = kGreeting + Frame(kHeaders, kEndHeaders, 1, Request("/test/Echo")) +
                            Frame(kData, kEndStream, 1, "\0\0\0\0\5hello"s) +
                            Frame(kHeaders, kEndHeaders, 3, Request("/test/Fail")) +
                            Frame(kData, kEndStream, 3,
                                  "\1\0\0\0\1"
                                  "3"s) +
                            Frame(kReset, 0, 3, Number(8));
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string wrong = right;
    for (unsigned k = 0; k <= random() % 4; ++k) {
      const size_t at = kPreface.size() + random() % (wrong.size() - kPreface.size());
      switch (random() % 3) {
        case 0: wrong[at] ^= static_cast<char>(1 << random() % 8); break;
        case 1: wrong.erase(at, 1 + random() % 8); break;
        default: wrong.insert(at, wrong.substr(at / 2, random() % 40)); break;
      }
      if (wrong.size() <= kPreface.size() + 1) break;
    }
    const int fd = Connect();
    SendAll(fd, wrong);
    close(fd);
  }
}

}  // namespace
}  // namespace penstock::rpc
