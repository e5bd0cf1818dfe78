#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using CommonSubexpressions = PassTest;

TEST_F(CommonSubexpressions, EqualChainsBecomeOne) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  std::vector<Node*> fetches;
  for (int i = 0; i < 3; ++i) {
    Node* scaled = Add("Mul", {{x, 0}, {Constant(Tensor(2.0f)), 0}});
    fetches.push_back(Fetch({Add("Exp", {{scaled, 0}}), 0}));
  }
  EXPECT_EQ(MergeCommonSubexpressions(graph), 6);
  EXPECT_EQ(fetches[0]->input(0), fetches[2]->input(0));
  EXPECT_EQ(Count("Exp"), 1);
}

TEST_F(CommonSubexpressions, OrderMattersOnlyWhereItDoes) {
  Node *x = Arg(DT_FLOAT, PartialShape({2})), *y = Arg(DT_FLOAT, PartialShape({2}));
  for (const char* op : {"Mul", "Sub"}) {
    Fetch({Add(op, {{x, 0}, {y, 0}}), 0});
    Fetch({Add(op, {{y, 0}, {x, 0}}), 0});
  }
  EXPECT_EQ(MergeCommonSubexpressions(graph), 1);
  EXPECT_EQ(Count("Sub"), 2);
}

TEST_F(CommonSubexpressions, WhatDiffersStaysApart) {
  Node* x = Arg(DT_FLOAT, PartialShape({2, 2}));
  Node* first = Add("NoOp");
  Node* shape = Constant(Tensor::Vector(std::vector<int32_t>{2}));
  Fetch({Add("MatMul", {{x, 0}, {x, 0}}, {{"transpose_a", true}}), 0});
  Fetch({Add("MatMul", {{x, 0}, {x, 0}}), 0});
  Fetch({Add("MatMul", {{x, 0}, {x, 0}}, {}, {first}), 0});
  Fetch({Add("MatMul", {{x, 0}, {x, 0}}, {}, {}, "/cpu:1"), 0});
  Fetch({Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}}), 0});
  Fetch({Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}}), 0});
  Fetch({Constant(Tensor(0.0f)), 0});
  Fetch({Constant(Tensor(-0.0f)), 0});
  EXPECT_EQ(MergeCommonSubexpressions(graph), 0);
}

TEST_F(CommonSubexpressions, ReadsOfAVariableStayApart) {
  Node* v = Add("VariableV2", {}, {{"shape", PartialShape({2})}, {"dtype", DT_FLOAT}});
  Node* read = Add("Identity", {{v, 0}});
  Node* assign = Add("Assign", {{v, 0}, {Arg(DT_FLOAT, PartialShape({2})), 0}}, {}, {read});
  Fetch({read, 0});
  Fetch({Add("Identity", {{v, 0}}, {}, {assign}), 0});
  Fetch({Add("Neg", {{v, 0}}), 0});
  Fetch({Add("Neg", {{v, 0}}), 0});
  EXPECT_EQ(MergeCommonSubexpressions(graph), 0);
}

}  // namespace
}  // namespace penstock
