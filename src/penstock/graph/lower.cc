#include "penstock/graph/lower.h"

#include <algorithm>
#include <map>
#include <set>

#include "penstock/graph/control_flow.h"

namespace penstock {
namespace {

// The function whose body a node came out of, and those around it.
struct Around {
  std::string function;
  std::shared_ptr<const Around> outer;
  int depth;
};
using AroundPtr = std::shared_ptr<const Around>;

// A graph of functions may describe one that no memory holds: f0 calls f1 twice, f1 calls f2 twice... What goes beyond
// these bounds stays a call. For what is differentiated, where calls may have no gradient, they are larger.
struct Bounds {
  int depth, nodes;
};
constexpr Bounds kInlining{64, 1 << 16}, kLoweringControlFlow{64, 1 << 18}, kLoweringInPlace{1000, 1 << 20};

class Budget {
 public:
  Budget(const Graph& graph, Bounds bounds) : graph_(graph), bounds_(bounds), before_(graph.num_ids()) {}
  bool Allows(const AroundPtr& around) const {
    return (!around || around->depth < bounds_.depth) && graph_.num_ids() - before_ < bounds_.nodes;
  }

 private:
  const Graph& graph_;
  const Bounds bounds_;
  const int before_;
};

// Replaces one node and hands on what it adds that may have to be replaced too.
class Lowering {
 public:
  // `around`: the functions whose bodies the node came out of. `in_place`: the node stays and hands the results on.
  // `only_needed`: what a branch does is dropped if nothing waits for it.
  Lowering(Graph& graph, Node* node, AroundPtr around, bool in_place = false, bool only_needed = false)
      : graph_(graph),
        node_(node),
        around_(std::move(around)),
        in_place_(in_place),
        only_needed_(only_needed && ToBeLowered()),
        prefix_(node->name() + "/") {}

  struct Added {
    Node* node;
    AroundPtr around;
  };

  // False: the node is none of those that are replaced, or its bodies contain themselves.
  bool Run() {
    const std::string& op = node_->op_name();
    if (op == "If" || op == "StatelessIf") return Lower({"else_branch", "then_branch"}, &Lowering::If);
    if (op == "While" || op == "StatelessWhile") return Lower({"cond", "body"}, &Lowering::While);
    if (in_place_ && op == "For") return Lower({"body"}, &Lowering::For);
    if (in_place_ && IsCall(op)) return Lower({"f"}, &Lowering::Call);
    if (op != "Case" && op != "StatelessCase") return false;
    functions_ = node_->attr<std::vector<FuncRef>>("branches");
    if (IsRecursive() || functions_.empty()) return false;
    Case();
    return true;
  }
  // For a call by PartitionedCall or by the function's name: false if the body is none to be inlined.
  bool RunCall() {
    functions_ = {node_->calls_function() ? FuncRef{node_->op_name(), Own(node_->attrs())} : node_->attr<FuncRef>("f")};
    if (IsRecursive()) return false;
    const FunctionDef* function = graph_.library()->Find(functions_[0].name);
    // Whoever asks for an executor is told if there is none.
    if (!node_->attr_or<std::string>("executor_type", "").empty()) return false;
    if (!function || Forbidden(node_->attrs()) || Forbidden(function->attrs)) return false;
    if (function->nodes.size() > kLargestInlined) return false;
    const FunctionBody body = Body(0);
    const bool stateful = std::ranges::any_of(body.graph->Nodes(), [](const Node* node) {
      const Flow flow = node->traits().flow;
      return node->traits().stateful && flow != Flow::kArg && flow != Flow::kRetval;
    });
    if (stateful || !body.control_rets.empty()) return false;
    Call();
    return true;
  }
  const std::vector<Added>& added() const { return added_; }
  static bool IsCall(std::string_view op) { return op == "PartitionedCall" || op == "StatefulPartitionedCall"; }

