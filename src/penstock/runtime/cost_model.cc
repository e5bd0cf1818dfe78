#include "penstock/runtime/cost_model.h"

#include <algorithm>

namespace penstock {
namespace {

// Shapes of one node, for its flops function.
class KnownShapes : public ShapeContext {
 public:
  explicit KnownShapes(const Node& node) {
    op_ = &node.op();
    attrs_ = &node.attrs();
    for (const Endpoint& input : node.inputs()) inputs_.push_back(&input.node->info(input.index));
    input_types_ = node.input_types();
    output_types_ = node.output_types();
    for (int i = 0; i < node.num_outputs(); ++i) outputs_.push_back(node.info(i));
  }
};

}  // namespace

int64_t EstimateCost(const Node& node) {
  const OpTraits& traits = node.traits();
  if (traits.cost == Cost::kNothing) return 0;
  if (node.op().flops) {
    KnownShapes shapes(node);
    try {
      const double flops = node.op().flops(shapes);
      if (flops >= 0) return static_cast<int64_t>(flops / 80);  // about 80 GFLOP/s on a core
    } catch (const Error&) {
    }
  }
  int64_t elements = 0;
  bool known = true;
  const auto add = [&](const PartialShape& shape) {
    const int64_t n = shape.num_elements();
    known &= n >= 0;
    elements += std::max<int64_t>(n, 0);
  };
  for (const Endpoint& input : node.inputs()) add(input.shape());
  for (int i = 0; i < node.num_outputs(); ++i) add(node.shape(i));
  if (traits.cost == Cost::kHeavy) return known ? 1000 + elements * 20 : 200'000;
  return known ? elements / 2 : 1000;
}

int64_t EstimateBytes(Endpoint output) {
  const int64_t elements = output.shape().num_elements();
  return std::max<int64_t>(0, elements) *
         static_cast<int64_t>(std::max<size_t>(1, DataTypeSize(BaseType(output.type()))));
}

MeasuredCosts CostsFrom(const RunMetadata& metadata) {
  MeasuredCosts costs;
  for (const DeviceStats& device : metadata.devices) {
    for (const NodeStats& node : device.nodes) costs[node.name] += node.op_end_ns - node.op_start_ns;
  }
  return costs;
}

}  // namespace penstock
