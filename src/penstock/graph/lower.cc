#include "penstock/graph/lower.h"

#include <algorithm>
#include <map>
#include <set>

#include "penstock/graph/control_flow.h"

namespace penstock {
namespace {

// Replaces one node and hands on what it adds that may have to be replaced too.
class Lowering {
 public:
  // `around`: the functions whose bodies the node came out of.
  Lowering(Graph& graph, Node* node, std::set<std::string> around)
      : graph_(graph), node_(node), around_(std::move(around)), prefix_(node->name() + "/") {}

  struct Added {
    Node* node;
    std::set<std::string> around;
  };

  // False: the node is none of those that are replaced, or its bodies contain themselves.
  bool Run() {
    const std::string& op = node_->op_name();
    if (op == "If" || op == "StatelessIf") return Lower({"else_branch", "then_branch"}, &Lowering::If);
    if (op == "While" || op == "StatelessWhile") return Lower({"cond", "body"}, &Lowering::While);
    if (op != "Case" && op != "StatelessCase") return false;
    functions_ = node_->attr<std::vector<FuncRef>>("branches");
    if (IsRecursive() || functions_.empty()) return false;
    Case();
    return true;
  }
  const std::vector<Added>& added() const { return added_; }

 private:
  // What a copied body gives: its results, available when its effects have happened.
  using Results = std::vector<Endpoint>;

  bool IsRecursive() const {
    return std::ranges::any_of(functions_, [&](const FuncRef& f) { return around_.contains(f.name); });
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
    return graph_.AddNode(std::move(spec));
  }
  Endpoint Bool(Endpoint value) { return value.type() == DT_BOOL ? value : Endpoint{Add("ToBool", {value}), 0}; }

  // The body of functions_[i] with these arguments; `pivot` says when it runs.
  Results Inline(int i, const std::vector<Endpoint>& args, Node* pivot) {
    const FunctionBody body = InstantiateCallee(functions_[i], graph_.library());
    if (body.args.size() != args.size()) {
      throw InvalidArgument("function ", functions_[i].name, " of '", node_->name(), "' takes ", body.args.size(),
                            " arguments, but is given ", args.size());
    }
    std::set<std::string> around = around_;
    around.insert(functions_[i].name);
    const std::string prefix = graph_.UniqueName(prefix_ + functions_[i].name) + "/";
    const ControlFlow flow(*body.graph);
    std::map<const Node*, Node*> copies;
    std::map<const Node*, Endpoint> given;
    for (size_t k = 0; k < args.size(); ++k) {
      if (BaseType(args[k].type()) != body.arg_types[k]) {
        throw InvalidArgument("argument ", k, " of function ", functions_[i].name, " is ", ToString(args[k].type()),
                              ", but must be ", ToString(body.arg_types[k]));
      }
      given[body.args[k]] = args[k];
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
      bool closes = false;
      for (const Endpoint& input : node->inputs()) {
        const bool back = node->traits().flow == Flow::kMerge && input.node->traits().flow == Flow::kNextIteration;
        spec.inputs.push_back(back ? spec.inputs.at(0) : copied(input));
        closes |= back;
      }
      for (Node* control : node->control_inputs()) {
        if (!given.contains(control)) spec.control_inputs.push_back(copies.at(control));
      }
      if (spec.inputs.empty() && spec.control_inputs.empty()) spec.control_inputs.push_back(pivot);
      Node* copy = copies[node] = graph_.AddNode(std::move(spec));
      added_.push_back({copy, around});
      if (closes) merges.emplace_back(node, copy);
      const bool effect =
          node->traits().stateful || std::ranges::find(body.control_rets, node) != body.control_rets.end();
      if (effect && !flow.Of(Endpoint{node, 0})) effects.push_back(copy);
    }
    for (const auto& [node, copy] : merges) {
      for (int k = 0; k < node->num_inputs(); ++k) graph_.UpdateInput(copy, k, copied(node->input(k)));
    }
    Results results;
    for (Node* ret : body.rets) {
      const Endpoint value = copied(ret->input(0));
      results.push_back(effects.empty() ? value : Endpoint{Add("Identity", {value}, {}, effects), 0});
    }
    effects_ = effects;
    return results;
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
        if (group.starts_with("loc:@")) group = "loc:@" + prefix + group.substr(5);
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
    for (int i = 1; i < node_->num_inputs(); ++i) switches.push_back(Add("Switch", {node_->input(i), pred}));
    std::vector<Results> sides;
    for (int side = 0; side < 2; ++side) {
      std::vector<Endpoint> args;
      for (Node* each : switches) args.push_back({each, side});
      Node* pivot = Pivot(pred, side);
      Results results = Inline(side, args, pivot);
      results.push_back(Ran(pivot));
      sides.push_back(std::move(results));
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
    Replace(merged, {done});
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
        const Endpoint number{
            Add("Const", {}, {{"value", Tensor(int32_t{i})}, {"dtype", DT_INT32}}, index.node->control_inputs()), 0};
        pred = {Add("Equal", {index, number}), 0};
        others = others ? Endpoint{Add("LogicalOr", {others, pred}), 0} : pred;
      } else if (others) {
        pred = {Add("LogicalNot", {others}), 0};
      } else {
        pred = {Add("Equal", {index, index}), 0};
      }
      std::vector<Endpoint> args;
      for (int k = 1; k < node_->num_inputs(); ++k) args.push_back({Add("Switch", {node_->input(k), pred}), 1});
      Node* pivot = Pivot(pred, 1);
      Results results = Inline(i, args, pivot);
      results.push_back(Ran(pivot));
      sides.push_back(std::move(results));
    }
    Merge(sides);
  }

