#include <gtest/gtest.h>

#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

TEST(OpBuilder, ReadsTheTextForms) {
  OpRegistry ops;
  ops.Add("Everything")
      .Input("x: T")
      .Input("xs: N * T")
      .Input("any: Tlist")
      .Input("ref: Ref(float)")
      .Output("y: int64")
      .Attr("T: {float, int32} = DT_FLOAT")
      .Attr("N: int >= 2")
      .Attr("Tlist: list(type) >= 1")
      .Attr("mode: {'a', 'b c'} = 'b c'")
      .Attr("axes: list(int) = [1, -2]")
      .Attr("shape: shape = [2, ?]")
      .Attr("rate: float = 0.5")
      .Attr("names: list({'p', 'q'}) = ['q']")
      .Attr("on: bool = true")
      .Stateful();
  const OpDef* op = ops.Find("Everything");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->inputs[1].number_attr, "N");
  EXPECT_EQ(op->inputs[1].type_attr, "T");
  EXPECT_EQ(op->inputs[2].type_list_attr, "Tlist");
  EXPECT_TRUE(op->inputs[3].is_ref);
  EXPECT_EQ(op->outputs[0].type, DT_INT64);
  EXPECT_EQ(*op->FindAttr("T")->default_value.If<DataType>(), DT_FLOAT);
  EXPECT_EQ(*op->FindAttr("T")->allowed.If<std::vector<DataType>>(), (std::vector<DataType>{DT_FLOAT, DT_INT32}));
  EXPECT_EQ(op->FindAttr("N")->minimum, 2);
  EXPECT_EQ(*op->FindAttr("mode")->default_value.If<std::string>(), "b c");
  EXPECT_EQ(*op->FindAttr("axes")->default_value.If<std::vector<int64_t>>(), (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(*op->FindAttr("shape")->default_value.If<PartialShape>(), PartialShape({2, -1}));
  EXPECT_EQ(op->FindAttr("names")->kind, "list(string)");
  EXPECT_TRUE(op->traits.stateful);
}

TEST(OpBuilder, RefusesMalformedText) {
  OpRegistry ops;
  EXPECT_THROW(ops.Add("A").Input("x"), Error);
  EXPECT_THROW(ops.Add("B").Attr("T: {no_type}"), Error);
  EXPECT_THROW(ops.Add("C").Attr("n: int = x"), Error);
  EXPECT_THROW(ops.Add("D").Attr("s: string = unquoted"), Error);
  EXPECT_THROW(ops.Add("A"), Error);  // a second time
}

TEST(Shapes, BroadcastAsNumPyDoes) {
  using shapes::BroadcastShapes;
  EXPECT_EQ(BroadcastShapes({2, 1, 3}, {4, 1}), PartialShape({2, 4, 3}));
  EXPECT_EQ(BroadcastShapes({-1, 3}, {1, 3}), PartialShape({-1, 3}));
  EXPECT_EQ(BroadcastShapes({-1}, {5}), PartialShape({5}));
  EXPECT_EQ(BroadcastShapes({-1}, {0}), PartialShape({0}));
  EXPECT_EQ(BroadcastShapes(PartialShape(), {5}), PartialShape());
  EXPECT_THROW(BroadcastShapes({2}, {3}), Error);
}

TEST(Shapes, WindowedOutputFollowsTheConvolutionGuide) {
  using shapes::WindowedOutput;
  EXPECT_EQ(WindowedOutput(28, 5, 1, 2, "SAME").out, 14);
  EXPECT_EQ(WindowedOutput(28, 5, 1, 2, "SAME").pad_before, 1);
  EXPECT_EQ(WindowedOutput(28, 5, 1, 2, "SAME").pad_after, 2);
  EXPECT_EQ(WindowedOutput(28, 5, 1, 1, "VALID").out, 24);
  EXPECT_EQ(WindowedOutput(28, 3, 2, 1, "VALID").out, 24);
  EXPECT_EQ(WindowedOutput(5, 3, 1, 2, "EXPLICIT", 1, 2).out, 3);
  EXPECT_EQ(WindowedOutput(-1, 3, 1, 1, "SAME").out, -1);
  EXPECT_THROW(WindowedOutput(2, 5, 1, 1, "VALID"), Error);
  EXPECT_THROW(WindowedOutput(2, 1, 1, 0, "SAME"), Error);
}

TEST(AttrValue, ComparesByContent) {
  EXPECT_EQ(AttrValue(Tensor(1.0f)), AttrValue(Tensor(1.0f)));
  EXPECT_FALSE(AttrValue(Tensor(1.0f)) == AttrValue(Tensor(2.0f)));
  EXPECT_EQ(AttrValue(EmptyList()), AttrValue(std::vector<int64_t>()));
  EXPECT_FALSE(AttrValue(1) == AttrValue(1.0));
  AttrMap map{{"b", 2}, {"a", true}};
  EXPECT_EQ(map.begin()->first, "a");
  map.Erase("a");
  EXPECT_EQ(map.Find("a"), nullptr);
  EXPECT_EQ(*map.Find("b")->If<int64_t>(), 2);
}

}  // namespace
}  // namespace penstock
