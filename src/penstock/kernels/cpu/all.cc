#include "penstock/kernels/cpu/all.h"

namespace penstock {

void RegisterAllCpuKernels(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
  RegisterActivationKernels(kernels);
  RegisterAggregateKernels(kernels);
  RegisterBatchNormKernels(kernels);
  RegisterBiasKernels(kernels);
  RegisterCandidateSamplingKernels(kernels);
  RegisterCastKernels(kernels);
  RegisterCheckpointKernels(kernels);
  RegisterComparisonKernels(kernels);
  RegisterConcatKernels(kernels);
  RegisterConstantKernels(kernels);
  RegisterControlFlowKernels(kernels);
  RegisterConvKernels(kernels);
  RegisterCountingKernels(kernels);
  RegisterCrossKernels(kernels);
  RegisterDiagonalKernels(kernels);
  RegisterEinsumKernels(kernels);
  RegisterFakeQuantKernels(kernels);
  RegisterFunctionalKernels(kernels);
  RegisterGatherKernels(kernels);
  RegisterHostKernels(kernels);
  RegisterIdentityKernels(kernels);
  RegisterMatMulKernels(kernels);
  RegisterMathBinaryKernels(kernels);
  RegisterMathSpecialKernels(kernels);
  RegisterMathUnaryKernels(kernels);
  RegisterPadKernels(kernels);
  RegisterPartitionKernels(kernels);
  RegisterPoolKernels(kernels);
  RegisterQueueKernels(kernels);
  RegisterRandomKernels(kernels);
  RegisterReductionKernels(kernels);
  RegisterResizeKernels(kernels);
  RegisterResourceVariableKernels(kernels);
  RegisterScanKernels(kernels);
  RegisterScatterKernels(kernels);
  RegisterScatterNdKernels(kernels);
  RegisterSegmentKernels(kernels);
  RegisterSelectKernels(kernels);
  RegisterSelectionKernels(kernels);
  RegisterSendReceiveKernels(kernels);
  RegisterSequenceKernels(kernels);
  RegisterShapeOfKernels(kernels);
  RegisterSliceKernels(kernels);
  RegisterSoftmaxKernels(kernels);
  RegisterSpaceKernels(kernels);
  RegisterSparseKernels(kernels);
  RegisterSparseMathKernels(kernels);
  RegisterStackKernels(kernels);
  RegisterStateKernels(kernels);
  RegisterStatelessRandomKernels(kernels);
  RegisterTensorArrayKernels(kernels);
  RegisterTopKKernels(kernels);
  RegisterTrainingKernels(kernels);
  RegisterTransposeKernels(kernels);
}

}  // namespace penstock
