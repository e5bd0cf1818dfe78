#include "penstock/runtime/call_state.h"

#include <map>
#include <set>

#include "penstock/op/attr_key.h"

namespace penstock {
namespace {

// Tells which functions draw random numbers, themselves or through what they call.
class RandomFunctions {
 public:
  explicit RandomFunctions(FunctionLibraryPtr library) : library_(std::move(library)) {}

  bool Contains(const std::string& name) {
    std::set<std::string> seen{name};
    std::vector<std::string> open{name};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      if (const auto known = known_.find(next); known != known_.end()) {
        if (known->second) return known_[name] = true;
        continue;
      }
      const FunctionDef* function = library_->Find(next);
      if (!function) continue;
      for (const NodeDef& node : function->nodes) {
        if (IsRandom(node.op)) return known_[name] = true;
        for (std::string& callee : Callees(node)) {
          if (seen.insert(callee).second) open.push_back(std::move(callee));
        }
      }
    }
    for (const std::string& reached : seen) known_[reached] = false;  // they reach no others
    return false;
  }

 private:
  static bool IsRandom(const std::string& name) {
    const OpDef* op = OpRegistry::Global().Find(name);
    return op && op->traits.stateful && op->FindAttr("seed") && op->FindAttr("seed2");
  }
  // Functions that a node may call, and its op.
  static std::vector<std::string> Callees(const NodeDef& node) {
    std::vector<std::string> names{node.op};
    for (const auto& [key, value] : node.attrs) {
      if (const auto* one = value.template If<FuncRef>()) names.push_back(one->name);
      if (const auto* several = value.template If<std::vector<FuncRef>>()) {
        for (const FuncRef& f : *several) names.push_back(f.name);
      }
    }
    return names;
  }

  const FunctionLibraryPtr library_;
  std::map<std::string, bool> known_;
};

}  // namespace

CallPath PathOf(const FuncRef& function) {
  const AttrValue* site = function.attrs.Find(kCallSiteAttr);
  if (const CallPath* path = site ? site->If<CallPath>() : nullptr) return *path;
  return {function.name, CanonicalKey(function)};
}

FunctionNames::FunctionNames(const FuncRef& function) : own(function.name), outermost(PathOf(function).at(0)) {}

void GiveCallsTheirState(Graph& graph, CallPath path) {
  if (path.empty()) path = {"", ""};
  const auto is_inside = [&](const std::string& name) {
    for (size_t i = 3; i < path.size(); i += 2) {
      if (path[i] == name) return true;
    }
    return false;
  };
  RandomFunctions random(graph.library());
  for (Node* node : graph.Nodes()) {
    const bool is_named = node->calls_function();  // the op is the function
    if (!is_named && node->op_name() != "PartitionedCall" && node->op_name() != "StatefulPartitionedCall") continue;
    FuncRef callee = is_named ? FuncRef{node->op_name(), {}} : node->attr<FuncRef>("f");
    if (is_inside(callee.name) || !random.Contains(callee.name)) continue;
    CallPath site = path;
    site.insert(site.end(), {node->name(), callee.name});
    if (is_named) {
      graph.SetAttr(node, kCallSiteAttr, std::move(site));
    } else {
      callee.attrs.Set(kCallSiteAttr, std::move(site));
      graph.SetAttr(node, "f", std::move(callee));
    }
  }
}

}  // namespace penstock
