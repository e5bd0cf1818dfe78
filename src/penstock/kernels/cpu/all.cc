#include "penstock/kernels/cpu/all.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
  RegisterAggregateKernels(kernels);
  RegisterCastKernels(kernels);
  RegisterComparisonKernels(kernels);
  RegisterConcatKernels(kernels);
  RegisterConstantKernels(kernels);
  RegisterControlFlowKernels(kernels);
  RegisterFunctionalKernels(kernels);
  RegisterGatherKernels(kernels);
  RegisterIdentityKernels(kernels);
  RegisterMatMulKernels(kernels);
  RegisterMathBinaryKernels(kernels);
  RegisterMathUnaryKernels(kernels);
  RegisterPadKernels(kernels);
  RegisterQueueKernels(kernels);
  RegisterRandomKernels(kernels);
  RegisterReductionKernels(kernels);
  RegisterResourceVariableKernels(kernels);
  RegisterScatterKernels(kernels);
  RegisterSendReceiveKernels(kernels);
  RegisterSequenceKernels(kernels);
  RegisterShapeOfKernels(kernels);
  RegisterSliceKernels(kernels);
  RegisterStateKernels(kernels);
  RegisterStatelessRandomKernels(kernels);
  RegisterTrainingKernels(kernels);
  RegisterTransposeKernels(kernels);
}

}  // namespace penstock
