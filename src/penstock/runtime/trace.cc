#include "penstock/runtime/trace.h"

#include <unistd.h>

#include <sys/syscall.h>

namespace penstock {

void StepTrace::Ran(const Node& node, const Device& device, int64_t start_ns, int64_t end_ns,
                    std::span<const Value> outputs) {
  NodeStats stats;
  stats.name = node.name();
  stats.op = node.op_name();
  stats.scheduled_ns = stats.start_ns = stats.op_start_ns = start_ns;
  stats.op_end_ns = stats.end_ns = end_ns;
  for (const Endpoint& input : node.inputs()) {
    stats.inputs.push_back(input.index == 0 ? input.node->name() : input.name());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i].tensor;
    if (!t.initialized()) continue;
    OutputStats output;
    output.slot = static_cast<int>(i);
    output.dtype = t.dtype();
    output.shape = t.shape();
    output.requested_bytes = output.allocated_bytes = static_cast<int64_t>(t.bytes());
    output.allocator_name = device.allocator()->name();
    stats.total_bytes += output.allocated_bytes;
    stats.outputs.push_back(std::move(output));
  }
  stats.peak_bytes = stats.live_bytes = stats.total_bytes;  // of what it allocated, only the results are known
  stats.allocator_name = device.allocator()->name();
  stats.thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  std::lock_guard lock(mutex_);
  stats_[device.name()].push_back(std::move(stats));
}

void StepTrace::Fill(RunMetadata* metadata) const {
  std::lock_guard lock(mutex_);
  metadata->has_step_stats = true;
  for (const auto& [device, nodes] : stats_) metadata->devices.push_back({device, nodes, {}});
}

void StepTrace::Clear() {
  std::lock_guard lock(mutex_);
  stats_.clear();
}

}  // namespace penstock
