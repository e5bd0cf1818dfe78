#include "penstock/graph/reread.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "penstock/engine/engine.h"

namespace penstock {
namespace {

// A reference variable with the read that its programs share.
class Reread : public testing::Test {
 protected:
  Reread() {
    Initialize();
    variable = Add("VariableV2", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({})}});
    read = Add("Identity", {{variable, 0}});
    one = Add("Const", {}, {{"value", Tensor(1.0f)}, {"dtype", DT_FLOAT}});
  }
  Node* Add(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}, std::vector<Node*> controls = {}) {
    return graph.AddNode({.op = op,
                          .name = graph.UniqueName(op),
                          .inputs = std::move(inputs),
                          .control_inputs = std::move(controls),
                          .attrs = std::move(attrs)});
  }
  Node* Update(std::vector<Node*> controls = {}) {
    return Add("AssignAdd", {{variable, 0}, {one, 0}}, {}, std::move(controls));
  }
  static bool WaitsFor(const Node* node, const Node* before) {
    return std::ranges::count(node->control_inputs(), before) > 0;
  }

  Graph graph;
  Node *variable, *read, *one;
};

TEST_F(Reread, WhatIsBehindAnUpdateReadsBehindIt) {
  Node* update = Update();
  Node* before = Add("Neg", {{read, 0}});
  Node* behind = Add("Neg", {{read, 0}}, {}, {update});
  RereadVariables(graph);
  EXPECT_EQ(before->input(0).node, read);
  Node* fresh = behind->input(0).node;
  ASSERT_NE(fresh, read);
  EXPECT_EQ(fresh->op_name(), "Identity");
  EXPECT_EQ(fresh->input(0).node, variable);
  EXPECT_TRUE(WaitsFor(fresh, update));
}

TEST_F(Reread, ReadersBehindOneUpdateShareARead) {
  Node* update = Update();
  Node *a = Add("Neg", {{read, 0}}, {}, {update}), *b = Add("Square", {{read, 0}}, {}, {update});
  RereadVariables(graph);
  EXPECT_NE(a->input(0).node, read);
  EXPECT_EQ(a->input(0).node, b->input(0).node);
}

TEST_F(Reread, AnUpdateThatUsesTheReadIsNotBehindItself) {
  Node* decay = Add("Neg", {{read, 0}});
  Node* update = Add("AssignAdd", {{variable, 0}, {decay, 0}});
  RereadVariables(graph);
  EXPECT_EQ(decay->input(0).node, read);
  EXPECT_EQ(update->input(1).node, decay);
}

TEST_F(Reread, TheSecondOfTwoUpdatesIsSeenToo) {
  Node* first = Update();
  Node* second = Update({first});
  Node* behind = Add("Neg", {{read, 0}}, {}, {second});
  RereadVariables(graph);
  Node* fresh = behind->input(0).node;
  EXPECT_TRUE(WaitsFor(fresh, first));
  EXPECT_TRUE(WaitsFor(fresh, second));
}

TEST_F(Reread, OtherUpdatesComeBehindTheNewRead) {
  Node* update = Update();
  Node* behind = Add("Neg", {{read, 0}}, {}, {update});
  Node* later = Update();
  RereadVariables(graph);
  EXPECT_TRUE(WaitsFor(later, behind->input(0).node));
}

TEST_F(Reread, WhatIsReturnedIsReadBehindAllUpdates) {
  Node *first = Update(), *second = Update();
  Node* value = Add("_Retval", {{read, 0}}, {{"T", DT_FLOAT}, {"index", 0}});
  Node* reference = Add("_Retval", {{variable, 0}}, {{"T", DT_FLOAT}, {"index", 1}});
  Node* computed = Add("_Retval", {{Add("Neg", {{read, 0}}), 0}}, {{"T", DT_FLOAT}, {"index", 2}});
  RereadVariables(graph);
  for (const Node* result : {static_cast<const Node*>(value->input(0).node), static_cast<const Node*>(reference)}) {
    EXPECT_TRUE(WaitsFor(result, first));
    EXPECT_TRUE(WaitsFor(result, second));
  }
  EXPECT_EQ(computed->input(0).node->input(0).node, read);
}

TEST_F(Reread, AnUpdateThatIsReturnedAloneIsNotReadAgain) {
  Node* update = Update();
  Node* result = Add("_Retval", {{update, 0}}, {{"T", DT_FLOAT}, {"index", 0}});
  RereadVariables(graph);
  EXPECT_EQ(result->input(0).node, update);
}

TEST_F(Reread, AChainOfIdentitiesIsReadAgainAsAWhole) {
  Node* update = Update();
  Node* link = Add("Identity", {{read, 0}});
  Node* behind = Add("Neg", {{link, 0}}, {}, {update});
  RereadVariables(graph);
  Node* copy = behind->input(0).node;
  ASSERT_NE(copy, link);
  EXPECT_NE(copy->input(0).node, read);
  EXPECT_EQ(copy->input(0).node->input(0).node, variable);
}

