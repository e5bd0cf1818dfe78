#include "penstock/io/config.h"

#include "penstock/io/messages.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace penstock {
namespace {

Toggle From(tensorflow::RewriterConfig::Toggle toggle) {
  switch (toggle) {
    case tensorflow::RewriterConfig::ON: return Toggle::kOn;
    case tensorflow::RewriterConfig::OFF: return Toggle::kOff;
    case tensorflow::RewriterConfig::AGGRESSIVE: return Toggle::kAggressive;
    default:  // what a newer program may say
      return Toggle::kDefault;
  }
}

GraphRewriteOptions From(const tensorflow::RewriterConfig& proto) {
  GraphRewriteOptions options;
  options.disable_meta_optimizer = proto.disable_meta_optimizer();
  options.disable_model_pruning = proto.disable_model_pruning();
  options.layout = From(proto.layout_optimizer());
  options.constant_folding = From(proto.constant_folding());
  options.shape = From(proto.shape_optimization());
  options.remapping = From(proto.remapping());
  options.common_subgraph_elimination = From(proto.common_subgraph_elimination());
  options.arithmetic = From(proto.arithmetic_optimization());
  options.dependency = From(proto.dependency_optimization());
  options.loop = From(proto.loop_optimization());
  options.function = From(proto.function_optimization());
  options.debug_stripper = From(proto.debug_stripper());
  options.scoped_allocator = From(proto.scoped_allocator_optimization());
  options.pin_to_host = From(proto.pin_to_host_optimization());
  options.implementation_selector = From(proto.implementation_selector());
  options.auto_mixed_precision = From(proto.auto_mixed_precision());
  options.min_graph_nodes = proto.min_graph_nodes();
  options.meta_optimizer_iterations = proto.meta_optimizer_iterations();
  options.meta_optimizer_timeout_ms = proto.meta_optimizer_timeout_ms();
  options.fail_on_optimizer_errors = proto.fail_on_optimizer_errors();
  options.optimizers.assign(proto.optimizers().begin(), proto.optimizers().end());
  return options;
}

GraphOptions From(const tensorflow::GraphOptions& proto) {
  GraphOptions options;
  const auto& optimizer = proto.optimizer_options();
  options.opt_level = optimizer.opt_level();
  options.do_common_subexpression_elimination = optimizer.do_common_subexpression_elimination();
  options.do_constant_folding = optimizer.do_constant_folding();
  options.do_function_inlining = optimizer.do_function_inlining();
  options.max_folded_constant_bytes = optimizer.max_folded_constant_in_bytes();
  options.global_jit_level = optimizer.global_jit_level();
  options.enable_recv_scheduling = proto.enable_recv_scheduling();
  options.enable_bfloat16_sendrecv = proto.enable_bfloat16_sendrecv();
  options.infer_shapes = proto.infer_shapes();
  options.place_pruned_graph = proto.place_pruned_graph();
  options.timeline_step = proto.timeline_step();
  options.build_cost_model = proto.build_cost_model();
  options.build_cost_model_after = proto.build_cost_model_after();
  options.rewrite = From(proto.rewrite_options());
  return options;
}

// -1 threads of a pool mean "run on the caller's thread"; anything below means nothing.
int Threads(const char* field, int n) {
  if (n < -1) throw InvalidArgument(field, " must not be negative, but is ", n);
  return n;
}

// Times within a step are relative to the start of the node.
void ToProto(const NodeStats& node, tensorflow::NodeExecStats* proto) {
  proto->set_node_name(node.name);
  proto->set_all_start_micros(node.start_ns / 1000);
  proto->set_op_start_rel_micros((node.op_start_ns - node.start_ns) / 1000);
  proto->set_op_end_rel_micros((node.op_end_ns - node.start_ns) / 1000);
  proto->set_all_end_rel_micros((node.end_ns - node.start_ns) / 1000);
  proto->set_scheduled_micros(node.scheduled_ns / 1000);
  proto->set_all_start_nanos(node.start_ns);
  proto->set_op_start_rel_nanos(node.op_start_ns - node.start_ns);
  proto->set_op_end_rel_nanos(node.op_end_ns - node.start_ns);
  proto->set_all_end_rel_nanos(node.end_ns - node.start_ns);
  proto->set_scheduled_nanos(node.scheduled_ns);
  proto->set_thread_id(node.thread_id);
  proto->set_timeline_label(node.timeline_label.empty()
                                ? StrCat(node.name, " = ", node.op, "(", StrJoin(node.inputs, ", "), ")")
                                : node.timeline_label);
  if (!node.allocator_name.empty()) {
    auto* memory = proto->add_memory();
    memory->set_allocator_name(node.allocator_name);
    memory->set_total_bytes(node.total_bytes);
    memory->set_peak_bytes(node.peak_bytes);
    memory->set_live_bytes(node.live_bytes);
    memory->set_allocator_bytes_in_use(node.allocator_bytes_in_use);
  }
  for (const OutputStats& output : node.outputs) {
    auto* added = proto->add_output();
    added->set_slot(output.slot);
    auto* tensor = added->mutable_tensor_description();
    tensor->set_dtype(static_cast<tensorflow::DataType>(output.dtype));
    penstock::ToProto(PartialShape(output.shape), tensor->mutable_shape());
    auto* allocation = tensor->mutable_allocation_description();
    allocation->set_requested_bytes(output.requested_bytes);
    allocation->set_allocated_bytes(output.allocated_bytes);
    allocation->set_allocator_name(output.allocator_name);
    allocation->set_ptr(output.address);
  }
  proto->mutable_memory_stats();
}

void ToProto(const CostNode& node, tensorflow::CostGraphDef::Node* proto) {
  proto->set_name(node.name);
  proto->set_device(node.device);
  proto->set_id(node.id);
  for (const auto& [id, output] : node.inputs) {
    auto* input = proto->add_input_info();
    input->set_preceding_node(id);
    input->set_preceding_port(output);
  }
  for (const int id : node.control_inputs) proto->add_control_input(id);
  for (const OutputStats& output : node.outputs) {
    auto* added = proto->add_output_info();
    added->set_size(output.allocated_bytes);
    added->set_alias_input_port(-1);
    added->set_dtype(static_cast<tensorflow::DataType>(output.dtype));
    penstock::ToProto(PartialShape(output.shape), added->mutable_shape());
  }
  proto->set_compute_cost(node.compute_us);
  proto->set_is_final(node.is_final);
}

}  // namespace

