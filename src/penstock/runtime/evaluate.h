// Runs single nodes on known inputs: what constant folding and shape inference need.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// The outputs of a stateless node, computed at once on this thread; nullopt if it has no synchronous CPU kernel or
// fails.
std::optional<std::vector<Tensor>> EvaluateNode(const Node& node, std::span<const Tensor> inputs);

// The results of a PyFuncStateless, whose function is called on this thread; nullopt if it fails. The caller holds no
// lock that the function could need.
std::optional<std::vector<Tensor>> EvaluatePyFunction(const Node& node, std::span<const Tensor> inputs);

}  // namespace penstock
