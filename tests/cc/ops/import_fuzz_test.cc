// Graphs of real ops, damaged at random: importing them gives a graph or an Error, whatever they are.
#include <gtest/gtest.h>

#include <random>

#include "penstock/graph/export.h"
#include "penstock/graph/import.h"
#include "penstock/ops/all.h"

namespace penstock {
namespace {

class ImportFuzz : public testing::Test {
 protected:
  ImportFuzz() { RegisterAllOps(ops_); }
  OpRegistry ops_;
  std::mt19937 rng_{7};
  int Random(int n) { return static_cast<int>(rng_() % n); }

  AttrValue RandomAttr(const std::string& kind) {
    const std::vector<int64_t> ints = {0, 1, -1, 2, 3, 1000, INT64_MAX, INT64_MIN, 1 << 20};
    const std::vector<DataType> types = {DT_FLOAT,   DT_INT32, DT_STRING,    DT_RESOURCE,
                                         DT_VARIANT, DT_BOOL,  DT_COMPLEX64, DT_HALF};
    const std::vector<PartialShape> shapes = {PartialShape(), PartialShape({}), PartialShape({2, 3}),
                                              PartialShape({-1, 0}), PartialShape({INT64_MAX, INT64_MAX})};
    const std::vector<std::string> strings = {"", "SAME", "VALID", "NHWC", "NCHW", "x,y->z", "(", "\xff"};
    const std::vector<Tensor> tensors = {Tensor(1),
                                         Tensor(2.0f),
                                         Tensor::Vector<int32_t>({1, -1, 0}),
                                         Tensor(TString("s")),
                                         Tensor(DT_FLOAT, Shape({0, 2})),
                                         Tensor::Vector<int64_t>({INT64_MAX, INT64_MAX})};
    const auto pick = [&](const auto& from) { return from[Random(static_cast<int>(from.size()))]; };
    const auto list = [&](const auto& from) {
      auto items = from;
      items.clear();
      for (int n = Random(4); n > 0; --n) items.push_back(pick(from));
      return AttrValue(items);
    };
    if (Random(20) == 0) return int64_t{5};
    if (kind == "int") return pick(ints);
    if (kind == "float") return Random(2) ? 0.5f : -1e30f;
    if (kind == "bool") return Random(2) == 1;
    if (kind == "string") return pick(strings);
    if (kind == "type") return pick(types);
    if (kind == "shape") return pick(shapes);
    if (kind == "tensor") return pick(tensors);
    if (kind == "func") return FuncRef{"f", {}};
    if (kind == "list(int)") return list(ints);
    if (kind == "list(type)") return list(types);
    if (kind == "list(shape)") return list(shapes);
    if (kind == "list(string)") return list(strings);
    if (kind == "list(tensor)") return list(tensors);
    return EmptyList();
  }

  // A node of a random op whose inputs come from the nodes before it.
  NodeDef RandomNode(const OpDef& op, const std::vector<NodeDef>& before) {
    NodeDef node;
    node.name = StrCat("n", before.size());
    node.op = op.name;
    for (const AttrDef& attr : op.attrs) {
      if (attr.has_default() && Random(2)) continue;
      const auto* types = attr.allowed.If<std::vector<DataType>>();
      if (types && attr.kind == "type") {
        node.attrs.Set(attr.name, (*types)[Random(std::min<int>(4, static_cast<int>(types->size())))]);
      } else {
        node.attrs.Set(attr.name, RandomAttr(attr.kind));
      }
    }
    for (const ArgDef& arg : op.inputs) {
      const AttrValue* n = arg.number_attr.empty() ? nullptr : node.attrs.Find(arg.number_attr);
      for (int64_t i = n && n->If<int64_t>() ? std::min<int64_t>(*n->If<int64_t>(), 3) : 1; i > 0; --i) {
        node.inputs.push_back(StrCat("n", Random(static_cast<int>(before.size())), Random(8) ? "" : ":1"));
      }
    }
    return node;
  }
};

TEST_F(ImportFuzz, RandomNodesNeverCrash) {
  std::vector<const OpDef*> all = ops_.All();
  std::vector<NodeDef> sources;
  for (const DataType t : {DT_FLOAT, DT_INT32, DT_INT64, DT_STRING, DT_BOOL}) {
    for (const PartialShape& shape :
         {PartialShape(), PartialShape({}), PartialShape({2}), PartialShape({2, 3, -1, 4})}) {
      sources.push_back({StrCat("n", sources.size()), "Placeholder", "", {}, {{"dtype", t}, {"shape", shape}}, {}, {}});
    }
  }
  for (const Tensor& value :
       {Tensor(0), Tensor(-7), Tensor::Vector<int32_t>({1, -1}), Tensor::Vector<int64_t>({0, INT64_MAX}),
        Tensor(INT32_MIN), Tensor(INT64_MAX), Tensor(DT_INT32, Shape({0}))}) {
    sources.push_back(
        {StrCat("n", sources.size()), "Const", "", {}, {{"dtype", value.dtype()}, {"value", value}}, {}, {}});
  }
  Graph graph(ops_);
  ImportGraphDef({sources, {}, {}, {}}, {}, &graph);
  int imported = 0;
  for (int round = 0; round < 300; ++round) {
    for (const OpDef* op : all) {
      NodeDef node = RandomNode(*op, sources);
      ImportOptions options;
      for (const NodeDef& source : sources) options.input_map[source.name] = {graph.FindNode(source.name), 0};
      try {
        ImportGraphDef({{node}, {}, {}, {}}, options, &graph);
        graph.RemoveNode(graph.FindNode(node.name));
        ++imported;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(imported, 1000);
}

}  // namespace
}  // namespace penstock
