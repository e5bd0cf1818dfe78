#include "penstock/graph/function.h"

#include <gtest/gtest.h>

#include "penstock/engine/engine.h"

namespace penstock {
namespace {

class Functions : public testing::Test {
 protected:
  static void SetUpTestSuite() { Initialize(); }
  Node* Add(std::string op, std::string name, std::vector<Endpoint> inputs = {}, AttrMap attrs = {},
            std::vector<Node*> controls = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    spec.name = std::move(name);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    spec.control_inputs = std::move(controls);
    return graph.AddNode(std::move(spec));
  }
  Node* Placeholder(std::string name, DataType type = DT_FLOAT) {
    return Add("Placeholder", std::move(name), {}, {{"dtype", type}});
  }
  template <class F>
  std::string Message(F call) {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  Graph graph;
  FunctionLibraryPtr library = std::make_shared<FunctionLibrary>();
};

// Names as TensorFlow 1.15 gives them: results first, then arguments, then nodes.
TEST_F(Functions, NamesAreNormalisedAndUnique) {
  Node* x = Placeholder("x");
  Node* c = Placeholder("Sc/Op_1_placeholder");
  Node* z = Add("AddV2", "Sc/Op_1", {{x, 0}, {c, 0}});
  Node* axis = Add("Const", "split/split_dim", {}, {{"value", Tensor(0)}, {"dtype", DT_INT32}});
  Node* split = Add("Split", "split", {{axis, 0}, {z, 0}}, {{"num_split", 2}}, {z});
  FunctionSpec spec;
  spec.name = "Foo";
  spec.inputs = {{x, 0}, {c, 0}};
  spec.outputs = {{split, 1}, {x, 0}};
  spec.control_outputs = {z};
  spec.attrs = {{"_noinline", true}};
  const auto f = GraphToFunction(graph, spec);
  EXPECT_EQ(f->signature.inputs[0].name, "x_0");
  EXPECT_EQ(f->signature.inputs[1].name, "sc_op_1_placeholder");
  EXPECT_EQ(f->signature.outputs[0].name, "split");
  EXPECT_EQ(f->signature.outputs[1].name, "x");
  EXPECT_EQ(f->ret.at("split"), "split_0:output:1");
  EXPECT_EQ(f->ret.at("x"), "x_0");
  EXPECT_EQ(f->control_ret.at("Sc/Op_1"), "Sc/Op_1");
  ASSERT_EQ(f->nodes.size(), 3u);
  EXPECT_EQ(f->nodes[0].inputs, (std::vector<std::string>{"x_0", "sc_op_1_placeholder"}));
  EXPECT_EQ(f->nodes[2].inputs, (std::vector<std::string>{"split/split_dim:output:0", "Sc/Op_1:z:0", "^Sc/Op_1"}));
  EXPECT_EQ(f->attrs, spec.attrs);
  EXPECT_FALSE(f->signature.traits.stateful);

  const FunctionBody body = Instantiate(*f, {}, library);
  ASSERT_EQ(body.args.size(), 2u);
  ASSERT_EQ(body.rets.size(), 2u);
  EXPECT_EQ(body.args[1]->attr<int64_t>("index"), 1);
  EXPECT_EQ(body.rets[0]->input(0).name(), "split_0:1");
  EXPECT_EQ(body.rets[1]->input(0).node, body.args[0]);
  EXPECT_EQ(body.control_rets[0]->name(), "Sc/Op_1");
  EXPECT_EQ(body.ret_types, (std::vector<DataType>{DT_FLOAT, DT_FLOAT}));
  EXPECT_EQ(body.graph->num_nodes(), 7);
}

TEST_F(Functions, AHashTellsBodiesApart) {
  Node* x = Placeholder("x");
  Node* a = Add("Const", "a", {}, {{"value", Tensor(1.0f)}, {"dtype", DT_FLOAT}});
  Node* b = Add("Const", "b", {}, {{"value", Tensor(2.0f)}, {"dtype", DT_FLOAT}});
  FunctionSpec spec;
  spec.name = "F";
  spec.append_hash = true;
  spec.inputs = {{x, 0}};
  spec.output_names = {"out"};
  std::vector<std::string> names;
  for (Node* constant : {a, b, a}) {
    spec.nodes = {constant};
    spec.outputs = {{constant, 0}};
    const auto f = GraphToFunction(graph, spec);
    EXPECT_EQ(f->signature.outputs[0].name, "out");
    names.push_back(f->signature.name);
  }
  EXPECT_EQ(names[0].size(), 13u);
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(names[0], names[2]);
}

TEST_F(Functions, WhatIsOutsideTheBodyIsAnError) {
  Node* x = Placeholder("x");
  Node* y = Add("Identity", "y", {{x, 0}});
  Node* z = Add("Identity", "z", {{y, 0}}, {}, {x});
  FunctionSpec spec;
  spec.name = "F";
  spec.nodes = {z};
  spec.outputs = {{z, 0}};
  EXPECT_NE(Message([&] {
              GraphToFunction(graph, spec);
            }).find("Input 0, 'y:0', of node 'z' in function 'F' is not available"),
            std::string::npos);
  spec.inputs = {{y, 0}};
  EXPECT_NE(Message([&] { GraphToFunction(graph, spec); }).find("control edge"), std::string::npos);
  spec.inputs = {{y, 0}, {y, 0}};
  EXPECT_NE(Message([&] { GraphToFunction(graph, spec); }).find("more than once in the input list"), std::string::npos);
  spec.inputs = {};
  spec.nodes = {x, y, z};
  spec.outputs = {{z, 0}, {y, 0}};
  spec.output_names = {"o", "o"};
  EXPECT_NE(Message([&] { GraphToFunction(graph, spec); }).find("Cannot have duplicate output names"),
            std::string::npos);
  spec.output_names = {};
  spec.nodes = {x, y};
  EXPECT_NE(Message([&] { GraphToFunction(graph, spec); }).find("neither in the function body"), std::string::npos);
}

// (x: N*T, y: T) -> (sums: N*T, all: T): lists, placeholders and whole-list references.
FunctionDef ListFunction() {
  FunctionDef f;
  f.signature.name = "Lists";
  f.signature.inputs.resize(2);
  f.signature.inputs[0].name = "x";
  f.signature.inputs[0].number_attr = "N";
  f.signature.inputs[0].type_attr = "T";
  f.signature.inputs[1].name = "y";
  f.signature.inputs[1].type_attr = "T";
  f.signature.outputs.resize(2);
  f.signature.outputs[0].name = "same";
  f.signature.outputs[0].number_attr = "N";
  f.signature.outputs[0].type_attr = "T";
  f.signature.outputs[1].name = "all";
  f.signature.outputs[1].type_attr = "T";
  f.signature.attrs.resize(2);
  f.signature.attrs[0].name = "T";
  f.signature.attrs[0].kind = "type";
  f.signature.attrs[1].name = "N";
  f.signature.attrs[1].kind = "int";
  f.signature.attrs[1].default_value = 2;
  NodeDef n;
  n.name = "s";
  n.op = "AddN";
  n.inputs = {"x", "^id"};
  n.attrs = {{"T", AttrPlaceholder{"T"}}, {"N", AttrPlaceholder{"N"}}};
  f.nodes.push_back(n);
  n.name = "id";
  n.op = "IdentityN";
  n.inputs = {"x:1", "y"};
  n.attrs = {{"T", std::vector<DataType>{DT_INT64, DT_INT64}}};
  f.nodes.push_back(n);
  f.ret = {{"same", "id:output"}, {"all", "s:sum"}};
  return f;
}

TEST_F(Functions, ListsAndPlaceholdersAreFilledIn) {
  const FunctionDef f = ListFunction();
  const FunctionBody body = Instantiate(f, {{"T", DT_INT64}}, library);
  ASSERT_EQ(body.args.size(), 3u);
  EXPECT_EQ(body.args[0]->name(), "x_0");
  EXPECT_EQ(body.args[2]->name(), "y");
  const Node* s = body.graph->FindNode("s");
  EXPECT_EQ(s->num_inputs(), 2);
  EXPECT_EQ(s->attr<DataType>("T"), DT_INT64);
  EXPECT_EQ(body.graph->FindNode("id")->input(0).node, body.args[1]);
  ASSERT_EQ(body.rets.size(), 3u);
  EXPECT_EQ(body.rets[1]->input(0).name(), "id:1");
  EXPECT_EQ(body.rets[2]->input(0).name(), "s:0");
}

TEST_F(Functions, BadBodiesAreRefused) {
  const auto fails = [&](auto change, std::string_view text, AttrMap attrs = {{"T", DT_INT64}}) {
    FunctionDef f = ListFunction();
    change(f);
    const std::string message = Message([&] { Instantiate(f, attrs, library); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  fails([](FunctionDef&) {}, "attribute 'T'", {});
  fails([](FunctionDef&) {}, "wrong kind", {{"T", "x"}});
  fails([](FunctionDef&) {}, "is -1", {{"T", DT_INT64}, {"N", -1}});
  fails([](FunctionDef&) {}, "DataType", {{"T", DT_INVALID}});
  fails([](FunctionDef& f) { f.nodes[1].inputs[0] = "x:2"; },
        "input x:2 is not found; in node 'id' of function 'Lists'");
  fails([](FunctionDef& f) { f.nodes[1].inputs[0] = "nothing:0"; }, "input nothing:0 is not found");
  fails([](FunctionDef& f) { f.nodes[1].inputs[0] = "^nothing"; }, "input[^nothing] is not found");
  fails([](FunctionDef& f) { f.ret.erase("all"); }, "Return all of function 'Lists' missing");
  fails([](FunctionDef& f) { f.ret["all"] = "s"; }, "is not found");
  fails([](FunctionDef& f) { f.ret["all"] = "id:output"; }, "has 1 values, but id:output has 2");
  fails([](FunctionDef& f) { f.nodes[0].op = "Nope"; }, "Op type not registered 'Nope'");
  fails([](FunctionDef& f) { f.nodes[1].name = "s"; }, "s");
  fails([](FunctionDef& f) { f.nodes[0].attrs.Set("T", AttrPlaceholder{"U"}); }, "Failed to bind all placeholders");
  fails([](FunctionDef& f) { f.control_ret = {{"c", "nowhere"}}; }, "Control return c -> nowhere");
  fails([](FunctionDef& f) { f.nodes[1].inputs[0] = "s:sum:0"; }, "cycle");
}

TEST_F(Functions, PlaceholdersBecomeAttributes) {
  Node* x = Placeholder("x", DT_INT32);
  Node* y = Add("Identity", "y", {{x, 0}});
  graph.SetAttr(y, "T", AttrPlaceholder{"U"});
  FunctionSpec spec;
  spec.name = "F";
  spec.inputs = {{x, 0}};
  spec.outputs = {{y, 0}};
  const auto f = GraphToFunction(graph, spec);
  ASSERT_EQ(f->signature.attrs.size(), 1u);
  EXPECT_EQ(f->signature.attrs[0].name, "U");
  EXPECT_EQ(f->signature.attrs[0].kind, "type");
}

}  // namespace
}  // namespace penstock