SessionOptions ParseConfig(std::string_view bytes) {
  tensorflow::ConfigProto proto;
  ParseMessage(bytes, &proto);
  SessionOptions options;
  options.intra_op_threads = Threads("intra_op_parallelism_threads", proto.intra_op_parallelism_threads());
  options.inter_op_threads = Threads("inter_op_parallelism_threads", proto.inter_op_parallelism_threads());
  options.use_per_session_threads = proto.use_per_session_threads();
  for (const auto& pool : proto.session_inter_op_thread_pool()) {
    options.inter_op_pools.push_back({Threads("session_inter_op_thread_pool", pool.num_threads()), pool.global_name()});
  }
  for (const auto& [type, count] : proto.device_count()) {
    if (count < 0) throw InvalidArgument("device_count['", type, "'] must not be negative, but is ", count);
    options.device_count[type] = count;
  }
  options.device_filters.assign(proto.device_filters().begin(), proto.device_filters().end());
  options.allow_soft_placement = proto.allow_soft_placement();
  options.log_device_placement = proto.log_device_placement();
  options.operation_timeout_ms = proto.operation_timeout_in_ms();
  options.graph = From(proto.graph_options());
  options.isolate_session_state = proto.isolate_session_state();
  const auto& experimental = proto.experimental();
  options.share_cluster_devices_in_session =
      proto.share_cluster_devices_in_session() || experimental.share_cluster_devices_in_session();
  for (const auto& job : proto.cluster_def().job()) {
    auto& tasks = options.cluster[job.name()];
    for (const auto& [task, address] : job.tasks()) tasks[task] = address;
  }
  options.shares_state_in_own_cluster = experimental.share_session_state_in_clusterspec_propagation();
  options.has_session_metadata = experimental.has_session_metadata();
  options.session_name = experimental.session_metadata().name();
  options.session_version = experimental.session_metadata().version();
  if (options.session_version < 0) {
    throw InvalidArgument("Session version should be >= 0, but is ", options.session_version);
  }
  options.executor_type = experimental.executor_type();
  options.collective_group_leader = experimental.collective_group_leader();
  options.optimize_for_static_graph = experimental.optimize_for_static_graph();
  options.disable_output_partition_graphs = experimental.disable_output_partition_graphs();
  options.gpu_memory_fraction = proto.gpu_options().per_process_gpu_memory_fraction();
  options.gpu_allow_growth = proto.gpu_options().allow_growth();
  options.visible_device_list = proto.gpu_options().visible_device_list();
  return options;
}

