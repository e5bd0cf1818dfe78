
#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using Dependencies = PassTest;

TEST_F(Dependencies, NoOpsInBetweenGo) {
  Node* shape = Constant(Tensor::Vector(std::vector<int32_t>{2}));
  Node* before = Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}});
  Node* group = Add("NoOp", {}, {}, {before});
  Node* after = Add("Identity", {{Arg(DT_FLOAT, PartialShape({2})), 0}}, {}, {group});
  Fetch({after, 0});
  PruneDependencies(graph);
  EXPECT_EQ(Count("NoOp"), 0);
  EXPECT_EQ(after->control_inputs(), std::vector<Node*>{before});
}

TEST_F(Dependencies, AWantedNoOpStays) {
  Node* target = Add("NoOp", {}, {}, {Add("NoOp")});
  PruneDependencies(graph);
  EXPECT_EQ(graph.FindNode(target->name()), target);
}

TEST_F(Dependencies, HubsStay) {
  std::vector<Node*> before;
  for (int i = 0; i < 4; ++i) {
    Node* shape = Constant(Tensor::Vector(std::vector<int32_t>{2}));
    before.push_back(Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}}));
  }
  Node* hub = Add("NoOp", {}, {}, before);
  for (int i = 0; i < 4; ++i) Add("NoOp", {}, {}, {hub});
  PruneDependencies(graph);
  EXPECT_EQ(hub->control_inputs().size(), 4u);
}

TEST_F(Dependencies, EdgesThatOrderNothingGo) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* exp = Add("Exp", {{x, 0}});
  Node* neg = Add("Neg", {{exp, 0}}, {}, {x, exp, Constant(Tensor(1.0f))});
  Fetch({neg, 0});
  PruneDependencies(graph);
  EXPECT_TRUE(neg->control_inputs().empty());
}

TEST_F(Dependencies, ValuesDoNotWaitForEachOther) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node *first = Add("Exp", {{x, 0}}), *second = Add("Neg", {{x, 0}});
  Node* group = Add("NoOp", {}, {}, {first, second});
  Node *one = Add("Identity", {{first, 0}}, {}, {group}), *two = Add("Identity", {{second, 0}}, {}, {group});
  Fetch({one, 0});
  Fetch({two, 0});
  RelaxOrder(graph);
  EXPECT_EQ(Count("NoOp"), 0);
  EXPECT_TRUE(one->control_inputs().empty());
}

TEST_F(Dependencies, WhatNobodyReadsIsNotWaitedFor) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* sum = Add("Sum", {{Add("Exp", {{x, 0}}), 0}, {Constant(Tensor(int32_t{0})), 0}});
  Node* after = Add("Identity", {{x, 0}}, {}, {Add("NoOp", {}, {}, {sum})});
  Fetch({after, 0});
  RelaxOrder(graph);
  EXPECT_EQ(Count("Sum") + Count("Exp") + Count("NoOp"), 0);
}

TEST_F(Dependencies, WhatHasEffectsOrRunsForItsErrorsIsWaitedFor) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* check = Add("CheckNumerics", {{x, 0}}, {{"message", "bad"}});  // nobody reads it
  Node* shape = Constant(Tensor::Vector(std::vector<int32_t>{2}));
  Node* random = Add("RandomUniform", {{shape, 0}}, {{"dtype", DT_FLOAT}});
  Node* after = Add("Neg", {{x, 0}}, {}, {check, random});
  Fetch({after, 0});
  Fetch({random, 0});
  RelaxOrder(graph);
  EXPECT_EQ(after->control_inputs(), (std::vector<Node*>{check, random}));
}

TEST_F(Dependencies, WhatMayBeDeadIsWaitedFor) {
  Node* pred = Arg(DT_BOOL, PartialShape(std::vector<int64_t>{}));
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* split = Add("Switch", {{x, 0}, {pred, 0}});
  Node* inside = Add("Exp", {{split, 1}});
  Node* alike = Add("Neg", {{split, 1}}, {}, {inside});
  Node* after = Add("Neg", {{x, 0}}, {}, {inside});
  for (Node* node : {inside, alike, after}) Fetch({node, 0});
  RelaxOrder(graph);
  EXPECT_TRUE(alike->control_inputs().empty());
  EXPECT_EQ(after->control_inputs(), std::vector<Node*>{inside});
}

TEST_F(Dependencies, APivotOfABranchStays) {
  Node* pred = Arg(DT_BOOL, PartialShape(std::vector<int64_t>{}));
  Node* split = Add("Switch", {{pred, 0}, {pred, 0}});
  Node* pivot = Add("Identity", {{split, 1}});
  Node* inside = Constant(Tensor(1.0f), {pivot});
  Fetch({inside, 0});
  PruneDependencies(graph);
  EXPECT_EQ(inside->control_inputs(), std::vector<Node*>{pivot});
}

}  // namespace
}  // namespace penstock