 private:
  static constexpr size_t kLargestInlined = 32;
  static bool Forbidden(const AttrMap& attrs) {
    const AttrValue* value = attrs.Find("_noinline");
    const bool* set = value ? value->If<bool>() : nullptr;
    return set && *set;
  }
  // The function's own attributes among a call's.
  static AttrMap Own(const AttrMap& attrs) {
    AttrMap own;
    for (const auto& [name, value] : attrs) {
      if (!name.starts_with("_")) own.Set(name, value);
    }
    return own;
  }

  // What a copied body gives.
  using Results = std::vector<Endpoint>;

  bool IsRecursive() const {
    for (const Around* around = around_.get(); around; around = around->outer.get()) {
      if (std::ranges::any_of(functions_, [&](const FuncRef& f) { return f.name == around->function; })) return true;
    }
    return false;
  }
  bool Lower(std::initializer_list<std::string_view> attrs, void (Lowering::*run)()) {
    for (const std::string_view attr : attrs) functions_.push_back(node_->attr<FuncRef>(attr));
    if (IsRecursive()) return false;
    (this->*run)();
    return true;
  }

  Node* Add(std::string_view op, std::vector<Endpoint> inputs, AttrMap attrs = {}, std::vector<Node*> controls = {}) {
    NodeSpec spec;
    spec.op = op;
    spec.name = graph_.UniqueName(prefix_ + std::string(op));
    spec.inputs = std::move(inputs);
    spec.control_inputs = std::move(controls);
    spec.attrs = std::move(attrs);
    spec.device = node_->device();
    Node* node = graph_.AddNode(std::move(spec));
    own_.insert(node);
    return node;
  }
  Endpoint Bool(Endpoint value) { return value.type() == DT_BOOL ? value : Endpoint{Add("ToBool", {value}), 0}; }

  // What others go on naming stays whole: a gradient that Python knows may read any of it.
  FunctionBody Body(int i) const {
    FunctionBody body = InstantiateCallee(functions_[i], graph_.library());
    if (!in_place_) KeepNeeded(body);
    return body;
  }

