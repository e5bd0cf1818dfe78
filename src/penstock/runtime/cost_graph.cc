#include "penstock/runtime/cost_graph.h"

#include <algorithm>

namespace penstock {
namespace {

CostNode Named(std::string name, int id) {
  CostNode node;
  node.name = std::move(name);
  node.id = id;
  return node;
}

}  // namespace

bool CostGraph::CountRun(const GraphOptions& options) {
  if (options.build_cost_model <= 0) return false;
  std::lock_guard lock(mutex_);
  const int64_t measured = ++runs_ - options.build_cost_model_after;
  return measured > 0 && measured % options.build_cost_model == 0;
}

void CostGraph::Add(const std::vector<DeviceStats>& devices) {
  std::lock_guard lock(mutex_);
  for (const DeviceStats& device : devices) {
    for (const NodeStats& node : device.nodes) {
      Cost& cost = costs_[node.name];
      cost.us = std::max({cost.us, int64_t{1}, (node.op_end_ns - node.op_start_ns) / 1000});
      cost.outputs = node.outputs;
    }
  }
}

std::vector<CostNode> CostGraph::Nodes(const std::vector<std::shared_ptr<const Graph>>& partitions) const {
  std::lock_guard lock(mutex_);
  std::vector<CostNode> nodes;
  for (const auto& graph : partitions) {
    const int source = static_cast<int>(nodes.size()), sink = source + 1;
    std::vector<int> ids(graph->num_ids(), -1);
    int next = sink + 1;
    for (int i = 0; i < graph->num_ids(); ++i) {
      if (graph->node(i)) ids[i] = next++;
    }
    nodes.push_back(Named("_SOURCE", source));
    nodes.push_back(Named("_SINK", sink));
    nodes.back().control_inputs = {source};
    std::vector<bool> used(graph->num_ids());
    for (int i = 0; i < graph->num_ids(); ++i) {
      const Node* node = graph->node(i);
      if (!node) continue;
      CostNode added = Named(node->name(), ids[i]);
      added.device = node->assigned_device();
      for (const Endpoint& input : node->inputs()) {
        added.inputs.emplace_back(ids[input.node->id()], input.index);
        used[input.node->id()] = true;
      }
      for (const Node* before : node->control_inputs()) {
        added.control_inputs.push_back(ids[before->id()]);
        used[before->id()] = true;
      }
      if (node->inputs().empty() && node->control_inputs().empty()) added.control_inputs.push_back(source);
      if (const auto found = costs_.find(node->name()); found != costs_.end()) {
        added.compute_us = found->second.us;
        added.outputs = found->second.outputs;
      }
      nodes.push_back(std::move(added));
    }
    for (int i = 0; i < graph->num_ids(); ++i) {
      if (ids[i] >= 0 && !used[i]) nodes[sink].control_inputs.push_back(ids[i]);
    }
  }
  return nodes;
}

}  // namespace penstock
