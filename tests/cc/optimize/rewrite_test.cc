#include "penstock/optimize/rewrite.h"

#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using Rewrite = PassTest;

TEST_F(Rewrite, WhatSeveralReadIsRemovedOnce) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* exp = Add("Exp", {{x, 0}});
  // Read by three that go, in an order in which it is met again after it went.
  Node* neg = Add("Neg", {{exp, 0}});
  Node* square = Add("Square", {{exp, 0}});
  Node* sum = Add("AddN", {{exp, 0}, {neg, 0}, {square, 0}, {exp, 0}}, {{"N", int64_t{4}}, {"T", DT_FLOAT}});
  RemoveUnused(graph, sum);
  EXPECT_EQ(graph.Nodes(), std::vector<Node*>{x});
}

TEST_F(Rewrite, NodesThatWentGetNoTurn) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Add("Neg", {{x, 0}});
  int turns = 0;
  ForEachNode(graph, [&](Node* node) {
    ++turns;
    for (const Consumer& c : std::vector<Consumer>(node->consumers())) RemoveUnused(graph, c.node);
    Add("Const", {}, {{"value", Tensor(1.0f)}, {"dtype", DT_FLOAT}});
  });
  EXPECT_EQ(turns, 1);
}

TEST_F(Rewrite, TransposesThatShareAPermutationJoin) {
  Node* permutation = Constant(Tensor::Vector(std::vector<int32_t>{1, 2, 0}));
  Node* x = Arg(DT_FLOAT, PartialShape({2, 3, 4}));
  Node* once = Add("Transpose", {{x, 0}, {permutation, 0}});
  Node* twice = Add("Transpose", {{once, 0}, {permutation, 0}});
  Fetch({twice, 0});
  SimplifyArithmetic(graph);
  EXPECT_EQ(Count("Transpose"), 1);
  EXPECT_EQ(Count("Const"), 1);
  EXPECT_EQ(twice->input(0).node, x);
}

}  // namespace
}  // namespace penstock
