#include "penstock/kernels/cpu/all.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
  RegisterConcatKernels(kernels);
  RegisterConstantKernels(kernels);
  RegisterControlFlowKernels(kernels);
  RegisterFunctionalKernels(kernels);
  RegisterGatherKernels(kernels);
  RegisterIdentityKernels(kernels);
  RegisterPadKernels(kernels);
  RegisterQueueKernels(kernels);
  RegisterRandomKernels(kernels);
  RegisterResourceVariableKernels(kernels);
  RegisterScatterKernels(kernels);
  RegisterSendReceiveKernels(kernels);
  RegisterShapeOfKernels(kernels);
  RegisterSliceKernels(kernels);
  RegisterStateKernels(kernels);
  RegisterTrainingKernels(kernels);
  RegisterTransposeKernels(kernels);
}

}  // namespace penstock
