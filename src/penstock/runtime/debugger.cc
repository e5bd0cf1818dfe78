#include "penstock/runtime/debugger.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace penstock {
namespace {

// "Op(name=value;name=value)": the op, and its attributes by the kinds that its definition gives them.
std::pair<std::string, AttrMap> ParseDebugOp(const Graph& graph, const std::string& text) {
  const size_t open = text.find('(');
  const std::string op = text.substr(0, open);
  const OpDef* def = graph.ops().Find(op);
  if (!def || !op.starts_with("Debug")) throw InvalidArgument("Failed to create debug op: ", op, " is no debug op");
  AttrMap attrs;
  if (open == std::string::npos) return {op, attrs};
  if (text.back() != ')') throw InvalidArgument("Malformed debug op: ", text);
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  for (const std::string_view item : StrSplit(inside, ';')) {
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    if (equals == item.npos || equals == 0) throw InvalidArgument("Malformed attribute of a debug op: ", item);
    const std::string name(item.substr(0, equals)), value(item.substr(equals + 1));
    const AttrDef* attr = def->FindAttr(name);
    if (!attr) {
      throw InvalidArgument("1 attribute key(s) were not valid for debug node __dbg_: ", name, " of ", op);
    }
    if (attr->kind == "bool") {
      const bool yes = value == "true" || value == "True" || value == "1" || value == "yes";
      const bool no = value == "false" || value == "False" || value == "0" || value == "no";
      if (!yes && !no) throw InvalidArgument("Invalid value string for bool-type attribute ", name, ": ", value);
      attrs.Set(name, yes);
    } else if (attr->kind == "int") {
      int64_t number = 0;
      if (!ParseInt64(value, &number)) {
        throw InvalidArgument("Invalid value string for int-type attribute ", name, ": ", value);
      }
      attrs.Set(name, number);
    } else if (attr->kind == "float") {
      char* end = nullptr;
      const float number = std::strtof(value.c_str(), &end);
      if (value.empty() || *end) {
        throw InvalidArgument("Invalid value string for float-type attribute ", name, ": ", value);
      }
      attrs.Set(name, number);
    } else if (attr->kind == "string") {
      attrs.Set(name, value);
    } else {
      throw InvalidArgument("Unsupported type of the attribute ", name, " of ", op);
    }
  }
  return {op, attrs};
}

struct Wanted {
  std::vector<std::string> ops, urls;
};

void Watch(Graph& graph, Endpoint output, const Wanted& wanted) {
  const std::string tensor = StrCat(output.node->name(), ":", output.index);
  std::vector<std::string> spec;
  for (const std::string& op : wanted.ops) {
    for (const std::string& url : wanted.urls) spec.push_back(StrCat(op.substr(0, op.find('(')), ";", url, ";0"));
  }
  const DataType type = BaseType(output.type());
  const std::vector<Consumer> consumers = output.node->consumers();
  Node* copy = graph.AddNode({.op = "Copy",
                              .name = StrCat("__copy_", output.node->name(), "_", output.index),
                              .inputs = {output},
                              .control_inputs = {},
                              .attrs = {{"T", type}, {"tensor_name", tensor}, {"debug_ops_spec", spec}},
                              .device = output.node->device()});
  if (IsRef(output.type())) {  // the value is taken before anybody may change it
    for (const Consumer& c : consumers) {
      if (c.input >= 0 && c.node->input(c.input).index == output.index) graph.AddControlEdge(copy, c.node);
    }
  }
  for (size_t i = 0; i < wanted.ops.size(); ++i) {
    auto [op, attrs] = ParseDebugOp(graph, wanted.ops[i]);
    attrs.Set("T", type);
    attrs.Set("tensor_name", tensor);
    attrs.Set("debug_urls", wanted.urls);
    graph.AddNode({.op = op,
                   .name = StrCat("__dbg_", output.node->name(), "_", output.index, "_", i, "_", op),
                   .inputs = {{copy, 0}},
                   .control_inputs = {},
                   .attrs = std::move(attrs),
                   .device = output.node->device()});
  }
}

}  // namespace

void InsertDebugNodes(Graph& graph, const std::vector<DebugWatch>& watches) {
  std::map<std::pair<int, int>, Wanted> wanted;  // by node and output
  const auto add = [&](const Node* node, int slot, const DebugWatch& watch) {
    Wanted& all = wanted[{node->id(), slot}];
    all.ops.insert(all.ops.end(), watch.ops.begin(), watch.ops.end());
    for (const std::string& url : watch.urls) {
      if (std::find(all.urls.begin(), all.urls.end(), url) == all.urls.end()) all.urls.push_back(url);
    }
  };
  for (const DebugWatch& watch : watches) {
    const bool every = watch.node == "*";
    for (const Node* node : graph.Nodes()) {
      if (!every && node->name() != watch.node) continue;
      for (int slot = 0; slot < node->num_outputs(); ++slot) {
        if (watch.slot == -1 || watch.slot == slot) add(node, slot, watch);
      }
    }
  }
  for (const auto& [place, what] : wanted) Watch(graph, {graph.node(place.first), place.second}, what);
}

std::vector<std::string> DebugUrls(const std::vector<DebugWatch>& watches) {
  std::set<std::string> urls;
  for (const DebugWatch& watch : watches) urls.insert(watch.urls.begin(), watch.urls.end());
  return {urls.begin(), urls.end()};
}

}  // namespace penstock
