#include "penstock/kernels/cpu/all.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
  RegisterControlFlowKernels(kernels);
  RegisterFunctionalKernels(kernels);
  RegisterQueueKernels(kernels);
  RegisterRandomKernels(kernels);
  RegisterSendReceiveKernels(kernels);
  RegisterStateKernels(kernels);
  RegisterTrainingKernels(kernels);
}

}  // namespace penstock
