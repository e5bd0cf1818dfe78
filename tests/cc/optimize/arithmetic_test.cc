#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Arithmetic : public PassTest {
 protected:
  // Whether `node` went and its reader reads `x` now.
  bool Becomes(Node* node, Endpoint x) {
    Node* fetch = Fetch({node, 0});
    SimplifyArithmetic(graph);
    return fetch->input(0) == x;
  }
};

TEST_F(Arithmetic, NeutralElements) {
  Node* x = Arg(DT_FLOAT, PartialShape({2, 3}));
  Node* i = Arg(DT_INT32, PartialShape({2, 3}));
  EXPECT_TRUE(Becomes(Add("Mul", {{x, 0}, {Constant(Tensor(1.0f)), 0}}), {x, 0}));
  EXPECT_TRUE(Becomes(Add("Mul", {{Constant(Tensor(1.0f)), 0}, {x, 0}}), {x, 0}));
  EXPECT_TRUE(Becomes(Add("RealDiv", {{x, 0}, {Constant(Tensor(1.0f)), 0}}), {x, 0}));
  EXPECT_TRUE(Becomes(Add("Sub", {{x, 0}, {Constant(Tensor(0.0f)), 0}}), {x, 0}));
  EXPECT_TRUE(Becomes(Add("AddV2", {{i, 0}, {Constant(Tensor(int32_t{0})), 0}}), {i, 0}));
  EXPECT_TRUE(Becomes(Add("AddV2", {{x, 0}, {Constant(Tensor(-0.0f)), 0}}), {x, 0}));
}

TEST_F(Arithmetic, OnlyWhatIsTheSameBitByBit) {
  Node* x = Arg(DT_FLOAT, PartialShape({2, 3}));
  Node* row = Arg(DT_FLOAT, PartialShape({3}));
  EXPECT_FALSE(Becomes(Add("AddV2", {{x, 0}, {Constant(Tensor(0.0f)), 0}}), {x, 0}));  // -0 + 0 is +0
  EXPECT_FALSE(Becomes(Add("Sub", {{x, 0}, {Constant(Tensor(-0.0f)), 0}}), {x, 0}));
  EXPECT_FALSE(Becomes(Add("Sub", {{Constant(Tensor(0.0f)), 0}, {x, 0}}), {x, 0}));
  EXPECT_FALSE(Becomes(Add("FloorDiv", {{x, 0}, {Constant(Tensor(1.0f)), 0}}), {x, 0}));
  Tensor ones(DT_FLOAT, Shape({2, 3}));
  for (float& one : ones.mutable_flat<float>()) one = 1;
  EXPECT_FALSE(Becomes(Add("Mul", {{row, 0}, {Constant(ones), 0}}), {row, 0}));  // it stretches the row
}

TEST_F(Arithmetic, DoubleAndRepeatedFunctions) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  Node* once = Add("Neg", {{x, 0}});
  EXPECT_TRUE(Becomes(Add("Neg", {{once, 0}}), {x, 0}));
  Node* abs = Add("Abs", {{x, 0}});
  EXPECT_TRUE(Becomes(Add("Abs", {{abs, 0}}), {abs, 0}));
}

TEST_F(Arithmetic, TransposesAndReshapes) {
  Node* x = Arg(DT_FLOAT, PartialShape({2, 3, 4}));
  const auto permutation = [&](std::vector<int32_t> p) { return Endpoint{Constant(Tensor::Vector(p)), 0}; };
  EXPECT_TRUE(Becomes(Add("Transpose", {{x, 0}, permutation({0, 1, 2})}), {x, 0}));
  Node* turned = Add("Transpose", {{x, 0}, permutation({2, 0, 1})});
  EXPECT_TRUE(Becomes(Add("Transpose", {{turned, 0}, permutation({1, 2, 0})}), {x, 0}));
  Node* again = Add("Transpose", {{x, 0}, permutation({2, 0, 1})});
  Node* both = Add("Transpose", {{again, 0}, permutation({2, 0, 1})});
  Fetch({both, 0});
  SimplifyArithmetic(graph);
  EXPECT_EQ(both->input(0), (Endpoint{x, 0}));
  const Tensor& joint = *both->input(1).node->attrs().Find("value")->If<Tensor>();
  EXPECT_EQ(joint.IntAt(0), 1);  // [2, 0, 1] after [2, 0, 1]
  EXPECT_EQ(joint.IntAt(1), 2);
  EXPECT_EQ(joint.IntAt(2), 0);

  EXPECT_TRUE(Becomes(Add("Reshape", {{x, 0}, permutation({2, 3, 4})}), {x, 0}));
  Node* flat = Add("Reshape", {{x, 0}, permutation({24})});
  Node* square = Add("Reshape", {{flat, 0}, permutation({4, 6})});
  Fetch({square, 0});
  SimplifyArithmetic(graph);
  EXPECT_EQ(square->input(0), (Endpoint{x, 0}));
}

TEST_F(Arithmetic, IdentitiesGoButNotReadsOrWishes) {
  Node* x = Arg(DT_FLOAT, PartialShape({2}));
  EXPECT_TRUE(Becomes(Add("Identity", {{Add("StopGradient", {{x, 0}}), 0}}), {x, 0}));
  Node* elsewhere = Add("Identity", {{x, 0}}, {}, {}, "/cpu:1");
  EXPECT_TRUE(Becomes(elsewhere, {x, 0}) == false);
  Node* v = Add("VariableV2", {}, {{"shape", PartialShape({2})}, {"dtype", DT_FLOAT}});
  EXPECT_FALSE(Becomes(Add("Identity", {{v, 0}}), {v, 0}));
  Node* waits = Add("Identity", {{x, 0}}, {}, {v});
  EXPECT_FALSE(Becomes(waits, {x, 0}));
}

}  // namespace
}  // namespace penstock
