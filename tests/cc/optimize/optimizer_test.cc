#include "penstock/optimize/optimizer.h"

#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Driver : public PassTest {
 protected:
  // exp(2 * 3) + exp(2 * 3), as somebody might write it.
  void Build() {
    Endpoint halves[2];
    for (Endpoint& half : halves) {
      Node* product = Add("Mul", {{Constant(Tensor(2.0f)), 0}, {Constant(Tensor(3.0f)), 0}});
      half = {Add("Exp", {{product, 0}}), 0};
    }
    Fetch({Add("AddV2", {halves[0], halves[1]}), 0});
  }
  SessionOptions options;
};

TEST_F(Driver, RunsAllPassesByDefault) {
  Build();
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(graph.num_nodes(), 2);
}

TEST_F(Driver, LevelZeroChangesNothing) {
  Build();
  options.graph.opt_level = -1;
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(graph.num_nodes(), 10);
}

TEST_F(Driver, CanBeDisabledAsAWholeOrBySize) {
  Build();
  options.graph.rewrite.disable_meta_optimizer = true;
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(graph.num_nodes(), 10);
  options.graph.rewrite.disable_meta_optimizer = false;
  options.graph.rewrite.min_graph_nodes = 11;
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(graph.num_nodes(), 10);
}

TEST_F(Driver, EachPassHasItsSwitch) {
  Build();
  options.graph.rewrite.constant_folding = Toggle::kOff;
  options.graph.rewrite.remapping = Toggle::kOff;
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(Count("Exp"), 1);  // the common subexpression went, and nothing was folded
  EXPECT_EQ(Count("AddV2"), 1);
}

TEST_F(Driver, NamesReplaceTheSwitches) {
  Build();
  options.graph.rewrite.optimizers = {"cse"};
  Optimize(graph, options, &EvaluateNode);
  EXPECT_EQ(Count("Exp"), 1);
}

TEST_F(Driver, VerificationFindsCycles) {
  Node* a = Add("NoOp");
  Node* b = Add("NoOp", {}, {}, {a});
  graph.AddControlEdge(b, a);
  EXPECT_THROW(VerifyGraph(graph), Error);
  graph.RemoveControlEdge(b, a);
  VerifyGraph(graph);
}

}  // namespace
}  // namespace penstock
