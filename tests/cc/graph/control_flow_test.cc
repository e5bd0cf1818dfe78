#include "penstock/graph/control_flow.h"

#include "tests/cc/runtime/runner.h"

namespace penstock {
namespace {

class Contexts : public testing::Test {
 protected:
  static void SetUpTestSuite() { Initialize(); }

  // while (x < 100) x = body(x)
  template <class Body>
  Node* Loop(Endpoint initial, const std::string& frame, Body body) {
    Node* enter = Add(graph, "Enter", {initial}, {{"frame_name", frame}});
    Node* merge = Add(graph, "Merge", {{enter, 0}, {enter, 0}});
    Node* limit = graph.AddNode({.op = "Const",
                                 .name = graph.UniqueName("limit"),
                                 .inputs = {},
                                 .control_inputs = {merge},
                                 .attrs = {{"value", Tensor(100.0f)}, {"dtype", DT_FLOAT}},
                                 .device = ""});
    Node* cond = Add(graph, "LoopCond", {{Add(graph, "Less", {{merge, 0}, {limit, 0}}), 0}});
    Node* gate = Add(graph, "Switch", {{merge, 0}, {cond, 0}});
    Node* next = Add(graph, "NextIteration", {body(Endpoint{gate, 1})});
    graph.UpdateInput(merge, 1, {next, 0});
    return Add(graph, "Exit", {{gate, 0}});
  }

  Graph graph;
};

TEST_F(Contexts, APlainGraphHasNone) {
  Node* x = Arg(graph, 0, DT_FLOAT);
  Node* y = Add(graph, "Neg", {{x, 0}});
  const ControlFlow flow(graph);
  EXPECT_TRUE(flow.empty());
  EXPECT_EQ(flow.Of(Endpoint{y, 0}), nullptr);
}

TEST_F(Contexts, ASwitchOpensTwoBranchesThatAMergeCloses) {
  Node *x = Arg(graph, 0, DT_FLOAT), *p = Arg(graph, 1, DT_BOOL);
  Node* gate = Add(graph, "Switch", {{x, 0}, {p, 0}});
  Node *no = Add(graph, "Neg", {{gate, 0}}), *yes = Add(graph, "Exp", {{gate, 1}});
  Node* merge = Add(graph, "Merge", {{no, 0}, {yes, 0}});
  Node* after = Add(graph, "Neg", {{merge, 0}});
  const ControlFlow flow(graph);
  const ControlContext *of_no = flow.Of(Endpoint{no, 0}), *of_yes = flow.Of(Endpoint{yes, 0});
  ASSERT_NE(of_no, nullptr);
  ASSERT_NE(of_yes, nullptr);
  EXPECT_EQ(of_no->branch, 0);
  EXPECT_EQ(of_yes->branch, 1);
  EXPECT_EQ(of_yes->pred, (Endpoint{p, 0}));
  EXPECT_EQ(flow.Of(Endpoint{gate, 0}), of_no);
  EXPECT_EQ(flow.Of(Endpoint{merge, 0}), nullptr);
  EXPECT_EQ(flow.Of(Endpoint{after, 0}), nullptr);
}

TEST_F(Contexts, ALoopHasItsVariables) {
  Node* x = Arg(graph, 0, DT_FLOAT);
  Endpoint doubled;
  Node* exit = Loop({x, 0}, "f", [&](Endpoint v) { return doubled = Endpoint{Add(graph, "AddV2", {v, v}), 0}; });
  const ControlFlow flow(graph);
  ControlContext* loop = flow.Of(doubled);
  ASSERT_NE(loop, nullptr);
  EXPECT_TRUE(loop->is_loop);
  EXPECT_EQ(loop->frame, "f");
  ASSERT_EQ(loop->variables.size(), 1u);
  const ControlContext::Variable& variable = loop->variables[0];
  EXPECT_EQ(variable.exit, exit);
  EXPECT_EQ(variable.enter->input(0).node, x);
  EXPECT_EQ(variable.next->input(0), doubled);
  EXPECT_TRUE(flow.IsLoopMerge(variable.merge));
  EXPECT_TRUE(flow.IsLoopSwitch(variable.switch_node));
  EXPECT_EQ(flow.Of(exit), loop);                  // the node is part of the loop
  EXPECT_EQ(flow.Of(Endpoint{exit, 0}), nullptr);  // its value is not
}

TEST_F(Contexts, LoopsLieInLoopsAndBranches) {
  Node *x = Arg(graph, 0, DT_FLOAT), *p = Arg(graph, 1, DT_BOOL);
  Node* gate = Add(graph, "Switch", {{x, 0}, {p, 0}});
  Endpoint innermost;
  Loop({gate, 1}, "outer", [&](Endpoint v) {
    Node* exit = Loop(v, "inner", [&](Endpoint w) { return innermost = Endpoint{Add(graph, "AddV2", {w, w}), 0}; });
    return Endpoint{exit, 0};
  });
  const ControlFlow flow(graph);
  const ControlContext* inner = flow.Of(innermost);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->frame, "inner");
  ASSERT_NE(inner->parent, nullptr);
  EXPECT_EQ(inner->parent->frame, "outer");
  ASSERT_NE(inner->parent->parent, nullptr);
  EXPECT_FALSE(inner->parent->parent->is_loop);
  EXPECT_EQ(inner->parent->parent->branch, 1);
  EXPECT_EQ(inner->depth(), 3);
  EXPECT_TRUE(inner->parent->Contains(inner));
  EXPECT_FALSE(inner->Contains(inner->parent));
}

TEST_F(Contexts, InputsComeFirst) {
  Node* x = Arg(graph, 0, DT_FLOAT);
  Loop({x, 0}, "f", [&](Endpoint v) { return Endpoint{Add(graph, "AddV2", {v, v}), 0}; });
  const std::vector<Node*> order = InputsFirst(graph);
  EXPECT_EQ(order.size(), graph.Nodes().size());
  std::map<const Node*, size_t> place;
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (const Node* node : order) {
    for (const Endpoint& input : node->inputs()) {
      if (input.node->op_name() == "NextIteration") continue;
      EXPECT_LT(place[input.node], place[node]);
    }
  }
}

}  // namespace
}  // namespace penstock
