// Gradients of conditionals and loops.
//
// The gradient of a loop is a loop that runs as often, in whose body the walk goes back over the forward body. Its
// variables are the gradients of the forward loop's variables, and the sums of the gradients of its invariants. What it
// reads of a forward iteration was put into a list by the forward loop and is taken from its end (gradient_scope.cc).
// All of it is made of ops that have gradients themselves, so it can be differentiated again.
#include <algorithm>
#include <array>

#include "penstock/graph/differentiator.h"

namespace penstock {
namespace {

bool IsInvariant(const Node* node) { return node->traits().flow == Flow::kEnter && node->attr<bool>("is_constant"); }

Out Joined(Out first, Out second) {
  return Call("ConcatV2", {first, second, first.scope->Scalar<int32_t>(0)}, {{"N", 2}});
}

// Whichever side is alive.
Out Merged(Out on_false, Out on_true) { return Call("Merge", {on_false, on_true}, {{"N", 2}}); }

}  // namespace

Out Differentiator::ShapeOfValue(Endpoint x, DataType type) {
  const Out value = scope_.From(x);
  if (x.type() != DT_RESOURCE) return ShapeOf(value, type);
  return Call("VariableShape", {value}, {{"out_type", type}});
}

// Zeros like the value x, or like that of the variable x.
Out Differentiator::ZerosOf(Endpoint x, DataType type) {
  if (x.type() != DT_RESOURCE) return ZerosLike(scope_.From(x));
  return Call("Fill", {ShapeOfValue(x, DT_INT32), scope_.ScalarOf(type, 0)});
}

// None of the rows of x, as values and indices like those of a gradient.
Grad Differentiator::NoRows(Endpoint x, const Grad& like) {
  const Out shape = ShapeOfValue(x, DT_INT32);
  const Out rest = Call("Slice", {shape, ConstVector(scope_, {1}), ConstVector(scope_, {-1})});
  const Out values = Call("Fill", {Joined(ConstVector(scope_, {0}), rest), scope_.ScalarOf(like.values.type(), 0)});
  const Out indices = Cast(ConstVector(scope_, {}), like.indices.type());
  return Grad::Slices(values, indices, ShapeOfValue(x, like.dense_shape ? like.dense_shape.type() : DT_INT32));
}

std::vector<Grad> Differentiator::SwitchGradient(Node* node, std::vector<Grad> dys) {
  const ControlFlow& flow = scope_.flow();
  if (flow.IsLoopSwitch(node)) return {dys[1].none() ? dys[0] : dys[1]};  // of the loop in which the caller builds
  for (int i = 0; i < 2; ++i) {
    const ControlContext* branch = flow.Of(Endpoint{node, i});
    if (branch != flow.Of(node) && scope_.caller() && branch->Contains(scope_.caller())) return {dys[i]};
  }
  return {MergedSides(node->input(0), scope_.From(node->input(1)), std::move(dys))};
}

// The gradient of x that comes out of the branch that is taken; from a side that has none come zeros.
Grad Differentiator::MergedSides(Endpoint x, Out pred, std::vector<Grad> dys) {
  const auto side = [&](Out value, int i) {
    const Out inputs[] = {value, pred};
    return scope_.Call("Switch", inputs, {}, {})[i];
  };
  const bool sparse = (dys[0].none() || dys[0].sparse()) && (dys[1].none() || dys[1].sparse());
  for (int i = 0; i < 2; ++i) {
    const Grad& other = dys[1 - i];
    if (!dys[i].none()) {
      if (!sparse) dys[i] = DenseGrad(dys[i]);
    } else if (sparse) {
      const Grad none = NoRows(x, other);
      dys[i] = Grad::Slices(side(none.values, i), side(none.indices, i), Out());
    } else {
      dys[i] = side(ZerosOf(x, other.dense.type()), i);
    }
  }
  if (!sparse) return Merged(dys[0].dense, dys[1].dense);
  const bool wide = dys[0].indices.type() != dys[1].indices.type();
  for (Grad& dy : dys) dy.indices = wide ? Cast(dy.indices, DT_INT64) : dy.indices;
  return Grad::Slices(Merged(dys[0].values, dys[1].values), Merged(dys[0].indices, dys[1].indices),
                      ShapeOfValue(x, DT_INT32));
}

// The gradient of a node's input. Inside of a branch a node may read what lies outside without a Switch, beside values
// of the branch: gradient functions do so. Such a gradient is dead where the branch is not taken.
Grad Differentiator::OutOfBranches(const Node* node, Endpoint x, Grad dx) {
  const ControlContext* outside = scope_.flow().Of(x);
  const ControlContext* branch = scope_.flow().Of(node);
  for (; branch && !branch->is_loop && !branch->Contains(outside) && !branch->Contains(scope_.caller());
       branch = branch->parent) {
    const Out pred = scope_.From(branch->pred);
    for (Out* part : {&dx.dense, &dx.values, &dx.indices}) {  // which may be zeros that need no value of the branch
      if (*part) *part = scope_.Call("Switch", std::array{*part, pred}, {}, {})[branch->branch];
    }
    std::vector<Grad> sides(2);
    sides[branch->branch] = std::move(dx);
    dx = MergedSides(x, pred, std::move(sides));
  }
  return dx;
}

std::vector<Grad> Differentiator::MergeGradient(Node* node, const Grad& dy) {
  const ControlFlow& flow = scope_.flow();
  std::vector<Grad> dxs(node->num_inputs());
  if (dy.none()) return dxs;
  if (flow.IsLoopMerge(node) || node->num_inputs() == 1) {
    dxs[0] = dy;
    return dxs;
  }
  const ControlContext* around = flow.Of(Endpoint{node, 0});
  std::map<EndpointKey, std::vector<Grad>> sides;  // by predicate
  const auto routed = [&](Endpoint key, Out pred) -> std::vector<Grad>& {
    auto [it, fresh] = sides.try_emplace(KeyOf(key));
    if (!fresh) return it->second;
    const auto both = [&](Out value) {
      if (!value) return Outs(2);
      const Out inputs[] = {value, pred};
      return scope_.Call("Switch", inputs, {}, {});
    };
    if (dy.sparse()) {
      const Outs values = both(dy.values), indices = both(dy.indices), shapes = both(dy.dense_shape);
      for (int i = 0; i < 2; ++i) it->second.push_back(Grad::Slices(values[i], indices[i], shapes[i]));
    } else {
      for (const Out side : both(dy.dense)) it->second.push_back(side);
    }
    return it->second;
  };
  for (int i = 0; i < node->num_inputs(); ++i) {
    const ControlContext* branch = flow.Of(node->input(i));
    while (branch && branch->parent != around) branch = branch->parent;
    if (branch && !branch->is_loop) {
      dxs[i] = routed(branch->pred, scope_.From(branch->pred))[branch->branch];
    } else {
      // Not the end of a conditional: which input it took says where the gradient goes.
      const Out taken = Call("Equal", {scope_.From({node, 1}), scope_.Scalar(int32_t{i})});
      dxs[i] = routed(scope_.At(taken), taken)[1];
    }
  }
  return dxs;
}

// The way into the loop in which the caller builds: gradients of an iteration go out to invariants, nowhere else.
std::vector<Grad> Differentiator::EnterGradient(Node* node, const Grad& dy) {
  if (!IsInvariant(node)) {
    // Back to the x that is meant.
    std::vector<const Node*> before{node};
    for (size_t i = 0; !x_nodes_.contains(before[i]->id()); ++i) {
      for (const Endpoint& input : before[i]->inputs()) {
        if (Between(input.node) && std::ranges::find(before, input.node) == before.end()) before.push_back(input.node);
      }
      if (i + 1 == before.size()) return {};
    }
    const auto x = std::ranges::find_if(before, [&](const Node* each) { return x_nodes_.contains(each->id()); });
    throw InvalidArgument(
        "Cannot compute gradient inside while loop with respect to op '", (*x)->name(),
        "'. We do not support taking the gradient wrt or through the initial value of a loop variable. "
        "Gradients can be computed through loop invariants or wrt the input parameters to the loop body.");
  }
  return {dy};
}

bool Differentiator::WantsGradient(const ControlContext* loop) const {
  if (options_.loops_without_gradient.contains(loop->frame)) return false;
  for (const Node* enter : loop->enters) {
    if (Between(enter) && Between(enter->input(0).node) && Flows(enter->input(0))) return true;
  }
  return false;
}

void Differentiator::VisitLoop(ControlContext* loop) {
  GradientRegion* around = scope_.region();
  scope_.set_prefix(options_.name_scope);
  scope_.set_colocate(nullptr);
  std::map<const Node*, Grad> out;  // by Exit
  for (const ControlContext::Variable& variable : loop->variables) {
    if (!variable.exit || Stopped(variable.exit)) continue;
    const Grad dy = Received({variable.exit, 0});
    if (!dy.none()) out[variable.exit] = DenseGrad(dy);
  }
  if (out.empty() || !WantsGradient(loop)) return;

  struct Active {
    const ControlContext::Variable* forward;
    Out initial;
    LoopVariable variable;
  };
  std::vector<Active> active;
  for (const ControlContext::Variable& variable : loop->variables) {
    if (!variable.next || !variable.switch_node || !Between(variable.merge) || !Flows({variable.merge, 0})) continue;
    const auto given = out.find(variable.exit);
    const Endpoint last = variable.exit ? Endpoint{variable.exit, 0} : variable.enter->input(0);
    active.push_back({&variable, given == out.end() ? ZeroOf(last).dense : given->second.dense, {}});
  }
  scope_.OpenLoop(loop);
  for (Active& a : active) {
    a.variable = scope_.AddVariable(scope_.At(a.initial), a.forward->merge->shape(0));
    Receive({a.forward->next, 0}, scope_.From(a.variable.body()));
  }
  std::vector<Node*> ends;
  for (const Active& a : active) ends.push_back(a.forward->next);
  WalkRegion(ends);
  scope_.set_prefix(options_.name_scope);
  scope_.set_colocate(nullptr);
  std::vector<std::pair<Endpoint, Grad>> results;
  for (const Active& a : active) {
    const Endpoint first{a.forward->switch_node, 1};
    Grad dx = Aggregate({Received(first), Received({a.forward->merge, 0})});
    if (dx.none()) dx = ZeroOf(first);
    results.push_back({a.forward->enter->input(0), scope_.From(scope_.Close(a.variable, scope_.At(DenseGrad(dx))))});
  }
  for (Node* enter : loop->enters) {
    if (!IsInvariant(enter) || !Between(enter)) continue;
    const Grad step = Received({enter, 0});
    if (!step.none()) results.push_back({enter->input(0), SumOverIterations(enter, step)});
  }
  scope_.set_region(around);
  for (auto& [x, dx] : results) {
    if (Between(x.node) && Flows(x)) Receive(x, dx);
  }
}

namespace {

// The shape of x's gradient: that of x, or of the variable behind it.
PartialShape ShapeOfGradient(Endpoint x) {
  if (x.type() != DT_RESOURCE) return x.shape();
  const auto& behind = x.node->info(x.index).handle_data;
  return behind.empty() ? PartialShape() : behind[0].shape;
}

}  // namespace

// Adds up the gradients of an invariant; rows of it are joined.
Grad Differentiator::SumOverIterations(const Node* enter, const Grad& step) {
  GradientRegion* region = scope_.region();
  const Endpoint x = enter->input(0);
  scope_.set_region(region->parent);
  if (!step.sparse()) {
    const Out zero = ZerosOf(x, step.dense.type());
    scope_.set_region(region);
    const LoopVariable sum = scope_.AddVariable(scope_.At(zero), ShapeOfGradient(x));
    const Out sums[] = {scope_.From(sum.body()), step.dense};
    return scope_.From(scope_.Close(sum, scope_.At(CallOp("AddN", sums, {{"N", 2}})[0])));
  }
  const Grad nothing = NoRows(x, step);
  scope_.set_region(region);
  PartialShape rows = step.values.shape();
  if (rows.known_rank() && rows.rank() > 0) rows.set_dim(0, -1);
  const LoopVariable values = scope_.AddVariable(scope_.At(nothing.values), rows);
  const LoopVariable indices = scope_.AddVariable(scope_.At(nothing.indices), PartialShape({-1}));
  const Out more_values = Joined(scope_.From(values.body()), step.values);
  const Out more_indices = Joined(scope_.From(indices.body()), step.indices);
  return Grad::Slices(scope_.From(scope_.Close(values, scope_.At(more_values))),
                      scope_.From(scope_.Close(indices, scope_.At(more_indices))), nothing.dense_shape);
}

}  // namespace penstock
