// The walk back over a graph that AddGradients makes. A loop is one step of the walk around it: its gradient is a loop,
// in whose body the walk goes back over the forward body.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "penstock/graph/gradient.h"
#include "penstock/graph/gradient_scope.h"

namespace penstock {

// Whether gradients flow through values of this type.
bool Trainable(DataType type);

// Ids of the nodes on a path from an x to a y.
std::set<int> NodesBetween(const Graph& graph, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs);

class Differentiator {
 public:
  Differentiator(Graph& graph, const GradientOptions& options)
      : graph_(graph), options_(options), scope_(&graph, options.name_scope, options.inside) {}
  std::vector<GradEndpoint> Run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                const std::vector<GradEndpoint>& grad_ys);

 private:
  // What the walk does at once: a node, or a loop with all that is in it.
  struct Unit {
    Node* node;
    ControlContext* loop;
    int pending = 0;
  };

  static bool Flows(Endpoint value) { return Trainable(value.type()); }
  bool Between(const Node* node) const { return between_.contains(node->id()); }
  bool IsReachable(Endpoint x) const;
  bool Stopped(const Node* node) const;
  void Receive(Endpoint value, Grad grad) { grads_[KeyOf(value)].push_back(grad); }
  Grad Received(Endpoint value);
  Grad FromGraph(const GradEndpoint& g);
  GradEndpoint ToGraph(const Grad& g) const {
    return {scope_.At(g.dense), scope_.At(g.values), scope_.At(g.indices), scope_.At(g.dense_shape)};
  }
  Grad ZeroOf(Endpoint x);
  Grad OnesFor(Out y);
  Grad AliveWith(Endpoint y, Grad dy);
  Grad Aggregate(std::vector<Grad> grads);

  // The walk over what lies directly in the current region, from `ends`, which have received gradients.
  void WalkRegion(const std::vector<Node*>& ends);
  // The loop of which a node is a part for a walk through the region of `around`; `around` itself: the node stands
  // alone. Null with *outside: it is not in there.
  ControlContext* PartOf(const Node* node, bool* outside) const;
  bool IsEndOfLoop(const Node* node, const ControlContext* loop) const;

  void Visit(Node* node);
  void VisitLoop(ControlContext* loop);
  std::vector<Grad> Differentiate(Node* node, const std::vector<Grad>& dys, const std::vector<bool>& wanted);
  std::vector<Grad> OverriddenGradient(Node* node, const std::vector<Grad>& dys);
  std::vector<Grad> CallGradient(Node* node, const std::vector<Grad>& dys);
  void CheckShape(const Node* node, int i, const Grad& grad);
  void Gate(std::vector<Grad>* dxs);

  // Control flow (control_flow_gradient.cc).
  std::vector<Grad> SwitchGradient(Node* node, std::vector<Grad> dys);
  Grad MergedSides(Endpoint x, Out pred, std::vector<Grad> dys);
  Grad OutOfBranches(const Node* node, Endpoint x, Grad dx);
  std::vector<Grad> MergeGradient(Node* node, const Grad& dy);
  std::vector<Grad> EnterGradient(Node* node, const Grad& dy);
  Out ZerosOf(Endpoint x, DataType type);
  Out ShapeOfValue(Endpoint x, DataType type);
  Grad NoRows(Endpoint x, const Grad& like);
  bool WantsGradient(const ControlContext* loop) const;
  Grad SumOverIterations(const Node* enter, const Grad& step);

  Graph& graph_;
  const GradientOptions& options_;
  GradientScope scope_;
  std::set<int> between_, x_nodes_;
  std::map<EndpointKey, std::vector<Grad>> grads_;
};

}  // namespace penstock
