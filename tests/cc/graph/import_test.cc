#include "penstock/graph/import.h"

#include <gtest/gtest.h>

#include "penstock/graph/export.h"

namespace penstock {
namespace {

// Ops of few words, as TensorFlow's own tests of its importer have them.
const OpRegistry& TestOps() {
  static const OpRegistry* ops = [] {
    auto* ops = new OpRegistry();
    ops->Add("None").Shape(shapes::None);
    ops->Add("IntOutput").Output("a: int32").Shape(shapes::Scalar);
    ops->Add("FloatOutput").Output("a: float").Shape(shapes::Scalar);
    ops->Add("TwoOutputs").Output("a: int32").Output("b: float").Shape(shapes::Scalar);
    ops->Add("IntInput").Input("a: int32");
    ops->Add("FloatInput").Input("a: float");
    ops->Add("IntInputFloatInput").Input("a: int32").Input("b: float");
    ops->Add("Same").Input("x: T").Output("y: T").Attr("T: type").Shape(shapes::SameAsInput0);
    ops->Add("Typed").Output("y: t").Attr("t: type");
    ops->Add("Many").Output("y: N * int32").Attr("N: int >= 1");
    ops->Add("Default").Attr("f: float = 123.0").Attr("l: list(int) = [1, 2]");
    ops->Add("Old").Deprecated(5, "Use Same");
    ops->Add("Handle").Output("h: Ref(string)").Shape(shapes::Scalar).Stateful();
    ops->Add("Enter").Input("data: T").Output("output: T").Attr("T: type").Shape(shapes::SameAsInput0).Is(Flow::kEnter);
    ops->Add("Merge")
        .Input("inputs: N * T")
        .Output("output: T")
        .Output("value_index: int32")
        .Attr("T: type")
        .Attr("N: int >= 1")
        .Shape([](ShapeContext& c) {
          c.out(0, c.in(0));
          c.out(1, PartialShape(Shape()));
        })
        .Is(Flow::kMerge);
    ops->Add("NextIteration")
        .Input("data: T")
        .Output("output: T")
        .Attr("T: type")
        .Shape(shapes::SameAsInput0)
        .Is(Flow::kNextIteration);
    return ops;
  }();
  return *ops;
}

NodeDef MakeNode(std::string name, std::string op, std::vector<std::string> inputs = {}, AttrMap attrs = {}) {
  NodeDef def;
  def.name = std::move(name);
  def.op = std::move(op);
  def.inputs = std::move(inputs);
  def.attrs = std::move(attrs);
  return def;
}

GraphDef Def(std::vector<NodeDef> nodes) {
  GraphDef def;
  def.nodes = std::move(nodes);
  return def;
}

class Import : public testing::Test {
 protected:
  Graph graph{TestOps()};

