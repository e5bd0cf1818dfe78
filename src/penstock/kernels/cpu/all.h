// Every family of CPU kernels, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

void RegisterControlFlowKernels(KernelRegistry& kernels);
void RegisterFunctionalKernels(KernelRegistry& kernels);
void RegisterQueueKernels(KernelRegistry& kernels);
void RegisterRandomKernels(KernelRegistry& kernels);
void RegisterSendReceiveKernels(KernelRegistry& kernels);
void RegisterStateKernels(KernelRegistry& kernels);
void RegisterTrainingKernels(KernelRegistry& kernels);

void RegisterAllCpuKernels(KernelRegistry& kernels);

}  // namespace penstock
