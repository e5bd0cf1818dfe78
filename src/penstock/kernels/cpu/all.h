// Every family of CPU kernels, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels);

}  // namespace penstock
