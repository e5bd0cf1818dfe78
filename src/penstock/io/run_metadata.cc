#include "penstock/io/run_metadata.h"

#include "penstock/io/messages.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace penstock {
namespace {

// A time of `rel_nanos`, or of `rel_micros` where only those are set, after `start`.
int64_t After(int64_t start, int64_t rel_nanos, int64_t rel_micros) {
  return start + (rel_nanos != 0 ? rel_nanos : rel_micros * 1000);
}

NodeStats From(const tensorflow::NodeExecStats& proto) {
  NodeStats node;
  node.name = proto.node_name();
  node.timeline_label = proto.timeline_label();
  node.start_ns = proto.all_start_nanos() != 0 ? proto.all_start_nanos() : proto.all_start_micros() * 1000;
  node.scheduled_ns = proto.scheduled_nanos() != 0 ? proto.scheduled_nanos() : proto.scheduled_micros() * 1000;
  node.op_start_ns = After(node.start_ns, proto.op_start_rel_nanos(), proto.op_start_rel_micros());
  node.op_end_ns = After(node.start_ns, proto.op_end_rel_nanos(), proto.op_end_rel_micros());
  node.end_ns = After(node.start_ns, proto.all_end_rel_nanos(), proto.all_end_rel_micros());
  node.thread_id = proto.thread_id();
  for (const auto& memory : proto.memory()) {
    node.allocator_name = memory.allocator_name();
    node.total_bytes = memory.total_bytes();
    node.peak_bytes = memory.peak_bytes();
    node.live_bytes = memory.live_bytes();
    node.allocator_bytes_in_use = memory.allocator_bytes_in_use();
  }
  for (const auto& output : proto.output()) {
    OutputStats& stats = node.outputs.emplace_back();
    const auto& description = output.tensor_description();
    stats.slot = output.slot();
    stats.dtype = static_cast<DataType>(description.dtype());
    const PartialShape shape = FromProto(description.shape());
    if (shape.fully_known()) stats.shape = shape.AsShape();
    const auto& allocation = description.allocation_description();
    stats.requested_bytes = allocation.requested_bytes();
    stats.allocated_bytes = allocation.allocated_bytes();
    stats.allocator_name = allocation.allocator_name();
    stats.address = allocation.ptr();
  }
  return node;
}

}  // namespace

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

RunMetadata ParseRunMetadata(std::string_view bytes) {
  tensorflow::RunMetadata proto;
  ParseMessage(bytes, &proto);
  RunMetadata metadata;
  metadata.has_step_stats = proto.has_step_stats();
  for (const auto& device : proto.step_stats().dev_stats()) {
    DeviceStats& stats = metadata.devices.emplace_back();
    stats.device = device.device();
    for (const auto& node : device.node_stats()) stats.nodes.push_back(From(node));
    for (const auto& [id, name] : device.thread_names()) stats.thread_names[id] = name;
  }
  for (const auto& graph : proto.partition_graphs()) metadata.partition_graphs.push_back(FromProto(graph));
  return metadata;
}

}  // namespace penstock
