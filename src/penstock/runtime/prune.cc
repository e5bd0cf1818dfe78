// Pruning: of a session's graph, what a step needs.
#include <algorithm>
#include <map>

#include "penstock/runtime/session.h"

namespace penstock {
namespace {

constexpr char kClient[] = "client";  // stands for a device in the keys of feeds and fetches

AttrMap TransferAttrs(std::string_view what, int i) {
  return {{"tensor_name", StrCat(what, "_", i)},
          {"send_device", kClient},
          {"send_device_incarnation", int64_t{0}},
          {"recv_device", kClient},
          {"client_terminated", true}};
}

std::string Key(std::string_view what, int i) { return StrCat(kClient, ";0;", kClient, ";", what, "_", i, ";0:0"); }

}  // namespace

std::string FeedKey(int i) { return Key("feed", i); }
std::string FetchKey(int i) { return Key("fetch", i); }

std::shared_ptr<Graph> Prune(Graph& graph, const Session::Signature& signature, bool by_rendezvous) {
  auto pruned = std::make_shared<Graph>(graph.ops());
  pruned->set_library(graph.library());
  pruned->versions() = graph.versions();
  std::map<std::pair<int, int>, int> feed_of;
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    const Endpoint feed = signature.feeds[i];
    if (!feed_of.try_emplace({feed.node->id(), feed.index}, static_cast<int>(i)).second) {
      throw InvalidArgument("Endpoint \"", feed.name(), "\" fed more than once.");
    }
  }
  const auto fed = [&](Endpoint e) { return feed_of.contains({e.node->id(), e.index}); };
  // A placeholder does nothing but stand for its feed: who waits for it, waits for the feed.
  const auto only_feed = [&](Node* node) {
    return (node->op_name() == "Placeholder" || node->op_name() == "PlaceholderV2") && fed({node, 0});
  };

  std::vector<bool> needed(graph.num_ids());
  std::vector<Node*> stack, nodes;
  const auto need = [&](Node* node) {
    if (needed[node->id()]) return;
    needed[node->id()] = true;
    stack.push_back(node);
  };
  for (const Endpoint& fetch : signature.fetches) {
    if (!fed(fetch)) need(fetch.node);
  }
  for (Node* target : signature.targets) need(target);
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    nodes.push_back(node);
    for (const Endpoint& input : node->inputs()) {
      if (!fed(input)) need(input.node);
    }
    for (Node* control : node->control_inputs()) {
      if (!only_feed(control)) need(control);
    }
  }
  std::ranges::sort(nodes, {}, [](const Node* node) { return node->id(); });

  std::vector<Node*> copy(graph.num_ids());
  for (Node* node : nodes) copy[node->id()] = pruned->CopyNode(*node, {}, {});
  std::vector<Node*> args;
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    const Endpoint feed = signature.feeds[i];
    const DataType type = BaseType(feed.type());
    AttrMap attrs = {{"T", type}, {"index", static_cast<int64_t>(i)}};
    if (by_rendezvous) {
      attrs = TransferAttrs("feed", static_cast<int>(i));
      attrs.Set("tensor_type", type);
    }
    Node* arg =
        pruned->AddNode({.op = by_rendezvous ? "_Recv" : "_Arg",
                         .name = pruned->UniqueName(StrCat("_arg_", feed.node->name(), "_", feed.index, "_", i)),
                         .inputs = {},
                         .control_inputs = {},
                         .attrs = std::move(attrs),
                         .device = ""});
    pruned->SetShape({arg, 0}, feed.shape());
    pruned->SetHandleData({arg, 0}, feed.node->info(feed.index).handle_data);
    args.push_back(arg);
  }
  const auto value = [&](Endpoint e) -> Endpoint {
    const auto it = feed_of.find({e.node->id(), e.index});
    if (it != feed_of.end()) return {args[it->second], 0};
    return {copy[e.node->id()], e.index};
  };
  for (Node* node : nodes) {
    std::vector<Endpoint> inputs;
    for (const Endpoint& input : node->inputs()) inputs.push_back(value(input));
    std::vector<Node*> controls;
    for (Node* control : node->control_inputs()) {
      controls.push_back(only_feed(control) ? value({control, 0}).node : copy[control->id()]);
    }
    pruned->SetInputs(copy[node->id()], std::move(inputs), controls);
  }
  for (size_t i = 0; i < signature.fetches.size(); ++i) {
    const Endpoint fetch = signature.fetches[i];
    AttrMap attrs = {{"index", static_cast<int64_t>(i)}};
    if (by_rendezvous) attrs = TransferAttrs("fetch", static_cast<int>(i));
    attrs.Set("T", BaseType(fetch.type()));
    pruned->AddNode({.op = by_rendezvous ? "_Send" : "_Retval",
                     .name = pruned->UniqueName(StrCat("_retval_", fetch.node->name(), "_", fetch.index, "_", i)),
                     .inputs = {value(fetch)},
                     .control_inputs = {},
                     .attrs = std::move(attrs),
                     .device = ""});
  }
  return pruned;
}

}  // namespace penstock
