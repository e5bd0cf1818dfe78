// All CPU kernels.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels);

}  // namespace penstock