  // The body of functions_[i] with these arguments; `pivot` says when it runs.
  Results Inline(int i, const std::vector<Endpoint>& args, Node* pivot) { return Inline(i, Body(i), args, pivot); }
  Results Inline(int i, const FunctionBody& body, const std::vector<Endpoint>& args, Node* pivot) {
    if (body.args.size() != args.size()) {
      throw InvalidArgument("function ", functions_[i].name, " of '", node_->name(), "' takes ", body.args.size(),
                            " arguments, but is given ", args.size());
    }
    const AroundPtr around =
        std::make_shared<Around>(Around{functions_[i].name, around_, around_ ? around_->depth + 1 : 1});
    // Errors name a call's nodes by the call.
    const bool call = IsCall(node_->op_name()) || node_->calls_function();
    const std::string prefix = call ? prefix_ : graph_.UniqueName(prefix_ + functions_[i].name) + "/";
    const ControlFlow flow(*body.graph);
    std::map<const Node*, Node*> copies;
    std::map<const Node*, Endpoint> given;
    std::set<const Node*> invariant;  // arguments that a loop around does not carry along
    for (size_t k = 0; k < args.size(); ++k) {
      if (BaseType(args[k].type()) != body.arg_types[k]) {
        throw InvalidArgument("argument ", k, " of function ", functions_[i].name, " is ", ToString(args[k].type()),
                              ", but must be ", ToString(body.arg_types[k]));
      }
      const bool entered = args[k].node->traits().flow == Flow::kEnter;
      if (entered && args[k].node->attr<bool>("is_constant")) invariant.insert(body.args[k]);
      given[body.args[k]] = in_place_ ? Named(args[k], prefix + body.args[k]->name()) : args[k];
    }
    const auto copied = [&](Endpoint e) -> Endpoint {
      const auto arg = given.find(e.node);
      return arg != given.end() ? arg->second : Endpoint{copies.at(e.node), e.index};
    };
    std::vector<Node*> effects;
    std::vector<std::pair<Node*, Node*>> merges;
    for (Node* node : InputsFirst(*body.graph)) {
      if (node->traits().flow == Flow::kArg || node->traits().flow == Flow::kRetval) continue;
      NodeSpec spec;
      spec.op = node->op_name();
      spec.name = graph_.UniqueName(prefix + node->name());
      spec.attrs = Renamed(*node, prefix);
      spec.device = node->device().empty() ? node_->device() : node->device();
      spec.fails_when_run = true;
      bool closes = false;
      for (const Endpoint& input : node->inputs()) {
        const bool back = node->traits().flow == Flow::kMerge && input.node->traits().flow == Flow::kNextIteration;
        spec.inputs.push_back(back ? spec.inputs.at(0) : copied(input));
        closes |= back;
      }
      // Without inputs, or with none but a loop's invariants, a node would run even if the body does not.
      bool free = std::ranges::all_of(node->inputs(), [&](const Endpoint& e) { return invariant.contains(e.node); });
      for (Node* control : node->control_inputs()) {
        const auto arg = given.find(control);
        if (arg == given.end()) {
          spec.control_inputs.push_back(copies.at(control));
          free = false;
        } else if (!invariant.contains(control)) {
          spec.control_inputs.push_back(arg->second.node);
        }
      }
      if (free) spec.control_inputs.push_back(pivot);
      Node* copy = copies[node] = graph_.AddNode(std::move(spec));
      added_.push_back({copy, around});
      own_.insert(copy);
      if (closes) merges.emplace_back(node, copy);
      const bool effect = (node->traits().stateful && !only_needed_) ||
                          std::ranges::find(body.control_rets, node) != body.control_rets.end();
      if (effect && !flow.Of(Endpoint{node, 0})) effects.push_back(copy);
    }
    for (const auto& [node, copy] : merges) {
      for (int k = 0; k < node->num_inputs(); ++k) graph_.UpdateInput(copy, k, copied(node->input(k)));
    }
    Results results;
    for (Node* ret : body.rets) results.push_back(copied(ret->input(0)));
    effects_ = effects;
    return results;
  }
  // The results, available when the effects of the body that gave them have happened.
  Results AfterEffects(Results results) {
    for (Endpoint& value : results) {
      if (!effects_.empty()) value = {Add("Identity", {value}, {}, effects_), 0};
    }
    return results;
  }
  bool ToBeLowered() const { return node_->attr_or<bool>("_lower_using_switch_merge", false); }
  // A branch's results, and what says that it has run. Of a conditional that says itself that it is to be lowered, only
  // control edges wait for all that it does.
  Results OfBranch(int i, const std::vector<Endpoint>& args, Node* pivot) {
    Results results = Inline(i, args, pivot);
    if (!ToBeLowered()) results = AfterEffects(std::move(results));
    results.push_back(Ran(pivot));
    return results;
  }
  // Replaces the node, and removes what nobody needs of what has come in its place; `done` stays if nothing follows it.
  void ReplaceAndPrune(const Results& results, Node* done) {
    const Node* const last = node_->consumers().empty() ? done : nullptr;
    Replace(results, {done});
    if (!only_needed_) return;
    for (Node* node : std::vector<Node*>(own_.begin(), own_.end())) RemoveUnused(node, last);
    std::erase_if(added_, [&](const Added& added) { return !own_.contains(added.node); });
  }
  void RemoveUnused(Node* node, const Node* last) {
    std::vector<Node*> stack = {node};  // a node may be in it twice, and gone when it is met again
    while (!stack.empty()) {
      Node* one = stack.back();
      stack.pop_back();
      if (!own_.contains(one) || !one->consumers().empty() || one == last) continue;
      stack.insert(stack.end(), one->control_inputs().begin(), one->control_inputs().end());
      for (const Endpoint& input : one->inputs()) stack.push_back(input.node);
      own_.erase(one);
      graph_.RemoveNode(one);
    }
  }

  // The value under a name of its own: gradient functions of the front end look for it.
  Endpoint Named(Endpoint value, const std::string& name) {
    NodeSpec spec;
    spec.op = "Identity";
    spec.name = graph_.UniqueName(name);
    spec.inputs = {value};
    Node* node = graph_.AddNode(std::move(spec));
    graph_.SetHandleData({node, 0}, value.node->info(value.index).handle_data);
    return {node, 0};
  }

