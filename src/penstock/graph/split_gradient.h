// A gradient that becomes a function of its own, which is called after the forward pass: what it reads of the forward
// pass must be results of that, and results exist outside of branches only.
#pragma once

#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

struct CarriedOut {
  std::vector<Node*> forward, backward;  // the nodes that were added
};

// Lets `backward`, the nodes of a gradient, read values from inside of the forward pass's branches in a way that
// crosses outside of them: behind its branch a value is merged with nothing, and for the gradient it is switched into
// the branch again.
CarriedOut CarryOutOfBranches(Graph& graph, const std::vector<Node*>& backward);

}  // namespace penstock
