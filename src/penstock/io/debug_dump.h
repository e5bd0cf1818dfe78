// Dumps of a debugged run, as TensorFlow's debugger (tfdbg) lays them out: below the directory that a URL file://ROOT
// names, one file with an Event message for each value, for each device's graph, and for the run.
#pragma once

#include <string>
#include <vector>

#include "penstock/graph/graph_def.h"
#include "penstock/tensor/tensor.h"

namespace penstock {

// What a dumped value is: output `slot` of `node` on `device`, seen through the op `debug_op`.
struct DebugKey {
  std::string device, node;
  int64_t slot = 0;
  std::string debug_op;
};

// Unimplemented: URLs other than file://. A tensor without a value is dumped as such. ResourceExhausted: the values
// that the process dumped would reach TFDBG_DISK_BYTES_LIMIT bytes (100 GiB).
void DumpTensor(const DebugKey& key, const Tensor& tensor, const std::vector<std::string>& urls);
// Counts the bytes of dumped values from 0 again.
void ResetDumpedBytes();
void DumpGraph(const std::string& device, const GraphDef& graph, const std::vector<std::string>& urls);
struct DebugRun {
  int64_t global_step = -1, session_run_index = 0, executor_step_index = 0;
  std::vector<std::string> inputs, outputs, targets;
};
void DumpRun(const DebugRun& run, const std::vector<std::string>& urls);

}  // namespace penstock
