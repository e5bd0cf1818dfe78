// Calls with one message each way.
#include "tests/cc/rpc/testing.h"

namespace penstock::rpc {
namespace {

TEST(Unary, AnswersWithTheHandlersMessage) {
  TestServer test;
  Channel channel(Local(*test.server));
  EXPECT_FALSE(channel.connected());
  Incoming answer;
  const Outcome outcome = channel.CallAndWait("/test/Echo", Message("hello"), &answer);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.ToString();
  EXPECT_EQ(answer.bytes(), "hello");
  EXPECT_TRUE(channel.connected());
}

TEST(Unary, TakesEmptyMessages) {
  TestServer test;
  Channel channel(Local(*test.server));
  Incoming answer;
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), &answer).status.ok());
  EXPECT_EQ(answer.bytes(), "");
}

TEST(Unary, SendsSlicesInOrder) {
  TestServer test;
  Channel channel(Local(*test.server));
  const Ref<Buffer> buffer = AllocateBuffer(DT_UINT8, 300'000, CpuAllocator());
  std::memset(buffer->data(), 'b', buffer->size());
  std::string expected =
      "start" + std::string(200'000, 'b') + "middle" + std::string(10, 'b') + std::string(50'000, 'e');
  Message message("start");
  message.Append(buffer, 50'000, 200'000);
  message.Append("middle");
  message.Append(buffer, 7, 10);
  message.Append(std::string(50'000, 'e'));
  EXPECT_EQ(message.ToString(), expected);
  Incoming answer;
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", std::move(message), &answer).status.ok());
  EXPECT_TRUE(answer.bytes() == expected);
}

TEST(Unary, CarriesEveryCodeWithTextAndDetails) {
  TestServer test;
  Channel channel(Local(*test.server));
  for (int code = 1; code <= 16; ++code) {
    const Outcome outcome = channel.CallAndWait("/test/Fail", Message(std::to_string(code)), nullptr);
    EXPECT_EQ(static_cast<int>(outcome.status.code()), code);
    EXPECT_EQ(outcome.status.message(), "100 % wrong\n\xc3\xa4");
    EXPECT_EQ(outcome.details, std::string("\0payload\xff", 9));
  }
}

TEST(Unary, CutsLongTexts) {
  Server server;
  server.AddUnary("/test/Long", [](Ref<ServerCall>) -> void { throw InvalidArgument(std::string(10'000, 'x')); });
  server.Start("127.0.0.1:0");
  Channel channel(Local(server));
  const Status status = channel.CallAndWait("/test/Long", Message(), nullptr).status;
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), std::string(3072, 'x') + " ... [truncated]");
}

TEST(Unary, RefusesUnknownMethods) {
  TestServer test;
  Channel channel(Local(*test.server));
  const Status status = channel.CallAndWait("/test/None", Message("x"), nullptr).status;
  EXPECT_EQ(status.code(), Code::kUnimplemented);
}

TEST(Unary, KeepsManyCallsInFlight) {
  TestServer test;
  Channel channel(Local(*test.server));
  constexpr int kCalls = 2000;
  std::vector<Waiting> waiting(kCalls);
  for (int i = 0; i < kCalls; ++i) channel.CallAsync("/test/Later", Message(std::to_string(i)), {}, waiting[i].Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == kCalls; }));
  std::vector<Ref<ServerCall>> calls;
  calls.swap(test.kept);
  // Answers in another order, from another thread.
  std::thread([&] {
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      (*call)->Finish({}, Message(StrCat("answer ", (*call)->request().bytes())));
    }
  }).join();
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_TRUE(waiting[i].Wait().ok());
    EXPECT_EQ(waiting[i].answer().bytes(), StrCat("answer ", i));
    EXPECT_EQ(waiting[i].calls(), 1);
  }
}

TEST(Unary, CallsFromManyThreads) {
  TestServer test;
  Channel channel(Local(*test.server));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        Incoming answer;
        const std::string text = StrCat(t, "/", i);
        right += channel.CallAndWait("/test/Echo", Message(text), &answer).status.ok() && answer.bytes() == text;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 2000);
}

