#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Selection : public PassTest {
 protected:
  Endpoint Matrix(DataType type = DT_FLOAT) { return {Arg(type, PartialShape({2, 3})), 0}; }
  Endpoint Call(const std::string& op, std::vector<Endpoint> inputs, std::string device = "") {
    return {Add(op, std::move(inputs), {}, {}, std::move(device)), 0};
  }
};

TEST_F(Selection, AComparisonThatNobodyElseReadsGoesIntoTheChoice) {
  const Endpoint x = Matrix(), y = Matrix(), z = Matrix();
  Node* less = Fetch(Call("SelectV2", {Call("Less", {x, y}), z, x}));
  Node* greater = Fetch(Call("SelectV2", {Call("GreaterEqual", {x, y}), z, x}));
  EXPECT_EQ(JoinSelections(graph), 2);
  EXPECT_EQ(less->input(0).node->op_name(), "_SelectLess");
  EXPECT_EQ(less->input(0).node->inputs(), (std::vector<Endpoint>{x, y, z, x}));
  EXPECT_EQ(greater->input(0).node->op_name(), "_SelectLessEqual");
  EXPECT_EQ(greater->input(0).node->inputs(), (std::vector<Endpoint>{y, x, z, x}));
  EXPECT_EQ(graph.num_nodes(), 3 + 4);
}

TEST_F(Selection, NotOneThatOthersReadOrOfOtherTypesAndPlaces) {
  const Endpoint x = Matrix(), n = Matrix(DT_INT32);
  const Endpoint shared = Call("Less", {x, x});
  Fetch(shared);
  Fetch(Call("SelectV2", {shared, x, x}));
  Fetch(Call("SelectV2", {Call("Less", {n, n}), x, x}));
  Fetch(Call("SelectV2", {Call("Less", {x, x}), n, n}));
  Fetch(Call("SelectV2", {Call("Less", {x, x}, "/cpu:1"), x, x}));
  const Endpoint rows{Arg(DT_FLOAT, PartialShape({2})), 0};
  Fetch(Call("Select", {Call("Less", {rows, rows}), x, x}));  // chooses rows
  EXPECT_EQ(JoinSelections(graph), 0);
}

TEST_F(Selection, ItIsAStepOfAChain) {
  const Endpoint x = Matrix(), y = Matrix();
  const Endpoint sum = Call("AddV2", {x, y});
  Node* fetch = Fetch(Call("Exp", {Call("Select", {Call("Greater", {sum, y}), sum, x})}));
  EXPECT_EQ(JoinSelections(graph), 1);
  EXPECT_EQ(FuseElementwise(graph), 1);
  const Node& fused = *fetch->input(0).node;
  EXPECT_EQ(fused.attr<std::vector<std::string>>("steps"), (std::vector<std::string>{"AddV2", "_SelectLess", "Exp"}));
  EXPECT_EQ(fused.attr<std::vector<int64_t>>("operands"), (std::vector<int64_t>{0, 1, 1, 2, 2, 0, 3}));
}

}  // namespace
}  // namespace penstock
