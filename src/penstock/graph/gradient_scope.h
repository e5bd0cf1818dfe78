// Where gradients are built: outside of loops, or in the loop that goes back over a loop's iterations. A gradient
// function names forward values as if it stood beside them; this brings them to where it is.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/control_flow.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/scope.h"

namespace penstock {

using EndpointKey = std::pair<int, int>;  // node id, output
inline EndpointKey KeyOf(Endpoint e) { return {e.node->id(), e.index}; }

// A loop variable under construction: the value in an iteration is `body()`; Close gives the next one.
struct LoopVariable {
  Node *enter = nullptr, *merge = nullptr, *switch_node = nullptr;
  Endpoint body() const { return {switch_node, 1}; }
};

// The outermost level, or the loop that goes back over `loop`.
struct GradientRegion {
  GradientRegion* parent = nullptr;
  ControlContext* loop = nullptr;  // whose iterations are gone back over; outermost: where the caller is
  std::string frame;
  int64_t parallel_iterations = 10;
  Node* cond = nullptr;                     // LoopCond
  Node* pivot = nullptr;                    // runs in each iteration
  std::map<EndpointKey, Endpoint> saved;    // forward value -> what it was in the iteration gone back over
  std::map<EndpointKey, Endpoint> entered;  // value of the parent -> the same as invariant
};

class GradientScope final : public Scope {
 public:
  // `inside`: a node of the control-flow context in which the caller builds; null: none.
  GradientScope(Graph* graph, std::string prefix, const Node* inside);
  Outs Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs, std::span<const Out> controls) override;
  DataType Type(Out value) const override { return At(value).type(); }
  const PartialShape& Shape(Out value) const override { return At(value).shape(); }
  const Tensor* Constant(Out value) override { return graph_->ConstantValue(At(value)); }
  DataType TypeBehind(Out value) const override;
  std::string name() const override { return base_.substr(0, base_.size() - (base_.ends_with('/') ? 1 : 0)); }

  Out From(Endpoint e) { return e ? Out{this, e.node->id(), e.index} : Out(); }
  Endpoint At(Out value) const {
    return value ? Endpoint{graph_->node(static_cast<int>(value.id)), value.index} : Endpoint();
  }
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  // New nodes go where `node` goes, as its group and its device say; null: anywhere.
  void set_colocate(const Node* node) { colocate_ = node; }
  const Node* colocate() const { return colocate_; }

  const ControlFlow& flow() const { return flow_; }
  GradientRegion* region() const { return region_; }
  void set_region(GradientRegion* region) { region_ = region; }
  // What was added to the forward pass.
  const std::vector<Node*>& forward_nodes() const { return forward_nodes_; }
  ControlContext* caller() const { return caller_; }  // the context that the caller builds in; null: none
  // The value in the region that is being built. Internal: it is of a loop that is not gone back over there.
  Endpoint Inside(Endpoint value);
  // Takes nodes in that others added while the region was set, such as gradient functions of a front end.
  void AdoptNodes();
  // Makes the region that goes back over `loop` the current one; it counts the iterations.
  GradientRegion* OpenLoop(ControlContext* loop);
  // A variable of the current region that begins with `initial`, a value of the region around it, which may have any
  // shape that fits `shape` later.
  LoopVariable AddVariable(Endpoint initial, const PartialShape& shape);
  // Gives it its next value. Its last one, in the region around.
  Endpoint Close(const LoopVariable& variable, Endpoint next);

 private:
  struct Place;  // where plumbing is added: among the forward nodes, or in a region
  Node* Add(const Place& place, std::string_view op, std::vector<Endpoint> inputs, AttrMap attrs = {},
            std::vector<Node*> controls = {});
  LoopVariable AddVariable(const Place& place, Endpoint initial, const PartialShape& shape);
  void CloseVariable(const Place& place, const LoopVariable& variable, Endpoint next);
  Endpoint AddExit(const Place& place, const LoopVariable& variable);
  Node* Constant(const Place& place, Tensor value, std::vector<Node*> controls);
  template <class Fn>
  Endpoint InBranches(const Place& place, Endpoint list, const std::vector<ControlContext*>& branches,
                      const std::vector<Endpoint>& preds, Fn change);

  Endpoint Bring(Endpoint value, GradientRegion* region);
  Endpoint Enter(Endpoint value, GradientRegion* from, GradientRegion* to);
  Endpoint Saved(Endpoint value, GradientRegion* region);
  Endpoint Restore(Endpoint value, GradientRegion* region);
  Endpoint AllValues(Endpoint value);
  static Endpoint ListMadeBefore(Endpoint value, const ControlContext* loop);
  Endpoint CountIterations(ControlContext* loop);
  std::vector<Node*> LoopControls(ControlContext* loop);
  std::vector<ControlContext*> BranchesOf(Endpoint value);
  bool MustBeSaved(Endpoint value);
  std::optional<Outs> FromShape(std::string_view op, std::span<const Out> inputs, const AttrMap& attrs);

  Graph* graph_;
  const std::string base_;
  std::string prefix_;
  const Node* colocate_ = nullptr;
  ControlFlow flow_;
  ControlContext* caller_ = nullptr;
  int adopted_;  // nodes below are known
  std::vector<std::unique_ptr<GradientRegion>> regions_;
  GradientRegion* region_;
  std::vector<Node*> forward_nodes_;
  std::map<int, GradientRegion*> region_of_;  // nodes that were added inside loops
  std::map<ControlContext*, Endpoint> counts_;
  std::map<ControlContext*, std::vector<Node*>> controls_;
  std::map<EndpointKey, Endpoint> lists_;  // forward value -> all its values, behind the loop
};

}  // namespace penstock
