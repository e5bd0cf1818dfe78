// The functional If, While and Case as Switch, Merge, Enter...: there is one form of control flow that is
// differentiated and executed.
#pragma once

#include <functional>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Replaces such nodes, also those inside their bodies. A branch or body that contains itself is left to be called, as
// is what would make the graph too large.
// With `only_needed`, what a branch does is dropped if nothing waits for it: TensorFlow lowers a session's conditionals
// before it prunes, and in functions keeps all that has state.
void LowerControlFlow(Graph& graph, bool only_needed = false);

// The same, and calls of functions too, for nodes that others go on naming: each hands on the results of what takes its
// place. `next` says which nodes to take, until none of them can be. Returns the nodes taken.
std::vector<Node*> LowerInPlace(Graph& graph, const std::function<std::vector<Node*>()>& next);
// Whether LowerInPlace takes nodes of this op.
bool HasBodies(const Node& node);

// Replaces calls of small functions without state by what is in them, unless `_noinline` forbids it: a call costs more
// than that. Calls within calls that would make the graph too large stay calls.
void InlineCalls(Graph& graph);

// What is called by this name: a function of the library, the gradient of one ("SymbolicGradient" with attribute f), or
// an op with its attributes, its control flow lowered. NotFound: there is nothing of this name.
FunctionBody InstantiateCallee(const FuncRef& callee, const FunctionLibraryPtr& library);
// Removes what neither a result nor an effect of the body needs; arguments stay.
void KeepNeeded(const FunctionBody& body);

}  // namespace penstock