TEST_F(Reread, AnotherShapeLeavesWhatWasReadAlone) {
  Node* update = Add("Assign", {{variable, 0}, {one, 0}}, {{"validate_shape", false}});
  Node* behind = Add("Neg", {{read, 0}}, {}, {update});
  RereadVariables(graph);
  EXPECT_EQ(behind->input(0).node, read);
}

TEST_F(Reread, TheResultOfAConditionalIsReadAgain) {
  Node* pred = Add("Const", {}, {{"value", Tensor(true)}, {"dtype", DT_BOOL}});
  Node* branch = Add("Switch", {{read, 0}, {pred, 0}});
  Node* other = Add("Neg", {{Add("Switch", {{one, 0}, {pred, 0}}), 0}});
  Node* result = Add("Merge", {{other, 0}, {branch, 1}});
  Node* update = Update({result});
  Node* behind = Add("Neg", {{result, 0}}, {}, {update});
  Node* which = Add("Neg", {{result, 1}}, {}, {update});
  RereadVariables(graph);
  const Node* fresh = behind->input(0).node;
  ASSERT_NE(fresh, result);
  EXPECT_EQ(fresh->op_name(), "Merge");
  EXPECT_EQ(fresh->input(0).node, other);
  EXPECT_TRUE(WaitsFor(fresh->input(1).node->input(0).node, update));
  EXPECT_EQ(which->input(0).node, result);
}

TEST_F(Reread, WhatIsReturnedWaitsForAnUpdateInABranchWhicheverIsTaken) {
  Node* pred = Add("Const", {}, {{"value", Tensor(true)}, {"dtype", DT_BOOL}});
  Node* branch = Add("Switch", {{one, 0}, {pred, 0}});
  Node* update = Add("AssignAdd", {{variable, 0}, {branch, 1}});
  Node* result = Add("_Retval", {{variable, 0}}, {{"T", DT_FLOAT}, {"index", 0}});
  RereadVariables(graph);
  EXPECT_FALSE(WaitsFor(result, update));
  ASSERT_EQ(result->control_inputs().size(), 1u);
  const Node* over = result->control_inputs()[0];
  EXPECT_EQ(over->op_name(), "ControlTrigger");
  EXPECT_TRUE(WaitsFor(over, update));
}

TEST_F(Reread, AnotherVariableDoesNotCount) {
  Node* other = Add("VariableV2", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({})}});
  Node* update = Add("AssignAdd", {{other, 0}, {one, 0}});
  Node* behind = Add("Neg", {{read, 0}}, {}, {update});
  const int nodes = graph.num_nodes();
  RereadVariables(graph);
  EXPECT_EQ(behind->input(0).node, read);
  EXPECT_EQ(graph.num_nodes(), nodes);
}

TEST_F(Reread, ALoopThatUpdatesAVariableTakesTheVariable) {
  const AttrMap loop{{"frame_name", "loop"}, {"is_constant", true}};
  Node* value = Add("Enter", {{read, 0}}, loop);
  Node* entered = Add("RefEnter", {{variable, 0}}, loop);
  Node* elsewhere = Add("Enter", {{read, 0}}, {{"frame_name", "other"}, {"is_constant", true}});
  Node* reader = Add("Neg", {{value, 0}});
  Node* other = Add("Neg", {{elsewhere, 0}});
  Add("AssignAdd", {{entered, 0}, {reader, 0}});
  RereadVariables(graph);
  EXPECT_EQ(reader->input(0).node->op_name(), "RefEnter");
  EXPECT_EQ(reader->input(0).node->input(0).node, variable);
  EXPECT_EQ(other->input(0).node, elsewhere);
}

TEST_F(Reread, TheVariableComesIntoALoopThroughTheBranchThatItIsIn) {
  const AttrMap loop{{"frame_name", "loop"}, {"is_constant", true}};
  Node* pred = Add("Const", {}, {{"value", Tensor(true)}, {"dtype", DT_BOOL}});
  Node* branch = Add("Switch", {{read, 0}, {pred, 0}});
  Node* reader = Add("Neg", {{Add("Enter", {{branch, 1}}, loop), 0}});
  Node* entered = Add("RefEnter", {{Add("RefSwitch", {{variable, 0}, {pred, 0}}), 1}}, loop);
  Add("AssignAdd", {{entered, 0}, {reader, 0}});
  RereadVariables(graph);
  const Endpoint from = reader->input(0).node->input(0);
  EXPECT_EQ(from.node->op_name(), "RefSwitch");
  EXPECT_EQ(from.index, 1);
}

}  // namespace
}  // namespace penstock
