#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

class Rows : public PassTest {
 protected:
  Endpoint Matrix(int64_t rows = 2, int64_t width = 3) { return {Arg(DT_FLOAT, PartialShape({rows, width})), 0}; }
  Endpoint Call(const std::string& op, std::vector<Endpoint> inputs, std::vector<Node*> controls = {}) {
    return {Add(op, std::move(inputs), {}, std::move(controls)), 0};
  }
  Endpoint Reduce(const std::string& op, Endpoint x, int32_t axis = -1, bool keep = true) {
    Tensor number(DT_INT32, Shape({}));
    number.mutable_data<int32_t>()[0] = axis;
    return {Add(op, {x, {Constant(number), 0}}, {{"keep_dims", keep}}), 0};
  }
  Endpoint Centered(Endpoint x) { return Call("Sub", {x, Reduce("Mean", x)}); }
};

TEST_F(Rows, ANormalizationBecomesOneNode) {
  const Endpoint x = Matrix(), gain{Arg(DT_FLOAT, PartialShape({3})), 0};
  const Endpoint mean = Reduce("Mean", x);
  const Endpoint variance = Reduce("Mean", Call("SquaredDifference", {x, mean}), 1);
  Node* fetch = Fetch(Call("Mul", {Call("Mul", {Call("Sub", {x, mean}), Call("Rsqrt", {variance})}), gain}));
  EXPECT_EQ(FuseRows(graph), 1);
  const Node* fused = fetch->input(0).node;
  EXPECT_EQ(fused->op_name(), "_FusedRows");
  EXPECT_EQ(fused->inputs(), (std::vector<Endpoint>{x, gain}));
  EXPECT_EQ(fused->attr<Strings>("steps"),
            (Strings{"Mean", "SquaredDifference", "Sub", "Mean", "Rsqrt", "Mul", "Mul"}));
  EXPECT_EQ(fused->attr<Ints>("operands"), (Ints{0, 0, 2, 0, 2, 3, 5, 4, 6, 7, 1}));
  EXPECT_EQ(fused->attr<std::vector<bool>>("of_rows"),
            (std::vector<bool>{false, true, true, false, false, true, true}));
  EXPECT_EQ(fused->attr<Ints>("results"), (Ints{6}));
}

TEST_F(Rows, WhatOthersReadIsGivenOut) {
  const Endpoint x = Matrix(), largest = Reduce("Max", x);
  Node* one = Fetch(largest);
  Node* two = Fetch(Call("Exp", {Call("Sub", {x, largest})}));
  EXPECT_EQ(FuseRows(graph), 1);
  EXPECT_EQ(one->input(0), (Endpoint{two->input(0).node, 0}));
  EXPECT_EQ(two->input(0).index, 1);
  EXPECT_EQ(one->input(0).shape(), PartialShape({2, 1}));
}

TEST_F(Rows, OnlyTheLastDimensionThatIsKept) {
  const Endpoint x = Matrix();
  Fetch(Call("Sub", {x, Reduce("Mean", x, 0)}));
  Fetch(Call("Neg", {Reduce("Mean", Call("Exp", {x}), -1, false)}));
  Fetch(Call("Sub", {Matrix(2, 1 << 20), Reduce("Mean", Matrix(2, 1 << 20))}));  // too long for a cache
  Fetch(Call("Neg", {Reduce("Sum", Matrix())}));                                 // nothing of whole rows
  EXPECT_EQ(FuseRows(graph), 0);
}

TEST_F(Rows, RowsOfOtherLengthsAndPlacesStayApart) {
  const Endpoint x = Matrix(2, 3), y = Matrix(2, 4);
  Node* one = Fetch(Call("Mul", {Centered(x), Reduce("Sum", y)}));
  Fetch({Add("Neg", {Centered(y)}, {}, {}, "/cpu:1"), 0});
  EXPECT_EQ(FuseRows(graph), 2);
  EXPECT_EQ(one->input(0).node->num_inputs(), 2);  // the sum of y's rows is made elsewhere
  EXPECT_EQ(Count("Sum"), 1);
  EXPECT_EQ(Count("Neg"), 1);
}

TEST_F(Rows, NoCycleThroughWhatIsBetween) {
  const Endpoint x = Matrix(3, 3), mean = Reduce("Mean", x), centered = Call("Sub", {x, mean});
  const Endpoint product = Call("MatMul", {centered, centered});
  Fetch(Call("Mul", {Call("Sub", {product, mean}), centered}));
  EXPECT_EQ(FuseRows(graph), 1);  // what is behind the product is elementwise only; TearDown looks for cycles
  EXPECT_EQ(Count("_FusedRows"), 1);
}

}  // namespace
}  // namespace penstock
