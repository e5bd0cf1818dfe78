#include "penstock/graph/gradient_scope.h"

#include <algorithm>

namespace penstock {

// Forward nodes lie in a context and are named after its loop; nodes of a region are of it.
struct GradientScope::Place {
  std::string prefix, frame;
  int64_t parallel_iterations;
  Node* cond;
  ControlContext* context = nullptr;
  GradientRegion* region = nullptr;
};

namespace {

bool IsInvariant(const Node* node) { return node->traits().flow == Flow::kEnter && node->attr<bool>("is_constant"); }

int64_t ParallelIterations(const ControlContext* loop) {
  return loop->enters.empty() ? 10 : loop->enters[0]->attr_or<int64_t>("parallel_iterations", 10);
}

// Whether its output is its only input, in the same shape too: Squeeze shares the memory, but not the shape.
bool HandsOnItsInput(const Node* node) {
  return node->traits().may_alias_input0 && node->num_inputs() == 1 && node->op_name() != "Squeeze";
}

bool IsConstant(const Node* node, int32_t value) {
  const Tensor* tensor = HeldConstant(*node);
  return tensor && tensor->dtype() == DT_INT32 && tensor->rank() == 0 && *tensor->data<int32_t>() == value;
}

// Whether the variable counts iterations as CountIterations does.
bool Counts(const ControlContext::Variable& variable) {
  if (!variable.exit || !variable.next || !variable.enter) return false;
  if (!IsConstant(variable.enter->input(0).node, 0)) return false;
  const Node* sum = variable.next->input(0).node;
  if (sum->op_name() != "AddV2" || !IsConstant(sum->input(1).node, 1)) return false;
  const Node* before = sum->input(0).node;
  return HandsOnItsInput(before) && before->input(0) == Endpoint{variable.switch_node, 1};
}

// The list onto which a variable's next value, `list`, has pushed `value`: null if it has not.
Endpoint PushedOnto(Endpoint list, Endpoint value) {
  while (list.node->traits().flow == Flow::kMerge) {
    const auto& sides = list.node->inputs();
    const auto longer =
        std::ranges::find_if(sides, [](const Endpoint& e) { return e.node->traits().flow != Flow::kSwitch; });
    if (longer == sides.end()) return {};
    list = *longer;
  }
  if (list.node->op_name() != "TensorListPushBack" || list.node->input(1) != value) return {};
  list = list.node->input(0);
  while (list.node->traits().flow == Flow::kSwitch && list.node->input(1).node->traits().flow != Flow::kLoopCond) {
    list = list.node->input(0);
  }
  return list;
}

// The shape of the variable that a handle names, as a vector; an empty tensor where the graph does not know it.
Tensor ShapeBehind(Endpoint handle, DataType type) {
  const auto& behind = handle.node->info(handle.index).handle_data;
  if (behind.empty() || !behind[0].shape.fully_known()) return {};
  Tensor shape(type, Shape({behind[0].shape.rank()}));
  const std::vector<int64_t>& dims = behind[0].shape.dims();
  if (type == DT_INT32) {
    std::ranges::transform(dims, shape.mutable_data<int32_t>(), [](int64_t d) { return static_cast<int32_t>(d); });
  } else {
    std::ranges::copy(dims, shape.mutable_data<int64_t>());
  }
  return shape;
}

}  // namespace

GradientScope::GradientScope(Graph* graph, std::string prefix, const Node* inside)
    : graph_(graph), base_(prefix), prefix_(std::move(prefix)), flow_(*graph), adopted_(graph->num_ids()) {
  regions_.push_back(std::make_unique<GradientRegion>());
  region_ = regions_[0].get();
  if (inside && flow_.Known(inside)) {
    region_->pivot = graph->node(inside->id());
    caller_ = flow_.Of(Endpoint{region_->pivot, 0});
    region_->loop = ControlFlow::LoopOf(caller_);
  }
}

Outs GradientScope::Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs,
                         std::span<const Out> controls) {
  if (op == "VariableShape" && inputs[0]) {
    Tensor shape = ShapeBehind(At(inputs[0]), *attrs.Find("out_type")->If<DataType>());
    if (shape.dtype() != DT_INVALID) return {Const(std::move(shape))};
  }
  if (region_->parent) {
    if (std::optional<Outs> outs = FromShape(op, inputs, attrs)) return *outs;
  }
  NodeSpec spec;
  spec.op = op;
  for (const Out& input : inputs) {
    if (!input) throw Internal("op ", op, " is called with a missing tensor");
    spec.inputs.push_back(Inside(At(input)));
  }
  for (const Out& control : controls) spec.control_inputs.push_back(At(control).node);
  // Invariants alone would run it once more than there are iterations.
  const bool free = std::ranges::all_of(spec.inputs, [](const Endpoint& e) { return IsInvariant(e.node); });
  if (region_->pivot && free) spec.control_inputs.push_back(region_->pivot);
  if (colocate_) {
    const AttrValue* groups = colocate_->attrs().Find("_class");
    attrs.Set("_class", groups ? *groups : AttrValue(std::vector<std::string>{"loc:@" + colocate_->name()}));
    spec.device = colocate_->device();
  }
  spec.name = graph_->UniqueName(prefix_ + std::string(op));
  spec.attrs = std::move(attrs);
  Node* node = graph_->AddNode(std::move(spec));
  if (region_->parent) region_of_[node->id()] = region_;
  Outs outs;
  for (int i = 0; i < node->num_outputs(); ++i) outs.push_back(From({node, i}));
  return outs;
}

