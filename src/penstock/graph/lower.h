// The functional If, While and Case as Switch, Merge, Enter...: there is one form of control flow that is
// differentiated and executed.
#pragma once

#include "penstock/graph/function.h"
#include "penstock/graph/graph.h"

namespace penstock {

// Replaces such nodes, also those inside their bodies. A branch or body that contains itself is left to be called.
void LowerControlFlow(Graph& graph);

// What is called by this name: a function of the library, the gradient of one ("SymbolicGradient" with attribute f), or
// an op with its attributes, its control flow lowered. NotFound: there is nothing of this name.
FunctionBody InstantiateCallee(const FuncRef& callee, const FunctionLibraryPtr& library);

}  // namespace penstock
