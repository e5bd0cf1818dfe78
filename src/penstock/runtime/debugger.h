// Debugged runs: nodes that send watched tensors to a debugger.
#pragma once

#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/io/config.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {

// Puts a copy and the debug ops behind each watched output that the graph has, with names that no program has; who
// reads the output waits for them. A watch of node "*" is for all outputs that no other watch names, if there are
// others. FailedPrecondition: no such debug op, or bad attributes for it, or a bad slot.
void InsertDebugNodes(Graph& graph, const std::vector<DebugWatch>& watches, const KernelRegistry& kernels);
// Each URL of the watches once.
std::vector<std::string> DebugUrls(const std::vector<DebugWatch>& watches);

}  // namespace penstock
