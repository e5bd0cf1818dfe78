#include "penstock/graph/split_gradient.h"

#include <map>
#include <set>

#include "penstock/graph/control_flow.h"

namespace penstock {
namespace {

class Carrier {
 public:
  explicit Carrier(Graph& graph) : graph_(graph), flow_(graph) {}

  // What the gradient reads for a forward value.
  Endpoint Restored(Endpoint value) {
    const ControlContext* branch = flow_.Of(value);
    if (!branch) return value;
    const auto [it, fresh] = restored_.try_emplace({value.node->id(), value.index});
    if (!fresh) return it->second;
    std::vector<const ControlContext*> branches;
    for (; branch; branch = branch->parent) {
      if (branch->is_loop) throw Internal("the gradient reads ", value.name(), " out of a loop");
      branches.push_back(branch);
    }
    Endpoint inside;
    if (const Tensor* constant = graph_.ConstantValue(value)) {
      inside = {Add(added_.backward, "Const", value, {}, {{"value", *constant}, {"dtype", constant->dtype()}}), 0};
    } else {
      inside = Outside(value);
    }
    for (size_t i = branches.size(); i-- > 0;) {
      const Endpoint pred = Restored(branches[i]->pred);
      inside = {Add(added_.backward, "Switch", value, {inside, pred}), branches[i]->branch};
    }
    graph_.ForgetShape(inside);
    graph_.SetShape(inside, value.shape());
    graph_.SetHandleData(inside, value.node->info(value.index).handle_data);
    return restored_[{value.node->id(), value.index}] = inside;
  }

  CarriedOut TakeAdded() { return std::move(added_); }

 private:
  Node* Add(std::vector<Node*>& list, std::string_view op, Endpoint value, std::vector<Endpoint> inputs,
            AttrMap attrs = {}) {
    NodeSpec spec;
    spec.op = op;
    spec.name = graph_.UniqueName(StrCat(value.node->name(), "/", op));
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    list.push_back(graph_.AddNode(std::move(spec)));
    return list.back();
  }

  // The value behind all branches: nothing where they are not taken.
  Endpoint Outside(Endpoint value) {
    for (const ControlContext* branch = flow_.Of(value); branch; branch = branch->parent) {
      value = Behind(value, *branch);
    }
    return value;
  }

  Endpoint Behind(Endpoint value, const ControlContext& branch) {
    for (const Consumer& consumer : value.node->consumers()) {
      if (consumer.input >= 0 && consumer.node->input(consumer.input) == value && IsMergedWithNothing(consumer)) {
        return {consumer.node, 0};
      }
    }
    const DataType type = BaseType(value.type());
    Node* nothing = Add(added_.forward, "FakeParam", value, {}, {{"dtype", type}, {"shape", PartialShape({0})}});
    Node* other = Add(added_.forward, "Switch", value, {{nothing, 0}, branch.pred});
    std::vector<Endpoint> sides{{other, 0}, {other, 1}};
    sides[branch.branch] = value;
    Node* merge = Add(added_.forward, "Merge", value, sides);
    flow_.Assign(merge, branch.parent);
    return {merge, 0};
  }

  // By an earlier gradient: those of gradients must not ask for ever more results.
  static bool IsMergedWithNothing(const Consumer& consumer) {
    if (consumer.node->traits().flow != Flow::kMerge || consumer.node->num_inputs() != 2) return false;
    const Node* other = consumer.node->input(1 - consumer.input).node;
    return other->traits().flow == Flow::kSwitch && other->input(0).node->op_name() == "FakeParam";
  }

  Graph& graph_;
  ControlFlow flow_;
  std::map<std::pair<int, int>, Endpoint> restored_;
  CarriedOut added_;
};

}  // namespace

CarriedOut CarryOutOfBranches(Graph& graph, const std::vector<Node*>& backward) {
  Carrier carrier(graph);
  const std::set<const Node*> own(backward.begin(), backward.end());
  for (Node* node : backward) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Endpoint input = node->input(i);
      if (own.contains(input.node)) continue;
      const Endpoint read = carrier.Restored(input);
      if (read != input) graph.UpdateInput(node, i, read);
    }
  }
  return carrier.TakeAdded();
}

}  // namespace penstock
