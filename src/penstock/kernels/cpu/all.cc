#include "penstock/kernels/cpu/all.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
}

}  // namespace penstock
