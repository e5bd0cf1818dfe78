#include "penstock/runtime/debugger.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace penstock {
namespace {

bool ParseBool(std::string_view text, bool* value) {
  *value = text == "true" || text == "True" || text == "1" || text == "yes";
  return *value || text == "false" || text == "False" || text == "0" || text == "no";
}

// "Op(name=value;name=value)", for the node of that name: the op, and its attributes by the kinds that its definition
// gives them.
std::pair<std::string, AttrMap> ParseDebugOp(const Graph& graph, const std::string& text, const std::string& node) {
  const size_t open = text.find('(');
  const std::string op = text.substr(0, open);
  const OpDef* def = graph.ops().Find(op);
  if (!def || !op.starts_with("Debug")) throw InvalidArgument("Failed to create debug op: ", op, " is no debug op");
  AttrMap attrs;
  if (open == std::string::npos) return {op, attrs};
  if (text.back() != ')') throw InvalidArgument("Malformed debug op: ", text);
  std::vector<std::string> unknown;
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  for (const std::string_view item : StrSplit(inside, ';')) {
    if (StripSpaces(item).empty()) continue;
    const size_t equals = item.find('=');
    if (equals == item.npos || equals == 0) throw InvalidArgument("Malformed attribute of a debug op: ", item);
    const std::string name(StripSpaces(item.substr(0, equals))), value(StripSpaces(item.substr(equals + 1)));
    const AttrDef* attr = def->FindAttr(name);
    const auto bad = [&] {
      return InvalidArgument("Invalid value string for ", attr->kind, "-type attribute ", name, " of debug node ", node,
                             ": \"", value, "\"");
    };
    bool yes = false;
    int64_t number = 0;
    if (!attr) {
      unknown.push_back(name);
    } else if (attr->kind == "bool") {
      if (!ParseBool(value, &yes)) throw bad();
      attrs.Set(name, yes);
    } else if (attr->kind == "int") {
      if (!ParseInt64(value, &number)) throw bad();
      attrs.Set(name, number);
    } else if (attr->kind == "float") {
      char* end = nullptr;
      const float real = std::strtof(value.c_str(), &end);
      if (value.empty() || *end) throw bad();
      attrs.Set(name, real);
    } else if (attr->kind == "string") {
      attrs.Set(name, value);
    } else {
      throw InvalidArgument("Unsupported type of custom attribute for debug ops: ", attr->kind);
    }
  }
  if (!unknown.empty()) {
    throw InvalidArgument(unknown.size(), " attribute key(s) were not valid for debug node ", node, ": ",
                          StrJoin(unknown, ", "));
  }
  return {op, attrs};
}

struct Wanted {
  std::vector<std::string> ops, urls;
  bool tolerates_failures = false;
};

// The debug op of number `index` for a tensor; nothing if there is no such op for its type, and that is tolerated.
std::optional<std::pair<std::string, AttrMap>> DebugOpFor(const Graph& graph, const std::string& tensor, DataType type,
                                                          const Wanted& wanted, size_t index,
                                                          const KernelRegistry& kernels) {
  const std::string& text = wanted.ops[index];
  try {
    const std::string kind = text.substr(0, text.find('('));
    auto [op, attrs] = ParseDebugOp(graph, text, StrCat("__dbg_", tensor, "_", index, "_", kind));
    attrs.Set("T", type);
    attrs.Set("tensor_name", tensor);
    attrs.Set("debug_urls", wanted.urls);
    if (kernels.DevicesFor(*graph.ops().Find(op), attrs).empty()) {
      throw InvalidArgument("No OpKernel was registered to support Op '", op, "' for ", ToString(type));
    }
    return std::pair{std::move(op), std::move(attrs)};
  } catch (const Error& e) {
    if (wanted.tolerates_failures) return std::nullopt;
    throw FailedPrecondition("Failed to create debug node ", text, " for tensor ", tensor,
                             ", due to: ", e.status().message());
  }
}

void Watch(Graph& graph, Endpoint output, const std::string& tensor, const Wanted& wanted,
           const KernelRegistry& kernels) {
  const DataType type = BaseType(output.type());
  const std::string place = StrCat(output.node->name(), "_", output.index);
  std::vector<std::optional<std::pair<std::string, AttrMap>>> ops;
  std::vector<std::string> spec;
  for (size_t i = 0; i < wanted.ops.size(); ++i) {
    ops.push_back(DebugOpFor(graph, tensor, type, wanted, i, kernels));
    if (!ops.back()) continue;
    const auto& [op, attrs] = *ops.back();
    const AttrValue* gated = attrs.Find("gated_grpc");
    for (const std::string& url : wanted.urls) {
      spec.push_back(StrCat(op, ";", url, gated && *gated->If<bool>() ? ";1" : ";0"));
    }
  }
  const std::vector<Consumer> consumers = output.node->consumers();
  Node* copy = graph.AddNode({.op = "Copy",
                              .name = StrCat("__copy_", place),
                              .inputs = {output},
                              .control_inputs = {},
                              .attrs = {{"T", type}, {"tensor_name", tensor}, {"debug_ops_spec", spec}},
                              .device = output.node->device()});
  std::vector<Node*> waited_for;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i]) continue;
    waited_for.push_back(graph.AddNode({.op = ops[i]->first,
                                        .name = StrCat("__dbg_", place, "_", i, "_", ops[i]->first),
                                        .inputs = {{copy, 0}},
                                        .control_inputs = {},
                                        .attrs = std::move(ops[i]->second),
                                        .device = output.node->device()}));
  }
  // What is dumped is what the consumers read, and times of dumps follow the order of the graph. A consumer of what
  // enters a loop's iteration does not wait.
  const Flow flow = output.node->traits().flow;
  if (flow == Flow::kEnter || flow == Flow::kNextIteration) return;
  for (const Consumer& c : consumers) {
    if (c.input < 0 || c.node->input(c.input).index != output.index) continue;
    for (Node* node : waited_for) graph.AddControlEdge(node, c.node);
  }
}

}  // namespace

