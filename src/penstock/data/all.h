#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock::data {

void RegisterAllDatasets(KernelRegistry& kernels);

}  // namespace penstock::data
