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

class ConvFusion : public PassTest {
 protected:
  Node* Convolution(const std::string& op = "Conv2D") {
    return Add(op, {{Arg(DT_FLOAT, PartialShape({2, 5, 5, 3})), 0}, {Arg(DT_FLOAT, PartialShape({3, 3, 3, 4})), 0}},
               {{"strides", std::vector<int64_t>{1, 2, 2, 1}}, {"padding", "SAME"}});
  }
  Node* Normalised(Node* conv, bool training) {
    std::vector<Endpoint> inputs = {{conv, 0}};
    for (int i = 0; i < 4; ++i) inputs.push_back({Arg(DT_FLOAT, PartialShape({4})), 0});
    return Add("FusedBatchNormV3", inputs, {{"is_training", training}, {"epsilon", 0.5f}});
  }
};

TEST_F(ConvFusion, AConvolutionItsBiasAndItsRectifierBecomeOne) {
  Node* bias = Arg(DT_FLOAT, PartialShape({4}));
  Node* fetch = Fetch({Add("Relu6", {{Add("BiasAdd", {{Convolution(), 0}, {bias, 0}}), 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 1);
  const Node* fused = fetch->input(0).node;
  EXPECT_EQ(fused->op_name(), "_FusedConv2D");
  EXPECT_EQ(fused->input(2).node, bias);
  EXPECT_EQ(fused->attr<std::vector<std::string>>("fused_ops"), (std::vector<std::string>{"BiasAdd", "Relu6"}));
  EXPECT_EQ(fused->attr<std::vector<int64_t>>("strides"), (std::vector<int64_t>{1, 2, 2, 1}));
  EXPECT_EQ(Count("Conv2D") + Count("BiasAdd") + Count("Relu6"), 0);
}

TEST_F(ConvFusion, ANormalisationByKnownStatisticsFollows) {
  Node* norm = Normalised(Convolution(), false);
  Node* fetch = Fetch({Add("Relu", {{norm, 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 1);
  const Node* fused = fetch->input(0).node;
  EXPECT_EQ(fused->op_name(), "_FusedConv2D");
  EXPECT_EQ(fused->num_inputs(), 6);
  EXPECT_EQ(fused->attr<float>("epsilon"), 0.5f);
  EXPECT_EQ(fused->attr<std::vector<std::string>>("fused_ops"), (std::vector<std::string>{"FusedBatchNorm", "Relu"}));
}

TEST_F(ConvFusion, NotIfTheStatisticsAreTheBatchsOrAreRead) {
  Fetch({Normalised(Convolution(), true), 0});
  Node* norm = Normalised(Convolution(), false);
  Fetch({norm, 0});
  Fetch({norm, 1});
  EXPECT_EQ(FuseProducts(graph), 0);
}

TEST_F(ConvFusion, DepthwiseConvolutionsToo) {
  Node* fetch =
      Fetch({Add("BiasAdd", {{Convolution("DepthwiseConv2dNative"), 0}, {Arg(DT_FLOAT, PartialShape({12})), 0}}), 0});
  EXPECT_EQ(FuseProducts(graph), 1);
  EXPECT_EQ(fetch->input(0).node->op_name(), "_FusedDepthwiseConv2dNative");
}

}  // namespace
}  // namespace penstock
