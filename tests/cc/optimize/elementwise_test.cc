#include "penstock/kernel/kernel_registry.h"
#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

class Elementwise : public PassTest {
 protected:
  Endpoint Matrix(DataType type = DT_FLOAT) { return {Arg(type, PartialShape({2, 3})), 0}; }
  Endpoint Call(const std::string& op, std::vector<Endpoint> inputs, std::vector<Node*> controls = {}) {
    return {Add(op, std::move(inputs), {}, std::move(controls)), 0};
  }
};

TEST_F(Elementwise, AChainBecomesOneNode) {
  const Endpoint x = Matrix(), y = Matrix();
  Node* fetch = Fetch(Call("Mul", {Call("Tanh", {Call("AddV2", {x, y})}), x}));
  EXPECT_EQ(FuseElementwise(graph), 1);
  const Node* fused = fetch->input(0).node;
  EXPECT_EQ(fused->op_name(), "_FusedElementwise");
  EXPECT_EQ(fused->inputs(), (std::vector<Endpoint>{x, y}));
  EXPECT_EQ(fused->attr<Strings>("steps"), (Strings{"AddV2", "Tanh", "Mul"}));
  EXPECT_EQ(fused->attr<Strings>("names"), (Strings{"AddV2", "Tanh", "Mul"}));
  EXPECT_EQ(fused->attr<Ints>("operands"), (Ints{0, 1, 2, 3, 0}));
  EXPECT_EQ(fused->attr<Ints>("results"), (Ints{2}));
  EXPECT_EQ(graph.num_nodes(), 4);
}

TEST_F(Elementwise, WhatOthersReadIsGivenOut) {
  const Endpoint x = Matrix();
  const Endpoint first = Call("Exp", {x});
  Node* one = Fetch(first);
  Node* two = Fetch(Call("Neg", {first}));
  EXPECT_EQ(FuseElementwise(graph), 1);
  EXPECT_EQ(one->input(0), (Endpoint{two->input(0).node, 0}));
  EXPECT_EQ(two->input(0).index, 1);
}

TEST_F(Elementwise, SumsAndBiasesAreAdditions) {
  const Endpoint x = Matrix(), bias{Arg(DT_FLOAT, PartialShape({3})), 0};
  const Endpoint sum{Add("AddN", {x, Matrix(), Matrix()}, {{"N", int64_t{3}}}), 0};
  Node* fetch = Fetch(Call("Relu", {Call("BiasAdd", {sum, bias})}));
  EXPECT_EQ(FuseElementwise(graph), 1);
  EXPECT_EQ(fetch->input(0).node->attr<Strings>("steps"), (Strings{"AddN", "AddN", "AddV2", "Relu"}));
  EXPECT_EQ(fetch->input(0).node->attr<Ints>("operands"), (Ints{0, 1, 4, 2, 5, 3, 6}));
}

TEST_F(Elementwise, OnlyOfOneTypeAndShapeAndPlace) {
  const Endpoint x = Matrix();
  Fetch(Call("Neg", {Call("Exp", {Matrix(DT_INT32).node ? Matrix(DT_HALF) : x})}));
  const Endpoint row{Arg(DT_FLOAT, PartialShape({3})), 0};
  Fetch(Call("AddV2", {Call("Exp", {row}), x}));  // the row is not computed once for each element
  Fetch({Add("Neg", {Call("Exp", {x})}, {}, {}, "/cpu:1"), 0});
  EXPECT_EQ(FuseElementwise(graph), 0);
}

TEST_F(Elementwise, NoCycleThroughWhatIsBetween) {
  const Endpoint x = Matrix(), w{Arg(DT_FLOAT, PartialShape({3, 3})), 0};
  const Endpoint first = Call("Exp", {x}), before = Call("Neg", {first});
  const Endpoint product = Call("MatMul", {before, w});
  Fetch(Call("Tanh", {Call("AddV2", {product, before})}));
  EXPECT_EQ(FuseElementwise(graph), 2);
  EXPECT_EQ(Count("_FusedElementwise"), 2);
}

TEST_F(Elementwise, WhatIsOnlyReadLaterIsComputedThere) {
  const Endpoint x = Matrix(), w{Arg(DT_FLOAT, PartialShape({3, 3})), 0};
  const Endpoint product = Call("MatMul", {Call("Exp", {x}), w});
  Fetch(Call("AddV2", {product, Call("Neg", {x})}));
  EXPECT_EQ(FuseElementwise(graph), 1);
  EXPECT_EQ(Count("Neg"), 0);
  EXPECT_EQ(Count("Exp"), 1);
}

TEST_F(Elementwise, ControlEdgesKeepTheirOrder) {
  const Endpoint x = Matrix();
  Node* before = Add("NoOp");
  const Endpoint waits = Call("Exp", {x}, {before});
  const Endpoint chain = Call("Neg", {Call("Tanh", {waits})});
  Fetch(chain);
  Node* after = Add("NoOp", {}, {}, {chain.node});
  EXPECT_EQ(FuseElementwise(graph), 1);
  EXPECT_EQ(Count("Exp"), 1);
  EXPECT_EQ(after->control_inputs()[0]->op_name(), "_FusedElementwise");
}

TEST_F(Elementwise, NothingThatIsDeadAtOtherTimes) {
  const Endpoint x = Matrix(), pred{Arg(DT_BOOL, PartialShape(std::vector<int64_t>{})), 0};
  Node* choice = Add("Switch", {x, pred});
  const Endpoint outside = Call("Exp", {x});
  Fetch(outside);
  Fetch(Call("Mul", {Endpoint{choice, 1}, outside}));
  EXPECT_EQ(FuseElementwise(graph), 0);
  Node* other = Add("Switch", {Matrix(), pred});
  Fetch(Call("Mul", {Endpoint{other, 1}, Call("Exp", {Endpoint{choice, 1}})}));
  EXPECT_EQ(FuseElementwise(graph), 1);
}

TEST_F(Elementwise, LongChainsAreCut) {
  Endpoint x = Matrix();
  for (int i = 0; i < 100; ++i) x = Call("Neg", {x});
  Fetch(x);
  EXPECT_EQ(FuseElementwise(graph), 4);
  EXPECT_EQ(graph.num_nodes(), 6);
}

TEST_F(Elementwise, AStepGivesTheTypeThatItTakes) {
  const auto make = [](const std::string& step) {
    const AttrMap attrs{{"T", DT_FLOAT},          {"num_args", int64_t{2}},   {"num_results", int64_t{1}},
                        {"steps", Strings{step}}, {"names", Strings{"step"}}, {"operands", Ints{0, 1}},
                        {"results", Ints{0}},     {"parts", Ints{}},          {"joins", Ints{}}};
    const OpDef& op = *OpRegistry::Global().Find("_FusedElementwise");
    const std::vector<DataType> types(2, DT_FLOAT);
    const NodeView node("fused", op, attrs, types, std::span(types).first(1), nullptr);
    return KernelRegistry::Global().Make("CPU", node);
  };
  EXPECT_NE(make("Maximum"), nullptr);
  for (const char* step : {"Less", "IsNan", "Complex"}) EXPECT_THROW(make(step), Error) << step;
}

}  // namespace
}  // namespace penstock