  void While() {
    const std::string frame = graph_.UniqueName(prefix_ + "frame");
    const AttrMap entering = {{"frame_name", frame},
                              {"is_constant", false},
                              {"parallel_iterations", node_->attr_or<int64_t>("parallel_iterations", 10)}};
    std::vector<Endpoint> initial = node_->inputs();
    if (initial.empty()) {
      initial.push_back(
          {Add("Const", {}, {{"value", Tensor(int32_t{0})}, {"dtype", DT_INT32}}, node_->control_inputs()), 0});
    }
    std::vector<Node*> merges, switches, inside;
    for (const Endpoint& value : initial) {
      const Endpoint entered{Add("Enter", {value}, entering, node_->control_inputs()), 0};
      graph_.SetHandleData(entered, value.node->info(value.index).handle_data);
      merges.push_back(Add("Merge", {entered, entered}));
    }
    const size_t given = node_->inputs().size();
    const auto values = [&](const std::vector<Node*>& nodes) {
      std::vector<Endpoint> ends;
      for (size_t i = 0; i < given; ++i) ends.push_back({nodes[i], 0});
      return ends;
    };
    const Results goes_on = Inline(0, values(merges), merges[0]);
    if (goes_on.size() != 1)
      throw InvalidArgument("Expected a single scalar for the condition of '", node_->name(), "', but got ",
                            goes_on.size(), " tensors.");
    Node* cond = Add("LoopCond", {Bool(goes_on[0])});
    for (Node* merge : merges) {
      switches.push_back(Add("Switch", {{merge, 0}, {cond, 0}}));
      inside.push_back(Add("Identity", {{switches.back(), 1}}));
    }
    Results next = Inline(1, values(inside), inside[0]);
    if (next.size() != given) {
      throw InvalidArgument("the body of '", node_->name(), "' gives ", next.size(), " values, but there are ", given);
    }
    if (given == 0) next.push_back(Ran(inside[0]));
    Results exits;
    for (size_t i = 0; i < merges.size(); ++i) {
      graph_.UpdateInput(merges[i], 1, {Add("NextIteration", {next[i]}), 0});
      Node* exit = Add("Exit", {{switches[i], 0}});
      if (i < given) {
        exits.push_back({exit, 0});
        graph_.SetShape(exits.back(), node_->shape(static_cast<int>(i)));
      } else {
        done_.push_back(exit);
      }
    }
    Replace(exits, done_);
  }

  Graph& graph_;
  Node* node_;
  const std::set<std::string> around_;
  const std::string prefix_;
  std::vector<FuncRef> functions_;
  std::vector<Added> added_;
  std::vector<Node*> effects_, done_;
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

}  // namespace

void LowerControlFlow(Graph& graph) {
  std::vector<Lowering::Added> todo;
  for (Node* node : graph.Nodes()) todo.push_back({node, {}});
  while (!todo.empty()) {
    const Lowering::Added next = std::move(todo.back());
    todo.pop_back();
    Lowering lowering(graph, next.node, next.around);
    if (!lowering.Run()) continue;
    todo.insert(todo.end(), lowering.added().begin(), lowering.added().end());
  }
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
