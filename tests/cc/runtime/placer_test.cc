#include "penstock/runtime/placer.h"

#include <gtest/gtest.h>

#include "penstock/device/cpu_device.h"
#include "penstock/engine/engine.h"

namespace penstock {
namespace {

class Placement : public testing::Test {
 protected:
  Placement() {
    Initialize();
    for (auto& device : MakeCpuDeviceFactory()->Create("/job:localhost/replica:0/task:0", 3))
      owned.push_back(std::move(device));
    for (auto& device : owned) devices.push_back(device.get());
    options.kernels = &KernelRegistry::Global();
  }
  Node* Add(std::string op, std::string name, std::vector<Endpoint> inputs = {}, AttrMap attrs = {},
            std::string device = "") {
    return graph.AddNode({.op = std::move(op),
                          .name = std::move(name),
                          .inputs = std::move(inputs),
                          .control_inputs = {},
                          .attrs = std::move(attrs),
                          .device = std::move(device)});
  }
  Node* Constant(std::string name, Shape shape, std::string device = "") {
    return Add("Const", std::move(name), {}, {{"value", Tensor(DT_FLOAT, shape)}, {"dtype", DT_FLOAT}},
               std::move(device));
  }
  std::string At(const Node* node) const { return node->assigned_device().substr(node->assigned_device().rfind('/')); }
  std::string Message() {
    try {
      Place(graph, devices, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.status().code(), Code::kInvalidArgument);
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  Graph graph;
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> devices;
  PlacementOptions options;
};

TEST_F(Placement, FreeNodesGoToTheFirstDeviceAndWishesAreKept) {
  Node* a = Constant("a", Shape({2}));
  Node* b = Constant("b", Shape({2}), "/cpu:1");
  Node* c = Add("AddV2", "c", {{a, 0}, {b, 0}}, {}, "/job:localhost/device:CPU:2");
  Place(graph, devices, options);
  EXPECT_EQ(At(a), "/device:CPU:0");
  EXPECT_EQ(At(b), "/device:CPU:1");
  EXPECT_EQ(At(c), "/device:CPU:2");
}

TEST_F(Placement, ColocatedNodesAreTogetherEvenIfTheOneTheyNameIsNotThere) {
  const AttrMap away = {{"_class", std::vector<std::string>{"loc:@elsewhere"}}};
  Node* a = Constant("a", Shape({2}), "/cpu:2");
  Node* b = Add("Identity", "b", {{a, 0}}, away);
  Node* c = Add("Identity", "c", {{a, 0}}, away, "/cpu:1");
  Node* d = Add("Identity", "d", {{a, 0}}, {{"_class", std::vector<std::string>{"loc:@a"}}});
  Place(graph, devices, options);
  EXPECT_EQ(At(b), "/device:CPU:1");
  EXPECT_EQ(At(c), "/device:CPU:1");
  EXPECT_EQ(At(d), "/device:CPU:2");
}

TEST_F(Placement, ReferencesStayWithTheirVariables) {
  Node* v = Add("VariableV2", "v", {}, {{"shape", PartialShape({2})}, {"dtype", DT_FLOAT}}, "/cpu:1");
  Node* a = Add("Assign", "a", {{v, 0}, {Constant("c", Shape({2})), 0}});
  Node* elsewhere = Add("Assign", "b", {{v, 0}, {Constant("d", Shape({2})), 0}}, {}, "/cpu:2");
  Place(graph, devices, options);
  EXPECT_EQ(At(a), "/device:CPU:1");
  EXPECT_EQ(At(elsewhere), "/device:CPU:1");  // the variable's device wins, as in TensorFlow
}

TEST_F(Placement, WhatIsNotThereIsAnErrorUnlessPlacementIsSoft) {
  Node* a = Constant("a", Shape({2}), "/device:GPU:0");
  const std::string message = Message();
  EXPECT_NE(message.find("Cannot assign a device for operation a"), std::string::npos) << message;
  EXPECT_NE(message.find("/device:GPU:0"), std::string::npos) << message;
  EXPECT_NE(message.find("device:CPU:2"), std::string::npos) << message;
  options.allow_soft_placement = true;
  Place(graph, devices, options);
  EXPECT_EQ(At(a), "/device:CPU:0");
}

TEST_F(Placement, ContradictingColocationIsAnError) {
  Node* a = Constant("a", Shape({2}), "/cpu:1");
  Add("Identity", "b", {{a, 0}}, {{"_class", std::vector<std::string>{"loc:@a"}}}, "/cpu:2");
  EXPECT_NE(Message().find("Cannot colocate nodes"), std::string::npos);
}

TEST_F(Placement, MalformedDevicesAreNamed) {
  Constant("a", Shape({2}), "/nonsense:1:2:3");
  const std::string message = Message();
  EXPECT_NE(message.find("Malformed device specification '/nonsense:1:2:3'"), std::string::npos) << message;
}

TEST_F(Placement, SpreadsIndependentHeavyBranchesByCost) {
  Node* x = Add("_Arg", "x", {}, {{"T", DT_FLOAT}, {"index", 0}});
  graph.SetShape({x, 0}, PartialShape({512, 512}));
  std::vector<Node*> branch;
  for (int i = 0; i < 2; ++i) {
    Node* one = Add("MatMul", StrCat("one", i), {{x, 0}, {x, 0}});
    branch.push_back(Add("MatMul", StrCat("two", i), {{one, 0}, {x, 0}}));
  }
  Node* sum = Add("AddV2", "sum", {{branch[0], 0}, {branch[1], 0}});
  Place(graph, devices, options);
  EXPECT_EQ(At(branch[0]), At(branch[1]));
  options.spread = true;
  Place(graph, devices, options);
  EXPECT_NE(At(branch[0]), At(branch[1]));
  EXPECT_EQ(At(branch[0]), At(graph.FindNode("one0")));
  EXPECT_EQ(At(branch[1]), At(graph.FindNode("one1")));
  EXPECT_EQ(At(x), "/device:CPU:0");
  (void)sum;
  // Measured costs win over estimates: if all is cheap, nothing moves.
  MeasuredCosts costs;
  for (const Node* node : graph.Nodes()) costs[node->name()] = 100;
  options.costs = &costs;
  Place(graph, devices, options);
  EXPECT_EQ(At(branch[0]), "/device:CPU:0");
  EXPECT_EQ(At(branch[1]), "/device:CPU:0");
}

TEST_F(Placement, MeasuredCostsComeFromTraces) {
  RunMetadata metadata;
  NodeStats a, b;
  a.name = b.name = "n";
  a.op_start_ns = 100, a.op_end_ns = 150;
  b.op_start_ns = 200, b.op_end_ns = 260;
  metadata.devices.push_back({"d", {a, b}, {}});
  EXPECT_EQ(CostsFrom(metadata).at("n"), 110);
}

}  // namespace
}  // namespace penstock
