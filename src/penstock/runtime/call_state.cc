#include "penstock/runtime/call_state.h"

#include <algorithm>
#include <map>

namespace penstock {
namespace {

// Tells which functions draw random numbers, themselves or through what they call.
class RandomFunctions {
 public:
  explicit RandomFunctions(FunctionLibraryPtr library) : library_(std::move(library)) {}

  bool Contains(const std::string& name) {
    const auto [known, is_new] = known_.try_emplace(name, false);
    if (!is_new) return known->second;
    const FunctionDef* function = library_->Find(name);
    return known->second = function && std::ranges::any_of(function->nodes, [&](const NodeDef& node) {
             return IsRandom(node.op) || Contains(node.op) || Names(node.attrs);
           });
  }

 private:
  static bool IsRandom(const std::string& name) {
    const OpDef* op = OpRegistry::Global().Find(name);
    return op && op->traits.stateful && op->FindAttr("seed") && op->FindAttr("seed2");
  }
  bool Names(const AttrMap& attrs) {
    return std::ranges::any_of(attrs, [&](const auto& attr) {
      if (const auto* one = attr.second.template If<FuncRef>()) return Contains(one->name);
      const auto* several = attr.second.template If<std::vector<FuncRef>>();
      return several && std::ranges::any_of(*several, [&](const FuncRef& f) { return Contains(f.name); });
    });
  }

  const FunctionLibraryPtr library_;
  std::map<std::string, bool> known_;
};

}  // namespace

void GiveCallsTheirState(Graph& graph, const std::string& scope) {
  RandomFunctions random(graph.library());
  for (Node* node : graph.Nodes()) {
    const bool is_named = node->calls_function();  // the op is the function
    if (!is_named && node->op_name() != "PartitionedCall" && node->op_name() != "StatefulPartitionedCall") continue;
    FuncRef callee = is_named ? FuncRef{node->op_name(), {}} : node->attr<FuncRef>("f");
    const std::string called = StrCat(":", callee.name, ";");
    if (scope.find(called) != std::string::npos || !random.Contains(callee.name)) continue;
    const std::string site = StrCat(scope, "/", node->name(), called);
    if (is_named) {
      graph.SetAttr(node, kCallSiteAttr, site);
    } else {
      callee.attrs.Set(kCallSiteAttr, site);
      graph.SetAttr(node, "f", std::move(callee));
    }
  }
}

}  // namespace penstock
