// Placement: gives every node of a step a device. Explicit devices and colocation always win; what is left free follows the
// cost model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {

struct PlacementOptions {
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  const KernelRegistry* kernels = nullptr;
};

// Sets assigned_device() of every node. InvalidArgument: no device fits, or colocated nodes contradict each other.
void Place(Graph& graph, const std::vector<Device*>& devices, const PlacementOptions& options);

}  // namespace penstock
