#include "penstock/graph/constant_values.h"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

constexpr int64_t kLargest = 2048;  // elements that are looked at while the graph is built
constexpr int kDeepest = 64;        // questions that wait for each other on the stack

Graph::Evaluator g_evaluator = nullptr;

// A vector or scalar of known numbers as a tensor.
std::optional<Tensor> FromShape(const PartialShape& dims, DataType type, int rank) {
  if (!dims.fully_known() || (type != DT_INT32 && type != DT_INT64)) return std::nullopt;
  if (rank != 1 && !(rank == 0 && dims.rank() == 1)) return std::nullopt;
  Tensor t(type, rank == 0 ? Shape() : Shape({dims.rank()}));
  for (int i = 0; i < dims.rank(); ++i) {
    if (type == DT_INT32) {
      t.mutable_data<int32_t>()[i] = static_cast<int32_t>(dims[i]);
    } else {
      t.mutable_data<int64_t>()[i] = dims[i];
    }
  }
  return t;
}

// Whether what enters a loop is a constant, perhaps that of a branch around it.
bool IsHeldOutside(const Node& enter) {
  const Node* source = enter.input(0).node;
  while (source->traits().flow == Flow::kSwitch) source = source->input(0).node;
  return HeldConstant(*source) != nullptr;
}

class Deeper {
 public:
  explicit Deeper(int* depth) : depth_(depth) { ++*depth_; }
  ~Deeper() { --*depth_; }
  Deeper(const Deeper&) = delete;

 private:
  int* const depth_;
};

}  // namespace

void Graph::SetEvaluator(Evaluator evaluator) { g_evaluator = evaluator; }

NodeInference::NodeInference(ConstantValues* constants, const Node& node) : constants_(constants), node_(node) {
  op_ = &node.op();
  attrs_ = &node.attrs();
  for (const Endpoint& input : node.inputs()) inputs_.push_back(&input.node->info(input.index));
  input_types_ = node.input_types();
  output_types_ = node.output_types();
  outputs_.resize(node.num_outputs());
}

PartialShape NodeInference::in_as_shape(int i) {
  if (in_value(i)) return ShapeContext::in_as_shape(i);
  const PartialShape shape = constants_->AsShape(node_.input(i));
  return shape.known_rank() ? shape : ShapeContext::in_as_shape(i);
}

template <class Ask>
auto ConstantValues::Outermost(Ask ask) {
  if (depth_ > 0) return ask();
  while (true) {
    put_off_.reset();
    auto answer = ask();
    if (!put_off_) return answer;
    std::vector<Question> waiting;
    std::unordered_set<int64_t> among;  // those of one kind; a graph may have a cycle that no loop explains
    while (put_off_ || !waiting.empty()) {
      if (const auto next = std::exchange(put_off_, std::nullopt)) {
        const int64_t key = KeyOf(next->output) * 2 + next->as_shape;
        if (among.insert(key).second) {
          waiting.push_back(*next);
        } else if (next->as_shape) {
          shapes_.try_emplace(KeyOf(next->output));
        } else {
          values_.try_emplace(KeyOf(next->output));
        }
      }
      const Question question = waiting.back();
      if (question.as_shape) {
        FindShape(question.output);
      } else {
        Find(question.output);
      }
      if (!put_off_) waiting.pop_back();
    }
  }
}

template <class Answers, class Look>
const typename Answers::mapped_type& ConstantValues::Remembered(Answers* answers, Question question, Look look) {
  static const typename Answers::mapped_type* unknown = new typename Answers::mapped_type();
  const int64_t key = KeyOf(question.output);
  if (const auto it = answers->find(key); it != answers->end()) return it->second;
  if (put_off_) return *unknown;
  if (depth_ == kDeepest) {
    put_off_ = question;
    return *unknown;
  }
  const Deeper deeper(&depth_);
  typename Answers::mapped_type answer = look();
  if (put_off_) return *unknown;  // something that it follows from is not known yet
  return answers->insert_or_assign(key, std::move(answer)).first->second;
}

const std::optional<Tensor>& ConstantValues::Find(Endpoint output) {
  if (const auto it = given_.find(KeyOf(output)); it != given_.end()) return it->second;
  return Remembered(&values_, {output, false}, [&] { return Evaluate(output); });
}

const PartialShape& ConstantValues::FindShape(Endpoint output) {
  return Remembered(&shapes_, {output, true}, [&] {
    NodeInference context(this, *output.node);
    return output.node->op().shape_value(context);
  });
}

