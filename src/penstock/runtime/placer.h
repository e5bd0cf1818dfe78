// Placement: gives every node of a step a device. Explicit devices and colocation always win; what is left free goes to
// the first device, or is spread by cost if that is asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/runtime/cost_model.h"

namespace penstock {

struct PlacementOptions {
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  const KernelRegistry* kernels = nullptr;  // null: every device runs every op
  // Independent heavy branches of what is free go to different devices of the first type.
  bool spread = false;
  const MeasuredCosts* costs = nullptr;  // of an earlier run; estimates are used where it is silent
};

// Sets assigned_device() of every node. InvalidArgument: no device fits, no kernel for the device that was asked for,
// or colocated nodes contradict each other. `devices` are in order of preference.
void Place(Graph& graph, const std::vector<Device*>& devices, const PlacementOptions& options);

}  // namespace penstock
