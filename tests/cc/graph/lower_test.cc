#include "penstock/graph/lower.h"

#include <algorithm>

#include "tests/cc/runtime/runner.h"

namespace penstock {
namespace {

class Lowering : public testing::Test {
 protected:
  // A function of floats: `body` gets the arguments and returns the results.
  template <class Body>
  void Define(const std::string& name, std::vector<DataType> types, Body body) {
    Graph inside;
    inside.set_library(graph->library());
    FunctionSpec spec;
    spec.name = name;
    for (const DataType type : types) spec.inputs.push_back({Add(inside, "Placeholder", {}, {{"dtype", type}}), 0});
    spec.outputs = body(inside, spec.inputs);
    graph->set_library(graph->library()->With(GraphToFunction(inside, spec)));
  }
  void DefineScale(const std::string& name, float factor) {
    Define(name, {DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
      Node* constant = Add(g, "Const", {}, {{"value", Tensor(factor)}, {"dtype", DT_FLOAT}});
      return {{Add(g, "Mul", {args[0], {constant, 0}}), 0}};
    });
  }
  static AttrMap If(const std::string& then_branch, const std::string& else_branch) {
    return {{"then_branch", FuncRef{then_branch, {}}},
            {"else_branch", FuncRef{else_branch, {}}},
            {"Tout", std::vector<DataType>{DT_FLOAT}}};
  }
  int Count(const std::string& op) const {
    return static_cast<int>(std::ranges::count_if(graph->Nodes(), [&](const Node* n) { return n->op_name() == op; }));
  }