DataType GradientScope::TypeBehind(Out value) const {
  const Endpoint e = At(value);
  const auto& data = e.node->info(e.index).handle_data;
  return e.type() == DT_RESOURCE && !data.empty() ? data[0].dtype : DT_INVALID;
}

void GradientScope::AdoptNodes() {
  for (; adopted_ < graph_->num_ids(); ++adopted_) {
    const Node* node = graph_->node(adopted_);
    if (!node || !region_->parent || flow_.Known(node)) continue;
    // What waits for nothing is in no loop: an argument that the function around the loop captures now.
    if (node->num_inputs() > 0 || !node->control_inputs().empty()) region_of_.try_emplace(adopted_, region_);
  }
}

Endpoint GradientScope::Inside(Endpoint value) {
  if (!region_->parent) return value;
  AdoptNodes();
  return Bring(value, region_);
}

// --- plumbing

Node* GradientScope::Add(const Place& place, std::string_view op, std::vector<Endpoint> inputs, AttrMap attrs,
                         std::vector<Node*> controls) {
  NodeSpec spec;
  spec.op = op;
  spec.name = graph_->UniqueName(place.prefix + std::string(op));
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  spec.control_inputs = std::move(controls);
  Node* node = graph_->AddNode(std::move(spec));
  if (!place.region) {
    flow_.Assign(node, place.context);
    forward_nodes_.push_back(node);
  } else if (place.region->parent) {
    region_of_[node->id()] = place.region;
  }
  return node;
}

Node* GradientScope::Constant(const Place& place, Tensor value, std::vector<Node*> controls) {
  const DataType dtype = value.dtype();
  return Add(place, "Const", {}, {{"value", std::move(value)}, {"dtype", dtype}}, std::move(controls));
}

LoopVariable GradientScope::AddVariable(const Place& place, Endpoint initial, const PartialShape& shape) {
  LoopVariable variable;
  variable.enter =
      Add(place, "Enter", {initial},
          {{"frame_name", place.frame}, {"is_constant", false}, {"parallel_iterations", place.parallel_iterations}});
  graph_->SetShape({variable.enter, 0}, shape);
  const Endpoint entered{variable.enter, 0};
  variable.merge = Add(place, "Merge", {entered, entered});
  if (place.cond) variable.switch_node = Add(place, "Switch", {{variable.merge, 0}, {place.cond, 0}});
  return variable;
}

void GradientScope::CloseVariable(const Place& place, const LoopVariable& variable, Endpoint next) {
  Node* back = Add(place, "NextIteration", {next});
  graph_->UpdateInput(variable.merge, 1, {back, 0});
}

// The last value, which is of the region around.
Endpoint GradientScope::AddExit(const Place& place, const LoopVariable& variable) {
  Node* exit = Add(place, "Exit", {{variable.switch_node, 0}});
  if (place.region->parent->parent) {
    region_of_[exit->id()] = place.region->parent;
  } else {
    region_of_.erase(exit->id());
  }
  return {exit, 0};
}

