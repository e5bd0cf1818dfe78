#include "penstock/graph/differentiator.h"

#include <algorithm>
#include <array>
#include <queue>

#include "penstock/graph/lower.h"

namespace penstock {

bool Trainable(DataType t) {
  t = BaseType(t);
  return IsFloating(t) || IsComplex(t) || t == DT_RESOURCE || t == DT_VARIANT;
}

std::set<int> NodesBetween(const Graph& graph, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
  std::set<int> between;
  std::vector<bool> from_xs(graph.num_ids());
  std::vector<Node*> stack;
  for (const Endpoint& x : xs) {
    if (!from_xs[x.node->id()]) stack.push_back(x.node);
    from_xs[x.node->id()] = true;
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Consumer& consumer : node->consumers()) {
      if (consumer.input < 0 || from_xs[consumer.node->id()]) continue;
      if (!Trainable(consumer.node->input(consumer.input).type())) continue;
      from_xs[consumer.node->id()] = true;
      stack.push_back(consumer.node);
    }
  }
  for (const Endpoint& y : ys) {
    if (from_xs[y.node->id()] && between.insert(y.node->id()).second) stack.push_back(y.node);
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Endpoint& input : node->inputs()) {
      if (!from_xs[input.node->id()] || !Trainable(input.type())) continue;
      if (between.insert(input.node->id()).second) stack.push_back(input.node);
    }
  }
  return between;
}

