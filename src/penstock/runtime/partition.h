// Partition: cuts a placed graph into one graph for each device, joined by Send and Recv nodes.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"

namespace penstock {

// device name -> graph. One Send/Recv pair for each tensor and destination device, however many consumers; control
// edges that cross become a pair that carries an empty tensor. A loop over several devices gets a loop that drives it
// on each (control_loops.h): `graph` is changed for it. `incarnation` tells a device's, for the rendezvous keys.
std::map<std::string, std::shared_ptr<Graph>> Partition(Graph& graph,
                                                        const std::function<uint64_t(const std::string&)>& incarnation);

}  // namespace penstock
