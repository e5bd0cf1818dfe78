// Every family of CPU kernels, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

void RegisterConcatKernels(KernelRegistry& kernels);
void RegisterConstantKernels(KernelRegistry& kernels);
void RegisterControlFlowKernels(KernelRegistry& kernels);
void RegisterFunctionalKernels(KernelRegistry& kernels);
void RegisterGatherKernels(KernelRegistry& kernels);
void RegisterIdentityKernels(KernelRegistry& kernels);
void RegisterPadKernels(KernelRegistry& kernels);
void RegisterQueueKernels(KernelRegistry& kernels);
void RegisterRandomKernels(KernelRegistry& kernels);
void RegisterResourceVariableKernels(KernelRegistry& kernels);
void RegisterScatterKernels(KernelRegistry& kernels);
void RegisterSendReceiveKernels(KernelRegistry& kernels);
void RegisterShapeOfKernels(KernelRegistry& kernels);
void RegisterSliceKernels(KernelRegistry& kernels);
void RegisterStateKernels(KernelRegistry& kernels);
void RegisterTrainingKernels(KernelRegistry& kernels);
void RegisterTransposeKernels(KernelRegistry& kernels);

void RegisterAllCpuKernels(KernelRegistry& kernels);

}  // namespace penstock
