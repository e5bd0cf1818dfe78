// What nodes cost: estimated from shapes, or measured in a traced step.
#pragma once

#include <map>
#include <string>

#include "penstock/graph/graph.h"
#include "penstock/io/config.h"

namespace penstock {

// Estimated run time of a node in nanoseconds, from shapes as far as they are known.
int64_t EstimateCost(const Node& node);
// Estimated size of an output in bytes; 0 if its shape is not known.
int64_t EstimateBytes(Endpoint output);

// What a traced step says each node took, in nanoseconds, by name.
using MeasuredCosts = std::map<std::string, int64_t>;
MeasuredCosts CostsFrom(const RunMetadata& metadata);

}  // namespace penstock
