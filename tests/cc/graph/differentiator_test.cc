#include "penstock/graph/differentiator.h"

#include "penstock/graph/split_gradient.h"
#include "tests/cc/runtime/runner.h"

namespace penstock {
namespace {

class Derivatives : public testing::Test {
 protected:
  // The derivative of y by x; `changes`: what becomes of the forward pass.
  Endpoint Of(Endpoint y, Endpoint x, ForwardChanges* changes = nullptr) {
    GradientOptions options;
    options.forward = changes;
    return AddGradients(*graph, {y}, {x}, {}, options)[0].dense;
  }
  float Run(std::vector<Tensor> args, Endpoint value) {
    auto copy = graph;
    Ret(*copy, value, rets_++);
    return *runner.Run(copy, std::move(args), rets_, true).back().data<float>();
  }
  // x -> x * x * ... while the counter is below 3.
  Endpoint Cube(Endpoint x) {
    const auto enter = [&](Endpoint value, bool constant) {
      return Endpoint{Add(*graph, "Enter", {value}, {{"frame_name", "f"}, {"is_constant", AttrValue(constant)}}), 0};
    };
    const auto number = [&](auto value) {
      return Endpoint{Add(*graph, "Const", {}, {{"value", Tensor(value)}, {"dtype", Tensor(value).dtype()}}), 0};
    };
    const Endpoint i0 = enter(number(int32_t{0}), false), y0 = enter(number(1.0f), false);
    const Endpoint factor = enter(x, true), limit = enter(number(int32_t{3}), true);
    const Endpoint one = enter(number(int32_t{1}), true);
    Node *i = Add(*graph, "Merge", {i0, i0}), *y = Add(*graph, "Merge", {y0, y0});
    graph->SetShape({y, 0}, PartialShape({}));
    Node* cond = Add(*graph, "LoopCond", {{Add(*graph, "Less", {{i, 0}, limit}), 0}});
    Node *si = Add(*graph, "Switch", {{i, 0}, {cond, 0}}), *sy = Add(*graph, "Switch", {{y, 0}, {cond, 0}});
    Node* next_i = Add(*graph, "NextIteration", {{Add(*graph, "AddV2", {{si, 1}, one}), 0}});
    Node* next_y = Add(*graph, "NextIteration", {{Add(*graph, "Mul", {{sy, 1}, factor}), 0}});
    graph->UpdateInput(i, 1, {next_i, 0});
    graph->UpdateInput(y, 1, {next_y, 0});
    return {Add(*graph, "Exit", {{sy, 0}}), 0};
  }

  Runner runner;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  size_t rets_ = 0;
};

TEST_F(Derivatives, OfAProduct) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0};
  graph->SetShape(x, PartialShape({}));
  const Endpoint y{Add(*graph, "Mul", {x, {Add(*graph, "Exp", {x}), 0}}), 0};
  const Endpoint dx = Of(y, x);
  ASSERT_TRUE(dx);
  EXPECT_NEAR(Run({Tensor(1.5f)}, dx), 2.5f * std::exp(1.5f), 1e-4f);
}

TEST_F(Derivatives, NothingWhereNothingDepends) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0}, other{Arg(*graph, 1, DT_FLOAT), 0};
  EXPECT_FALSE(Of({Add(*graph, "Exp", {other}), 0}, x));
}

TEST_F(Derivatives, AnOpWithoutGradientIsNamed) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0};
  const Endpoint delta{Arg(*graph, 1, DT_FLOAT), 0};
  try {
    Of({Add(*graph, "AdjustHue", {x, delta}), 0}, x);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_NE(std::string(e.what()).find("AdjustHue"), std::string::npos);
  }
}

TEST_F(Derivatives, OfALoopSavesOnlyWhatIsRead) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0};
  graph->SetShape(x, PartialShape({}));
  const Endpoint y = Cube(x);
  ForwardChanges changes;
  const Endpoint dx = Of(y, x, &changes);
  ASSERT_TRUE(dx);
  int pushes = 0;
  for (const int id : changes.added) pushes += graph->node(id)->op_name() == "TensorListPushBack";
  EXPECT_EQ(pushes, 1);  // y in each iteration; x is the same in all
  const Endpoint second = Of(dx, x);
  EXPECT_NEAR(Run({Tensor(2.0f)}, dx), 12.0f, 1e-5f);
  EXPECT_NEAR(Run({Tensor(2.0f)}, second), 12.0f, 1e-5f);
}

TEST_F(Derivatives, ListsAreSharedWithEarlierGradients) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0};
  graph->SetShape(x, PartialShape({}));
  const Endpoint y = Cube(x);
  Of(y, x);
  ForwardChanges again;
  Of(y, x, &again);
  for (const int id : again.added) EXPECT_NE(graph->node(id)->op_name(), "TensorListPushBack");
}

TEST_F(Derivatives, ValuesOfBranchesCrossOutsideOfThem) {
  const Endpoint x{Arg(*graph, 0, DT_FLOAT), 0}, p{Arg(*graph, 1, DT_BOOL), 0};
  Node* gate = Add(*graph, "Switch", {x, p});
  const Endpoint inside{Add(*graph, "Exp", {{gate, 1}}), 0};
  Add(*graph, "Merge", {{gate, 0}, inside});
  Node* reader = Add(*graph, "Neg", {inside});
  const CarriedOut added = CarryOutOfBranches(*graph, {reader});
  ASSERT_EQ(reader->input(0).node->op_name(), "Switch");
  EXPECT_EQ(reader->input(0).index, 1);
  const Node* merge = reader->input(0).node->input(0).node;
  EXPECT_EQ(merge->op_name(), "Merge");
  EXPECT_EQ(merge->input(1), inside);
  EXPECT_EQ(ControlFlow(*graph).Of(Endpoint{const_cast<Node*>(merge), 0}), nullptr);
  EXPECT_EQ(added.backward.size(), 1u);
  // The second time nothing new is needed of the forward pass.
  EXPECT_TRUE(CarryOutOfBranches(*graph, {Add(*graph, "Neg", {inside})}).forward.empty());
}

}  // namespace
}  // namespace penstock
