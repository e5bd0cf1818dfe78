// Every op that is defined here, against what TensorFlow says of it.
#include <gtest/gtest.h>

#include <set>

#include "penstock/graph/export.h"
#include "penstock/ops/all.h"
#include "penstock/ops/known_ops.h"

namespace penstock {
namespace {

const OpRegistry& Ops() {
  static const OpRegistry* ops = [] {
    auto* ops = new OpRegistry();
    RegisterAllOps(*ops);
    return ops;
  }();
  return *ops;
}

std::string Text(const ArgDef& arg) {
  return StrCat(arg.name, ": ", arg.is_ref ? "Ref " : "", arg.number_attr.empty() ? "" : arg.number_attr + " * ",
                arg.type_attr, arg.type_list_attr.empty() ? "" : "list " + arg.type_list_attr,
                arg.type == DT_INVALID ? "" : ToString(arg.type));
}

std::vector<std::string> Texts(const std::vector<ArgDef>& args) {
  std::vector<std::string> texts;
  for (const ArgDef& arg : args) texts.push_back(Text(arg));
  return texts;
}

// Without the list of allowed values, of which the order does not matter.
std::string Text(const AttrDef& attr) {
  return StrCat(attr.name, ": ", attr.kind, attr.has_minimum ? StrCat(" >= ", attr.minimum) : "",
                attr.has_default() ? StrCat(" = ", attr.default_value) : "");
}

std::vector<std::string> Texts(const std::vector<AttrDef>& attrs) {
  std::vector<std::string> texts;
  for (const AttrDef& attr : attrs) texts.push_back(Text(attr));
  return texts;
}

std::set<std::string> Allowed(const AttrDef& attr) {
  std::set<std::string> allowed;
  if (const auto* types = attr.allowed.If<std::vector<DataType>>()) {
    for (const DataType t : *types) allowed.insert(ToString(t));
  }
  if (const auto* strings = attr.allowed.If<std::vector<std::string>>())
    allowed.insert(strings->begin(), strings->end());
  return allowed;
}

TEST(Definitions, AreThoseOfTensorFlow) {
  int compared = 0;
  for (const OpDef* ours : Ops().All()) {
    const OpDef* theirs = FindKnownOp(ours->name);
    if (!theirs) continue;
    ++compared;
    SCOPED_TRACE(ours->name);
    EXPECT_EQ(Texts(ours->inputs), Texts(theirs->inputs));
    EXPECT_EQ(Texts(ours->outputs), Texts(theirs->outputs));
    EXPECT_EQ(Texts(ours->attrs), Texts(theirs->attrs));
    for (const AttrDef& attr : ours->attrs) {
      const AttrDef* other = theirs->FindAttr(attr.name);
      EXPECT_EQ(Allowed(attr), other ? Allowed(*other) : std::set<std::string>()) << attr.name;
    }
    EXPECT_EQ(ours->traits.stateful, theirs->traits.stateful);
    EXPECT_EQ(ours->traits.commutative, theirs->traits.commutative);
    EXPECT_EQ(ours->traits.aggregate, theirs->traits.aggregate);
    EXPECT_EQ(ours->traits.uninitialized_input, theirs->traits.uninitialized_input);
    EXPECT_EQ(ours->deprecated_since, theirs->deprecated_since);
  }
  EXPECT_GT(compared, 100);
}

TEST(KnownOps, AllCanBeRead) {
  const auto names = KnownOpNames();
  EXPECT_GT(names.size(), 1900u);
  for (const std::string& name : names) {
    const OpDef* op = FindKnownOp(name);
    ASSERT_NE(op, nullptr) << name;
    EXPECT_EQ(op->name, name);
    EXPECT_TRUE(op->known_by_name_only);
    for (const auto* args : {&op->inputs, &op->outputs}) {
      for (const ArgDef& arg : *args) {
        const bool fixed = arg.type != DT_INVALID;
        EXPECT_EQ(fixed + !arg.type_attr.empty() + !arg.type_list_attr.empty(), 1) << name << " " << arg.name;
        for (const std::string& attr : {arg.type_attr, arg.number_attr, arg.type_list_attr}) {
          EXPECT_TRUE(attr.empty() || op->FindAttr(attr)) << name << " " << attr;
        }
      }
    }
  }
  EXPECT_EQ(FindKnownOp("NoSuchOp"), nullptr);
  EXPECT_EQ(FindKnownOp(""), nullptr);
}

TEST(KnownOps, AttributesThatCameAfterVersionOne) {
  EXPECT_TRUE(IsNewerAttr("MatMul", "grad_a"));
  EXPECT_TRUE(IsNewerAttr("AssignVariableOp", "validate_shape"));
  EXPECT_FALSE(IsNewerAttr("MatMul", "transpose_a"));
  EXPECT_FALSE(IsNewerAttr("NoSuchOp", "a"));

  OpRegistry registry;
  RegisterAllOps(registry);
  Graph graph(registry);
  const auto x = Endpoint{graph.AddNode({"Placeholder", "x", {}, {}, {{"dtype", DT_FLOAT}}, ""}), 0};
  const Node* plain = graph.AddNode({"MatMul", "plain", {x, x}, {}, {}, ""});
  const Node* set = graph.AddNode({"MatMul", "set", {x, x}, {}, {{"grad_a", true}}, ""});
  EXPECT_FALSE(ToNodeDef(*plain, kGraphDefVersion).attrs.Find("grad_a"));
  EXPECT_TRUE(ToNodeDef(*plain, kGraphDefVersion).attrs.Find("transpose_a"));
  EXPECT_TRUE(ToNodeDef(*plain).attrs.Find("grad_a"));
  EXPECT_TRUE(ToNodeDef(*set, kGraphDefVersion).attrs.Find("grad_a"));
}

TEST(KnownOps, StandInWhereNoDefinitionIs) {
  EXPECT_EQ(Ops().Find("AudioSpectrogram") ? Ops().Find("AudioSpectrogram")->name : "", "AudioSpectrogram");
  EXPECT_FALSE(Ops().Find("Identity")->known_by_name_only);
  EXPECT_EQ(Ops().Find("NoSuchOp"), nullptr);
  const OpDef* table = FindKnownOp("InitializeTableFromTextFileV2");
  EXPECT_EQ(*table->FindAttr("delimiter")->default_value.If<std::string>(), "\t");
  EXPECT_EQ(table->FindAttr("vocab_size")->minimum, -1);
}

}  // namespace
}  // namespace penstock