RunOptions ParseRunOptions(std::string_view bytes) {
  tensorflow::RunOptions proto;
  ParseMessage(bytes, &proto);
  RunOptions options;
  const int level = proto.trace_level();
  options.trace_level = level < 0 || level > 3 ? RunOptions::kNoTrace : static_cast<RunOptions::TraceLevel>(level);
  options.timeout_ms = proto.timeout_in_ms();
  options.inter_op_thread_pool = proto.inter_op_thread_pool();
  options.output_partition_graphs = proto.output_partition_graphs();
  options.report_tensor_allocations_upon_oom = proto.report_tensor_allocations_upon_oom();
  options.collective_graph_key = proto.experimental().collective_graph_key();
  options.use_run_handler_pool = proto.experimental().use_run_handler_pool();
  for (const auto& watch : proto.debug_options().debug_tensor_watch_opts()) {
    options.debug_watches.push_back({watch.node_name(),
                                     watch.output_slot(),
                                     {watch.debug_ops().begin(), watch.debug_ops().end()},
                                     {watch.debug_urls().begin(), watch.debug_urls().end()},
                                     watch.tolerate_debug_op_creation_failures()});
  }
  options.debug_global_step = proto.debug_options().global_step();
  options.debug_resets_disk_bytes = proto.debug_options().reset_disk_byte_usage();
  return options;
}

std::string SerializeRunOptions(const RunOptions& options) {
  tensorflow::RunOptions proto;
  proto.set_trace_level(static_cast<tensorflow::RunOptions::TraceLevel>(options.trace_level));
  proto.set_timeout_in_ms(options.timeout_ms);
  proto.set_inter_op_thread_pool(options.inter_op_thread_pool);
  proto.set_output_partition_graphs(options.output_partition_graphs);
  proto.set_report_tensor_allocations_upon_oom(options.report_tensor_allocations_upon_oom);
  if (options.collective_graph_key != 0) {
    proto.mutable_experimental()->set_collective_graph_key(options.collective_graph_key);
  }
  return SerializeMessage(proto);
}

std::string SerializeRunMetadata(const RunMetadata& metadata) {
  google::protobuf::Arena arena;
  auto* proto = google::protobuf::Arena::CreateMessage<tensorflow::RunMetadata>(&arena);
  if (metadata.has_step_stats) proto->mutable_step_stats();
  for (const DeviceStats& device : metadata.devices) {
    auto* added = proto->mutable_step_stats()->add_dev_stats();
    added->set_device(device.device);
    for (const NodeStats& node : device.nodes) ToProto(node, added->add_node_stats());
    added->mutable_thread_names()->insert(device.thread_names.begin(), device.thread_names.end());
  }
  for (const GraphDef& graph : metadata.partition_graphs) ToProto(graph, proto->add_partition_graphs());
  for (const CostNode& node : metadata.cost_nodes) ToProto(node, proto->mutable_cost_graph()->add_node());
  if (metadata.has_session_metadata) {
    proto->mutable_session_metadata()->set_name(metadata.session_name);
    proto->mutable_session_metadata()->set_version(metadata.session_version);
  }
  return SerializeMessage(*proto) + metadata.others;
}

}  // namespace penstock
