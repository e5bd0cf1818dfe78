// What a caller sets on sessions and steps (ConfigProto, RunOptions), and what a step reports (RunMetadata).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/graph/graph_def.h"

namespace penstock {

// A graph pass may be left to its default, or switched.
enum class Toggle : uint8_t { kDefault, kOn, kOff, kAggressive };

struct GraphRewriteOptions {
  bool disable_meta_optimizer = false;  // no graph passes at all but pruning
  bool disable_model_pruning = false;
  Toggle layout = Toggle::kDefault;
  Toggle constant_folding = Toggle::kDefault;
  Toggle shape = Toggle::kDefault;
  Toggle remapping = Toggle::kDefault;  // fusion
  Toggle common_subgraph_elimination = Toggle::kDefault;
  Toggle arithmetic = Toggle::kDefault;
  Toggle dependency = Toggle::kDefault;
  Toggle loop = Toggle::kDefault;
  Toggle function = Toggle::kDefault;
  Toggle debug_stripper = Toggle::kDefault;
  Toggle scoped_allocator = Toggle::kDefault;
  Toggle pin_to_host = Toggle::kDefault;
  Toggle implementation_selector = Toggle::kDefault;
  Toggle auto_mixed_precision = Toggle::kDefault;
  int min_graph_nodes = 0;  // graphs below this size are not optimised; 0: 4; negative: no limit
  int meta_optimizer_iterations = 0;
  int64_t meta_optimizer_timeout_ms = 0;
  bool fail_on_optimizer_errors = false;
  std::vector<std::string> optimizers;  // only these, if any is named
};

struct GraphOptions {
  int opt_level = 0;  // 0: L1, the default; -1: L0, no optimisation
  bool do_common_subexpression_elimination = false, do_constant_folding = false, do_function_inlining = false;
  int64_t max_folded_constant_bytes = 0;
  int global_jit_level = 0;  // OptimizerOptions.GlobalJitLevel: -1 off, 0 default, 1, 2
  bool enable_recv_scheduling = false;
  bool enable_bfloat16_sendrecv = false;
  bool infer_shapes = false;
  bool place_pruned_graph = false;
  int timeline_step = 0;
  int64_t build_cost_model = 0, build_cost_model_after = 0;
  GraphRewriteOptions rewrite;
};

struct ThreadPoolOptions {
  int num_threads = 0;
  std::string global_name;
};

struct SessionOptions {
  int intra_op_threads = 0, inter_op_threads = 0;  // 0: as many as there are cores
  bool use_per_session_threads = false;
  std::vector<ThreadPoolOptions> inter_op_pools;
  std::map<std::string, int> device_count;  // by device type
  std::vector<std::string> device_filters;
  bool allow_soft_placement = false, log_device_placement = false;
  int64_t operation_timeout_ms = 0;  // 0: none
  GraphOptions graph;
  bool isolate_session_state = false, share_cluster_devices_in_session = false;
  std::map<std::string, std::map<int, std::string>> cluster;  // job -> task -> address
  bool shares_state_in_own_cluster = false;                   // share_session_state_in_clusterspec_propagation
  std::string session_name;                                   // session_metadata
  int64_t session_version = 0;
  bool has_session_metadata = false;
  std::string executor_type;
  std::string collective_group_leader;
  bool optimize_for_static_graph = false;
  bool disable_output_partition_graphs = false;
  // gpu_options
  double gpu_memory_fraction = 0;
  bool gpu_allow_growth = false;
  std::string visible_device_list;
};

// InvalidArgument: no ConfigProto, or negative numbers of threads or devices.
SessionOptions ParseConfig(std::string_view bytes);

// A tensor that a debugged run sends through debug ops to URLs.
struct DebugWatch {
  std::string node;
  int slot = 0;
  std::vector<std::string> ops, urls;  // ops as "DebugNumericSummary(mute_if_healthy=true)"
  bool tolerates_failures = false;     // leaves out ops that cannot be made
};

struct RunOptions {
  enum TraceLevel { kNoTrace = 0, kSoftwareTrace = 1, kHardwareTrace = 2, kFullTrace = 3 };
  TraceLevel trace_level = kNoTrace;
  int64_t timeout_ms = 0;  // 0: none
  int inter_op_thread_pool = 0;
  bool output_partition_graphs = false;
  bool report_tensor_allocations_upon_oom = false;
  int64_t collective_graph_key = 0;
  bool use_run_handler_pool = false;
  std::vector<DebugWatch> debug_watches;
  int64_t debug_global_step = -1;
  bool debug_resets_disk_bytes = false;
};

RunOptions ParseRunOptions(std::string_view bytes);
std::string SerializeRunOptions(const RunOptions& options);  // without what debuggers watch

// One output of a node that ran.
struct OutputStats {
  int slot = 0;
  DataType dtype = DT_INVALID;
  Shape shape;
  int64_t requested_bytes = 0, allocated_bytes = 0;
  std::string allocator_name;
  uint64_t address = 0;
};

struct NodeStats {
  std::string name, op;
  // When it was scheduled and when its kernel started and ended, in nanoseconds of the system's clock.
  int64_t scheduled_ns = 0, start_ns = 0, op_start_ns = 0, op_end_ns = 0, end_ns = 0;
  std::vector<std::string> inputs;  // as a NodeDef writes them: what the timeline label shows
  std::string timeline_label;       // "name = op(inputs)" is made of the above if this is empty
  std::vector<OutputStats> outputs;
  std::string allocator_name;  // of the memory below
  int64_t total_bytes = 0, peak_bytes = 0, live_bytes = 0, allocator_bytes_in_use = 0;
  uint32_t thread_id = 0;
};

struct DeviceStats {
  std::string device;
  std::vector<NodeStats> nodes;
  std::map<uint32_t, std::string> thread_names;
};

// A node with what it costs, of the partition graphs of a step.
struct CostNode {
  std::string name, device;
  int id = 0;
  std::vector<std::pair<int, int>> inputs;  // (id, output)
  std::vector<int> control_inputs;
  std::vector<OutputStats> outputs;
  int64_t compute_us = 0;
  bool is_final = false;
};

struct RunMetadata {
  std::vector<DeviceStats> devices;
  bool has_step_stats = false;
  std::vector<GraphDef> partition_graphs;
  std::vector<CostNode> cost_nodes;
  std::string session_name;
  int64_t session_version = 0;
  bool has_session_metadata = false;
  std::string others;  // RunMetadata messages of other processes, one after the other, which are merged with this one
};

std::string SerializeRunMetadata(const RunMetadata& metadata);

}  // namespace penstock