void InsertDebugNodes(Graph& graph, const std::vector<DebugWatch>& watches, const KernelRegistry& kernels) {
  std::map<std::string, Wanted> wanted;  // by tensor; the last watch counts
  Wanted others;                         // of all tensors that no watch names
  for (const DebugWatch& watch : watches) {
    if (watch.ops.empty() || watch.urls.empty()) continue;
    if (watch.node == "*") {
      if (watch.slot != -1) {
        throw FailedPrecondition("output_slot is expected to be -1 for wildcard node name (\"*\"), but got ",
                                 watch.slot);
      }
      others.ops.insert(others.ops.end(), watch.ops.begin(), watch.ops.end());
      others.urls.insert(others.urls.end(), watch.urls.begin(), watch.urls.end());
    } else if (watch.slot < 0) {
      throw FailedPrecondition(
          "A negative output_slot in DebugTensorWatch is valid only for the wildcard node name "
          "(\"*\"), but got node name ",
          watch.node);
    } else {
      wanted[StrCat(watch.node, ":", watch.slot)] = {watch.ops, watch.urls, watch.tolerates_failures};
    }
  }
  if (wanted.empty()) return;
  for (Node* node : graph.Nodes()) {
    for (int slot = 0; slot < node->num_outputs(); ++slot) {
      const std::string tensor = StrCat(node->name(), ":", slot);
      const auto found = wanted.find(tensor);
      const Wanted& what = found == wanted.end() ? others : found->second;
      if (!what.ops.empty()) Watch(graph, {node, slot}, tensor, what, kernels);
    }
  }
}

std::vector<std::string> DebugUrls(const std::vector<DebugWatch>& watches) {
  std::set<std::string> urls;
  for (const DebugWatch& watch : watches) urls.insert(watch.urls.begin(), watch.urls.end());
  return {urls.begin(), urls.end()};
}

}  // namespace penstock