TEST(Unary, EndsAtTheDeadline) {
  TestServer test;
  Channel channel(Local(*test.server));
  const auto start = Clock::now();
  const Status status = channel.CallAndWait("/test/Later", Message(), nullptr, Within(milliseconds(100))).status;
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_GE(Clock::now() - start, milliseconds(100));
  EXPECT_LT(Clock::now() - start, seconds(10));
  // The server sees the deadline, and that the caller has gone.
  ASSERT_EQ(test.kept_calls(), 1u);
  ASSERT_TRUE(test.kept[0]->deadline());
  EXPECT_LT(*test.kept[0]->deadline(), start + seconds(10));
  EXPECT_TRUE(Eventually([&] { return test.cancelled == 1; }));
  EXPECT_TRUE(test.kept[0]->cancelled());
  // One that has passed already.
  EXPECT_EQ(channel.CallAndWait("/test/Echo", Message(), nullptr, Within(-seconds(1))).status.code(),
            Code::kDeadlineExceeded);
}

TEST(Unary, EndsWhenCancelled) {
  TestServer test;
  Channel channel(Local(*test.server));
  Waiting waiting;
  const Ref<Call> call = channel.CallAsync("/test/Later", Message(), {}, waiting.Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == 1; }));
  call->Cancel();
  EXPECT_EQ(waiting.Wait().code(), Code::kCancelled);
  EXPECT_TRUE(Eventually([&] { return test.cancelled == 1; }));
  call->Cancel();
  test.kept[0]->Finish({}, Message("too late"));
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr).status.ok());
  EXPECT_EQ(waiting.calls(), 1);
}

TEST(Unary, AnswersForAHandlerThatDropsTheCall) {
  TestServer test;
  Channel channel(Local(*test.server));
  Waiting waiting;
  channel.CallAsync("/test/Later", Message(), {}, waiting.Done());
  ASSERT_TRUE(Eventually([&] { return test.kept_calls() == 1; }));
  test.kept.clear();
  EXPECT_EQ(waiting.Wait().code(), Code::kInternal);
}

TEST(Unary, PassesMetadata) {
  Server server;
  server.AddUnary("/test/Meta", [](Ref<ServerCall> call) {
    call->Finish({}, Message(StrCat(call->metadata("x-name"), "|", call->metadata("x-bytes-bin"), "|",
                                    call->metadata("x-none"), "|", call->peer().substr(0, 10))));
  });
  server.Start("127.0.0.1:0");
  Channel channel(Local(server));
  CallOptions options;
  options.metadata = {{"x-name", "value"}, {"x-bytes-bin", std::string("\0\1\xff", 3)}};
  Incoming answer;
  EXPECT_TRUE(channel.CallAndWait("/test/Meta", Message(), &answer, options).status.ok());
  EXPECT_EQ(answer.bytes(), StrCat("value|", std::string_view("\0\1\xff", 3), "||127.0.0.1:"));
}

TEST(Unary, RefusesMessagesAboveTheLimits) {
  ServerOptions server_options;
  server_options.max_message = 1000;
  TestServer test(server_options);
  ChannelOptions channel_options;
  channel_options.max_message = 500;
  Channel channel(Local(*test.server), channel_options);
  const Status large_request = channel.CallAndWait("/test/Echo", Message(std::string(1001, 'x')), nullptr).status;
  EXPECT_EQ(large_request.code(), Code::kResourceExhausted);
  EXPECT_EQ(large_request.message(), "Received message larger than max (1001 vs. 1000)");
  const Status large_answer = channel.CallAndWait("/test/Echo", Message(std::string(501, 'x')), nullptr).status;
  EXPECT_EQ(large_answer.code(), Code::kResourceExhausted);
  EXPECT_EQ(large_answer.message(), "Received message larger than max (501 vs. 500)");
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(std::string(500, 'x')), nullptr).status.ok());
}

TEST(Unary, RefusesRequestsOfTwoGigabytesByName) {
  TestServer test;
  Channel channel(Local(*test.server));
  const Ref<Buffer> buffer = BorrowBuffer(nullptr, size_t{1} << 31, [] {});
  Message message;
  message.Append(buffer, 0, size_t{1} << 31);
  const Status status = channel.CallAndWait("/test/Echo", std::move(message), nullptr).status;
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.message(), "/test/Echo: a message of 2147483648 bytes is larger than 2147483647 bytes");
}

}  // namespace
}  // namespace penstock::rpc
