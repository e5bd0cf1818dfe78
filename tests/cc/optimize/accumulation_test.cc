#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Accumulation : public PassTest {
 protected:
  Node* Product(DataType type = DT_FLOAT) {
    return Add("MatMul", {{Arg(type, PartialShape({5, 3})), 0}, {Arg(type, PartialShape({3, 4})), 0}});
  }
  Node* Sum(std::vector<Endpoint> terms) {
    const int64_t n = static_cast<int64_t>(terms.size());
    return Add("AddN", std::move(terms), {{"N", n}});
  }
};

TEST_F(Accumulation, EachProductIsAddedToTheSumSoFar) {
  Node *first = Product(), *second = Product(), *third = Product();
  Node* fetch = Fetch({Sum({{third, 0}, {first, 0}, {second, 0}}), 0});
  EXPECT_EQ(AccumulateProducts(graph), 1);
  const Node* last = fetch->input(0).node;
  EXPECT_EQ(last->op_name(), "_FusedMatMul");
  EXPECT_EQ(last->attr<std::vector<std::string>>("fused_ops"), std::vector<std::string>{"Add"});
  EXPECT_EQ(last->input(2).node->op_name(), "_FusedMatMul");
  EXPECT_EQ(last->input(2).node->input(2).node, first);
  EXPECT_EQ(Count("AddN"), 0);
  EXPECT_EQ(Count("MatMul"), 1);
  VerifyGraph(graph);
}

TEST_F(Accumulation, AProductIsAddedToAnythingElse) {
  Node* other = Arg(DT_FLOAT, PartialShape({5, 4}));
  Node* fetch = Fetch({Sum({{Product(), 0}, {other, 0}}), 0});
  EXPECT_EQ(AccumulateProducts(graph), 1);
  EXPECT_EQ(fetch->input(0).node->input(2).node, other);
  EXPECT_EQ(Count("MatMul"), 0);
}

TEST_F(Accumulation, ManyProductsOfColumnsAreAddedSeveralAtATime) {
  std::vector<Endpoint> terms;
  for (int i = 0; i < 5; ++i) {
    const Endpoint a{Arg(DT_FLOAT, PartialShape({3, 5})), 0}, b{Arg(DT_FLOAT, PartialShape({3, 4})), 0};
    terms.push_back({Add("MatMul", {a, b}, {{"transpose_a", true}}), 0});
  }
  Node* fetch = Fetch({Sum(terms), 0});
  EXPECT_EQ(AccumulateProducts(graph), 1);
  const Node* value = fetch->input(0).node;
  ASSERT_EQ(value->op_name(), "_ProductSumValue");
  EXPECT_EQ(value->shape(0), PartialShape({5, 4}));
  EXPECT_EQ(Count("_AddProduct"), 4);
  EXPECT_EQ(Count("MatMul"), 1);
  EXPECT_EQ(Count("_ProductSum"), 1);
}

TEST_F(Accumulation, IdentitiesThatWaitForEachOtherAreSeenThrough) {
  Node *first = Product(), *second = Product();
  Node* group = Add("NoOp", {});
  graph.AddControlEdge(second, group);
  Node* waits = Add("Identity", {{second, 0}});
  graph.AddControlEdge(group, waits);
  Node* fetch = Fetch({Sum({{first, 0}, {waits, 0}}), 0});
  EXPECT_EQ(AccumulateProducts(graph), 1);
  const Node* added = fetch->input(0).node;
  EXPECT_EQ(added->op_name(), "_FusedMatMul");
  EXPECT_EQ(added->control_inputs(), std::vector<Node*>{group});
  EXPECT_EQ(group->control_inputs().size(), 2u);  // it waits for what the product was made of
  VerifyGraph(graph);
}

TEST_F(Accumulation, NotIfSomebodyElseReadsTheProductOrThereIsNoKernel) {
  Node* read = Product();
  Fetch({read, 0});
  Fetch({Sum({{read, 0}, {Arg(DT_FLOAT, PartialShape({5, 4})), 0}}), 0});
  Fetch({Sum({{Product(DT_DOUBLE), 0}, {Product(DT_DOUBLE), 0}}), 0});
  EXPECT_EQ(AccumulateProducts(graph), 0);
  EXPECT_EQ(Count("AddN"), 2);
}

}  // namespace
}  // namespace penstock
