// Large messages: windows, places chosen by the receiver, bodies that go both ways at once.
#include "tests/cc/rpc/testing.h"

namespace penstock::rpc {
namespace {

constexpr size_t kSize = 20 << 20;

Ref<Buffer> Numbers() {
  const Ref<Buffer> buffer = AllocateBuffer(DT_UINT8, kSize, CpuAllocator());
  auto* words = static_cast<uint32_t*>(buffer->data());
  for (size_t i = 0; i < kSize / 4; ++i) words[i] = static_cast<uint32_t>(i * 2654435761u);
  return buffer;
}

TEST(Large, ComeBackWhole) {
  TestServer test;
  Channel channel(Local(*test.server));
  const Ref<Buffer> numbers = Numbers();
  std::vector<Waiting> waiting(4);
  for (Waiting& each : waiting) {
    Message message("head");
    message.Append(numbers, 0, kSize);
    message.Append("tail");
    channel.CallAsync("/test/Echo", std::move(message), {}, each.Done());
  }
  // Small ones pass meanwhile.
  Incoming small;
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message("small"), &small).status.ok());
  EXPECT_EQ(small.bytes(), "small");
  for (Waiting& each : waiting) {
    EXPECT_TRUE(each.Wait().ok());
    const std::string_view body = each.answer().bytes();
    ASSERT_EQ(body.size(), kSize + 8);
    EXPECT_EQ(body.substr(0, 4), "head");
    EXPECT_EQ(std::memcmp(body.data() + 4, numbers->data(), kSize), 0);
    EXPECT_EQ(body.substr(kSize + 4), "tail");
  }
}

TEST(Large, AreReceivedWhereTheCallerSays) {
  const Ref<Buffer> numbers = Numbers();
  Server server;
  server.AddUnary("/test/Pull", [&](Ref<ServerCall> call) {
    Message message(std::string(call->request().bytes()));
    message.Append(numbers, 0, kSize);
    message.Append("tail");
    call->Finish({}, std::move(message));
  });
  server.Start("127.0.0.1:0");
  Channel channel(Local(server));
  // Heads that are shorter and longer than a body's part that the caller sees, and none.
  for (const size_t head : {size_t{0}, size_t{10}, kHeadBytes - 1, kHeadBytes}) {
    const Ref<Buffer> place = AllocateBuffer(DT_UINT8, kSize + 64, CpuAllocator());
    CallOptions options;
    options.place = [&](std::string_view seen, size_t size) -> Placement {
      EXPECT_EQ(size, head + kSize + 4);
      EXPECT_EQ(seen.size(), kHeadBytes);
      EXPECT_EQ(seen.substr(0, head), std::string(head, 'h'));
      return {head, kSize, place, 64};
    };
    Incoming answer;
    EXPECT_TRUE(channel.CallAndWait("/test/Pull", Message(std::string(head, 'h')), &answer, options).status.ok());
    EXPECT_EQ(answer.bytes(), std::string(head, 'h') + "tail");
    EXPECT_EQ(answer.size(), head + kSize + 4);
    EXPECT_EQ(answer.placed().buffer.get(), place.get());
    EXPECT_EQ(std::memcmp(static_cast<char*>(place->data()) + 64, numbers->data(), kSize), 0);
  }
  // A part in the middle.
  const Ref<Buffer> place = AllocateBuffer(DT_UINT8, 2000, CpuAllocator());
  CallOptions options;
  options.place = [&](std::string_view, size_t) -> Placement { return {1000, 2000, place, 0}; };
  Incoming answer;
  EXPECT_TRUE(channel.CallAndWait("/test/Pull", Message(), &answer, options).status.ok());
  const auto* bytes = static_cast<const char*>(numbers->data());
  EXPECT_EQ(std::memcmp(place->data(), bytes + 1000, 2000), 0);
  ASSERT_EQ(answer.bytes().size(), kSize + 4 - 2000);
  EXPECT_EQ(std::memcmp(answer.bytes().data(), bytes, 1000), 0);
  EXPECT_EQ(std::memcmp(answer.bytes().data() + 1000, bytes + 3000, kSize - 3000), 0);
}

TEST(Large, FailTheCallWhenTheyDoNotFitTheirPlace) {
  const Ref<Buffer> numbers = Numbers();
  Server server;
  server.AddUnary("/test/Pull", [&](Ref<ServerCall> call) {
    Message message;
    message.Append(numbers, 0, kSize);
    call->Finish({}, std::move(message));
  });
  server.AddUnary("/test/Small", [&](Ref<ServerCall> call) { call->Finish({}, Message("small")); });
  server.Start("127.0.0.1:0");
  Channel channel(Local(server));
  CallOptions options;
  options.place = [&](std::string_view, size_t) -> Placement { return {0, kSize, numbers, 1}; };
  EXPECT_EQ(channel.CallAndWait("/test/Pull", Message(), nullptr, options).status.code(), Code::kInternal);
  options.place = [&](std::string_view, size_t) -> Placement { throw InvalidArgument("no"); };
  EXPECT_EQ(channel.CallAndWait("/test/Pull", Message(), nullptr, options).status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(channel.CallAndWait("/test/Small", Message(), nullptr, options).status.ok());
}

TEST(Large, RequestsArePlacedToo) {
  const Ref<Buffer> numbers = Numbers();
  const Ref<Buffer> place = AllocateBuffer(DT_UINT8, kSize, CpuAllocator());
  Server server;
  server.AddUnary(
      "/test/Push", [&](Ref<ServerCall> call) { call->Finish({}, Message(std::string(call->request().bytes()))); },
      [&](std::string_view, size_t size) -> Placement { return {4, size - 4, place, 0}; });
  server.Start("127.0.0.1:0");
  Channel channel(Local(server));
  Message message("head");
  message.Append(numbers, 0, kSize);
  Incoming answer;
  EXPECT_TRUE(channel.CallAndWait("/test/Push", std::move(message), &answer).status.ok());
  EXPECT_EQ(answer.bytes(), "head");
  EXPECT_EQ(std::memcmp(place->data(), numbers->data(), kSize), 0);
}

TEST(Large, MayBeCancelledOnTheirWay) {
  TestServer test;
  Channel channel(Local(*test.server));
  const Ref<Buffer> numbers = Numbers();
  for (int i = 0; i < 20; ++i) {
    Message message;
    message.Append(numbers, 0, kSize);
    Waiting waiting;
    const Ref<Call> call = channel.CallAsync("/test/Echo", std::move(message), {}, waiting.Done());
    std::this_thread::sleep_for(milliseconds(i));
    call->Cancel();
    waiting.Wait();
    EXPECT_EQ(waiting.calls(), 1);
  }
  EXPECT_TRUE(channel.CallAndWait("/test/Echo", Message(), nullptr).status.ok());
}

}  // namespace
}  // namespace penstock::rpc
