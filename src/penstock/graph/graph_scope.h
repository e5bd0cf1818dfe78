// The Scope that appends nodes to a graph.
#pragma once

#include "penstock/graph/graph.h"
#include "penstock/graph/scope.h"

namespace penstock {

class GraphScope final : public Scope {
 public:
  // New nodes are named `prefix` + op type, made unique.
  GraphScope(Graph* graph, std::string prefix) : graph_(graph), prefix_(std::move(prefix)) {}
  Outs Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs, std::span<const Out> controls) override;
  DataType Type(Out value) const override { return At(value).type(); }
  const PartialShape& Shape(Out value) const override { return At(value).shape(); }
  const Tensor* Constant(Out value) override { return graph_->ConstantValue(At(value)); }

  Out From(Endpoint e) { return e ? Out{this, e.node->id(), e.index} : Out(); }
  Endpoint At(Out value) const {
    return value ? Endpoint{graph_->node(static_cast<int>(value.id)), value.index} : Endpoint();
  }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  // New nodes go where `node` goes, as its group and its device say; null: anywhere.
  void set_colocate(const Node* node) { colocate_ = node; }
  const Node* colocate() const { return colocate_; }
  Graph& graph() { return *graph_; }

 private:
  Graph* graph_;
  std::string prefix_;
  const Node* colocate_ = nullptr;
};

}  // namespace penstock
