// Small graphs for the passes.
#pragma once

#include <gtest/gtest.h>

#include "penstock/engine/engine.h"
#include "penstock/optimize/optimizer.h"
#include "penstock/optimize/passes.h"
#include "penstock/runtime/evaluate.h"

namespace penstock {

class PassTest : public testing::Test {
 protected:
  PassTest() { Initialize(); }
  void TearDown() override { VerifyGraph(graph); }

  Node* Add(std::string op, std::vector<Endpoint> inputs = {}, AttrMap attrs = {}, std::vector<Node*> controls = {},
            std::string device = "") {
    return graph.AddNode({.op = op,
                          .name = graph.UniqueName(op),
                          .inputs = std::move(inputs),
                          .control_inputs = std::move(controls),
                          .attrs = std::move(attrs),
                          .device = std::move(device)});
  }
  Node* Constant(Tensor value, std::vector<Node*> controls = {}) {
    const DataType type = value.dtype();
    return Add("Const", {}, {{"value", std::move(value)}, {"dtype", type}}, std::move(controls));
  }
  Node* Arg(DataType type, PartialShape shape) {
    Node* arg = Add("_Arg", {}, {{"T", type}, {"index", num_args_++}});
    graph.SetShape({arg, 0}, shape);
    return arg;
  }
  // A fetched result.
  Node* Fetch(Endpoint value) {
    return Add("_Retval", {value}, {{"T", BaseType(value.type())}, {"index", num_fetches_++}});
  }
  int Count(std::string_view op) const {
    int count = 0;
    for (const Node* node : graph.Nodes()) count += node->op_name() == op;
    return count;
  }

  Graph graph;

 private:
  int64_t num_args_ = 0, num_fetches_ = 0;
};

}  // namespace penstock