namespace {

// The view of one graph node that its gradient function gets.
class NodeGradient : public GradContext {
 public:
  NodeGradient(GradientScope* scope, Node* node, std::vector<Grad> dys, std::vector<bool> wanted) {
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

Tensor ZeroTensor(DataType dtype, const Shape& shape) {
  Tensor zeros(dtype, shape);
  std::memset(zeros.mutable_raw(), 0, zeros.bytes());
  return zeros;
}

}  // namespace

std::vector<GradEndpoint> Differentiator::Run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                              const std::vector<GradEndpoint>& grad_ys) {
  between_ = NodesBetween(graph_, ys, xs);
  for (const Endpoint& x : xs) x_nodes_.insert(x.node->id());
  for (size_t i = 0; i < ys.size(); ++i) {
    const GradEndpoint given = i < grad_ys.size() ? grad_ys[i] : GradEndpoint();
    Receive(ys[i], AliveWith(ys[i], given.none() ? OnesFor(scope_.From(ys[i])) : FromGraph(given)));
  }
  std::vector<Node*> ends;
  for (const Endpoint& y : ys) ends.push_back(y.node);
  WalkRegion(ends);
  scope_.set_prefix(options_.name_scope);
  if (options_.forward) {
    for (const Node* node : scope_.forward_nodes()) options_.forward->added.push_back(node->id());
  }
  std::vector<GradEndpoint> result;
  for (const Endpoint& x : xs) {
    scope_.set_colocate(options_.colocate ? x.node : nullptr);
    Grad grad = IsReachable(x) ? Received(x) : Grad();
    if (grad.none() && options_.zero_unconnected) grads_[KeyOf(x)] = {grad = ZeroOf(x)};
    result.push_back(ToGraph(grad));
  }
  return result;
}

// Whether a gradient of x can be handed to the caller: not from inside of a loop that the caller is not in.
bool Differentiator::IsReachable(Endpoint x) const {
  const ControlContext* loop = ControlFlow::LoopOf(scope_.flow().Of(x));
  return !loop || loop->Contains(scope_.caller());
}

// What flows into a stopped node counts; nothing goes on behind it.
bool Differentiator::Stopped(const Node* node) const {
  return std::ranges::any_of(options_.stop_gradients, [&](const Endpoint& value) { return value.node == node; });
}

Grad Differentiator::ZeroOf(Endpoint x) {
  if (x.type() == DT_RESOURCE && !x.node->info(x.index).handle_data.empty()) {
    const DtypeAndShape& behind = x.node->info(x.index).handle_data[0];
    if (behind.shape.fully_known()) return Grad(scope_.Const(ZeroTensor(behind.dtype, behind.shape.AsShape())));
  }
  return Grad(ZerosLike(scope_.From(x)));
}

// Made from the shape, so that it needs no value of y.
Grad Differentiator::OnesFor(Out y) {
  const DataType type = y.type();
  if (type == DT_RESOURCE || type == DT_VARIANT) return OnesLike(y);
  return Call("Fill", {ShapeOf(y), scope_.ScalarOf(type, 1)});
}

// The gradient of a y inside of a branch that the caller is not in: where the branch is not taken, it must be dead
// like y.
Grad Differentiator::AliveWith(Endpoint y, Grad dy) {
  const ControlContext* branch = scope_.flow().Of(y);
  if (!branch || branch->is_loop || branch->Contains(scope_.caller())) return dy;
  const Out controls[] = {Call("Identity", {scope_.From(y)})};  // a Switch itself is alive
  for (Out* part : {&dy.dense, &dy.values, &dy.indices}) {
    if (*part) *part = scope_.Call("Identity", std::array{*part}, {}, controls)[0];
  }
  return dy;
}

// AggregateGrads, with partial sums of what lies on one device: each is added up where its first summand is.
Grad Differentiator::Aggregate(std::vector<Grad> grads) {
  std::erase_if(grads, [](const Grad& g) { return g.none(); });
  if (grads.size() < 2 || std::ranges::all_of(grads, [](const Grad& g) { return g.sparse(); })) {
    return AggregateGrads(std::move(grads));
  }
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

// The sum of what a value has received, or none.
Grad Differentiator::Received(Endpoint value) {
  const auto it = grads_.find(KeyOf(value));
  if (it == grads_.end()) return Grad();
  Grad sum = Aggregate(it->second);
  it->second = {sum};
  return sum;
}

Grad Differentiator::FromGraph(const GradEndpoint& g) {
  if (g.sparse()) return Grad::Slices(scope_.From(g.values), scope_.From(g.indices), scope_.From(g.dense_shape));
  return Grad(scope_.From(g.dense));
}

ControlContext* Differentiator::PartOf(const Node* node, bool* outside) const {
  const GradientRegion* region = scope_.region();
  ControlContext* loop = ControlFlow::LoopOf(scope_.flow().Of(node));
  ControlContext* part = nullptr;
  // Outermost, the walk also goes through what is around the caller.
  const auto here = [&](ControlContext* context) {
    return context == region->loop ||
           (!region->parent && (!context || (region->loop && context->Contains(region->loop))));
  };
  while (!here(loop)) {
    if (!loop) {
      *outside = true;
      return nullptr;
    }
    part = loop;
    loop = ControlFlow::LoopOf(loop->parent);
  }
  return part;
}

// The nodes that carry values into the loop, out of it, and to its next iteration.
bool Differentiator::IsEndOfLoop(const Node* node, const ControlContext* loop) const {
  if (!loop) return false;
  const ControlFlow& flow = scope_.flow();
  if (ControlFlow::LoopOf(flow.Of(node)) != loop) return false;
  const Flow kind = node->traits().flow;
  return kind == Flow::kEnter || kind == Flow::kExit || flow.IsLoopMerge(node) || flow.IsLoopSwitch(node);
}

void Differentiator::WalkRegion(const std::vector<Node*>& ends) {
  const ControlContext* own = scope_.region()->parent ? scope_.region()->loop : nullptr;
  std::map<const void*, Unit> units;
  std::map<int, Unit*> of;
  for (const int id : between_) {
    Node* node = graph_.node(id);
    bool outside = false;
    ControlContext* loop = scope_.flow().empty() ? nullptr : PartOf(node, &outside);
    if (outside || IsEndOfLoop(node, own)) continue;
    const void* key = loop ? static_cast<const void*>(loop) : node;
    of[id] = &units.try_emplace(key, Unit{loop ? nullptr : node, loop}).first->second;
  }
  // Calls fn(unit that made the input) for each edge into a unit.
  const auto edges = [&](int id, const auto& fn) {
    const Node* node = graph_.node(id);
    for (const Endpoint& input : node->inputs()) {
      if (node->traits().flow == Flow::kMerge && input.node->traits().flow == Flow::kNextIteration) continue;
      const auto from = of.find(input.node->id());
      if (from != of.end() && from->second != of[id] && Flows(input)) fn(from->second);
    }
  };
  std::map<Unit*, std::vector<int>> members;
  for (const auto& [id, unit] : of) {
    members[unit].push_back(id);
    edges(id, [](Unit* from) { ++from->pending; });
  }
  // Units whose output gradients are complete, in the order in which they became so: the order of summands and the
  // numbers in names follow it.
  std::queue<Unit*> ready;
  std::set<Unit*> begun;
  for (const Node* end : ends) {
    const auto unit = of.find(end->id());
    if (unit != of.end() && unit->second->pending == 0 && begun.insert(unit->second).second) ready.push(unit->second);
  }
  for (auto& [key, unit] : units) {  // what leads to a loop's next iteration only
    if (unit.pending == 0 && begun.insert(&unit).second) ready.push(&unit);
  }
  while (!ready.empty()) {
    Unit* unit = ready.front();
    ready.pop();
    if (unit->node) {
      Visit(unit->node);
    } else {
      VisitLoop(unit->loop);
    }
    for (const int id : members[unit]) {
      edges(id, [&](Unit* from) {
        if (--from->pending == 0) ready.push(from);
      });
    }
  }
}

void Differentiator::Visit(Node* node) {
  scope_.set_prefix(options_.name_scope);
  scope_.set_colocate(options_.colocate ? node : nullptr);
  std::vector<Grad> dys(node->num_outputs());
  bool any = false;
  for (int i = 0; i < node->num_outputs(); ++i) {
    if (!Trainable(node->output_type(i))) continue;
    dys[i] = Received({node, i});
    any |= !dys[i].none();
  }
  if (!any || Stopped(node)) return;
  bool wanted_any = false;
  std::vector<bool> wanted(node->num_inputs());
  for (int i = 0; i < node->num_inputs(); ++i) {
    wanted[i] = Between(node->input(i).node) && Flows(node->input(i));
    wanted_any = wanted_any || wanted[i];
  }
  if (!wanted_any) return;  // nothing behind an x matters unless another x lies there
  scope_.set_prefix(options_.name_scope + node->name() + "_grad/");
  std::vector<Grad> dxs = Differentiate(node, dys, wanted);
  if (options_.gate == GradientOptions::kGraph || options_.gate == GradientOptions::kOp) Gate(&dxs);
  for (int i = 0; i < node->num_inputs(); ++i) {
    if (i < static_cast<int>(dxs.size()) && !dxs[i].none() && wanted[i]) {
      CheckShape(node, i, dxs[i]);
      Receive(node->input(i), OutOfBranches(node, node->input(i), std::move(dxs[i])));
    }
  }
  scope_.set_colocate(nullptr);
}

void Differentiator::CheckShape(const Node* node, int i, const Grad& grad) {
  if (grad.sparse() || node->input(i).type() == DT_RESOURCE || node->input(i).type() == DT_VARIANT) return;
  const Endpoint dx = scope_.At(grad.dense);
  if (!dx.shape().IsCompatibleWith(node->input(i).shape())) {
    throw InvalidArgument("Incompatible shapes between op input and calculated input gradient. Forward operation: ",
                          node->name(), ". Input index: ", i, ". Original input shape: ", node->input(i).shape(),
                          ".  Calculated input gradient shape: ", dx.shape());
  }
  graph_.SetShape(dx, node->input(i).shape());
}

std::vector<Grad> Differentiator::Differentiate(Node* node, const std::vector<Grad>& dys,
                                                const std::vector<bool>& wanted) {
  if (options_.has_override && options_.has_override(*node)) return OverriddenGradient(node, dys);
  const OpDef& op = node->op();
  switch (op.traits.flow) {
    case Flow::kSwitch: return SwitchGradient(node, dys);
    case Flow::kMerge: return MergeGradient(node, dys[0]);
    case Flow::kEnter: return EnterGradient(node, dys[0]);
    case Flow::kNextIteration: return {dys[0]};
    default: break;
  }
  if (!op.traits.differentiable) return {};
  if (!op.gradient && graph_.library()->Find(op.name)) return CallGradient(node, dys);
  if (!op.gradient) {
    throw NotFound("No gradient defined for operation '", node->name(), "' (op type: ", op.name, ")");
  }
  NodeGradient context(&scope_, node, dys, wanted);
  op.gradient(context);
  return std::move(context.dx());
}

std::vector<Grad> Differentiator::OverriddenGradient(Node* node, const std::vector<Grad>& dys) {
  std::vector<GradEndpoint> given;
  // Calls are told which results matter.
  const bool calls = std::ranges::any_of(node->op().attrs, [](const AttrDef& attr) { return attr.kind == "func"; });
  for (int i = 0; i < node->num_outputs(); ++i) {
    Grad dy = dys[i];
    if (dy.none() && !calls && Trainable(node->output_type(i))) dy = ZeroOf({node, i});
    given.push_back(ToGraph(dy));
  }
  GradientLoop loop;
  const GradientRegion* region = scope_.region();
  if (region->parent) {
    loop.pivot = region->pivot;
    loop.inside = [this](Endpoint value) { return scope_.Inside(value); };
  }
  std::vector<Grad> dxs;
  for (const GradEndpoint& g : options_.override_gradient(node, given, loop)) {
    scope_.AdoptNodes();
    dxs.push_back(g.none() ? Grad() : FromGraph(g));
  }
  return dxs;
}

// A call of a function by its name as op type.
std::vector<Grad> Differentiator::CallGradient(Node* node, const std::vector<Grad>& dys) {
  Outs inputs;
  std::vector<DataType> in_types, out_types;
  for (const Endpoint& input : node->inputs()) {
    inputs.push_back(scope_.From(input));
    in_types.push_back(BaseType(input.type()));
    // The gradient of a variable is one of its value.
    const DataType behind = scope_.TypeBehind(inputs.back());
    out_types.push_back(behind == DT_INVALID ? in_types.back() : behind);
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
  for (const Out& dx :
       scope_.Call("SymbolicGradient", inputs, {{"Tin", in_types}, {"Tout", out_types}, {"f", f}}, {})) {
    dxs.push_back(dx);
  }
  return dxs;
}

// All gradients of an op are computed before any is used.
void Differentiator::Gate(std::vector<Grad>* dxs) {
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

std::vector<GradEndpoint> AddGradients(Graph& graph, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                       const std::vector<GradEndpoint>& grad_ys, const GradientOptions& options) {
  const int first = graph.num_ids();
  const std::vector<Node*> lowered = LowerInPlace(graph, [&] {
    std::vector<Node*> nodes;
    for (const int id : NodesBetween(graph, ys, xs)) {
      Node* node = graph.node(id);
      if (HasBodies(*node) && !node->attrs().Find("_gradient_op_type")) nodes.push_back(node);
    }
    return nodes;
  });
  if (ForwardChanges* changes = options.forward) {
    for (int id = first; id < graph.num_ids(); ++id) {
      if (graph.node(id)) changes->added.push_back(id);
    }
    for (const Node* node : lowered) changes->lowered.push_back(node->id());
  }
  return Differentiator(graph, options).Run(ys, xs, grad_ys);
}

}  // namespace penstock