  // Attributes in which names stand get the copies' names.
  static AttrMap Renamed(const Node& node, const std::string& prefix) {
    AttrMap attrs = node.attrs();
    if (const AttrValue* frame = attrs.Find("frame_name"); frame && frame->If<std::string>()) {
      attrs.Set("frame_name", prefix + *frame->If<std::string>());
    }
    if (const AttrValue* groups = attrs.Find("_class"); groups && groups->If<std::vector<std::string>>()) {
      std::vector<std::string> renamed = *groups->If<std::vector<std::string>>();
      for (std::string& group : renamed) {
        if (group.starts_with("loc:@")) group.insert(5, prefix);
      }
      attrs.Set("_class", renamed);
    }
    return attrs;
  }

  // The results take the node's place.
  void Replace(const Results& results, std::vector<Node*> done) {
    if (static_cast<int>(results.size()) != node_->num_outputs()) {
      throw InvalidArgument("'", node_->name(), "' has ", node_->num_outputs(), " outputs, but its functions give ",
                            results.size());
    }
    if (in_place_) return HandOn(results, std::move(done));
    const std::vector<Consumer> consumers = node_->consumers();
    Node* after = nullptr;
    for (const Consumer& consumer : consumers) {
      if (consumer.input >= 0) {
        const Endpoint result = results[consumer.node->input(consumer.input).index];
        graph_.UpdateInput(consumer.node, consumer.input, result);
        continue;
      }
      if (!after) {
        for (const Endpoint& result : results) done.push_back(result.node);
        after = Add("NoOp", {}, {}, done);
      }
      graph_.RemoveControlEdge(node_, consumer.node);
      graph_.AddControlEdge(after, consumer.node);
    }
    graph_.RemoveNode(node_);
  }

  void HandOn(const Results& results, std::vector<Node*> done) {
    NodeSpec spec;
    spec.op = results.empty() ? "NoOp" : "IdentityN";
    spec.inputs = results;
    spec.control_inputs = std::move(done);
    graph_.Become(node_, std::move(spec));
  }

  // A value that is alive where `pred` is `side`, and what a conditional does there.
  Node* Pivot(Endpoint pred, int side) {
    Node* both = Add("Switch", {pred, pred}, {}, node_->control_inputs());
    return Add("Identity", {{both, side}});
  }
  // One merged output more, alive when the branch has run: for those that wait for its effects.
  Endpoint Ran(Node* pivot) { return {Add("Identity", {{pivot, 0}}, {}, effects_), 0}; }

  void If() {
    const Endpoint pred = Bool(node_->input(0));
    std::vector<Node*> switches;
    for (int i = 1; i < node_->num_inputs(); ++i) {
      switches.push_back(Add("Switch", {node_->input(i), pred}, {}, node_->control_inputs()));
    }
    std::vector<Results> sides;
    for (int side = 0; side < 2; ++side) {
      std::vector<Endpoint> args;
      for (Node* each : switches) args.push_back({each, side});
      Node* pivot = Pivot(pred, side);
      sides.push_back(OfBranch(side, args, pivot));
    }
    Merge(sides);
  }

  void Merge(const std::vector<Results>& sides) {
    Results merged;
    for (size_t i = 0; i < sides[0].size(); ++i) {
      std::vector<Endpoint> inputs;
      for (const Results& side : sides) {
        if (side.size() != sides[0].size()) {
          throw InvalidArgument("the branches of '", node_->name(), "' give different numbers of results");
        }
        inputs.push_back(side[i]);
      }
      merged.push_back({Add("Merge", inputs), 0});
    }
    Node* done = merged.back().node;
    merged.pop_back();
    ReplaceAndPrune(merged, done);
  }

