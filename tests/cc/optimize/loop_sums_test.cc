#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class LoopSums : public PassTest {
 protected:
  // A loop that adds a^T b to a sum; `body` is what it does with the sum so far.
  void MakeLoop(bool transpose_a = true) {
    const std::string frame = "loop";
    Node* zero = Arg(DT_FLOAT, PartialShape({5, 4}));
    enter = Add("Enter", {{zero, 0}}, {{"frame_name", frame}});
    const auto invariant = [&](PartialShape shape) {
      return Endpoint{Add("Enter", {{Arg(DT_FLOAT, shape), 0}}, {{"frame_name", frame}, {"is_constant", true}}), 0};
    };
    Node* stop = Add("Enter", {{Arg(DT_BOOL, PartialShape(std::vector<int64_t>{})), 0}},
                     {{"frame_name", frame}, {"is_constant", true}});
    merge = Add("Merge", {{enter, 0}, {enter, 0}});
    branch = Add("Switch", {{merge, 0}, {Add("LoopCond", {{stop, 0}}), 0}});
    sum = Add("_FusedMatMul",
              {invariant(PartialShape(transpose_a ? std::vector<int64_t>{3, 5} : std::vector<int64_t>{5, 3})),
               invariant(PartialShape({3, 4})),
               {branch, 1}},
              {{"transpose_a", transpose_a}, {"num_args", int64_t{1}}, {"fused_ops", std::vector<std::string>{"Add"}}});
    graph.UpdateInput(merge, 1, {Add("NextIteration", {{sum, 0}}), 0});
    fetch = Fetch({Add("Exit", {{branch, 0}}), 0});
  }

  Node *enter, *merge, *branch, *sum, *fetch;
};

TEST_F(LoopSums, TheLoopHandsOnAHandle) {
  MakeLoop();
  EXPECT_EQ(DelayProducts(graph), 1);
  const Node* value = fetch->input(0).node;
  ASSERT_EQ(value->op_name(), "_ProductSumValue");
  EXPECT_EQ(value->input(0).node->op_name(), "Exit");
  EXPECT_EQ(value->input(0).node->output_type(0), DT_VARIANT);
  EXPECT_EQ(Count("_FusedMatMul"), 0);
  for (const char* op : {"_ProductSum", "_AddProduct", "Merge", "Switch", "NextIteration", "Exit"})
    EXPECT_EQ(Count(op), 1) << op;
}

TEST_F(LoopSums, NotIfSomebodyElseReadsTheSum) {
  MakeLoop();
  Add("NextIteration", {{sum, 0}});
  EXPECT_EQ(DelayProducts(graph), 0);
  MakeLoop();
  graph.AddControlEdge(branch, Add("NoOp", {}));
  EXPECT_EQ(DelayProducts(graph), 0);
  MakeLoop();
  Add("Identity", {{merge, 0}});
  EXPECT_EQ(DelayProducts(graph), 0);
  MakeLoop(false);  // not the product of columns
  EXPECT_EQ(DelayProducts(graph), 0);
}

}  // namespace
}  // namespace penstock