// `change` of a list, where the branches are taken.
template <class Fn>
Endpoint GradientScope::InBranches(const Place& place, Endpoint list, const std::vector<ControlContext*>& branches,
                                   const std::vector<Endpoint>& preds, Fn change) {
  std::vector<Node*> switches;
  for (size_t i = 0; i < branches.size(); ++i) {
    switches.push_back(Add(place, "Switch", {list, preds[i]}));
    list = {switches.back(), branches[i]->branch};
  }
  list = change(list);
  for (size_t i = branches.size(); i-- > 0;) {
    std::vector<Endpoint> sides{{switches[i], 0}, {switches[i], 1}};
    sides[branches[i]->branch] = list;
    list = {Add(place, "Merge", sides), 0};
  }
  return list;
}

// The branches of its loop that a value is in, outermost first.
std::vector<ControlContext*> GradientScope::BranchesOf(Endpoint value) {
  std::vector<ControlContext*> branches;
  for (ControlContext* context = flow_.Of(value); context && !context->is_loop; context = context->parent) {
    branches.push_back(context);
  }
  std::ranges::reverse(branches);
  return branches;
}

// --- forward loops

// What must have run for the loop to run: keeps nodes without inputs from running where it does not.
std::vector<Node*> GradientScope::LoopControls(ControlContext* loop) {
  if (!loop->parent) return {};
  auto [it, fresh] = controls_.try_emplace(loop);
  if (!fresh) return it->second;
  const Node* enter = loop->variables.empty() ? loop->enters[0] : loop->variables[0].enter;
  std::vector<Node*> controls = enter->control_inputs();
  const Endpoint initial = enter->input(0);
  const Place place{base_ + loop->frame + "/forward/", "", 0, nullptr, loop->parent};
  controls.push_back(initial.node->traits().flow == Flow::kSwitch ? Add(place, "Identity", {initial}) : initial.node);
  return controls_[loop] = controls;
}

Endpoint GradientScope::CountIterations(ControlContext* loop) {
  Endpoint& count = counts_[loop];
  if (count) return count;
  for (const ControlContext::Variable& variable : loop->variables) {
    if (Counts(variable)) return count = {variable.exit, 0};
  }
  const std::string prefix = base_ + loop->frame + "/forward/";
  const Place around{prefix, "", 0, nullptr, loop->parent};
  const Place inside{prefix, loop->frame, ParallelIterations(loop), loop->cond, loop};
  const Endpoint zero{Constant(around, Tensor(int32_t{0}), LoopControls(loop)), 0};
  const LoopVariable variable = AddVariable(inside, zero, PartialShape({}));
  Node* pivot = Add(inside, "Identity", {variable.body()});
  const Endpoint one{Constant(inside, Tensor(int32_t{1}), {pivot}), 0};
  CloseVariable(inside, variable, {Add(inside, "AddV2", {{pivot, 0}, one}), 0});
  return count = {Add(inside, "Exit", {{variable.switch_node, 0}}), 0};
}

// That an earlier differentiation has made: gradients of gradients must not ask for ever more lists.
Endpoint GradientScope::ListMadeBefore(Endpoint value, const ControlContext* loop) {
  for (const ControlContext::Variable& variable : loop->variables) {
    if (!variable.exit || !variable.next || !variable.enter) continue;
    if (variable.enter->input(0).node->op_name() != "EmptyTensorList") continue;
    if (PushedOnto(variable.next->input(0), value) == Endpoint{variable.switch_node, 1}) return {variable.exit, 0};
  }
  return {};
}

// A list of the value in all iterations, behind the loop.
Endpoint GradientScope::AllValues(Endpoint value) {
  Endpoint& list = lists_[KeyOf(value)];
  if (list) return list;
  ControlContext* loop = ControlFlow::LoopOf(flow_.Of(value));
  if ((list = ListMadeBefore(value, loop))) return list;
  const std::string prefix = base_ + loop->frame + "/forward/";
  const Place around{prefix, "", 0, nullptr, loop->parent};
  const Place inside{prefix, loop->frame, ParallelIterations(loop), loop->cond, loop};
  const std::vector<Node*> controls = LoopControls(loop);
  const Endpoint any{Constant(around, Tensor(int32_t{-1}), controls), 0};
  const Endpoint empty{
      Add(around, "EmptyTensorList", {any, any}, {{"element_dtype", BaseType(value.type())}, {"shape_type", DT_INT32}}),
      0};
  const LoopVariable variable = AddVariable(inside, empty, PartialShape({}));
  const std::vector<ControlContext*> branches = BranchesOf(value);
  std::vector<Endpoint> preds;
  for (const ControlContext* branch : branches) preds.push_back(branch->pred);
  const Endpoint longer = InBranches(inside, variable.body(), branches, preds, [&](Endpoint switched) -> Endpoint {
    return {Add(inside, "TensorListPushBack", {switched, value}, {{"element_dtype", BaseType(value.type())}}), 0};
  });
  CloseVariable(inside, variable, longer);
  return list = {Add(inside, "Exit", {{variable.switch_node, 0}}), 0};
}

