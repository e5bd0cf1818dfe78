// Streams of messages in both directions.
#include "tests/cc/rpc/testing.h"

namespace penstock::rpc {
namespace {

// The events of a stream.
class Seen {
 public:
  StreamEvents Events() {
    return {[this](Incoming message) {
              const std::lock_guard lock(mutex_);
              text_ += StrCat(message.bytes(), ";");
              ++messages_;
            },
            [this](Outcome outcome) {
              const std::lock_guard lock(mutex_);
              status_ = outcome.status;
              ++ends_;
            }};
  }
  bool Ended() {
    return Eventually([this] {
      const std::lock_guard lock(mutex_);
      return ends_ > 0;
    });
  }
  int messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::string text_;
  Status status_;
  int ends_ = 0;

 private:
  std::mutex mutex_;
  int messages_ = 0;
};

// A server whose streams echo, and which keeps the last one.
class StreamServer {
 public:
  StreamServer() {
    server.AddStream("/test/Echo", [this](Ref<ServerStream> stream) {
      {
        const std::lock_guard lock(mutex);
        last = stream;
      }
      stream->SetEvents({[stream](Incoming message) { stream->Write(Message(std::string(message.bytes()))); },
                         [stream] { stream->Finish({}); }, [this] { ++cancelled; }});
    });
    server.AddStream("/test/Keep", [this](Ref<ServerStream> stream) {
      const std::lock_guard lock(mutex);
      last = stream;
      stream->SetEvents({{}, {}, [this] { ++cancelled; }});
    });
    server.AddStream("/test/Drop", [](Ref<ServerStream>) {});
    server.AddStream("/test/Throw", [](Ref<ServerStream>) -> void { throw NotFound("no such thing"); });
    server.Start("127.0.0.1:0");
  }
  Ref<ServerStream> Last() {
    const std::lock_guard lock(mutex);
    return last;
  }
  std::mutex mutex;
  Ref<ServerStream> last;
  std::atomic<int> cancelled{0};
  Server server;
};

TEST(Streams, EchoInOrder) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen seen;
  const Ref<ClientStream> stream = channel.OpenStream("/test/Echo", seen.Events());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    stream->Write(Message(StrCat(i)));
    expected += StrCat(i, ";");
  }
  ASSERT_TRUE(Eventually([&] { return seen.messages() == 1000; }));
  EXPECT_EQ(seen.ends_, 0);
  stream->CloseWrites();
  ASSERT_TRUE(seen.Ended());
  EXPECT_TRUE(seen.status_.ok()) << seen.status_.ToString();
  EXPECT_EQ(seen.text_, expected);
  EXPECT_EQ(seen.ends_, 1);
}

TEST(Streams, EndWithTheServersStatus) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen kept, dropped, thrown, unknown;
  const Ref<ClientStream> stream = channel.OpenStream("/test/Keep", kept.Events());
  ASSERT_TRUE(Eventually([&] { return bool(test.Last()); }));
  test.Last()->Write(Message("one"));
  test.Last()->Finish(Status(Code::kAborted, "enough"));
  test.Last()->Write(Message("two"));
  ASSERT_TRUE(kept.Ended());
  EXPECT_EQ(kept.text_, "one;");
  EXPECT_EQ(kept.status_.ToString(), Status(Code::kAborted, "enough").ToString());
  stream->Write(Message("nobody reads this"));
  const auto a = channel.OpenStream("/test/Drop", dropped.Events());
  ASSERT_TRUE(dropped.Ended());
  EXPECT_EQ(dropped.status_.code(), Code::kInternal);
  const auto b = channel.OpenStream("/test/Throw", thrown.Events());
  ASSERT_TRUE(thrown.Ended());
  EXPECT_EQ(thrown.status_.code(), Code::kNotFound);
  EXPECT_EQ(thrown.status_.message(), "no such thing");
  const auto c = channel.OpenStream("/test/None", unknown.Events());
  ASSERT_TRUE(unknown.Ended());
  EXPECT_EQ(unknown.status_.code(), Code::kUnimplemented);
}

TEST(Streams, EndWhenTheClientCancels) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen seen;
  const Ref<ClientStream> stream = channel.OpenStream("/test/Keep", seen.Events());
  ASSERT_TRUE(Eventually([&] { return bool(test.Last()); }));
  stream->Cancel();
  ASSERT_TRUE(seen.Ended());
  EXPECT_EQ(seen.status_.code(), Code::kCancelled);
  EXPECT_TRUE(Eventually([&] { return test.cancelled == 1; }));
}

TEST(Streams, EndWhenTheChannelGoes) {
  StreamServer test;
  Seen seen;
  {
    Channel channel(Local(test.server));
    channel.OpenStream("/test/Keep", seen.Events());
    ASSERT_TRUE(Eventually([&] { return bool(test.Last()); }));
  }
  ASSERT_TRUE(seen.Ended());
  EXPECT_EQ(seen.status_.code(), Code::kCancelled);
  EXPECT_TRUE(Eventually([&] { return test.cancelled == 1; }));
}

TEST(Streams, HaveDeadlines) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen seen;
  channel.OpenStream("/test/Keep", seen.Events(), Within(milliseconds(50)));
  ASSERT_TRUE(seen.Ended());
  EXPECT_EQ(seen.status_.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(Eventually([&] { return test.cancelled == 1; }));
}

TEST(Streams, CarryLargeMessages) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen seen;
  const Ref<ClientStream> stream = channel.OpenStream("/test/Echo", seen.Events());
  const std::string large(30 << 20, 'x');
  for (int i = 0; i < 3; ++i) stream->Write(Message(large));
  stream->CloseWrites();
  ASSERT_TRUE(seen.Ended());
  EXPECT_TRUE(seen.status_.ok()) << seen.status_.ToString();
  EXPECT_EQ(seen.text_.size(), 3 * (large.size() + 1));
  EXPECT_EQ(stream->unsent(), 0u);
}

TEST(Streams, EndWithAMessageOfTwoGigabytes) {
  StreamServer test;
  Channel channel(Local(test.server));
  Seen seen;
  const Ref<ClientStream> stream = channel.OpenStream("/test/Keep", seen.Events());
  Message message;
  message.Append(BorrowBuffer(nullptr, size_t{1} << 31, [] {}), 0, size_t{1} << 31);
  stream->Write(std::move(message));
  ASSERT_TRUE(seen.Ended());
  EXPECT_EQ(seen.status_.code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace penstock::rpc
