// A program for tests with other implementations of gRPC: serves some methods, calls one, or checks a server that has
// the same methods.
//   rpc_interop serve [HOST:PORT]        prints its port, serves until its input ends
//   rpc_interop call HOST:PORT METHOD    request from the input; prints "CODE text" and the answer
//   rpc_interop check HOST:PORT          prints a line for each check that failed, then "done"
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iostream>
#include <iterator>
#include <mutex>
#include <thread>

#include "penstock/base/strings.h"
#include "penstock/rpc/rpc.h"

namespace penstock::rpc {
namespace {

int Serve(const std::string& address) {
  Server server;
  std::mutex mutex;
  std::vector<Ref<ServerCall>> kept;
  std::atomic<int> cancelled{0};
  server.AddUnary("/test/Echo",
                  [](Ref<ServerCall> call) { call->Finish({}, Message(std::string(call->request().bytes()))); });
  server.AddUnary("/test/Fail", [](Ref<ServerCall> call) {
    const int code = std::stoi(std::string(call->request().bytes()));
    call->Finish(Status(static_cast<Code>(code), "100 % wrong\n\xc3\xa4"), {}, std::string("\0payload\xff", 9));
  });
  server.AddUnary("/test/Hang", [&](Ref<ServerCall> call) {
    const std::lock_guard lock(mutex);
    kept.push_back(call);
    call->OnCancel([&] { ++cancelled; });
  });
  server.AddUnary("/test/Cancelled",
                  [&](Ref<ServerCall> call) { call->Finish({}, Message(StrCat(cancelled.load()))); });
  server.AddUnary("/test/Large", [](Ref<ServerCall> call) {  // so many bytes
    const size_t size = std::stoul(std::string(call->request().bytes()));
    const Ref<Buffer> buffer = AllocateBuffer(DT_UINT8, static_cast<int64_t>(size), CpuAllocator());
    auto* bytes = static_cast<unsigned char*>(buffer->data());
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i % 251);
    Message message;
    message.Append(buffer, 0, size);
    call->Finish({}, std::move(message));
  });
  server.AddStream("/test/Chat", [](Ref<ServerStream> stream) {  // each message twice, then the number of messages
    auto count = std::make_shared<int>(0);
    stream->SetEvents({[=](Incoming message) {
                         ++*count;
                         for (int i = 0; i < 2; ++i) stream->Write(Message(std::string(message.bytes())));
                       },
                       [=] {
                         stream->Write(Message(StrCat(*count)));
                         stream->Finish({});
                       },
                       {}});
  });
  server.Start(address);
  std::cout << server.port() << std::endl;
  while (std::cin.get() != EOF) {
  }
  server.Shutdown();
  return 0;
}

int Print(const Outcome& outcome, const Incoming& answer) {
  std::cout << static_cast<int>(outcome.status.code()) << " " << outcome.status.message() << "\n" << answer.bytes();
  return 0;
}

int CallOnce(const std::string& address, const std::string& method) {
  Channel channel(address);
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  CallOptions options;
  options.wait_for_ready = true;
  options.deadline = Clock::now() + std::chrono::seconds(30);
  Incoming answer;
  const Outcome outcome = channel.CallAndWait(method, Message(request), &answer, options);
  return Print(outcome, answer);
}

void Check(bool right, const std::string& what) {
  if (!right) std::cout << "wrong: " << what << "\n";
}

int CheckServer(const std::string& address) {
  Channel channel(address);
  CallOptions ready;
  ready.wait_for_ready = true;
  ready.deadline = Clock::now() + std::chrono::seconds(60);
  Incoming answer;
  Outcome outcome = channel.CallAndWait("/test/Echo", Message("hello"), &answer, ready);
  Check(outcome.status.ok() && answer.bytes() == "hello", StrCat("echo: ", outcome.status));
  for (int code = 1; code <= 16; ++code) {
    outcome = channel.CallAndWait("/test/Fail", Message(StrCat(code)), nullptr, ready);
    Check(static_cast<int>(outcome.status.code()) == code && outcome.status.message() == "100 % wrong\n\xc3\xa4",
          StrCat("fail ", code, ": ", outcome.status));
    Check(outcome.details == std::string("\0payload\xff", 9), StrCat("details of ", code));
  }
  outcome = channel.CallAndWait("/test/None", Message("x"), nullptr, ready);
  Check(outcome.status.code() == Code::kUnimplemented, StrCat("unknown method: ", outcome.status));

  const Ref<Buffer> large = AllocateBuffer(DT_UINT8, 50'000'000, CpuAllocator());
  auto* bytes = static_cast<unsigned char*>(large->data());
  for (size_t i = 0; i < large->size(); ++i) bytes[i] = static_cast<unsigned char>(i % 251);
  for (const bool placed : {false, true}) {
    Message message;
    message.Append(large, 0, large->size());
    CallOptions options = ready;
    const Ref<Buffer> place = AllocateBuffer(DT_UINT8, 50'000'000, CpuAllocator());
    if (placed) options.place = [&](std::string_view, size_t size) -> Placement { return {0, size, place, 0}; };
    outcome = channel.CallAndWait("/test/Echo", std::move(message), &answer, options);
    const void* got = placed ? place->data() : answer.bytes().data();
    Check(outcome.status.ok() && answer.size() == large->size() && std::memcmp(got, bytes, large->size()) == 0,
          StrCat("50 MB: ", outcome.status));
  }

  CallOptions soon;
  soon.deadline = Clock::now() + std::chrono::milliseconds(200);
  outcome = channel.CallAndWait("/test/Hang", Message("x"), nullptr, soon);
  Check(outcome.status.code() == Code::kDeadlineExceeded, StrCat("deadline: ", outcome.status));

  std::mutex mutex;
  std::condition_variable changed;
  std::string got;
  bool ended = false;
  StreamEvents events;
  events.on_message = [&](Incoming message) {
    const std::lock_guard lock(mutex);
    got.append(message.bytes()).append(";");
  };
  events.on_end = [&](Outcome end) {
    const std::lock_guard lock(mutex);
    got.append(end.status.ToString());
    ended = true;
    changed.notify_all();
  };
  const Ref<ClientStream> stream = channel.OpenStream("/test/Chat", events, ready);
  for (int i = 0; i < 3; ++i) stream->Write(Message(StrCat("m", i)));
  stream->CloseWrites();
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::seconds(30), [&] { return ended; });
  Check(got == "m0;m0;m1;m1;m2;m2;3;OK", StrCat("stream: ", got));
  lock.unlock();

  // Many at once; gRPC's servers refuse some above a thousand.
  constexpr int kCalls = 800;
  std::atomic<int> right{0}, done{0};
  for (int i = 0; i < kCalls; ++i) {
    channel.CallAsync("/test/Echo", Message(StrCat(i)), ready, [&, i](Outcome each, Incoming incoming) {
      right += each.status.ok() && incoming.bytes() == StrCat(i);
      ++done;
    });
  }
  while (done < kCalls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Check(right == kCalls, StrCat("many calls at once: ", right.load(), " right"));
  std::cout << "done" << std::endl;
  return 0;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0] == "serve") return Serve(args.size() > 1 ? args[1] : "127.0.0.1:0");
  if (args.size() == 3 && args[0] == "call") return CallOnce(args[1], args[2]);
  if (args.size() == 2 && args[0] == "check") return CheckServer(args[1]);
  std::cerr << "usage: rpc_interop serve [HOST:PORT] | call HOST:PORT METHOD | check HOST:PORT\n";
  return 2;
}

}  // namespace
}  // namespace penstock::rpc

int main(int argc, char** argv) { return penstock::rpc::Main(argc, argv); }
