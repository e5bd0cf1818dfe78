// Graph optimisation: the passes in the order in which they run. Each has a file of its own and can be switched off.
#pragma once

#include "penstock/base/threads.h"
#include "penstock/graph/graph.h"
#include "penstock/io/config.h"

namespace penstock {

// The outputs of a node, given its inputs; nullopt where they cannot be told. What it throws ends the optimisation.
using NodeEvaluator = FunctionRef<std::optional<std::vector<Tensor>>(const Node&, std::span<const Tensor>)>;

// Whether a node calls a Python function without state: it may be folded, but not while its graph is built.
bool IsPyFunction(const Node& node);

// Rewrites what is to run into something equal that runs faster; `evaluate` runs single nodes on known inputs. Never
// folds, merges, moves or drops what has state, randomness, resource inputs or side effects; fed values are _Arg nodes
// to it. ConfigProto's graph_options say which passes run. With the environment's PENSTOCK_VERIFY_GRAPH the graph is
// checked after each pass: Internal, with the pass's name, if one broke it.
void Optimize(Graph& graph, const SessionOptions& options, NodeEvaluator evaluate);

// What every output promised still holds: edges lead to nodes of this graph, types fit, no node waits for itself.
// Internal if not.
void VerifyGraph(const Graph& graph);

}  // namespace penstock
