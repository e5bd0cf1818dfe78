// Fed arrays are borrowed for the step; what may be kept after it is a copy.
#pragma once

#include <span>

#include "penstock/graph/graph.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Whether something may hold the node's inputs after the step: a resource, a variant, a function of the host language.
bool MayKeepInputs(const Node& node);

// Replaces inputs in borrowed memory by copies: for kernels of such nodes, before they run.
void OwnInputs(std::span<const KernelContext::Input> inputs);

// Throws Internal if something still holds the borrowed memory of a feed when its step is over; a fetch may. Checks in
// builds with assertions and where PENSTOCK_CHECK_FEEDS is 1.
void CheckNoneKept(std::span<const Tensor> feeds, std::span<const Tensor> fetches);

}  // namespace penstock