  // Each branch has a predicate of its own; an index out of range means the last.
  void Case() {
    const Endpoint index = node_->input(0);
    const int count = static_cast<int>(functions_.size());
    std::vector<Results> sides;
    Endpoint others;
    for (int i = 0; i < count; ++i) {
      Endpoint pred;
      if (i + 1 < count) {
        // It is in the frame of the index, which may be a loop's.
        const Endpoint number{Add("Const", {}, {{"value", Tensor(int32_t{i})}, {"dtype", DT_INT32}}, {index.node}), 0};
        pred = {Add("Equal", {index, number}), 0};
        others = others ? Endpoint{Add("LogicalOr", {others, pred}), 0} : pred;
      } else if (others) {
        pred = {Add("LogicalNot", {others}), 0};
      } else {
        pred = {Add("Equal", {index, index}), 0};
      }
      std::vector<Endpoint> args;
      for (int k = 1; k < node_->num_inputs(); ++k) {
        args.push_back({Add("Switch", {node_->input(k), pred}, {}, node_->control_inputs()), 1});
      }
      Node* pivot = Pivot(pred, 1);
      sides.push_back(OfBranch(i, args, pivot));
    }
    Merge(sides);
  }

  // What waits for the call's inputs waits in the body, too.
  void Call() {
    std::vector<Endpoint> args;
    std::vector<Node*> begin = node_->control_inputs();
    for (const Endpoint& input : node_->inputs()) {
      args.push_back({Add("Identity", {input}, {}, node_->control_inputs()), 0});
      graph_.SetHandleData(args.back(), input.node->info(input.index).handle_data);
      begin.push_back(args.back().node);
    }
    Node* pivot = Add("NoOp", {}, {}, begin);
    const Results results = AfterEffects(Inline(0, args, pivot));
    std::vector<Node*> done = effects_;
    done.push_back(pivot);
    Replace(results, done);
    if (pivot->consumers().empty()) graph_.RemoveNode(pivot);
  }

  // As a While that counts.
  void For() {
    const Endpoint start = node_->input(0), delta = node_->input(2);
    const auto op = [&](std::string_view name, Endpoint a, Endpoint b) { return Endpoint{Add(name, {a, b}), 0}; };
    const Endpoint before_last = op("Sub", delta, {Add("Sign", {delta}), 0});
    const Endpoint count = op("FloorDiv", op("AddV2", op("Sub", node_->input(1), start), before_last), delta);
    std::vector<Endpoint> initial{{Zero(start.node), 0}, count, start, delta};
    for (int i = 3; i < node_->num_inputs(); ++i) initial.push_back(node_->input(i));
    std::vector<bool> constant = HandedOn(Body(0));
    constant.erase(constant.begin());
    constant.insert(constant.begin(), {false, true, true, true});
    Loop(
        initial, constant, [&](const std::vector<Endpoint>& values) { return op("Less", values[0], values[1]); },
        [&](const std::vector<Endpoint>& values) {
          std::vector<Endpoint> args(values.begin() + 3, values.end());
          args[0] = op("AddV2", values[2], op("Mul", values[0], values[3]));
          Results next = AfterEffects(Inline(0, args, values[0].node));
          if (next.size() + 1 != args.size()) {
            throw InvalidArgument("For loop body returned ", next.size(), " arguments. Expected: ", args.size() - 1,
                                  " ('", node_->name(), "')");
          }
          const AttrMap number{{"value", Tensor(int32_t{1})}, {"dtype", DT_INT32}};
          const Endpoint one{Add("Const", {}, number, {values[0].node}), 0};
          next.insert(next.begin(), {op("AddV2", values[0], one), values[1], values[2], values[3]});
          return next;
        });
  }

