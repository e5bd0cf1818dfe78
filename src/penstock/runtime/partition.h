// Partition: cuts a placed graph into parts, joined by Send and Recv nodes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"

namespace penstock {

struct PartitionOptions {
  // Tells a device's incarnation, for the rendezvous keys.
  std::function<uint64_t(const std::string& device)> incarnation;
  // The part that a device's nodes go to; null: one part for each device.
  std::function<std::string(const std::string& device)> part_of;
  // A loop over several devices gets a loop that drives it on each (control_loops.h). False: `graph` is a part itself,
  // and has them.
  bool add_control_loops = true;
};

// Name of the part (of its device) -> graph. One Send/Recv pair for each tensor and destination device, however many
// consumers; control edges that cross become a pair that carries an empty tensor. `graph` is changed for loops.
std::map<std::string, std::shared_ptr<Graph>> Partition(Graph& graph, const PartitionOptions& options);

}  // namespace penstock