// --- regions

GradientRegion* GradientScope::OpenLoop(ControlContext* loop) {
  const Endpoint count = Inside(CountIterations(loop));
  GradientRegion* region = regions_.emplace_back(std::make_unique<GradientRegion>()).get();
  region->parent = region_;
  region->loop = loop;
  region->frame = graph_->UniqueName(base_ + loop->frame);
  region->parallel_iterations = ParallelIterations(loop);
  region_ = region;
  Place place{region->frame + "/", region->frame, region->parallel_iterations, nullptr, nullptr, region};
  LoopVariable left = AddVariable(place, count, PartialShape({}));
  const Endpoint zero{Constant(place, Tensor(int32_t{0}), {left.merge}), 0};
  Node* more = Add(place, "Greater", {{left.merge, 0}, zero});
  region->cond = place.cond = Add(place, "LoopCond", {{more, 0}});
  left.switch_node = Add(place, "Switch", {{left.merge, 0}, {place.cond, 0}});
  region->pivot = Add(place, "Identity", {left.body()});
  const Endpoint one{Constant(place, Tensor(int32_t{1}), {region->pivot}), 0};
  CloseVariable(place, left, {Add(place, "Sub", {{region->pivot, 0}, one}), 0});
  return region;
}

LoopVariable GradientScope::AddVariable(Endpoint initial, const PartialShape& shape) {
  const Place place{region_->frame + "/", region_->frame, region_->parallel_iterations,
                    region_->cond,        nullptr,        region_};
  return AddVariable(place, initial, shape);
}

Endpoint GradientScope::Close(const LoopVariable& variable, Endpoint next) {
  const Place place{region_->frame + "/", region_->frame, region_->parallel_iterations,
                    region_->cond,        nullptr,        region_};
  CloseVariable(place, variable, next);
  return AddExit(place, variable);
}

Endpoint GradientScope::Enter(Endpoint value, GradientRegion* from, GradientRegion* to) {
  if (from == to) return value;
  if (!to->parent) throw Internal("the gradient reads ", value.name(), ", which is inside of another loop");
  value = Enter(value, from, to->parent);
  Endpoint& entered = to->entered[KeyOf(value)];
  if (entered) return entered;
  const Place place{to->frame + "/", to->frame, to->parallel_iterations, to->cond, nullptr, to};
  Node* node =
      Add(place, "Enter", {value},
          {{"frame_name", to->frame}, {"is_constant", true}, {"parallel_iterations", to->parallel_iterations}});
  return entered = {node, 0};
}

Endpoint GradientScope::Bring(Endpoint value, GradientRegion* region) {
  if (!flow_.Known(value.node)) {
    const auto it = region_of_.find(value.node->id());
    return Enter(value, it == region_of_.end() ? regions_[0].get() : it->second, region);
  }
  const ControlContext* loop = ControlFlow::LoopOf(flow_.Of(value));
  GradientRegion* home = region;
  while (home->parent && home->loop != loop) home = home->parent;
  return Enter(home->parent ? Saved(value, home) : value, home, region);
}

Endpoint GradientScope::Saved(Endpoint value, GradientRegion* region) {
  if (const auto it = region->saved.find(KeyOf(value)); it != region->saved.end()) return it->second;
  Endpoint found;
  Node* node = value.node;
  ControlContext* context = flow_.Of(value);
  if (IsInvariant(node)) {
    found = Enter(Bring(node->input(0), region->parent), region->parent, region);
  } else if (HandsOnItsInput(node) && flow_.Of(node->input(0)) == context && node->control_inputs().empty()) {
    found = Saved(node->input(0), region);
  } else if (node->traits().flow == Flow::kSwitch && !flow_.IsLoopSwitch(node)) {
    // Saved where the branch begins, and brought into the branch again.
    const Place place{region->frame + "/", region->frame, region->parallel_iterations, region->cond, nullptr, region};
    Node* gate = Add(place, "Switch", {Saved(node->input(0), region), Bring(node->input(1), region)});
    region->saved[{node->id(), 0}] = {gate, 0};
    region->saved[{node->id(), 1}] = {gate, 1};
    found = {gate, value.index};
  } else {
    found = Restore(value, region);
  }
  return region->saved[KeyOf(value)] = found;
}

