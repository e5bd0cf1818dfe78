// What may outlive a step is no borrowed memory.
#include <cstdlib>

#include "penstock/runtime/kept_inputs.h"
#include "runner.h"

namespace penstock {
namespace {

float g_array[100];

Tensor Borrowed() {
  return Tensor(DT_FLOAT, Shape({100}), BorrowBuffer(g_array, sizeof(g_array), [] {}), 0);
}

TEST(KeptInputs, AreFoundAtTheEndOfAStep) {
  setenv("PENSTOCK_CHECK_FEEDS", "1", 1);
  const std::vector<Tensor> feeds = {Borrowed(), Tensor(1.0f)};
  EXPECT_NO_THROW(CheckNoneKept(feeds, {}));
  const Tensor view = feeds[0].Slice(0, 50);
  EXPECT_NO_THROW(CheckNoneKept(feeds, std::vector<Tensor>{view}));
  EXPECT_THROW(CheckNoneKept(feeds, {}), Error);
}

TEST(KeptInputs, AreCopiesWhereAVariantHoldsThem) {
  Runner runner;
  for (const bool dataflow : {false, true}) {
    auto graph = std::make_shared<Graph>();
    Node* value = Arg(*graph, 0, DT_FLOAT);
    Node* same = Add(*graph, "Identity", {{value, 0}});
    Node* optional =
        Add(*graph, "OptionalFromValue", {{same, 0}}, {{"Toutput_types", std::vector<DataType>{DT_FLOAT}}});
    Ret(*graph, {optional, 0}, 0);
    const Tensor fed = Borrowed();
    const std::vector<Tensor> results = runner.Run(graph, {fed}, 1, dataflow);
    EXPECT_TRUE(fed.buffer()->unique());
  }
}

TEST(KeptInputs, AreTheRuleOfOpsThatKeep) {
  Runner runner;
  Graph graph;
  Node* x = Arg(graph, 0, DT_FLOAT);
  const auto keeps = [&](const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return MayKeepInputs(*Add(graph, op, std::move(inputs), std::move(attrs)));
  };
  const std::vector<DataType> types = {DT_FLOAT};
  const std::vector<PartialShape> shapes = {PartialShape()};
  EXPECT_FALSE(keeps("Neg", {{x, 0}}));
  EXPECT_TRUE(keeps("TensorSliceDataset", {{x, 0}}, {{"Toutput_types", types}, {"output_shapes", shapes}}));
  EXPECT_TRUE(keeps("GetSessionHandleV2", {{x, 0}}));
  EXPECT_TRUE(keeps("PyFuncStateless", {{x, 0}}, {{"token", "f"}, {"Tin", types}, {"Tout", types}}));
  EXPECT_TRUE(keeps("Stage", {{x, 0}}, {{"dtypes", types}}));
  Node* queue = Add(graph, "FIFOQueue", {}, {{"component_types", types}});
  EXPECT_TRUE(keeps("QueueEnqueue", {{queue, 0}, {x, 0}}, {{"Tcomponents", types}}));
}

}  // namespace
}  // namespace penstock