const Tensor* ConstantValues::Value(Endpoint output) {
  if (const auto it = given_.find(KeyOf(output)); it != given_.end()) return &*it->second;
  if (output.node->traits().stateful || IsRef(output.type())) return nullptr;
  if (const Tensor* held = HeldConstant(*output.node)) return held;
  return Outermost([&]() -> const Tensor* {
    const std::optional<Tensor>& value = Find(output);
    return value ? &*value : nullptr;
  });
}

const Tensor* ConstantValues::ValueForShapes(Endpoint output) {
  const Tensor* value = Value(output);
  return value && computed_in_loops_.contains(KeyOf(output)) ? nullptr : value;
}

PartialShape ConstantValues::AsShape(Endpoint output) {
  if (output.node->op().shape_value && output.index == 0) {
    return Outermost([&] { return FindShape(output); });
  }
  const Tensor* value = ValueForShapes(output);
  if (!value || (value->dtype() != DT_INT32 && value->dtype() != DT_INT64) || value->rank() > 1) return PartialShape();
  if (value->rank() == 0 && value->IntAt(0) == -1) return PartialShape();
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < value->num_elements(); ++i) dims.push_back(std::max<int64_t>(-1, value->IntAt(i)));
  return PartialShape(std::move(dims));
}

std::optional<Tensor> ConstantValues::Evaluate(Endpoint output) {
  const Node& node = *output.node;
  const OpTraits& traits = node.traits();
  if (traits.stateful || node.calls_function() || IsRef(output.type())) return std::nullopt;
  if (traits.flow == Flow::kEnter && node.attr<bool>("is_constant")) {
    if (!IsHeldOutside(node)) computed_in_loops_.insert(KeyOf(output));
    return Find(node.input(0));
  }
  if (traits.flow == Flow::kSwitch) {  // A branch that always runs gets the value.
    const Endpoint predicate = node.input(1);
    const std::optional<Tensor>& taken = Find(predicate);
    const bool in_loop = predicate.node->traits().flow == Flow::kEnter || computed_in_loops_.contains(KeyOf(predicate));
    if (!taken || in_loop || taken->num_elements() != 1) return std::nullopt;
    return *taken->data<bool>() == (output.index == 1) ? Find(node.input(0)) : std::nullopt;
  }
  if (traits.flow != Flow::kNone) return std::nullopt;
  if (const Tensor* held = HeldConstant(node)) {
    return held->num_elements() <= kLargest ? std::optional(*held) : std::nullopt;
  }
  // What follows from the input's shape alone needs no input.
  if (node.op().shape_value && node.shape(output.index).known_rank() && node.output_type(0) != DT_INVALID) {
    const PartialShape dims = AsShape(output);
    if (auto value = FromShape(dims, output.type(), node.shape(output.index).rank())) return value;
  }
  if (!g_evaluator || node.op().known_by_name_only || traits.cost == Cost::kHeavy || node.num_inputs() == 0)
    return std::nullopt;
  if (node.shape(output.index).num_elements() > kLargest) return std::nullopt;
  std::vector<Tensor> inputs;
  bool of_loop = false;
  for (const Endpoint& input : node.inputs()) {
    const std::optional<Tensor>& value = Find(input);
    if (!value) return std::nullopt;
    inputs.push_back(*value);
    of_loop |= input.node->traits().flow == Flow::kEnter || computed_in_loops_.contains(KeyOf(input));
  }
  if (of_loop) computed_in_loops_.insert(KeyOf(output));
  const auto outputs = g_evaluator(node, inputs);
  if (!outputs || (*outputs)[output.index].num_elements() > kLargest) return std::nullopt;
  return (*outputs)[output.index];
}

void ConstantValues::Give(Endpoint output, const Tensor& value) {
  if (value.num_elements() > kLargest) return;
  Forget(*output.node);
  given_.insert_or_assign(KeyOf(output), value);
}

bool ConstantValues::EraseOutputs(const Node& node) {
  size_t erased = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const int64_t key = KeyOf({const_cast<Node*>(&node), i});
    erased += values_.erase(key) + shapes_.erase(key);
    computed_in_loops_.erase(key);
  }
  return erased > 0;
}

void ConstantValues::Forget(const Node& node) {
  if (values_.empty() && shapes_.empty()) return;
  EraseOutputs(node);
  std::vector<const Node*> changed = {&node};
  while (!changed.empty()) {
    const Node* from = changed.back();
    changed.pop_back();
    for (const Consumer& consumer : from->consumers()) {
      if (consumer.input >= 0 && EraseOutputs(*consumer.node)) changed.push_back(consumer.node);
    }
  }
}

}  // namespace penstock