  void While() {
    std::vector<Endpoint> initial = node_->inputs();
    const FunctionBody body = Body(1);
    std::vector<bool> constant = HandedOn(body);
    // There is one variable at least: its end says that the loop is over.
    const bool bare = initial.empty();
    if (bare) initial.push_back({Zero(nullptr), 0});
    constant.resize(initial.size());
    if (std::ranges::find(constant, false) == constant.end()) constant[0] = false;
    const auto given = [&](const std::vector<Endpoint>& values) { return bare ? std::vector<Endpoint>() : values; };
    Loop(
        initial, constant,
        [&](const std::vector<Endpoint>& values) {
          const auto variable = std::ranges::find(constant, false) - constant.begin();
          const Results goes_on = AfterEffects(Inline(0, given(values), values[variable].node));
          if (goes_on.size() != 1)
            throw InvalidArgument("Expected a single scalar for the condition of '", node_->name(), "', but got ",
                                  goes_on.size(), " tensors.");
          return Bool(goes_on[0]);
        },
        [&](const std::vector<Endpoint>& values) {
          const auto variable = std::ranges::find(constant, false) - constant.begin();
          Results next = AfterEffects(Inline(1, body, given(values), values[variable].node));
          if (next.size() != given(values).size()) {
            throw InvalidArgument("While loop body returned ", next.size(),
                                  " arguments. Expected: ", given(values).size(), " ('", node_->name(), "')");
          }
          if (bare) next.push_back(Ran(values[0].node));
          return next;
        });
  }

  // Which arguments a body returns in their places as they are.
  static std::vector<bool> HandedOn(const FunctionBody& body) {
    std::vector<bool> handed(body.args.size());
    const size_t shift = body.args.size() - std::min(body.args.size(), body.rets.size());  // a For's body is told i
    for (size_t i = shift; i < handed.size(); ++i) {
      const Node* from = body.rets[i - shift]->input(0).node;
      while (from->op_name() == "Identity") from = from->input(0).node;
      handed[i] = from == body.args[i];
    }
    return handed;
  }

  Node* Zero(Node* after) {
    std::vector<Node*> controls = node_->control_inputs();
    if (after) controls.push_back(after);
    return Add("Const", {}, {{"value", Tensor(int32_t{0})}, {"dtype", DT_INT32}}, std::move(controls));
  }

  // A loop whose last variables end as the node's results. Those that are `constant` are not carried along.
  template <class Cond, class Body>
  void Loop(const std::vector<Endpoint>& initial, const std::vector<bool>& constant, Cond goes_on, Body body) {
    const std::string frame = graph_.UniqueName(prefix_ + "frame");
    const size_t count = initial.size();
    const size_t before = count - static_cast<size_t>(node_->num_outputs());
    std::vector<Node*> merges(count), switches(count);
    std::vector<Endpoint> values, inside(count);
    for (size_t i = 0; i < count; ++i) {
      const AttrMap entering{{"frame_name", frame},
                             {"is_constant", AttrValue(bool{constant[i]})},
                             {"parallel_iterations", node_->attr_or<int64_t>("parallel_iterations", 10)}};
      const Endpoint entered{Add("Enter", {initial[i]}, entering, node_->control_inputs()), 0};
      graph_.SetHandleData(entered, initial[i].node->info(initial[i].index).handle_data);
      values.push_back(entered);
      if (constant[i]) continue;
      merges[i] = Add("Merge", {entered, entered});
      values[i] = {merges[i], 0};
      if (i >= before) graph_.SetShape(values[i], node_->shape(static_cast<int>(i - before)));
    }
    Node* cond = Add("LoopCond", {goes_on(values)});
    for (size_t i = 0; i < count; ++i) {
      if (!constant[i]) switches[i] = Add("Switch", {values[i], {cond, 0}});
      inside[i] = constant[i] ? values[i] : Endpoint{Add("Identity", {{switches[i], 1}}), 0};
    }
    const Results next = body(inside);
    std::vector<Node*> done;
    Results ends(count);
    for (size_t i = 0; i < count; ++i) {
      if (constant[i]) continue;
      graph_.UpdateInput(merges[i], 1, {Add("NextIteration", {next[i]}), 0});
      ends[i] = {Add("Exit", {{switches[i], 0}}), 0};
      done.push_back(ends[i].node);
    }
    Results results;
    for (size_t i = before; i < count; ++i) {
      if (constant[i]) {
        // Who uses a handle behind the loop sees what the loop has done.
        ends[i] = {Add("Identity", {initial[i]}, {}, {done[0]}), 0};
        graph_.SetHandleData(ends[i], initial[i].node->info(initial[i].index).handle_data);
      }
      graph_.SetShape(ends[i], node_->shape(static_cast<int>(i - before)));
      results.push_back(ends[i]);
    }
    ReplaceAndPrune(results, done[0]);
  }

