#include "penstock/graph/gradient.h"

#include <algorithm>
#include <queue>
#include <set>

#include "penstock/graph/graph_scope.h"

namespace penstock {

Grad Grad::Slices(Out values, Out indices, Out dense_shape) {
  Grad grad;
  grad.values = values;
  grad.indices = indices;
  grad.dense_shape = dense_shape;
  return grad;
}

Out DenseGrad(const Grad& grad) {
  if (!grad.sparse()) return grad.dense;
  if (!grad.dense_shape) {
    throw InvalidArgument("Tensor conversion requested for IndexedSlices without dense_shape");
  }
  const Out rows = Call("StridedSlice",
                        {grad.dense_shape, ConstVector(*grad.values.scope, {0}), ConstVector(*grad.values.scope, {1}),
                         ConstVector(*grad.values.scope, {1})},
                        {{"shrink_axis_mask", 1}});
  return Call("UnsortedSegmentSum", {grad.values, grad.indices, rows});
}

Grad AggregateGrads(std::vector<Grad> grads) {
  std::erase_if(grads, [](const Grad& g) { return g.none(); });
  if (grads.empty()) return Grad();
  if (grads.size() == 1) return grads[0];
  if (std::ranges::all_of(grads, [](const Grad& g) { return g.sparse(); })) {
    Outs values, indices;
    const bool wide = std::ranges::any_of(grads, [](const Grad& g) { return g.indices.type() == DT_INT64; });
    for (const Grad& g : grads) {
      values.push_back(g.values);
      indices.push_back(wide ? Cast(g.indices, DT_INT64) : g.indices);
    }
    const Out axis = values[0].scope->Scalar<int32_t>(0);
    values.push_back(axis);
    indices.push_back(axis);
    const auto n = static_cast<int64_t>(grads.size());
    Out shape;
    for (const Grad& g : grads) shape = shape ? shape : g.dense_shape;
    return Grad::Slices(CallOp("ConcatV2", values, {{"N", n}})[0], CallOp("ConcatV2", indices, {{"N", n}})[0], shape);
  }
  Outs dense;
  for (const Grad& g : grads) dense.push_back(DenseGrad(g));
  return CallOp("AddN", dense)[0];
}

namespace {

bool Trainable(DataType t) {
  t = BaseType(t);
  return IsFloating(t) || IsComplex(t) || t == DT_RESOURCE || t == DT_VARIANT;
}

// The view of one graph node that its gradient function gets.
class NodeGradient : public GradContext {
 public:
  NodeGradient(GraphScope* scope, Node* node, std::vector<Grad> dys, std::vector<bool> wanted) {
    scope_ = scope;
    op_ = &node->op();
    attrs_ = &node->attrs();
    for (const Endpoint& input : node->inputs()) x_.push_back(scope->From(input));
    for (int i = 0; i < node->num_outputs(); ++i) y_.push_back(scope->From({node, i}));
    dy_ = std::move(dys);
    dx_.resize(node->num_inputs());
    wanted_ = std::move(wanted);
    for (size_t i = 0; i < op_->inputs.size(); ++i) input_ranges_.push_back(node->InputRange(static_cast<int>(i)));
    for (size_t i = 0; i < op_->outputs.size(); ++i) output_ranges_.push_back(node->OutputRange(static_cast<int>(i)));
  }
};

class Differentiator {
 public:
  Differentiator(Graph& graph, const GradientOptions& options)
      : graph_(graph), options_(options), scope_(&graph, options.name_scope) {}

  std::vector<GradEndpoint> Run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                const std::vector<GradEndpoint>& grad_ys) {
    FindPaths(ys, xs);
    for (size_t i = 0; i < ys.size(); ++i) {
      const GradEndpoint given = i < grad_ys.size() ? grad_ys[i] : GradEndpoint();
      Receive(ys[i], given.none() ? OnesFor(scope_.From(ys[i])) : FromGraph(given));
    }
    // Nodes whose output gradients are complete, in the order in which they became so: the order of summands and the numbers
    // in names follow it.
    std::queue<int> ready;
    std::set<int> ends;
    for (const Endpoint& y : ys) {
      const int id = y.node->id();
      if (between_.contains(id) && pending_[id] == 0 && ends.insert(id).second) ready.push(id);
    }
    while (!ready.empty()) {
      Node* node = graph_.node(ready.front());
      ready.pop();
      Visit(node);
      for (const Endpoint& input : node->inputs()) {
        if (between_.contains(input.node->id()) && Flows(input) && --pending_[input.node->id()] == 0) ready.push(input.node->id());
      }
    }
    scope_.set_prefix(options_.name_scope);
    std::vector<GradEndpoint> result;
    for (const Endpoint& x : xs) {
      scope_.set_colocate(options_.colocate ? x.node : nullptr);
      Grad grad = Aggregate(grads_[{x.node->id(), x.index}]);
      if (grad.none() && options_.zero_unconnected) grad = ZeroOf(x);
      grads_[{x.node->id(), x.index}] = {grad};
      result.push_back(ToGraph(grad));
    }
    return result;
  }

