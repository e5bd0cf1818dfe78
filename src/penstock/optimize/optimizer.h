// Graph optimisation: the passes in the order in which they run. Each is a class in a file of its own and can be switched off.
#pragma once

#include "penstock/graph/graph.h"
#include "penstock/io/config.h"

namespace penstock {

// Rewrites what is to run into something equal that runs faster. Never folds, merges, moves or drops what has state,
// randomness, resource inputs or side effects.
void Optimize(Graph& graph, const SessionOptions& options);

}  // namespace penstock