Endpoint GradientScope::Restore(Endpoint value, GradientRegion* region) {
  const Place place{region->frame + "/", region->frame, region->parallel_iterations, region->cond, nullptr, region};
  const std::vector<ControlContext*> branches = BranchesOf(value);
  std::vector<Endpoint> preds;
  for (const ControlContext* branch : branches) preds.push_back(Bring(branch->pred, region));
  if (const Tensor* constant = graph_->ConstantValue(value)) {
    Endpoint copy{Constant(place, *constant, {region->pivot}), 0};
    for (size_t i = 0; i < branches.size(); ++i) copy = {Add(place, "Switch", {copy, preds[i]}), branches[i]->branch};
    return copy;
  }
  const DataType type = BaseType(value.type());
  const LoopVariable list = AddVariable(place, Bring(AllValues(value), region->parent), PartialShape({}));
  const Endpoint any{Constant(place, Tensor(int32_t{-1}), {region->pivot}), 0};
  Endpoint popped;
  const Endpoint shorter = InBranches(place, list.body(), branches, preds, [&](Endpoint switched) -> Endpoint {
    Node* pop = Add(place, "TensorListPopBack", {switched, any}, {{"element_dtype", type}});
    popped = {pop, 1};
    return {pop, 0};
  });
  CloseVariable(place, list, shorter);
  AddExit(place, list);  // nothing is left; a further gradient begins with it
  graph_->SetShape(popped, value.shape());
  graph_->SetHandleData(popped, value.node->info(value.index).handle_data);
  return popped;
}

// --- what needs a forward value's shape only

bool GradientScope::MustBeSaved(Endpoint value) {
  if (!flow_.Known(value.node)) return false;
  const ControlContext* loop = ControlFlow::LoopOf(flow_.Of(value));
  const GradientRegion* home = region_;
  while (home->parent && home->loop != loop) home = home->parent;
  if (!home->parent || home->saved.contains(KeyOf(value))) return false;
  while (HandsOnItsInput(value.node) ||
         (value.node->traits().flow == Flow::kSwitch && !flow_.IsLoopSwitch(value.node))) {
    value = value.node->input(0);
  }
  return !IsInvariant(value.node);
}

// Shapes are taken where the forward value is, and saved instead of it.
std::optional<Outs> GradientScope::FromShape(std::string_view op, std::span<const Out> inputs, const AttrMap& attrs) {
  if (inputs.size() != 1 || !inputs[0]) return {};
  const Endpoint value = At(inputs[0]);
  if (!MustBeSaved(value)) return {};
  if (op == "Shape" || op == "Size" || op == "Rank") {
    ControlContext* context = flow_.Of(value);
    const AttrValue* out_type = attrs.Find("out_type");
    const DataType type = out_type ? *out_type->If<DataType>() : DT_INT32;
    for (const Consumer& consumer : value.node->consumers()) {
      Node* known = consumer.node;
      if (consumer.input != 0 || known->input(0) != value || known->op_name() != op || !flow_.Known(known)) continue;
      if (known->output_type(0) == type && flow_.Of(known) == context && known->control_inputs().empty()) {
        return Outs{From(Inside({known, 0}))};
      }
    }
    const Place place{base_ + ControlFlow::LoopOf(context)->frame + "/forward/", "", 0, nullptr, context};
    return Outs{From(Inside({Add(place, op, {value}, attrs), 0}))};
  }
  const DataType type = BaseType(value.type());
  if ((op != "ZerosLike" && op != "OnesLike") || !(IsNumber(type) || type == DT_BOOL)) return {};
  const Out filling = ScalarOf(type, op == "OnesLike" ? 1 : 0);
  const Out shape = ShapeOf(From(value));
  const Out filled = Call("Fill", std::vector<Out>{shape, filling}, {}, {})[0];
  graph_->SetShape(At(filled), value.shape());
  return Outs{filled};
}

}  // namespace penstock
