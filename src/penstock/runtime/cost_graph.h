// What the nodes of a compiled step cost in the runs that were measured: RunMetadata's cost_graph.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/io/config.h"

namespace penstock {

class CostGraph {
 public:
  // Counts a run of the step; true if it is to be measured: each build_cost_model-th, once build_cost_model_after have
  // run.
  bool CountRun(const GraphOptions& options);
  // Adds a measured run's nodes, of which the longest time counts.
  void Add(const std::vector<DeviceStats>& devices);
  // The nodes of all partitions, each begun by the source and the sink that TensorFlow's graphs have.
  std::vector<CostNode> Nodes(const std::vector<std::shared_ptr<const Graph>>& partitions) const;

 private:
  struct Cost {
    int64_t us = 0;
    std::vector<OutputStats> outputs;
  };
  mutable std::mutex mutex_;
  int64_t runs_ = 0;
  std::map<std::string, Cost> costs_;  // by node
};

}  // namespace penstock
