// Both executors on the same graphs.
#include <random>

#include "runner.h"

namespace penstock {
namespace {

// Random arithmetic on two arguments; every value is also a result.
std::shared_ptr<Graph> RandomGraph(int seed, int nodes, int* results) {
  std::mt19937 random(seed);
  auto graph = std::make_shared<Graph>();
  std::vector<Endpoint> values = {{Arg(*graph, 0, DT_FLOAT), 0}, {Arg(*graph, 1, DT_FLOAT), 0}};
  for (int i = 0; i < nodes; ++i) {
    const auto pick = [&] { return values[random() % values.size()]; };
    const char* ops[] = {"AddV2", "Sub", "Mul", "Maximum"};
    values.push_back({Add(*graph, ops[random() % 4], {pick(), pick()}), 0});
    if (random() % 3 == 0) values.push_back({Add(*graph, "Neg", {values.back()}), 0});
  }
  *results = 0;
  for (size_t i = 2; i < values.size(); i += 1 + random() % 4) Ret(*graph, values[i], (*results)++);
  return graph;
}

TEST(Executors, AgreeOnRandomGraphs) {
  Runner runner;
  for (int seed = 0; seed < 60; ++seed) {
    const int64_t size = seed % 3 == 0 ? 1 : 1000;
    std::vector<Tensor> args;
    for (int a = 0; a < 2; ++a) {
      Tensor t(DT_FLOAT, Shape({size}));
      for (int64_t i = 0; i < size; ++i) t.mutable_data<float>()[i] = std::sin(0.1f * static_cast<float>(i + a));
      args.push_back(t);
    }
    const std::vector<Tensor> originals = {args[0].Clone(), args[1].Clone()};
    int results;
    const std::shared_ptr<Graph> graph = RandomGraph(seed, 30, &results);
    const auto straight = runner.Run(graph, args, results, false);
    const auto flowing = runner.Run(graph, args, results, true);
    for (int i = 0; i < results; ++i) EXPECT_EQ(AttrValue(straight[i]), AttrValue(flowing[i])) << seed << " " << i;
    for (int a = 0; a < 2; ++a)
      EXPECT_EQ(AttrValue(args[a]), AttrValue(originals[a]));  // nobody wrote into what it was given
  }
}

TEST(Executors, NameTheNodeThatFails) {
  Runner runner;
  for (const bool dataflow : {false, true}) {
    auto graph = std::make_shared<Graph>();
    Node* shape = Arg(*graph, 0, DT_INT32);
    Node* value = Arg(*graph, 1, DT_FLOAT);
    Ret(*graph, {Add(*graph, "Reshape", {{value, 0}, {shape, 0}}), 0}, 0);
    try {
      runner.Run(graph, {Tensor::Vector(std::vector<int32_t>{3}), Tensor::Vector(std::vector<float>{1, 2})}, 1,
                 dataflow);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_EQ(e.status().node(), "Reshape");
      EXPECT_NE(std::string(e.what()).find("{{node Reshape}}"), std::string::npos);
    }
  }
}

TEST(Compile, RefusesCyclesAndMixedFrames) {
  Initialize();
  Device device("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", CpuAllocator());
  const auto make = [&](const Node&, const NodeView& view) -> std::shared_ptr<Kernel> {
    return KernelRegistry::Global().Make("CPU", view);
  };
  auto cyclic = std::make_shared<Graph>();
  Node* x = Arg(*cyclic, 0, DT_FLOAT);
  Node* a = Add(*cyclic, "Neg", {{x, 0}});
  Node* b = Add(*cyclic, "Neg", {{a, 0}});
  cyclic->UpdateInput(a, 0, {b, 0});
  EXPECT_THROW(CompileProgram(cyclic, &device, make, 1), Error);
  auto mixed = std::make_shared<Graph>();
  Node* y = Arg(*mixed, 0, DT_FLOAT);
  Node* inside = Add(*mixed, "Enter", {{y, 0}}, {{"frame_name", "f"}});
  Node* other = Add(*mixed, "Enter", {{y, 0}}, {{"frame_name", "g"}});
  Add(*mixed, "AddV2", {{inside, 0}, {other, 0}});
  EXPECT_THROW(CompileProgram(mixed, &device, make, 1), Error);
}

TEST(LocalRendezvous, BringsValuesInBothOrdersAndAborts) {
  Ref<LocalRendezvous> rendezvous = MakeRef<LocalRendezvous>();
  std::vector<float> got;
  const auto receive = [&](const std::string& key) {
    rendezvous->ReceiveAsync(
        key, [&](Status status, Tensor value, bool) { got.push_back(status.ok() ? value.scalar<float>() : -1); });
  };
  rendezvous->Send("a", Tensor(1.0f), false);
  receive("a");
  receive("b");
  rendezvous->Send("b", Tensor(2.0f), false);
  receive("c");
  EXPECT_EQ(got, (std::vector<float>{1, 2}));
  rendezvous->Abort(Status(Code::kAborted, "over"));
  receive("d");
  EXPECT_EQ(got, (std::vector<float>{1, 2, -1, -1}));
  EXPECT_THROW(rendezvous->Send("e", Tensor(3.0f), false), Error);
}

}  // namespace
}  // namespace penstock