  Graph& graph_;
  Node* node_;
  const AroundPtr around_;
  const bool in_place_, only_needed_;
  const std::string prefix_;
  std::vector<FuncRef> functions_;
  std::vector<Added> added_;
  std::set<Node*> own_;  // all that this has added
  std::vector<Node*> effects_;
};

Node* AddNode(Graph& graph, std::string_view op, const std::string& name, std::vector<Endpoint> inputs, AttrMap attrs) {
  NodeSpec spec;
  spec.op = op;
  spec.name = graph.UniqueName(name);
  spec.inputs = std::move(inputs);
  spec.attrs = std::move(attrs);
  return graph.AddNode(std::move(spec));
}

// What the functions that an op calls know of the variables behind their arguments, which are the op's last inputs.
void ShareHandleData(const OpDef& op, const FuncRef& callee, const FunctionLibraryPtr& library,
                     const FunctionBody& body) {
  for (const AttrDef& attr : op.attrs) {
    const AttrValue* value = callee.attrs.Find(attr.name);
    const FuncRef* called = value ? value->If<FuncRef>() : nullptr;
    if (const auto* list = value ? value->If<std::vector<FuncRef>>() : nullptr; list && !list->empty())
      called = &(*list)[0];
    if (!called) continue;
    const FunctionBody inner = InstantiateCallee(*called, library);
    if (inner.args.size() > body.args.size()) continue;
    const size_t offset = body.args.size() - inner.args.size();
    for (size_t i = 0; i < inner.args.size(); ++i) {
      const auto& data = inner.args[i]->info(0).handle_data;
      if (!data.empty()) body.graph->SetHandleData({body.args[offset + i], 0}, data);
    }
  }
}

// A body in which the op is called.
FunctionBody BodyOf(const OpDef& op, const FuncRef& callee, const FunctionLibraryPtr& library) {
  FunctionBody body;
  body.graph = std::make_shared<Graph>();
  body.graph->set_library(library);
  std::vector<Endpoint> inputs;
  for (const ArgDef& arg : op.inputs) {
    for (const DataType type : TypesOfArgument(arg, op, callee.attrs)) {
      const auto index = static_cast<int64_t>(body.args.size());
      body.args.push_back(AddNode(*body.graph, "_Arg", arg.name, {}, {{"T", type}, {"index", index}}));
      body.arg_types.push_back(type);
      inputs.push_back({body.args.back(), 0});
    }
  }
  ShareHandleData(op, callee, library, body);
  Node* call = AddNode(*body.graph, op.name, "call", std::move(inputs), callee.attrs);
  for (int i = 0; i < call->num_outputs(); ++i) {
    const DataType type = BaseType(call->output_type(i));
    body.rets.push_back(
        AddNode(*body.graph, "_Retval", StrCat("result_", i), {{call, i}}, {{"T", type}, {"index", int64_t{i}}}));
    body.ret_types.push_back(type);
  }
  LowerControlFlow(*body.graph);
  return body;
}

// Lowers these nodes and what comes out of them.
void LowerAll(Graph& graph, std::vector<Lowering::Added> todo, bool only_needed) {
  const Budget budget(graph, kLoweringControlFlow);
  while (!todo.empty()) {
    const Lowering::Added next = std::move(todo.back());
    todo.pop_back();
    if (!budget.Allows(next.around)) continue;
    Lowering lowering(graph, next.node, next.around, false, only_needed);
    if (lowering.Run()) todo.insert(todo.end(), lowering.added().begin(), lowering.added().end());
  }
}

}  // namespace

void KeepNeeded(const FunctionBody& body) {
  Graph& graph = *body.graph;
  std::vector<Node*> stack = body.control_rets;
  stack.insert(stack.end(), body.rets.begin(), body.rets.end());
  const std::vector<Node*> nodes = graph.Nodes();
  std::ranges::copy_if(nodes, std::back_inserter(stack),
                       [](const Node* node) { return node->traits().flow == Flow::kArg || node->traits().stateful; });
  std::set<const Node*> needed;
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    if (!needed.insert(node).second) continue;
    for (const Endpoint& input : node->inputs()) stack.push_back(input.node);
    stack.insert(stack.end(), node->control_inputs().begin(), node->control_inputs().end());
  }
  std::vector<Node*> unneeded;
  std::ranges::copy_if(nodes, std::back_inserter(unneeded), [&](const Node* node) { return !needed.contains(node); });
  for (Node* node : unneeded) {  // loops are cycles
    if (node->traits().flow == Flow::kMerge) {
      for (int i = 1; i < node->num_inputs(); ++i) graph.UpdateInput(node, i, node->input(0));
    }
  }
  std::ranges::reverse(unneeded);  // consumers first
  while (!unneeded.empty()) {
    const size_t before = unneeded.size();
    std::erase_if(unneeded, [&](Node* node) {
      if (!node->consumers().empty()) return false;
      graph.RemoveNode(node);
      return true;
    });
    if (unneeded.size() == before) return;
  }
}

