// Loops whose nodes are placed on several devices.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "penstock/graph/graph.h"
#include "penstock/runtime/frames.h"

namespace penstock {

// Each device that takes part in a loop needs to know when an iteration begins: it gets a small loop of its own (Enter,
// Merge, Switch, NextIteration) that turns as long as the loop's condition, sent over in each iteration, says so. What
// is received inside the loop waits for that loop's Merge.
struct ControlLoops {
  FrameTree frames;                                     // of the graph with the new nodes
  std::map<std::pair<int, std::string>, Node*> merges;  // (frame, device) -> Merge
};

// `graph` is placed; Enter and NextIteration nodes move to the device of the Merge that they lead to. InvalidArgument:
// a loop over several devices without a LoopCond.
ControlLoops AddControlLoops(Graph& graph);
// Those of a part of a graph to which a master added them: any Merge that takes part in each iteration will do.
ControlLoops FindControlLoops(const Graph& graph);

}  // namespace penstock