  ImportResults Run(std::vector<NodeDef> nodes, const ImportOptions& options = {}) {
    return ImportGraphDef(Def(std::move(nodes)), options, &graph);
  }
  // Which must fail and leave no trace.
  std::string Message(GraphDef def, const ImportOptions& options = {}) {
    const int nodes = graph.num_nodes();
    const auto library = graph.library();
    try {
      ImportGraphDef(std::move(def), options, &graph);
    } catch (const Error& e) {
      EXPECT_EQ(graph.num_nodes(), nodes);
      EXPECT_EQ(graph.library(), library);
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  std::string Message(std::vector<NodeDef> nodes, const ImportOptions& options = {}) {
    return Message(Def(std::move(nodes)), options);
  }
};

TEST_F(Import, NodesComeInTopologicalOrderAndKeepTheirOwnWhereTheyCan) {
  const auto results =
      Run({MakeNode("c", "IntInput", {"a"}), MakeNode("b", "FloatOutput"), MakeNode("a", "IntOutput", {"^b"})});
  std::vector<std::string> names;
  for (const Node* node : results.nodes) names.push_back(node->name());
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(graph.FindNode("a")->control_inputs()[0], graph.FindNode("b"));
}

TEST_F(Import, PrefixesAndTakenNames) {
  Run({MakeNode("x", "IntOutput")}, {.prefix = "import"});
  EXPECT_TRUE(graph.FindNode("import/x"));
  Run({MakeNode("x", "IntOutput")}, {.prefix = "import"});
  EXPECT_TRUE(graph.FindNode("import_1/x"));
  Run({MakeNode("x", "IntOutput"),
       MakeNode("y", "IntInput", {"x:0"}, {{"_class", std::vector<std::string>{"loc:@x"}}})},
      {.prefix = "import/", .uniquify_prefix = false});
  ASSERT_TRUE(graph.FindNode("import/x_1"));
  const Node* y = graph.FindNode("import/y");
  EXPECT_EQ(y->input(0).node->name(), "import/x_1");
  EXPECT_EQ(y->ColocationGroups(), std::vector<std::string>{"import/x_1"});
  Run({MakeNode("import", "IntOutput")});  // the name of a scope is taken, too
  EXPECT_TRUE(graph.FindNode("import_2"));
  EXPECT_NE(Message({MakeNode("x", "IntOutput")}, {.prefix = "im port"}).find("would lead to invalid node names"),
            std::string::npos);
}

TEST_F(Import, InputsAreMapped) {
  const auto before = Run({MakeNode("p", "TwoOutputs"), MakeNode("q", "None")});
  ImportOptions options;
  options.prefix = "i";
  options.input_map = {{"a:1", {before.nodes[0], 1}},
                       {"b", {before.nodes[0], 0}},
                       {"a:0", {before.nodes[0], 0}},
                       {"nowhere:0", {before.nodes[0], 0}},
                       {"b:7", {before.nodes[0], 0}}};
  options.control_input_map = {{"^c", before.nodes[1]}, {"d", before.nodes[1]}};
  options.return_tensors = {"a:1", "e"};
  options.return_ops = {"f"};
  const auto results = Run({MakeNode("a", "TwoOutputs"), MakeNode("b", "IntOutput"), MakeNode("e", "IntOutput"),
                            MakeNode("f", "IntInputFloatInput", {"b", "a:1", "^c"})},
                           options);
  const Node* f = graph.FindNode("i/f");
  EXPECT_EQ(f->input(0).name(), "p:0");
  EXPECT_EQ(f->input(1).name(), "p:1");
  EXPECT_EQ(f->control_inputs()[0]->name(), "q");
  EXPECT_EQ(results.return_tensors[0].name(), "p:1");
  EXPECT_EQ(results.return_tensors[1].name(), "i/e:0");
  EXPECT_EQ(results.return_ops[0], f);
  EXPECT_EQ(results.unused_input_map_keys, (std::vector<std::string>{"b:7", "nowhere:0", "d"}));
}

TEST_F(Import, ControlInputsGoWhereNothingElseBringsThem) {
  const auto before = Run({MakeNode("p", "None")});
  ImportOptions options;
  options.prefix = "i";
  options.control_inputs = {before.nodes[0]};
  Run({MakeNode("a", "IntOutput"), MakeNode("b", "IntInput", {"a"})}, options);
  EXPECT_EQ(graph.FindNode("i/a")->control_inputs().size(), 1u);
  EXPECT_TRUE(graph.FindNode("i/b")->control_inputs().empty());
}

// The key phrases are those that TensorFlow's tests look for.
TEST_F(Import, WhatIsMalformedIsRefused) {
  const auto has = [&](std::vector<NodeDef> nodes, std::string_view text, const ImportOptions& options = {}) {
    const std::string message = Message(std::move(nodes), options);
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  has({MakeNode("A", "IntOutput"), MakeNode("B", "IntOutput"), MakeNode("A", "IntOutput")}, "Node 'A' is not unique");
  has({MakeNode("_A", "IntOutput")}, "Node name contains invalid characters");
  has({MakeNode("a b", "IntOutput")}, "Node name contains invalid characters");
  has({MakeNode("", "IntOutput")}, "Node name contains invalid characters");
  has({MakeNode("A", "")}, "Node 'A' does not specify an operation");
  has({MakeNode("A", "IntOutput", {"^B", "B"})}, "Control dependencies must come after regular dependencies");
  has({MakeNode("B", "FloatInput", {"A:0"})}, "Node 'B': Unknown input node 'A:0'");
  has({MakeNode("B", "None", {"^A"})}, "Node 'B': Unknown input node '^A'");
  has({MakeNode("B", "None", {"A:B"})}, "Node 'B': Unknown input node 'A:B'");
  has({MakeNode("B", "None", {"A:B:0"})}, "Node 'B': Unknown input node 'A:B:0'");
  has({MakeNode("B", "None", {":0"})}, "Unknown input node ':0'");
  has({MakeNode("B", "None", {""})}, "Unknown input node ''");
  has({MakeNode("A", "FloatOutput"), MakeNode("B", "FloatInput", {"A:1"})},
      "Node 'B': Connecting to invalid output 1 of source node A which has 1 outputs");
  has({MakeNode("A", "IntOutput"), MakeNode("B", "FloatInput", {"A:0"})},
      "Input 0 of node import/B was passed int32 from import/A:0 incompatible with expected float.",
      {.prefix = "import"});
  has({MakeNode("A", "IntOutput"), MakeNode("B", "None", {"A:0"})},
      "NodeDef expected inputs '' do not match 1 inputs specified");
  has({MakeNode("A", "IntOutput"), MakeNode("B", "IntInputFloatInput", {"A:0"})},
      "NodeDef expected inputs 'int32, float' do not match 1 inputs specified");
  has({MakeNode("A", "IntOutput"), MakeNode("B", "Same", {"A:0"})}, "NodeDef missing attr 'T' from Op<name=Same");
  has({MakeNode("A", "None", {}, {{"x", 1}})}, "NodeDef mentions attr 'x' not in Op<name=None");
  has({MakeNode("A", "Many", {}, {{"N", 0}})}, "must be at least minimum 1");
  has({MakeNode("A", "Many", {}, {{"N", int64_t{1} << 40}})}, "outputs");
  has({MakeNode("A", "Many", {}, {{"N", "x"}})}, "AttrValue had value with type 'string' when 'int' expected");
  has({MakeNode("A", "Typed", {}, {{"t", static_cast<DataType>(77)}})}, "AttrValue has invalid DataType");
  has({MakeNode("A", "Typed", {}, {{"t", RefType(DT_INT8)}})},
      "AttrValue must not have reference type value of int8_ref");
  has({MakeNode("a", "None", {"^b"}), MakeNode("b", "None", {"^a"})}, "2 nodes in a cycle");
  has({MakeNode("a", "None", {"^a"})}, "1 nodes in a cycle");
  has({MakeNode("B", "None", {}, {{"_class", std::vector<std::string>{"loc:@A"}}})},
      "Node 'B' expects to be colocated with unknown node 'A'");
  has({MakeNode("A", "IntOutput")}, "Requested return node 'B' not found in graph def", {.return_ops = {"B"}});
  has({MakeNode("A", "IntOutput")}, "Requested return tensor 'B:0' not found in graph def",
      {.return_tensors = {"B:0"}});
  has({MakeNode("A", "IntOutput")}, "Invalid return output 1 of node 'A', which has 1 output(s)",
      {.return_tensors = {"A:1"}});
  has({MakeNode("A", "Foo"), MakeNode("B", "Bar"), MakeNode("C", "Foo")},
      "Op type not registered 'Foo' (node 'A'); 2 unknown ops in all: Bar, Foo");
  has({MakeNode("A", "FloatOutput", {}, {{"_output_shapes", std::vector<PartialShape>{PartialShape({43})}}})},
      "inconsistent with the GraphDef for output #0");
}

TEST_F(Import, OutputShapesAreTaken) {
  Run({MakeNode("a", "Many", {},
                {{"N", 2}, {"_output_shapes", std::vector<PartialShape>{PartialShape({2}), PartialShape()}}}),
       MakeNode("h", "Handle", {}, {{"_output_shapes", std::vector<PartialShape>{PartialShape({2})}}})});
  EXPECT_EQ(graph.FindNode("a")->shape(0), PartialShape({2}));
  EXPECT_FALSE(graph.FindNode("a")->attrs().Find("_output_shapes"));
  EXPECT_EQ(graph.FindNode("h")->shape(0),
            PartialShape(std::vector<int64_t>()));  // ours, where the writer's is known to be wrong
}

TEST_F(Import, VersionsAreCheckedAndMerged) {
  GraphDef def = Def({MakeNode("a", "None")});
  def.versions.producer = -1;
  EXPECT_NE(Message(def).find("GraphDef producer version -1 below min producer 0 supported by TensorFlow 1.15.5.  "
                              "Please regenerate your graph."),
            std::string::npos);
  def.versions = {20, 1 << 30, {}};
  EXPECT_NE(
      Message(def).find("GraphDef min consumer version 1073741824 above current version 134 for TensorFlow 1.15.5.  "
                        "Please upgrade TensorFlow."),
      std::string::npos);
  def.versions = {20, 3, {kGraphDefVersion}};
  EXPECT_NE(Message(def).find("disallows consumer version"), std::string::npos);
  def.versions = {20, 3, {7}};
  ImportGraphDef(def, {}, &graph);
  EXPECT_EQ(graph.versions().producer, 20);
  EXPECT_EQ(graph.versions().min_consumer, 3);
  EXPECT_EQ(graph.versions().bad_consumers, std::vector<int>{7});

  GraphDef old = Def({MakeNode("o", "Old")});
  old.versions.producer = 4;
  ImportGraphDef(old, {}, &graph);
  old.versions.producer = 5;
  EXPECT_NE(Message(old, {.prefix = "p"})
                .find("Op Old is not available in GraphDef version 5. It has been removed in version 5. Use Same."),
            std::string::npos);
}

TEST_F(Import, DefaultsAreFilledInAndThoseOfNewerWritersDropped) {
  OpDef newer = *TestOps().Find("None");
  AttrDef& attr = newer.attrs.emplace_back();
  attr.name = "future";
  attr.kind = "int";
  attr.default_value = 456;
  const std::vector<OpDef> producer = {newer};
  Run({MakeNode("a", "Default", {}, {{"_anything", std::vector<float>{1}}, {"l", EmptyList()}}),
       MakeNode("b", "None", {}, {{"future", 456}})},
      {.producer_ops = &producer});
  EXPECT_EQ(graph.FindNode("a")->attr<float>("f"), 123.0f);
  EXPECT_EQ(graph.FindNode("a")->attrs().Find("l")->KindName(), "list(int)");
  EXPECT_FALSE(graph.FindNode("b")->attrs().Find("future"));
  EXPECT_NE(Message({MakeNode("c", "None", {}, {{"future", 1}})}, {.producer_ops = &producer}).find("not in Op"),
            std::string::npos);
}

TEST_F(Import, LoopsAreClosed) {
  const AttrMap t = {{"T", DT_INT32}}, two = {{"T", DT_INT32}, {"N", 2}};
  const std::vector<NodeDef> loop = {
      MakeNode("next", "NextIteration", {"body"}, t), MakeNode("merge", "Merge", {"enter", "next"}, two),
      MakeNode("body", "Same", {"merge"}, t), MakeNode("enter", "Enter", {"x"}, t), MakeNode("x", "IntOutput")};
  Run(loop);
  const Node* merge = graph.FindNode("merge");
  EXPECT_EQ(merge->input(0).name(), "enter:0");
  EXPECT_EQ(merge->input(1).name(), "next:0");
  EXPECT_FALSE(merge->shape(0).known_rank());
  EXPECT_EQ(graph.FindNode("next")->consumers().size(), 1u);
  EXPECT_EQ(graph.FindNode("enter")->consumers().size(), 1u);

  std::vector<NodeDef> endless = {MakeNode("next", "NextIteration", {"merge"}, t),
                                  MakeNode("merge", "Merge", {"next", "next"}, two)};
  EXPECT_NE(Message(endless, {.prefix = "e"}).find("in a cycle"), std::string::npos);
  std::vector<NodeDef> wrong = loop;
  wrong[1].inputs[1] = "next:3";
  EXPECT_NE(Message(wrong, {.prefix = "w"}).find("invalid output 3"), std::string::npos);
}

TEST_F(Import, FunctionsAreImportedAndCalled) {
  auto f = std::make_shared<FunctionDef>();
  f->signature.name = "F";
  f->signature.inputs.emplace_back().name = "x";
  f->signature.inputs[0].type = DT_INT32;
  f->signature.outputs.emplace_back().name = "y";
  f->signature.outputs[0].type = DT_FLOAT;
  f->ret = {{"y", "x"}};
  GraphDef def = Def({MakeNode("a", "IntOutput"), MakeNode("call", "F", {"a"}), MakeNode("b", "FloatInput", {"call"})});
  def.functions = {f};
  def.gradients = {{"F", "G"}};
  GraphDef broken = def;
  broken.nodes.push_back(MakeNode("c", "Foo"));
  Message(broken);
  ImportGraphDef(def, {}, &graph);
  EXPECT_EQ(graph.FindNode("call")->output_type(0), DT_FLOAT);
  EXPECT_EQ(graph.library()->GradientOf("F"), "G");

  auto other = std::make_shared<FunctionDef>(*f);
  other->ret = {{"y", "z"}};
  def.functions = {other};
  EXPECT_NE(Message(def, {.prefix = "p"}).find("Cannot add function 'F'"), std::string::npos);
  other->signature.name = "None";
  EXPECT_NE(Message(def, {.prefix = "p"}).find("op with the same name"), std::string::npos);
}

TEST_F(Import, DevicesAreAskedFor) {
  Run({MakeNode("a", "IntOutput"), MakeNode("b", "IntInput", {"a"})},
      {.prefix = "p",
       .device_function = [](const NodeDef& def) { return "/" + def.name + std::to_string(def.inputs.size()); }});
  EXPECT_EQ(graph.FindNode("p/a")->device(), "/p/a0");
  EXPECT_EQ(graph.FindNode("p/b")->device(), "/p/b1");
}

TEST_F(Import, ExportGivesBackWhatWasImported) {
  GraphDef def = Def({MakeNode("a", "TwoOutputs"), MakeNode("b", "IntInputFloatInput", {"a", "a:1", "^d", "^c"}),
                      MakeNode("c", "None"), MakeNode("d", "None")});
  def.nodes[0].device = "/cpu:0";
  def.versions = {20, 1, {}};
  ImportGraphDef(def, {}, &graph);
  EXPECT_EQ(ToNodeDef(*graph.FindNode("b")).inputs, (std::vector<std::string>{"a", "a:1", "^d", "^c"}));
  const GraphDef out = ToGraphDef(graph, 0, true);
  ASSERT_EQ(out.nodes.size(), 4u);
  EXPECT_EQ(out.nodes[0].device, "/cpu:0");
  EXPECT_EQ(*out.nodes[0].attrs.Find("_output_shapes"), AttrValue(std::vector<PartialShape>(2, PartialShape(Shape()))));
  EXPECT_EQ(out.nodes[3].inputs, (std::vector<std::string>{"a", "a:1", "^c", "^d"}));
  EXPECT_EQ(out.versions.producer, 20);
  EXPECT_EQ(ToGraphDef(graph, 3).nodes.size(), 1u);
}

// Work that grows with the square of the nodes would take hours here.
TEST_F(Import, LargeGraphs) {
  std::vector<NodeDef> nodes = {MakeNode("n0", "IntOutput")};
  std::vector<std::string> all;
  for (int i = 1; i < 100000; ++i) {
    nodes.push_back(MakeNode(StrCat("n", i), "Same", {StrCat("n", i - 1)}, {{"T", DT_INT32}}));
    all.push_back(StrCat("^n", i));
  }
  nodes.push_back(MakeNode("all", "None", all));
  Run(nodes, {.prefix = "p"});
  EXPECT_EQ(ToGraphDef(graph).nodes.size(), 100001u);
}

}  // namespace
}  // namespace penstock