 private:
  bool Flows(Endpoint value) const { return Trainable(value.type()); }
  // What flows into a stopped node counts; nothing goes on behind it.
  bool Stopped(const Node* node) const {
    return std::ranges::any_of(options_.stop_gradients, [&](const Endpoint& value) { return value.node == node; });
  }

  Grad ZeroOf(Endpoint x) {
    if (x.type() == DT_RESOURCE && !x.node->info(x.index).handle_data.empty()) {
      const DtypeAndShape& behind = x.node->info(x.index).handle_data[0];
      if (behind.shape.fully_known()) return Grad(scope_.Const(ZeroTensor(behind.dtype, behind.shape.AsShape())));
    }
    return Grad(ZerosLike(scope_.From(x)));
  }
  static Tensor ZeroTensor(DataType dtype, const Shape& shape) {
    Tensor zeros(dtype, shape);
    std::memset(zeros.mutable_raw(), 0, zeros.bytes());
    return zeros;
  }

  // Nodes on a path from an x to a y, and for each the number of its uses on such paths.
  void FindPaths(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
    std::set<std::pair<int, int>> reached;  // endpoints that depend on an x (xs included)
    std::vector<bool> from_xs(graph_.num_ids());
    std::vector<Node*> stack;
    const auto mark = [&](Endpoint value) { reached.insert({value.node->id(), value.index}); };
    for (const Endpoint& x : xs) {
      mark(x);
      if (!from_xs[x.node->id()]) stack.push_back(x.node);
      from_xs[x.node->id()] = true;
      x_nodes_.insert(x.node->id());
    }
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Consumer& consumer : node->consumers()) {
        if (consumer.input < 0 || from_xs[consumer.node->id()]) continue;
        const Endpoint value = consumer.node->input(consumer.input);
        if (!Flows(value)) continue;
        from_xs[consumer.node->id()] = true;
        stack.push_back(consumer.node);
      }
    }
    for (const Endpoint& y : ys) {
      if (from_xs[y.node->id()] && between_.insert(y.node->id()).second) stack.push_back(y.node);
    }
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Endpoint& input : node->inputs()) {
        if (!from_xs[input.node->id()] || !Flows(input)) continue;
        ++pending_[input.node->id()];
        if (between_.insert(input.node->id()).second) stack.push_back(input.node);
      }
    }
  }

  // Made from the shape, so that it needs no value of y.
  Grad OnesFor(Out y) {
    const DataType type = y.type();
    if (type == DT_RESOURCE || type == DT_VARIANT) return OnesLike(y);
    return Call("Fill", {ShapeOf(y), scope_.ScalarOf(type, 1)});
  }

  // AggregateGrads, with partial sums of what lies on one device: each is added up where its first summand is.
  Grad Aggregate(std::vector<Grad> grads) {
    std::erase_if(grads, [](const Grad& g) { return g.none(); });
    if (grads.size() < 2 || std::ranges::all_of(grads, [](const Grad& g) { return g.sparse(); })) return AggregateGrads(std::move(grads));
    std::map<std::string, Outs> on_device;
    for (const Grad& g : grads) {
      const Out dense = DenseGrad(g);
      on_device[scope_.At(dense).node->device()].push_back(dense);
    }
    const Node* const outer = scope_.colocate();
    Outs sums;
    for (const auto& [device, summands] : on_device) {
      scope_.set_colocate(scope_.At(summands[0]).node);
      sums.push_back(summands.size() == 1 ? summands[0] : CallOp("AddN", summands)[0]);
    }
    scope_.set_colocate(outer);
    return sums.size() == 1 ? sums[0] : CallOp("AddN", sums)[0];
  }

  void Receive(Endpoint value, Grad grad) { grads_[{value.node->id(), value.index}].push_back(std::move(grad)); }

  Grad FromGraph(const GradEndpoint& g) {
    if (g.sparse()) return Grad::Slices(scope_.From(g.values), scope_.From(g.indices), scope_.From(g.dense_shape));
    return Grad(scope_.From(g.dense));
  }
  GradEndpoint ToGraph(const Grad& g) const {
    return {scope_.At(g.dense), scope_.At(g.values), scope_.At(g.indices), scope_.At(g.dense_shape)};
  }

  void Visit(Node* node) {
    // Nothing behind an x matters unless another x lies there.
    scope_.set_prefix(options_.name_scope);
    scope_.set_colocate(options_.colocate ? node : nullptr);
    std::vector<Grad> dys(node->num_outputs());
    bool any = false;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const auto it = grads_.find({node->id(), i});
      if (it == grads_.end() || !Trainable(node->output_type(i))) continue;
      dys[i] = Aggregate(it->second);
      it->second = {dys[i]};
      any |= !dys[i].none();
    }
    if (!any || Stopped(node)) return;
    bool wanted_any = false;
    std::vector<bool> wanted(node->num_inputs());
    for (int i = 0; i < node->num_inputs(); ++i) {
      wanted[i] = between_.contains(node->input(i).node->id()) && Flows(node->input(i));
      wanted_any = wanted_any || wanted[i];
    }
    if (!wanted_any) return;
    scope_.set_prefix(options_.name_scope + node->name() + "_grad/");
    std::vector<Grad> dxs = Differentiate(node, dys, wanted);
    if (options_.gate == GradientOptions::kGraph || options_.gate == GradientOptions::kOp) Gate(&dxs);
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (i < static_cast<int>(dxs.size()) && !dxs[i].none() && wanted[i]) {
        CheckShape(node, i, dxs[i]);
        Receive(node->input(i), dxs[i]);
      }
    }
    scope_.set_colocate(nullptr);
  }

  void CheckShape(const Node* node, int i, const Grad& grad) {
    if (grad.sparse() || node->input(i).type() == DT_RESOURCE || node->input(i).type() == DT_VARIANT) return;
    const Endpoint dx = scope_.At(grad.dense);
    if (!dx.shape().IsCompatibleWith(node->input(i).shape())) {
      throw InvalidArgument("Incompatible shapes between op input and calculated input gradient. Forward operation: ",
                            node->name(), ". Input index: ", i, ". Original input shape: ", node->input(i).shape(),
                            ".  Calculated input gradient shape: ", dx.shape());
    }
    graph_.SetShape(dx, node->input(i).shape());
  }

  std::vector<Grad> Differentiate(Node* node, const std::vector<Grad>& dys, const std::vector<bool>& wanted) {
    if (options_.has_override && options_.has_override(*node)) {
      std::vector<GradEndpoint> given;
      // Calls are told which results matter.
      const bool calls = std::ranges::any_of(node->op().attrs, [](const AttrDef& attr) { return attr.kind == "func"; });
      for (int i = 0; i < node->num_outputs(); ++i) {
        Grad dy = dys[i];
        if (dy.none() && !calls && Trainable(node->output_type(i))) dy = ZeroOf({node, i});
        given.push_back(ToGraph(dy));
      }
      std::vector<Grad> dxs;
      for (const GradEndpoint& g : options_.override_gradient(node, given)) dxs.push_back(g.none() ? Grad() : FromGraph(g));
      return dxs;
    }
    const OpDef& op = node->op();
    if (!op.traits.differentiable) return {};
    if (!op.gradient && graph_.library()->Find(op.name)) return CallGradient(node, dys);
    if (!op.gradient) {
      throw NotFound("No gradient defined for operation '", node->name(), "' (op type: ", op.name, ")");
    }
    NodeGradient context(&scope_, node, dys, wanted);
    op.gradient(context);
    return std::move(context.dx());
  }

  // A call of a function by its name as op type.
  std::vector<Grad> CallGradient(Node* node, const std::vector<Grad>& dys) {
    Outs inputs;
    std::vector<DataType> in_types, out_types;
    for (const Endpoint& input : node->inputs()) {
      inputs.push_back(scope_.From(input));
      in_types.push_back(BaseType(input.type()));
      out_types.push_back(BaseType(input.type()));
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      inputs.push_back(dys[i].none() ? ZerosLike(scope_.From({node, i})) : DenseGrad(dys[i]));
      in_types.push_back(BaseType(node->output_type(i)));
    }
    FuncRef f{node->op_name(), {}};
    for (const auto& [name, value] : node->attrs()) {
      if (!name.starts_with("_")) f.attrs.Set(name, value);
    }
    std::vector<Grad> dxs;
    for (const Out& dx : scope_.Call("SymbolicGradient", inputs, {{"Tin", in_types}, {"Tout", out_types}, {"f", f}}, {})) {
      dxs.push_back(dx);
    }
    for (int i = 0; i < node->num_inputs(); ++i) graph_.SetShape(scope_.At(dxs[i].dense), node->input(i).shape());
    return dxs;
  }

  // All gradients of an op are computed before any is used.
  void Gate(std::vector<Grad>* dxs) {
    Outs all;
    for (const Grad& dx : *dxs) {
      if (!dx.none()) all.push_back(dx.sparse() ? dx.values : dx.dense);
    }
    if (all.size() < 2) return;
    for (Grad& dx : *dxs) {
      if (dx.none()) continue;
      Out& value = dx.sparse() ? dx.values : dx.dense;
      value = scope_.Call("Identity", std::span<const Out>(&value, 1), {}, all)[0];
    }
  }

  Graph& graph_;
  const GradientOptions& options_;
  GraphScope scope_;
  std::set<int> between_, x_nodes_;
  std::map<int, int> pending_;
  std::map<std::pair<int, int>, std::vector<Grad>> grads_;
};

}  // namespace

