// Every family of CPU kernels, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

void RegisterActivationKernels(KernelRegistry& kernels);
void RegisterAggregateKernels(KernelRegistry& kernels);
void RegisterBatchNormKernels(KernelRegistry& kernels);
void RegisterBiasKernels(KernelRegistry& kernels);
void RegisterCandidateSamplingKernels(KernelRegistry& kernels);
void RegisterCastKernels(KernelRegistry& kernels);
void RegisterCheckpointKernels(KernelRegistry& kernels);
void RegisterComparisonKernels(KernelRegistry& kernels);
void RegisterConcatKernels(KernelRegistry& kernels);
void RegisterConstantKernels(KernelRegistry& kernels);
void RegisterControlFlowKernels(KernelRegistry& kernels);
void RegisterConvKernels(KernelRegistry& kernels);
void RegisterCountingKernels(KernelRegistry& kernels);
void RegisterCrossKernels(KernelRegistry& kernels);
void RegisterDiagonalKernels(KernelRegistry& kernels);
void RegisterEinsumKernels(KernelRegistry& kernels);
void RegisterFakeQuantKernels(KernelRegistry& kernels);
void RegisterFunctionalKernels(KernelRegistry& kernels);
void RegisterGatherKernels(KernelRegistry& kernels);
void RegisterHostKernels(KernelRegistry& kernels);
void RegisterIdentityKernels(KernelRegistry& kernels);
void RegisterMatMulKernels(KernelRegistry& kernels);
void RegisterMathBinaryKernels(KernelRegistry& kernels);
void RegisterMathSpecialKernels(KernelRegistry& kernels);
void RegisterMathUnaryKernels(KernelRegistry& kernels);
void RegisterPadKernels(KernelRegistry& kernels);
void RegisterPartitionKernels(KernelRegistry& kernels);
void RegisterPoolKernels(KernelRegistry& kernels);
void RegisterQueueKernels(KernelRegistry& kernels);
void RegisterRandomKernels(KernelRegistry& kernels);
void RegisterReductionKernels(KernelRegistry& kernels);
void RegisterResizeKernels(KernelRegistry& kernels);
void RegisterResourceVariableKernels(KernelRegistry& kernels);
void RegisterScanKernels(KernelRegistry& kernels);
void RegisterScatterKernels(KernelRegistry& kernels);
void RegisterScatterNdKernels(KernelRegistry& kernels);
void RegisterSegmentKernels(KernelRegistry& kernels);
void RegisterSelectKernels(KernelRegistry& kernels);
void RegisterSelectionKernels(KernelRegistry& kernels);
void RegisterSendReceiveKernels(KernelRegistry& kernels);
void RegisterSequenceKernels(KernelRegistry& kernels);
void RegisterShapeOfKernels(KernelRegistry& kernels);
void RegisterSliceKernels(KernelRegistry& kernels);
void RegisterSoftmaxKernels(KernelRegistry& kernels);
void RegisterSpaceKernels(KernelRegistry& kernels);
void RegisterSparseKernels(KernelRegistry& kernels);
void RegisterSparseMathKernels(KernelRegistry& kernels);
void RegisterStackKernels(KernelRegistry& kernels);
void RegisterStateKernels(KernelRegistry& kernels);
void RegisterStatelessRandomKernels(KernelRegistry& kernels);
void RegisterTensorArrayKernels(KernelRegistry& kernels);
void RegisterTopKKernels(KernelRegistry& kernels);
void RegisterTrainingKernels(KernelRegistry& kernels);
void RegisterTransposeKernels(KernelRegistry& kernels);

void RegisterAllCpuKernels(KernelRegistry& kernels);

}  // namespace penstock
