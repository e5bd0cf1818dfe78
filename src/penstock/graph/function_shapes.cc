#include "penstock/graph/function_shapes.h"

#include <algorithm>
#include <unordered_map>

#include "penstock/graph/function.h"

namespace penstock {
namespace {

constexpr int kDeepestInference = 8;    // calls within calls: a recursion ends there
constexpr int kMostInferred = 1 << 16;  // nodes in all: bodies that call many bodies that call many end there

bool IsCall(const Node& node) {
  return node.op_name() == "PartitionedCall" || node.op_name() == "StatefulPartitionedCall";
}

// A body that is built once more, so that what is known of the arguments counts from the first node on.
class Inference {
 public:
  Inference(const FunctionLibraryPtr& library, const FuncRef& callee, int depth, int* inferred)
      : library_(library), depth_(depth), inferred_(inferred) {
    const FunctionDef* function = library->Find(callee.name);
    if (!function) throw NotFound("Function '", callee.name, "' is not in the graph");
    body_ = Instantiate(*function, callee.attrs, library);
    graph_.set_library(library);
  }

  std::vector<PartialShape> Run(const std::vector<KnownArgument>& args) {
    for (const Node* node : body_.graph->Nodes()) {
      Node* copy = Copy(*node);
      if (!copy) return {};
      ++*inferred_;
      const size_t index = static_cast<size_t>(std::ranges::find(body_.args, node) - body_.args.begin());
      if (index < args.size()) {
        SetArgument(copy, args[index]);
      } else if (depth_ < kDeepestInference && *inferred_ < kMostInferred && IsCall(*node)) {
        SetResults(copy);
      }
    }
    std::vector<PartialShape> shapes;
    for (const Node* ret : body_.rets) shapes.push_back(made_[ret]->input(0).shape());
    return shapes;
  }

 private:
  // Null at the head of a loop, whose input comes later.
  Node* Copy(const Node& node) {
    NodeSpec spec{node.op_name(), node.name(), {}, {}, node.attrs(), ""};
    for (const Endpoint& input : node.inputs()) {
      const auto it = made_.find(input.node);
      if (it == made_.end()) return nullptr;
      spec.inputs.push_back({it->second, input.index});
    }
    return made_[&node] = graph_.AddNode(std::move(spec));
  }
  void SetArgument(Node* node, const KnownArgument& known) {
    graph_.SetShape({node, 0}, known.shape);
    if (known.value) graph_.SetConstantValue({node, 0}, *known.value);
  }
  void SetResults(Node* call) {
    std::vector<KnownArgument> args;
    for (const Endpoint& input : call->inputs()) {
      const Tensor* value = IsInteger(input.type()) ? graph_.ConstantValue(input) : nullptr;
      args.push_back({input.shape(), value ? std::optional(*value) : std::nullopt});
    }
    const auto shapes = Inference(library_, call->attr<FuncRef>("f"), depth_ + 1, inferred_).Run(args);
    for (size_t i = 0; i < shapes.size(); ++i) graph_.SetShape({call, static_cast<int>(i)}, shapes[i]);
  }

  const FunctionLibraryPtr& library_;
  const int depth_;
  int* const inferred_;
  FunctionBody body_;
  Graph graph_;
  std::unordered_map<const Node*, Node*> made_;
};

}  // namespace

std::vector<PartialShape> ResultShapes(const FunctionLibraryPtr& library, const FuncRef& callee,
                                       const std::vector<KnownArgument>& args) {
  int inferred = 0;
  return Inference(library, callee, 0, &inferred).Run(args);
}

}  // namespace penstock
