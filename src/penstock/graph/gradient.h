// Reverse-mode differentiation: a walk back over a graph that calls each op's gradient function (op_def.h).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/graph/scope.h"

namespace penstock {

// A gradient is none, dense, or rows of a larger tensor (TensorFlow's IndexedSlices).
struct Grad {
  Out dense;
  Out values, indices, dense_shape;  // dense_shape may be missing
  Grad() = default;
  Grad(Out out) : dense(out) {}  // NOLINT: a dense gradient is its tensor
  static Grad Slices(Out values, Out indices, Out dense_shape);
  bool none() const { return !dense && !values; }
  bool sparse() const { return static_cast<bool>(values); }
};

// The rows of a sparse gradient added into zeros of the dense shape; a dense gradient as it is.
Out DenseGrad(const Grad& grad);
// The sum of those that are not none; sparse if all are.
Grad AggregateGrads(std::vector<Grad> grads);

// What the gradient function of one node sees: its inputs x, outputs y, the gradients dy that flow into it, and where
// to put the gradients of its inputs. Inputs that are not set have no gradient.
class GradContext {
 public:
  virtual ~GradContext() = default;
  Scope& scope() { return *scope_; }
  const OpDef& op() const { return *op_; }
  int num_inputs() const { return static_cast<int>(x_.size()); }
  int num_outputs() const { return static_cast<int>(y_.size()); }
  Out x(int i) const { return x_[i]; }
  Out y(int i = 0) const { return y_[i]; }
  // Zeros of y's shape where nothing flows in; a sparse gradient made dense. Outputs of non-differentiable type: empty.
  Out dy(int i = 0);
  bool has_dy(int i) const { return !dy_[i].none(); }
  const Grad& raw_dy(int i = 0) const { return dy_[i]; }
  // Whether anybody wants the gradient of input i; setting it anyway is harmless.
  bool wanted(int i) const { return wanted_.empty() || wanted_[i]; }

  const AttrValue& attr(std::string_view name) const;
  template <class T>
  const T& attr(std::string_view name) const {
    return *attr(name).If<T>();
  }
  const AttrMap& attrs() const { return *attrs_; }
  // Flat index range of a declared argument's inputs.
  std::pair<int, int> InputRange(std::string_view arg) const;
  std::pair<int, int> OutputRange(std::string_view arg) const;

  Out Call(std::string_view op, std::initializer_list<Out> inputs, AttrMap attrs = {});
  Outs CallAll(std::string_view op, std::span<const Out> inputs, AttrMap attrs = {});

  void Set(int i, Grad grad) { dx_[i] = std::move(grad); }
  // For binary ops with broadcasting: sums `grad` over the axes along which input i was stretched (against input
  // `other`), and gives it input i's shape.
  void SetBroadcast(int i, Out grad, int other = -1);
  std::vector<Grad>& dx() { return dx_; }

 protected:
  Scope* scope_ = nullptr;
  const OpDef* op_ = nullptr;
  const AttrMap* attrs_ = nullptr;
  Outs x_, y_;
  std::vector<Grad> dy_, dx_;
  std::vector<bool> wanted_;
  std::vector<std::pair<int, int>> input_ranges_, output_ranges_;
};

// A gradient as endpoints of a graph.
struct GradEndpoint {
  Endpoint dense, values, indices, dense_shape;
  bool none() const { return !dense && !values; }
  bool sparse() const { return static_cast<bool>(values); }
};

// Where a gradient function of the front end builds when it is in a loop's gradient; outside of loops nothing is set.
struct GradientLoop {
  Node* pivot = nullptr;                     // nodes without inputs run after this one
  std::function<Endpoint(Endpoint)> inside;  // what stands there for a value that is made elsewhere
};

// What differentiation does to the forward pass, as ids of nodes.
struct ForwardChanges {
  std::vector<int> added;    // nodes that save what the gradient reads, and bodies of calls
  std::vector<int> lowered;  // calls and functional control flow, which now hand on what their bodies' nodes give
};

struct GradientOptions {
  std::string name_scope = "gradients/";  // prefix of all nodes that are added
  bool zero_unconnected = false;          // zeros instead of none for xs that ys do not depend on
  bool colocate = false;                  // gradients on the device of their op
  enum Gate { kNone, kOp, kGraph } gate = kNone;
  int aggregation = 0;  // AggregationMethod: 0 AddN, 1 EXPERIMENTAL_TREE, 2 EXPERIMENTAL_ACCUMULATE_N
  std::vector<Endpoint> stop_gradients;
  std::set<std::string> loops_without_gradient;  // frames
  const Node* inside = nullptr;                  // a node of the branch or loop in which the caller builds
  // Gradients from the front end. Asked first, by the node's `_gradient_op_type` attribute, the override map, or its
  // op: null function: the op's own.
  std::function<bool(const Node& node)> has_override;
  std::function<std::vector<GradEndpoint>(Node* node, const std::vector<GradEndpoint>& dys, const GradientLoop& loop)>
      override_gradient;
  ForwardChanges* forward = nullptr;  // is told, if set
};

// Adds to `graph` the derivative of the sum of ys with respect to each x; grad_ys (empty, or one for each y, possibly
// none) are the gradients that flow into ys. NotFound: an op on the way has no gradient (LookupError in Python);
// InvalidArgument: bad grad_ys.
std::vector<GradEndpoint> AddGradients(Graph& graph, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                       const std::vector<GradEndpoint>& grad_ys, const GradientOptions& options);

}  // namespace penstock
