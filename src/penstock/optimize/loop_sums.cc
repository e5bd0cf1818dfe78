// Sums of products a^T b that a loop adds up, as the gradients of weights that it uses: what the loop hands on is then
// a sum with products that are still to be added (see ProductSum), so that several are added at a time.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constinit BranchTable<1> delayed_sums{"loop_sums/sum", {"delayed"}};

// A variable of a loop: Exit <- Switch <- Merge <- Enter, NextIteration <- what the body makes of it.
struct LoopVariable {
  Node *enter, *merge, *next, *branch, *exit;
};

// The only node that reads any output of `node`, if nobody waits for it.
const Consumer* OnlyReader(const Node& node) {
  return node.consumers().size() == 1 && node.consumers()[0].input >= 0 ? &node.consumers()[0] : nullptr;
}

bool Is(const Node& node, Flow flow) { return node.traits().flow == flow && !IsRef(node.output_type(0)); }

// That to which `add` adds its product, if nobody else has to do with it.
bool FindVariable(const Node& add, LoopVariable* v) {
  const Consumer* next = OnlyReader(add);
  if (!next || !Is(*next->node, Flow::kNextIteration)) return false;
  const Consumer* merge = OnlyReader(*next->node);
  if (!merge || !Is(*merge->node, Flow::kMerge) || merge->node->num_inputs() != 2) return false;
  *v = {merge->node->input(1 - merge->input).node, merge->node, next->node, add.input(2).node, nullptr};
  if (!Is(*v->branch, Flow::kSwitch) || add.input(2).index != 1 || !Is(*v->enter, Flow::kEnter)) return false;
  const Consumer *entered = OnlyReader(*v->enter), *merged = OnlyReader(*v->merge);
  if (!entered || !merged || merged->node != v->branch || merged->input != 0) return false;
  if (v->branch->consumers().size() != 2) return false;
  for (const Consumer& c : v->branch->consumers()) {
    if (c.input >= 0 && c.node != &add) v->exit = c.node;
  }
  if (!v->exit || !Is(*v->exit, Flow::kExit) || v->exit->input(0).index != 0) return false;
  // A handle stays on its device.
  return std::ranges::all_of(std::initializer_list<const Node*>{v->enter, v->merge, v->next, v->branch, v->exit},
                             [&](const Node* node) { return node->device() == add.device(); });
}

class Rewriter {
 public:
  Rewriter(Graph& graph, Node* add, const LoopVariable& old) : graph_(graph), add_(add), old_(old) {}

  void Run() {
    Node* start = Make("_ProductSum", *old_.enter, {old_.enter->input(0)}, {});
    Node* enter = Like(*old_.enter, {{start, 0}});
    Node* merge = Like(*old_.merge, {{enter, 0}, {enter, 0}});
    Node* branch = Like(*old_.branch, {{merge, 0}, old_.branch->input(1)});
    Node* add = Make("_AddProduct", *add_, {{branch, 1}, add_->input(0), add_->input(1)}, add_->control_inputs());
    graph_.UpdateInput(merge, 1, {Like(*old_.next, {{add, 0}}), 0});
    Node* value = Make("_ProductSumValue", *old_.exit, {{Like(*old_.exit, {{branch, 0}}), 0}}, {});
    graph_.SetShape({value, 0}, old_.exit->shape(0));
    Redirect(graph_, {old_.exit, 0}, {value, 0});
    MoveControlConsumers(graph_, old_.exit, value);
    graph_.UpdateInput(old_.merge, 0, {old_.enter, 0});
    graph_.UpdateInput(old_.merge, 1, {old_.enter, 0});
    for (Node* gone : {old_.exit, old_.next, add_, old_.branch, old_.merge, old_.enter}) graph_.RemoveNode(gone);
  }

 private:
  // An op where `old` is, which it goes with.
  Node* Make(const char* op, const Node& old, std::vector<Endpoint> inputs, std::vector<Node*> controls) {
    AttrMap attrs;
    if (const AttrValue* place = old.attrs().Find("_class")) attrs.Set("_class", *place);
    return graph_.AddNode({.op = op,
                           .name = graph_.UniqueName(old.name() + "/sum"),
                           .inputs = std::move(inputs),
                           .control_inputs = std::move(controls),
                           .attrs = std::move(attrs),
                           .device = old.device()});
  }
  // The same flow of a handle.
  Node* Like(const Node& old, std::vector<Endpoint> inputs) {
    AttrMap attrs = old.attrs();
    attrs.Set("T", DT_VARIANT);
    return graph_.AddNode({.op = old.op_name(),
                           .name = graph_.UniqueName(old.name() + "/sum"),
                           .inputs = std::move(inputs),
                           .control_inputs = old.control_inputs(),
                           .attrs = std::move(attrs),
                           .device = old.device()});
  }

  Graph& graph_;
  Node* const add_;
  const LoopVariable old_;
};

}  // namespace

int DelayProducts(Graph& graph) {
  int sums = 0;
  ForEachNode(graph, [&](Node* node) {
    if (node->op_name() != "_FusedMatMul" || node->output_type(0) != DT_FLOAT || node->num_inputs() != 3) return;
    if (node->attr<std::vector<std::string>>("fused_ops") != std::vector<std::string>{"Add"}) return;
    if (!node->attr<bool>("transpose_a") || node->attr<bool>("transpose_b")) return;
    LoopVariable variable;
    if (!FindVariable(*node, &variable)) return;
    delayed_sums.Enter(0);
    Rewriter(graph, node, variable).Run();
    ++sums;
  });
  return sums;
}

}  // namespace penstock