void LowerControlFlow(Graph& graph, bool only_needed) {
  std::vector<Lowering::Added> todo;
  for (Node* node : graph.Nodes()) todo.push_back({node, {}});
  LowerAll(graph, std::move(todo), only_needed);
}

void InlineCalls(Graph& graph) {
  std::vector<Lowering::Added> todo;
  for (Node* node : graph.Nodes()) todo.push_back({node, {}});
  const Budget budget(graph, kInlining);
  while (!todo.empty()) {
    const Lowering::Added next = std::move(todo.back());
    todo.pop_back();
    if (!budget.Allows(next.around)) continue;
    if (!Lowering::IsCall(next.node->op_name()) && !next.node->calls_function()) continue;
    Lowering lowering(graph, next.node, next.around);
    if (lowering.RunCall()) todo.insert(todo.end(), lowering.added().begin(), lowering.added().end());
  }
}

bool HasBodies(const Node& node) {
  static const std::set<std::string_view> ops{"If",   "StatelessIf",   "While", "StatelessWhile",
                                              "Case", "StatelessCase", "For"};
  return ops.contains(node.op_name()) || Lowering::IsCall(node.op_name());
}

std::vector<Node*> LowerInPlace(Graph& graph, const std::function<std::vector<Node*>()>& next) {
  std::vector<Node*> taken;
  const Budget budget(graph, kLoweringInPlace);
  std::map<int, AroundPtr> around;  // of what came out of bodies, by id
  std::set<int> recursive;
  for (bool any = true; any;) {
    any = false;
    for (Node* node : next()) {
      if (recursive.contains(node->id())) continue;
      Lowering lowering(graph, node, around[node->id()], true);
      if (!budget.Allows(around[node->id()]) || !lowering.Run()) {
        recursive.insert(node->id());
        continue;
      }
      any = true;
      taken.push_back(node);
      for (const Lowering::Added& added : lowering.added()) around[added.node->id()] = added.around;
    }
  }
  return taken;
}

FunctionBody InstantiateCallee(const FuncRef& callee, const FunctionLibraryPtr& library) {
  if (callee.name == "SymbolicGradient") {
    const AttrValue* f = callee.attrs.Find("f");
    if (!f || !f->If<FuncRef>())
      throw InvalidArgument("SymbolicGradient needs the function that it is the gradient of");
    return InstantiateGradient(*f->If<FuncRef>(), library);
  }
  if (const FunctionDef* function = library->Find(callee.name)) return Instantiate(*function, callee.attrs, library);
  const OpDef* op = OpRegistry::Global().Find(callee.name);
  if (!op) throw NotFound("Function ", callee.name, " is not defined.");
  return BodyOf(*op, callee, library);
}

}  // namespace penstock
