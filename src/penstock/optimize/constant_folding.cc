// Constant folding: a pure node whose inputs are all constants is run now and becomes a constant; so does one whose
// value follows from the static shapes of its inputs. The new constant waits for whatever the node and its inputs
// waited for, so that it is dead, and in a loop's frame, where they were.
#include <algorithm>
#include <deque>

#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

// What is larger than its inputs and than this, or much larger (a filled tensor, say), is made anew by each step rather
// than held for ever.
constexpr int64_t kLargestBytes = 10 << 20, kLargestGrowth = 64 << 10;

bool SmallOutputs(const Node& node) {
  int64_t bytes = 0, input_bytes = 0;
  for (const Endpoint& input : node.inputs()) {
    if (const Tensor* value = ConstantOf(input)) input_bytes += static_cast<int64_t>(value->bytes());
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    const int64_t elements = node.shape(i).num_elements();
    if (elements < 0 || elements > kLargestBytes + input_bytes) return false;
    bytes += elements * std::max<int64_t>(1, static_cast<int64_t>(DataTypeSize(node.output_type(i))));
  }
  return bytes <= input_bytes || bytes <= std::min(kLargestBytes, 2 * input_bytes + kLargestGrowth);
}

// For outputs of a Python function, whose shapes are known only when it has returned.
bool Small(const std::vector<Tensor>& outputs) {
  size_t bytes = 0;
  for (const Tensor& output : outputs) bytes += output.bytes();
  return bytes <= static_cast<size_t>(kLargestBytes);
}

void AddControls(const Node& node, std::vector<Node*>* controls) {
  for (Node* control : node.control_inputs()) {
    if (std::ranges::find(*controls, control) == controls->end()) controls->push_back(control);
  }
}

class Folder {
 public:
  Folder(Graph& graph, const NodeEvaluator& evaluate) : graph_(graph), evaluate_(evaluate) {}

  int Run() {
    for (const Node* node : graph_.Nodes()) work_.push_back(node->id());
    while (!work_.empty()) {
      Node* node = graph_.node(work_.front());
      work_.pop_front();
      if (node && !node->consumers().empty() && node->num_outputs() > 0 &&
          (node->num_inputs() > 0 || IsPyFunction(*node)) && IsPure(graph_, *node)) {
        if (!FoldValues(node)) FoldShapes(node);
      }
    }
    return folded_;
  }

 private:
  bool FoldValues(Node* node) {
    std::vector<Tensor> inputs;
    std::vector<Node*> controls;
    for (const Endpoint& input : node->inputs()) {
      const Tensor* value = ConstantOf(input);
      if (!value) return false;
      inputs.push_back(*value);
      AddControls(*input.node, &controls);
    }
    if (!IsPyFunction(*node) && !SmallOutputs(*node)) return false;
    AddControls(*node, &controls);
    std::optional<std::vector<Tensor>> outputs = evaluate_(*node, inputs);
    if (!outputs) return false;  // whatever is wrong shows when the step runs
    if (IsPyFunction(*node) && !Small(*outputs)) return false;
    Replace(node, std::move(*outputs), controls);
    return true;
  }

  // Shape, Size, Rank and what is computed from them.
  void FoldShapes(Node* node) {
    if (node->traits().cost != Cost::kNothing || node->num_outputs() != 1 || !SmallOutputs(*node)) return;
    if (node->output_type(0) != DT_INT32 && node->output_type(0) != DT_INT64) return;
    std::vector<Node*> controls;
    for (const Endpoint& input : node->inputs()) {
      const Flow flow = input.node->traits().flow;
      if (flow == Flow::kArg) continue;
      // Whether one output of a Switch is dead cannot be said by a control edge.
      if (flow != Flow::kNone) return;
      if (ConstantOf(input)) {
        AddControls(*input.node, &controls);
      } else {
        controls.push_back(input.node);
      }
    }
    const Tensor* known = graph_.ConstantValue({node, 0});
    if (!known || known->dtype() != node->output_type(0)) return;
    AddControls(*node, &controls);
    Replace(node, {*known}, controls);
  }

  void Replace(Node* node, std::vector<Tensor> outputs, const std::vector<Node*>& controls) {
    ++folded_;
    Node* first = nullptr;
    for (int i = 0; i < node->num_outputs(); ++i) {
      std::vector<int> readers;
      for (const Consumer& c : node->consumers()) {
        if (c.input >= 0 && c.node->input(c.input).index == i) readers.push_back(c.node->id());
      }
      if (readers.empty()) continue;
      Node* constant = AddConstant(graph_, *node, std::move(outputs[i]), controls);
      if (!first) first = constant;
      Redirect(graph_, {node, i}, {constant, 0});
      work_.insert(work_.end(), readers.begin(), readers.end());
    }
    if (HasControlConsumers(*node)) {
      if (!first) first = AddConstant(graph_, *node, std::move(outputs[0]), controls);
      MoveControlConsumers(graph_, node, first);
    }
    RemoveUnused(graph_, node);
  }

  Graph& graph_;
  const NodeEvaluator& evaluate_;
  std::deque<int> work_;
  int folded_ = 0;
};

}  // namespace

bool IsPyFunction(const Node& node) { return node.op_name() == "PyFuncStateless"; }

int FoldConstants(Graph& graph, NodeEvaluator evaluate) { return Folder(graph, evaluate).Run(); }

}  // namespace penstock
