// Pruning: of a session's graph, what a step needs.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "penstock/runtime/prune.h"

namespace penstock {
namespace {

AttrMap TransferAttrs(const ClientDevice& client, std::string_view what, int i) {
  return {{"tensor_name", StrCat(what, "_", i)},
          {"send_device", client.name},
          {"send_device_incarnation", static_cast<int64_t>(client.incarnation)},
          {"recv_device", client.name},
          {"client_terminated", true}};
}

class Pruning {
 public:
  Pruning(const Graph& graph, const StepSignature& signature, const ClientDevice* client)
      : graph_(graph), signature_(signature), client_(client) {
    for (size_t i = 0; i < signature.feeds.size(); ++i) {
      const Endpoint feed = signature.feeds[i];
      if (!feed_of_.try_emplace({feed.node->id(), feed.index}, static_cast<int>(i)).second) {
        throw InvalidArgument("Endpoint \"", feed.name(), "\" fed more than once.");
      }
    }
    for (const auto& [from, to] : signature.connections) {
      if (IsFed(to) || connected_.contains({to.node->id(), to.index})) {
        throw InvalidArgument("Endpoint \"", to.name(), "\" fed more than once.");
      }
      if (IsReadFor(to, from)) {
        throw InvalidArgument("Requested Tensor connection between nodes \"", to.node->name(), "\" and \"",
                              from.node->name(), "\" would create a cycle.");
      }
      connected_[{to.node->id(), to.index}] = from;
    }
  }

  std::shared_ptr<Graph> Run() {
    pruned_->set_library(graph_.library());
    pruned_->versions() = graph_.versions();
    const std::vector<Node*> nodes = Needed();
    copy_.resize(graph_.num_ids());
    for (Node* node : nodes) copy_[node->id()] = pruned_->CopyNode(*node, {}, {});
    for (size_t i = 0; i < signature_.feeds.size(); ++i) args_.push_back(AddArg(static_cast<int>(i)));
    for (Node* node : nodes) Connect(node);
    for (size_t i = 0; i < signature_.fetches.size(); ++i) AddRetval(static_cast<int>(i));
    return pruned_;
  }

 private:
  bool IsFed(Endpoint e) const { return feed_of_.contains({e.node->id(), e.index}); }
  // What is read where the graph reads `e`.
  Endpoint Source(Endpoint e) const {
    const auto it = connected_.find({e.node->id(), e.index});
    return it == connected_.end() ? e : it->second;
  }
  // A placeholder does nothing but stand for its feed: who waits for it, waits for the feed.
  bool OnlyStandsForFeed(Node* node) const {
    return (node->op_name() == "Placeholder" || node->op_name() == "PlaceholderV2") &&
           (IsFed({node, 0}) || connected_.contains({node->id(), 0}));
  }

  // Whether some node that `result` needs has the input `e`.
  bool IsReadFor(Endpoint e, Endpoint result) const {
    std::set<const Node*> seen{result.node};
    std::vector<const Node*> stack{result.node};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Endpoint& input : node->inputs()) {
        if (input.node == e.node && input.index == e.index) return true;
        const Endpoint source = Source(input);
        if (!IsFed(source) && seen.insert(source.node).second) stack.push_back(source.node);
      }
      for (const Node* control : node->control_inputs()) {
        if (seen.insert(control).second) stack.push_back(control);
      }
    }
    return false;
  }

