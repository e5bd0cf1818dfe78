#include "penstock/graph/constant_values.h"

#include "tests/cc/runtime/runner.h"

namespace penstock {
namespace {

class Constants : public testing::Test {
 protected:
  Endpoint Const(Tensor value) {
    const DataType type = value.dtype();
    return {Add(graph, "Const", {}, {{"value", std::move(value)}, {"dtype", type}}), 0};
  }
  Endpoint Op(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return {Add(graph, op, std::move(inputs), std::move(attrs)), 0};
  }
  Endpoint First(Endpoint shape) {  // shape[0:1]
    Tensor zero(DT_INT32, Shape({1})), one(DT_INT32, Shape({1}));
    zero.mutable_data<int32_t>()[0] = 0;
    one.mutable_data<int32_t>()[0] = 1;
    return Op("StridedSlice", {shape, Const(zero), Const(one), Const(one)});
  }
  int32_t Number(Endpoint value) {
    const Tensor* known = graph.ConstantValue(value);
    EXPECT_NE(known, nullptr);
    return known ? *known->data<int32_t>() : -1;
  }

  Runner runner;  // registers what is needed
  Graph graph;
};

TEST_F(Constants, AChainLongerThanTheStack) {
  for (const bool asked_on_the_way : {false, true}) {
    Endpoint x = Const(Tensor(int32_t{7}));
    for (int i = 0; i < 50000; ++i) {
      x = Op("Squeeze", {Op("Pack", {x})});
      if (asked_on_the_way && i % 90 == 0) graph.ConstantValue(x);
    }
    EXPECT_EQ(Number(x), 7);
    EXPECT_EQ(Op("Fill", {Op("Pack", {x}), Const(Tensor(0.0f))}).shape(), PartialShape({7}));
  }
}

TEST_F(Constants, AChainOfPartsOfShapes) {
  Endpoint shape = Op("Shape", {Op("Placeholder", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({-1, 3})}})});
  const Endpoint nothing = Const(Tensor(DT_INT32, Shape({0}))), axis = Const(Tensor(int32_t{0}));
  for (int i = 0; i < 20000; ++i) shape = Op("ConcatV2", {First(shape), nothing, axis});
  EXPECT_EQ(graph.ConstantValueAsShape(shape), PartialShape({-1}));
}

TEST_F(Constants, EachNodeIsAskedOnce) {  // though 2^60 ways lead to the first
  Endpoint shape = Op("Shape", {Op("Placeholder", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({-1})}})});
  const Endpoint axis = Const(Tensor(int32_t{0}));
  for (int i = 0; i < 60; ++i) shape = First(Op("ConcatV2", {shape, shape, axis}));
  EXPECT_EQ(graph.ConstantValueAsShape(shape), PartialShape({-1}));
}

TEST_F(Constants, AreForgottenWhenANodeChanges) {
  const Endpoint a = Const(Tensor(int32_t{2})), b = Const(Tensor(int32_t{3}));
  const Endpoint sum = Op("AddV2", {a, b}), twice = Op("AddV2", {sum, sum}), far = Op("Neg", {twice});
  EXPECT_EQ(Number(far), -10);
  graph.SetAttr(a.node, "value", Tensor(int32_t{4}));
  EXPECT_EQ(Number(far), -14);
  graph.UpdateInput(sum.node, 1, a);
  EXPECT_EQ(Number(far), -16);
  const PartialShape scalar(std::vector<int64_t>{});
  const Endpoint unknown = Op("Placeholder", {}, {{"dtype", DT_INT32}, {"shape", scalar}});
  graph.UpdateInput(sum.node, 0, unknown);
  EXPECT_EQ(graph.ConstantValue(far), nullptr);
  graph.UpdateInput(sum.node, 0, b);
  EXPECT_EQ(Number(far), -14);
}

TEST_F(Constants, AreForgottenWhenAShapeBecomesKnown) {
  const Endpoint x = Op("Placeholder", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({-1})}});
  const Endpoint shape = Op("Shape", {x}), next = Op("AddV2", {shape, shape});
  EXPECT_EQ(graph.ConstantValue(next), nullptr);
  EXPECT_EQ(graph.ConstantValueAsShape(shape), PartialShape({-1}));
  graph.SetShape(x, PartialShape({5}));
  EXPECT_EQ(Number(next), 10);
  EXPECT_EQ(graph.ConstantValueAsShape(shape), PartialShape({5}));
  graph.ForgetShape(x);
  EXPECT_EQ(graph.ConstantValue(next), nullptr);
}

TEST_F(Constants, ACycleIsUnknown) {
  const Endpoint a = Const(Tensor(int32_t{2})), first = Op("AddV2", {a, a});
  Endpoint last = first;
  for (int i = 0; i < 300; ++i) last = Op("AddV2", {last, a});
  graph.UpdateInput(first.node, 0, last);
  EXPECT_EQ(graph.ConstantValue(last), nullptr);
}

}  // namespace
}  // namespace penstock
