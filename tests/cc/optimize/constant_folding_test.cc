#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using ConstantFolding = PassTest;

const Tensor& ValueOf(const Node* fetch) { return *fetch->input(0).node->attrs().Find("value")->If<Tensor>(); }

TEST_F(ConstantFolding, FoldsWholeExpressions) {
  Node* sum = Add("AddV2", {{Constant(Tensor(2.0f)), 0}, {Constant(Tensor(3.0f)), 0}});
  Node* product = Add("Mul", {{sum, 0}, {sum, 0}});
  Node* fetch = Fetch({product, 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 2);
  EXPECT_EQ(graph.num_nodes(), 2);
  EXPECT_EQ(ValueOf(fetch).scalar<float>(), 25.0f);
}

TEST_F(ConstantFolding, LeavesFeedsRandomnessAndErrorsAlone) {
  Node* fed = Add("AddV2", {{Arg(DT_FLOAT, PartialShape({2})), 0}, {Constant(Tensor(1.0f)), 0}});
  Node* shape = Constant(Tensor::Vector(std::vector<int32_t>{2}));
  Node* random = Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}});
  Node* by_zero = Add("FloorDiv", {{Constant(Tensor(int32_t{1})), 0}, {Constant(Tensor(int32_t{0})), 0}});
  for (Node* node : {fed, random, by_zero}) Fetch({node, 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 0);
}

TEST_F(ConstantFolding, DoesNotMakeHugeConstants) {
  Node* dims = Constant(Tensor::Vector(std::vector<int32_t>{4096, 4096}));
  Fetch({Add("Fill", {{dims, 0}, {Constant(Tensor(1.0f)), 0}}), 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 0);
}

TEST_F(ConstantFolding, FoldsWhatIsNoLargerThanItsInputs) {
  Tensor large(DT_FLOAT, Shape({3 << 20}));  // 12 MiB
  std::ranges::fill(large.mutable_flat<float>(), 2.0f);
  Node* sum = Add("AddV2", {{Constant(large), 0}, {Constant(large), 0}});
  Node* fetch = Fetch({Add("Mul", {{sum, 0}, {sum, 0}}), 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 2);
  EXPECT_EQ(ValueOf(fetch).data<float>()[7], 16.0f);
}

TEST_F(ConstantFolding, WaitsForWhatTheNodesWaitedFor) {
  Node* first = Add("NoOp");
  Node* second = Add("NoOp");
  Node* a = Constant(Tensor(1.0f), {first});
  Node* neg = Add("Neg", {{a, 0}}, {}, {second});
  Node* fetch = Fetch({neg, 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 1);
  EXPECT_EQ(ValueOf(fetch).scalar<float>(), -1.0f);
  EXPECT_EQ(fetch->input(0).node->control_inputs(), (std::vector<Node*>{first, second}));
}

TEST_F(ConstantFolding, StaticShapesAreConstants) {
  Node* x = Arg(DT_FLOAT, PartialShape({3, 4}));
  Node* unknown = Arg(DT_FLOAT, PartialShape({-1, 4}));
  Node* known_shape = Fetch({Add("Shape", {{x, 0}}), 0});
  Fetch({Add("Shape", {{unknown, 0}}), 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 1);
  EXPECT_EQ(ValueOf(known_shape).IntAt(0), 3);
  EXPECT_EQ(ValueOf(known_shape).IntAt(1), 4);
  EXPECT_EQ(Count("Shape"), 1);
}

TEST_F(ConstantFolding, LeavesSwitchesAlone) {
  Node* pred = Constant(Tensor(true));
  Node* split = Add("Switch", {{Constant(Tensor(1.0f)), 0}, {pred, 0}});
  Node* shape = Add("Shape", {{split, 1}});
  Fetch({shape, 0});
  EXPECT_EQ(FoldConstants(graph, &EvaluateNode), 0);
}

}  // namespace
}  // namespace penstock
