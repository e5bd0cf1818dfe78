// Pruning: of a whole graph, what one step needs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// What a step is fed, gives and does.
struct StepSignature {
  std::vector<Endpoint> feeds, fetches;
  std::vector<Node*> targets;
  std::vector<std::pair<Endpoint, Endpoint>> connections = {};  // (a, b): consumers of b read a
};

// The device whose name is in the rendezvous keys of feeds and fetches.
struct ClientDevice {
  std::string name;
  uint64_t incarnation = 0;
};

// The part of `graph` (locked by the caller) that a signature needs, cut off at its feeds and connections.
// Fed tensors become _Arg nodes and fetched ones feed _Retval nodes, numbered as in the signature; with `client` they
// become _Recv and _Send nodes, whose keys are FeedKey(i) and FetchKey(i). InvalidArgument: a tensor is fed or
// connected twice, or a connection closes a cycle.
std::shared_ptr<Graph> Prune(Graph& graph, const StepSignature& signature, const ClientDevice* client = nullptr);
std::string FeedKey(const ClientDevice& client, int i);
std::string FetchKey(const ClientDevice& client, int i);

// For each fetch of a graph that was pruned with a client, the feeds that it is computed from.
std::vector<std::vector<int>> FeedsOfFetches(const Graph& pruned, size_t num_feeds, size_t num_fetches);

}  // namespace penstock