  // What fetches and targets lead back to without going through a feed, in order of creation.
  std::vector<Node*> Needed() const {
    std::vector<bool> seen(graph_.num_ids());
    std::vector<Node*> stack, nodes;
    const auto need = [&](Node* node) {
      if (seen[node->id()]) return;
      seen[node->id()] = true;
      stack.push_back(node);
    };
    const auto need_value = [&](Endpoint e) {
      e = Source(e);
      if (!IsFed(e)) need(e.node);
    };
    for (const Endpoint& fetch : signature_.fetches) need_value(fetch);
    for (Node* target : signature_.targets) need(target);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      nodes.push_back(node);
      for (const Endpoint& input : node->inputs()) need_value(input);
      for (Node* control : node->control_inputs()) {
        if (OnlyStandsForFeed(control)) {
          need_value({control, 0});
        } else {
          need(control);
        }
      }
    }
    std::ranges::sort(nodes, {}, [](const Node* node) { return node->id(); });
    return nodes;
  }

  // The node in the pruned graph that gives feed i.
  Node* AddArg(int i) {
    const Endpoint feed = signature_.feeds[i];
    const DataType type = BaseType(feed.type());
    AttrMap attrs = {{"T", type}, {"index", int64_t{i}}};
    if (client_) {
      attrs = TransferAttrs(*client_, "feed", i);
      attrs.Set("tensor_type", type);
    }
    Node* arg =
        pruned_->AddNode({.op = client_ ? "_Recv" : "_Arg",
                          .name = pruned_->UniqueName(StrCat("_arg_", feed.node->name(), "_", feed.index, "_", i)),
                          .inputs = {},
                          .control_inputs = {},
                          .attrs = std::move(attrs),
                          .device = ""});
    pruned_->SetShape({arg, 0}, feed.shape());
    pruned_->SetHandleData({arg, 0}, feed.node->info(feed.index).handle_data);
    return arg;
  }

  // What stands for an output of the whole graph.
  Endpoint InPruned(Endpoint e) const {
    e = Source(e);
    const auto it = feed_of_.find({e.node->id(), e.index});
    if (it != feed_of_.end()) return {args_[it->second], 0};
    return {copy_[e.node->id()], e.index};
  }

  // Gives a copied node its inputs.
  void Connect(Node* node) {
    std::vector<Endpoint> inputs;
    for (const Endpoint& input : node->inputs()) inputs.push_back(InPruned(input));
    std::vector<Node*> controls;
    for (Node* control : node->control_inputs()) {
      controls.push_back(OnlyStandsForFeed(control) ? InPruned({control, 0}).node : copy_[control->id()]);
    }
    pruned_->SetInputs(copy_[node->id()], std::move(inputs), controls);
  }

  void AddRetval(int i) {
    const Endpoint fetch = signature_.fetches[i];
    AttrMap attrs = {{"index", int64_t{i}}};
    if (client_) attrs = TransferAttrs(*client_, "fetch", i);
    attrs.Set("T", BaseType(fetch.type()));
    pruned_->AddNode({.op = client_ ? "_Send" : "_Retval",
                      .name = pruned_->UniqueName(StrCat("_retval_", fetch.node->name(), "_", fetch.index, "_", i)),
                      .inputs = {InPruned(fetch)},
                      .control_inputs = {},
                      .attrs = std::move(attrs),
                      .device = ""});
  }

  const Graph& graph_;
  const StepSignature& signature_;
  const ClientDevice* const client_;
  std::map<std::pair<int, int>, int> feed_of_;         // (node, output) -> which feed
  std::map<std::pair<int, int>, Endpoint> connected_;  // (node, output) -> what is read in its place
  const std::shared_ptr<Graph> pruned_ = std::make_shared<Graph>(graph_.ops());
  std::vector<Node*> copy_;  // by id in the whole graph
  std::vector<Node*> args_;  // by feed
};

}  // namespace

static std::string Key(const ClientDevice& client, std::string_view what, int i) {
  char incarnation[17];
  std::snprintf(incarnation, sizeof(incarnation), "%016llx", static_cast<unsigned long long>(client.incarnation));
  return StrCat(client.name, ";", incarnation, ";", client.name, ";", what, "_", i, ";0:0");
}

std::string FeedKey(const ClientDevice& client, int i) { return Key(client, "feed", i); }
std::string FetchKey(const ClientDevice& client, int i) { return Key(client, "fetch", i); }

std::vector<std::vector<int>> FeedsOfFetches(const Graph& pruned, size_t num_feeds, size_t num_fetches) {
  std::map<std::string, int> feeds, fetches;
  for (size_t i = 0; i < num_feeds; ++i) feeds[StrCat("feed_", i)] = static_cast<int>(i);
  for (size_t i = 0; i < num_fetches; ++i) fetches[StrCat("fetch_", i)] = static_cast<int>(i);
  std::vector<std::vector<int>> needs(num_fetches);
  for (const Node* node : pruned.Nodes()) {
    if (node->traits().flow != Flow::kSend) continue;
    const auto fetch = fetches.find(node->attr<std::string>("tensor_name"));
    if (fetch == fetches.end()) continue;
    std::vector<bool> seen(pruned.num_ids());
    std::vector<const Node*> stack = {node};
    while (!stack.empty()) {
      const Node* one = stack.back();
      stack.pop_back();
      if (seen[one->id()]) continue;
      seen[one->id()] = true;
      if (one->traits().flow == Flow::kRecv) {
        const auto feed = feeds.find(one->attr<std::string>("tensor_name"));
        if (feed != feeds.end()) needs[fetch->second].push_back(feed->second);
      }
      for (const Endpoint& input : one->inputs()) stack.push_back(input.node);
      stack.insert(stack.end(), one->control_inputs().begin(), one->control_inputs().end());
    }
  }
  return needs;
}

std::shared_ptr<Graph> Prune(Graph& graph, const StepSignature& signature, const ClientDevice* client) {
  return Pruning(graph, signature, client).Run();
}

}  // namespace penstock