  Runner runner;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
};

TEST_F(Lowering, AConditionalBecomesSwitchAndMerge) {
  DefineScale("Twice", 2);
  DefineScale("Thrice", 3);
  Node *p = Arg(*graph, 0, DT_BOOL), *x = Arg(*graph, 1, DT_FLOAT);
  Ret(*graph, {Add(*graph, "If", {{p, 0}, {x, 0}}, If("Twice", "Thrice")), 0}, 0);
  LowerControlFlow(*graph);
  EXPECT_EQ(Count("If"), 0);
  EXPECT_GE(Count("Merge"), 1);
  EXPECT_EQ(*runner.Run(graph, {Tensor(true), Tensor(5.0f)}, 1, true)[0].data<float>(), 10.0f);
  EXPECT_EQ(*runner.Run(graph, {Tensor(false), Tensor(5.0f)}, 1, true)[0].data<float>(), 15.0f);
}

TEST_F(Lowering, WhatALoopHandsOnIsNotCarriedAlong) {
  Define("Goes", {DT_FLOAT, DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
    Node* limit = Add(g, "Const", {}, {{"value", Tensor(50.0f)}, {"dtype", DT_FLOAT}});
    return {{Add(g, "Less", {args[0], {limit, 0}}), 0}};
  });
  Define("Body", {DT_FLOAT, DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
    return {{Add(g, "Mul", {args[0], args[1]}), 0}, {Add(g, "Identity", {args[1]}), 0}};
  });
  Node *x = Arg(*graph, 0, DT_FLOAT), *factor = Arg(*graph, 1, DT_FLOAT);
  Node* loop =
      Add(*graph, "While", {{x, 0}, {factor, 0}}, {{"cond", FuncRef{"Goes", {}}}, {"body", FuncRef{"Body", {}}}});
  Ret(*graph, {loop, 0}, 0);
  Ret(*graph, {loop, 1}, 1);
  LowerControlFlow(*graph);
  EXPECT_EQ(Count("While"), 0);
  EXPECT_EQ(Count("Enter"), 2);
  EXPECT_EQ(Count("Merge"), 1);
  for (const bool dataflow : {false, true}) {
    const auto results = runner.Run(graph, {Tensor(3.0f), Tensor(3.0f)}, 2, dataflow);
    EXPECT_EQ(*results[0].data<float>(), 81.0f);
    EXPECT_EQ(*results[1].data<float>(), 3.0f);
  }
}

TEST_F(Lowering, InPlaceTheNodeStays) {
  DefineScale("Twice", 2);
  DefineScale("Thrice", 3);
  Node *p = Arg(*graph, 0, DT_BOOL), *x = Arg(*graph, 1, DT_FLOAT);
  Node* node = Add(*graph, "If", {{p, 0}, {x, 0}}, If("Twice", "Thrice"));
  Ret(*graph, {node, 0}, 0);
  const int id = node->id();
  const std::string name = node->name();
  const auto taken =
      LowerInPlace(*graph, [&] { return HasBodies(*node) ? std::vector<Node*>{node} : std::vector<Node*>(); });
  EXPECT_EQ(taken, std::vector<Node*>{node});
  EXPECT_EQ(graph->node(id), node);
  EXPECT_EQ(node->name(), name);
  EXPECT_EQ(node->op_name(), "IdentityN");
  EXPECT_EQ(*runner.Run(graph, {Tensor(true), Tensor(5.0f)}, 1, true)[0].data<float>(), 10.0f);
}

TEST_F(Lowering, ABodyThatContainsItselfIsLeft) {
  DefineScale("Stop", 2);
  // A branch that holds the same conditional; what it names comes into the library only after it.
  DefineScale("Again", 1);
  Define("Again2", {DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
    Node* p = Add(g, "Const", {}, {{"value", Tensor(false)}, {"dtype", DT_BOOL}});
    return {{Add(g, "If", {{p, 0}, args[0]}, If("Again2", "Stop")), 0}};
  });
  Node *p = Arg(*graph, 0, DT_BOOL), *x = Arg(*graph, 1, DT_FLOAT);
  Ret(*graph, {Add(*graph, "If", {{p, 0}, {x, 0}}, If("Again2", "Stop")), 0}, 0);
  LowerControlFlow(*graph);
  EXPECT_EQ(Count("If"), 1);
}

TEST_F(Lowering, SmallCallsAreInlined) {
  DefineScale("Twice", 2);
  Node* x = Arg(*graph, 0, DT_FLOAT);
  const AttrMap callee{{"f", FuncRef{"Twice", {}}}, {"Tout", std::vector<DataType>{DT_FLOAT}}};
  Node* first = Add(*graph, "PartitionedCall", {{x, 0}}, callee);
  Node* second = Add(*graph, "Twice", {{first, 0}});
  Ret(*graph, {second, 0}, 0);
  InlineCalls(*graph);
  EXPECT_EQ(Count("PartitionedCall") + Count("Twice"), 0);
  EXPECT_EQ(Count("Mul"), 2);
  EXPECT_EQ(*runner.Run(graph, {Tensor(5.0f)}, 1, false)[0].data<float>(), 20.0f);
}

// "f20" calls "f19" twice, and so on: a few functions describe more nodes than there is memory for.
TEST_F(Lowering, NestedCallsAreInlinedUpToABound) {
  const AttrMap type{{"Tout", std::vector<DataType>{DT_FLOAT}}};
  DefineScale("f0", 2);
  for (int i = 1; i <= 40; ++i) {
    Define("f" + std::to_string(i), {DT_FLOAT},
           [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
             AttrMap callee = type;
             callee.Set("f", FuncRef{"f" + std::to_string(i - 1), {}});
             const Endpoint once{Add(g, "PartitionedCall", args, callee), 0};
             return {{Add(g, "PartitionedCall", {once}, callee), 0}};
           });
  }
  Node* x = Arg(*graph, 0, DT_FLOAT);
  AttrMap callee = type;
  callee.Set("f", FuncRef{"f40", {}});
  Ret(*graph, {Add(*graph, "PartitionedCall", {{x, 0}}, callee), 0}, 0);
  InlineCalls(*graph);
  EXPECT_GT(Count("PartitionedCall"), 0);
  EXPECT_LT(graph->num_nodes(), 100'000);
}

TEST_F(Lowering, NestedConditionalsAreLoweredUpToABound) {
  DefineScale("f0", 2);
  for (int i = 1; i <= 40; ++i) {
    Define("f" + std::to_string(i), {DT_FLOAT},
           [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
             Node* p = Add(g, "Const", {}, {{"value", Tensor(true)}, {"dtype", DT_BOOL}});
             const std::string inner = "f" + std::to_string(i - 1);
             return {{Add(g, "If", {{p, 0}, args[0]}, If(inner, inner)), 0}};
           });
  }
  Node *p = Arg(*graph, 0, DT_BOOL), *x = Arg(*graph, 1, DT_FLOAT);
  Ret(*graph, {Add(*graph, "If", {{p, 0}, {x, 0}}, If("f40", "f40")), 0}, 0);
  LowerControlFlow(*graph);
  EXPECT_GT(Count("If"), 0);
  EXPECT_LT(graph->num_nodes(), 300'000);
}

TEST_F(Lowering, CallsThatAreNotInlined) {
  DefineScale("Twice", 2);
  Define("Draws", {DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
    Node* shape = Add(g, "Const", {}, {{"value", Tensor(DT_INT32, Shape({0}))}, {"dtype", DT_INT32}});
    Node* drawn = Add(g, "RandomStandardNormal", {{shape, 0}}, {{"dtype", DT_FLOAT}});
    return {{Add(g, "Mul", {args[0], {drawn, 0}}), 0}};
  });
  Define("Itself", {DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
    return {{Add(g, "PartitionedCall", args, {{"f", FuncRef{"Itself", {}}}, {"Tout", std::vector<DataType>{DT_FLOAT}}}),
             0}};
  });
  Node* x = Arg(*graph, 0, DT_FLOAT);
  const auto call = [&](const std::string& name, AttrMap attrs = {}) {
    attrs.Set("f", FuncRef{name, {}});
    attrs.Set("Tout", std::vector<DataType>{DT_FLOAT});
    Add(*graph, "PartitionedCall", {{x, 0}}, attrs);
  };
  call("Twice", {{"_noinline", true}});
  call("Draws");
  call("Itself");  // once: what comes out of it is left
  InlineCalls(*graph);
  EXPECT_EQ(Count("PartitionedCall"), 3);
}

TEST_F(Lowering, WhatIsInlinedWaitsForWhatTheCallWaitsFor) {
  Define("Constant", {DT_FLOAT}, [&](Graph& g, const std::vector<Endpoint>&) -> std::vector<Endpoint> {
    return {{Add(g, "Const", {}, {{"value", Tensor(1.0f)}, {"dtype", DT_FLOAT}}), 0}};
  });
  Node *x = Arg(*graph, 0, DT_FLOAT), *p = Arg(*graph, 1, DT_BOOL);
  Node* gate = Add(*graph, "Switch", {{x, 0}, {p, 0}});
  // In a branch: the constant inside must not be alive on the other side.
  Node* call = Add(*graph, "PartitionedCall", {{gate, 1}},
                   {{"f", FuncRef{"Constant", {}}}, {"Tout", std::vector<DataType>{DT_FLOAT}}});
  Ret(*graph, {Add(*graph, "Merge", {{gate, 0}, {call, 0}}), 0}, 0);
  InlineCalls(*graph);
  EXPECT_EQ(Count("PartitionedCall"), 0);
  EXPECT_EQ(*runner.Run(graph, {Tensor(5.0f), Tensor(true)}, 1, true)[0].data<float>(), 1.0f);
  EXPECT_EQ(*runner.Run(graph, {Tensor(5.0f), Tensor(false)}, 1, true)[0].data<float>(), 5.0f);
}

TEST_F(Lowering, ALongBranchThatNobodyNeedsIsDropped) {
  for (const int length : {60000, 0}) {
    Define(length > 0 ? "Long" : "Short", {DT_FLOAT},
           [&](Graph& g, const std::vector<Endpoint>& args) -> std::vector<Endpoint> {
             Endpoint x = args[0];
             for (int i = 0; i < length; ++i) x = {Add(g, "Neg", {x}), 0};
             return {args[0], x};
           });
  }
  Node *p = Arg(*graph, 0, DT_BOOL), *x = Arg(*graph, 1, DT_FLOAT);
  AttrMap attrs = If("Long", "Short");
  attrs.Set("Tout", std::vector<DataType>{DT_FLOAT, DT_FLOAT});
  attrs.Set("_lower_using_switch_merge", true);
  Ret(*graph, {Add(*graph, "If", {{p, 0}, {x, 0}}, attrs), 0}, 0);
  LowerControlFlow(*graph, /*only_needed=*/true);
  EXPECT_EQ(Count("Neg"), 0);
  EXPECT_EQ(*runner.Run(graph, {Tensor(true), Tensor(5.0f)}, 1, true)[0].data<float>(), 5.0f);
}

TEST_F(Lowering, WrongArgumentsAreRefused) {
  DefineScale("Twice", 2);
  Node* p = Arg(*graph, 0, DT_BOOL);
  Add(*graph, "If", {{p, 0}}, If("Twice", "Twice"));
  EXPECT_THROW(LowerControlFlow(*graph), Error);
}

}  // namespace
}  // namespace penstock
