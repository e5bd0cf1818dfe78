// Spreading: which of several equal devices each group of nodes that is free to run anywhere gets.
#pragma once

#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// A piece of work that runs on one device: nodes that belong together.
struct Work {
  int64_t cost_ns = 0;
  int device = -1;                              // fixed there; -1: free
  std::vector<std::pair<int, int64_t>> inputs;  // (other work, time to bring its result from another device)
};

// A device (0 .. devices-1) for each piece, so that all is done early: the best of several list schedules (by remaining
// critical path, earliest finish first), improved by moving pieces, and pairs if there are few, while that helps.
// Results do not depend on chance. The inputs may contain cycles (loops), whose closing edges are ignored.
std::vector<int> Balance(const std::vector<Work>& work, int devices);

// When the last piece ends, if every device runs its pieces in the order of the schedule that Balance uses.
int64_t Makespan(const std::vector<Work>& work, const std::vector<int>& assignment, int devices);

}  // namespace penstock
