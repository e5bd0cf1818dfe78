// Debugged runs: nodes that send watched tensors to a debugger.
#pragma once

#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/io/config.h"

namespace penstock {

// Puts a copy and the debug ops behind each watched output that the graph has, with names that no program has.
// InvalidArgument: no such debug op, or bad attributes for it.
void InsertDebugNodes(Graph& graph, const std::vector<DebugWatch>& watches);
// Each URL of the watches once.
std::vector<std::string> DebugUrls(const std::vector<DebugWatch>& watches);

}  // namespace penstock
