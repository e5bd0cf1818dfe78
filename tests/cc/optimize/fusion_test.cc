#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Fusion : public PassTest {
 protected:
  Node* Product(DataType type = DT_FLOAT) {
    return Add("MatMul", {{Arg(type, PartialShape({5, 3})), 0}, {Arg(type, PartialShape({3, 4})), 0}});
  }
};

TEST_F(Fusion, AProductAndItsBiasBecomeOne) {
  Node* product = Product();
  Node* bias = Arg(DT_FLOAT, PartialShape({4}));
  Node* fetch = Fetch({Add("AddV2", {{product, 0}, {bias, 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 1);
  const Node* fused = fetch->input(0).node;
  EXPECT_EQ(fused->op_name(), "_FusedMatMul");
  EXPECT_EQ(fused->input(2).node, bias);
  EXPECT_EQ(fused->attr<std::vector<std::string>>("fused_ops"), std::vector<std::string>{"BiasAdd"});
  EXPECT_EQ(Count("MatMul"), 0);
  EXPECT_EQ(Count("AddV2"), 0);
}

TEST_F(Fusion, NotIfSomebodyElseReadsTheProduct) {
  Node* product = Product();
  Fetch({product, 0});
  Fetch({Add("AddV2", {{product, 0}, {Arg(DT_FLOAT, PartialShape({4})), 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 0);
}

TEST_F(Fusion, NotIfItIsNoBiasOrThereIsNoKernel) {
  Fetch({Add("AddV2", {{Product(), 0}, {Arg(DT_FLOAT, PartialShape({5, 4})), 0}}), 0});
  Fetch({Add("AddV2", {{Product(), 0}, {Arg(DT_FLOAT, PartialShape({1})), 0}}), 0});
  Fetch({Add("AddV2", {{Product(), 0}, {Arg(DT_FLOAT, PartialShape()), 0}}), 0});
  Fetch({Add("AddV2", {{Product(DT_DOUBLE), 0}, {Arg(DT_DOUBLE, PartialShape({4})), 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 0);
}

}  // namespace
}  // namespace penstock