Out GradContext::dy(int i) {
  if (dy_[i].none()) {
    if (!Trainable(y_[i].type())) return Out();
    dy_[i] = Grad(ZerosLike(y_[i]));
  } else if (dy_[i].sparse()) {
    dy_[i] = Grad(DenseGrad(dy_[i]));
  }
  return dy_[i].dense;
}

const AttrValue& GradContext::attr(std::string_view name) const {
  const AttrValue* value = attrs_->Find(name);
  if (!value) throw Internal("gradient of ", op_->name, " asks for attribute ", name, ", which there is not");
  return *value;
}

std::pair<int, int> GradContext::InputRange(std::string_view arg) const { return input_ranges_[op_->InputIndex(arg)]; }
std::pair<int, int> GradContext::OutputRange(std::string_view arg) const { return output_ranges_[op_->OutputIndex(arg)]; }

Out GradContext::Call(std::string_view op, std::initializer_list<Out> inputs, AttrMap attrs) {
  return scope_->Call(op, std::span<const Out>(inputs.begin(), inputs.size()), std::move(attrs))[0];
}

Outs GradContext::CallAll(std::string_view op, std::span<const Out> inputs, AttrMap attrs) {
  return scope_->Call(op, inputs, std::move(attrs));
}

void GradContext::SetBroadcast(int i, Out grad, int other) {
  if (other < 0) other = i == 0 ? 1 : 0;
  const PartialShape &mine = x_[i].shape(), &theirs = x_[other].shape();
  if (mine.fully_known() && theirs.fully_known()) {
    if (mine == theirs) return Set(i, grad);
    const int rank = std::max(mine.rank(), theirs.rank());
    std::vector<int32_t> axes;
    for (int axis = 0; axis < rank; ++axis) {
      const int at = axis - (rank - mine.rank()), their_at = axis - (rank - theirs.rank());
      const int64_t size = at < 0 ? 1 : mine[at], result = their_at < 0 ? 1 : theirs[their_at];
      if (at < 0 || (size == 1 && result != 1)) axes.push_back(axis);
    }
    if (axes.empty()) return Set(i, grad);
    grad = Sum(grad, std::move(axes));
    return Set(i, Reshape(grad, ShapeOf(x_[i])));
  }
  const Out shape = ShapeOf(x_[i]);
  const Outs axes = CallAll("BroadcastGradientArgs", std::vector<Out>{shape, ShapeOf(x_[other])});
  Set(i, Reshape(Sum(grad, axes[0]), shape));
}

std::vector<GradEndpoint> AddGradients(Graph& graph, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                       const std::vector<GradEndpoint>& grad_ys, const GradientOptions& options) {
  return Differentiator(graph, options).Run(ys, xs, grad_ys);
}

}  // namespace penstock
