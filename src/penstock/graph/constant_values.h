// What is known of the values of a graph's outputs while it is built: constants, and arithmetic on shapes seen through.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "penstock/graph/graph.h"

namespace penstock {

// Remembers what it finds out until a node changes that it follows from.
class ConstantValues {
 public:
  const Tensor* Value(Endpoint output);  // as Graph::ConstantValue
  // The same for shapes: null for what a loop's body computes of constants from outside, as it may never run.
  const Tensor* ValueForShapes(Endpoint output);
  PartialShape AsShape(Endpoint output);  // as Graph::ConstantValueAsShape
  void Give(Endpoint output, const Tensor& value);
  void Forget(const Node& node);  // what was found out about it and about all that follows from it
  void Erase(const Node& node) { EraseOutputs(node); }  // which leaves the graph

 private:
  struct Question {
    Endpoint output;
    bool as_shape = false;
  };
  // To answer a question, others are asked: about the inputs of the node. A chain of nodes may be longer than the stack
  // is deep; so a question that is asked too deep is put off. It gets an answer first, and then what led to it is asked
  // again.
  template <class Ask>
  auto Outermost(Ask ask);
  template <class Answers, class Look>
  const typename Answers::mapped_type& Remembered(Answers* answers, Question question, Look look);
  const std::optional<Tensor>& Find(Endpoint output);
  const PartialShape& FindShape(Endpoint output);
  std::optional<Tensor> Evaluate(Endpoint output);
  bool EraseOutputs(const Node& node);  // false: nothing was known
  static int64_t KeyOf(Endpoint output) { return int64_t{output.node->id()} << 32 | output.index; }

  std::unordered_map<int64_t, std::optional<Tensor>> given_, values_;
  std::unordered_map<int64_t, PartialShape> shapes_;
  std::unordered_set<int64_t> computed_in_loops_;  // those of values_
  int depth_ = 0;
  std::optional<Question> put_off_;
};

// The view of one node that its shape function gets.
class NodeInference : public ShapeContext {
 public:
  NodeInference(ConstantValues* constants, const Node& node);
  const Tensor* in_value(int i) override { return constants_->ValueForShapes(node_.input(i)); }
  PartialShape in_as_shape(int i) override;

 private:
  ConstantValues* const constants_;
  const Node& node_;
};

}  // namespace penstock
