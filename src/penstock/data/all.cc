#include "penstock/data/all.h"

namespace penstock::data {

// Each file of transformations has one function; this list is the whole registration.
void RegisterAccessDatasets(KernelRegistry& kernels);
void RegisterAssertNextDatasets(KernelRegistry& kernels);
void RegisterBatchDatasets(KernelRegistry& kernels);
void RegisterCacheDatasets(KernelRegistry& kernels);
void RegisterChooseFastestBranchDatasets(KernelRegistry& kernels);
void RegisterChooseFastestDatasets(KernelRegistry& kernels);
void RegisterCsvDatasets(KernelRegistry& kernels);
void RegisterFilesDatasets(KernelRegistry& kernels);
void RegisterFilterDatasets(KernelRegistry& kernels);
void RegisterGeneratorDatasets(KernelRegistry& kernels);
void RegisterGroupDatasets(KernelRegistry& kernels);
void RegisterInterleaveDatasets(KernelRegistry& kernels);
void RegisterJoinDatasets(KernelRegistry& kernels);
void RegisterMapDatasets(KernelRegistry& kernels);
void RegisterPaddedBatchDatasets(KernelRegistry& kernels);
void RegisterParallelInterleaveDatasets(KernelRegistry& kernels);
void RegisterParallelMapDatasets(KernelRegistry& kernels);
void RegisterParseExampleDatasets(KernelRegistry& kernels);
void RegisterPassDatasets(KernelRegistry& kernels);
void RegisterPrefetchDatasets(KernelRegistry& kernels);
void RegisterRangeDatasets(KernelRegistry& kernels);
void RegisterSelectDatasets(KernelRegistry& kernels);
void RegisterShuffleDatasets(KernelRegistry& kernels);
void RegisterSnapshotDatasets(KernelRegistry& kernels);
void RegisterSqlDatasets(KernelRegistry& kernels);
void RegisterStatsDatasets(KernelRegistry& kernels);
void RegisterTensorsDatasets(KernelRegistry& kernels);
void RegisterWindowDatasets(KernelRegistry& kernels);
void RegisterSeedGeneratorKernels(KernelRegistry& kernels);

void RegisterAllDatasets(KernelRegistry& kernels) {
  kernels.ForDevice("CPU");
  RegisterAccessDatasets(kernels);
  RegisterAssertNextDatasets(kernels);
  RegisterBatchDatasets(kernels);
  RegisterCacheDatasets(kernels);
  RegisterChooseFastestBranchDatasets(kernels);
  RegisterChooseFastestDatasets(kernels);
  RegisterCsvDatasets(kernels);
  RegisterFilesDatasets(kernels);
  RegisterFilterDatasets(kernels);
  RegisterGeneratorDatasets(kernels);
  RegisterGroupDatasets(kernels);
  RegisterInterleaveDatasets(kernels);
  RegisterJoinDatasets(kernels);
  RegisterMapDatasets(kernels);
  RegisterPaddedBatchDatasets(kernels);
  RegisterParallelInterleaveDatasets(kernels);
  RegisterParallelMapDatasets(kernels);
  RegisterParseExampleDatasets(kernels);
  RegisterPassDatasets(kernels);
  RegisterPrefetchDatasets(kernels);
  RegisterRangeDatasets(kernels);
  RegisterSelectDatasets(kernels);
  RegisterShuffleDatasets(kernels);
  RegisterSnapshotDatasets(kernels);
  RegisterSqlDatasets(kernels);
  RegisterStatsDatasets(kernels);
  RegisterTensorsDatasets(kernels);
  RegisterWindowDatasets(kernels);
  RegisterSeedGeneratorKernels(kernels);
}

}  // namespace penstock::data
