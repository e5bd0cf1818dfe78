// Inference: y = (conv(x, w) - mean) * s + offset, with s = scale / sqrt(variance + epsilon), is conv(x, w * s) +
// (offset - mean * s). With constant filters and statistics the right side costs a bias only. Rounds differently than
// the left side.
#include <cmath>

#include "penstock/ops/algebra.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

bool Fold(Graph& graph, Node* norm) {
  Node* conv = norm->input(0).node;
  if (norm->attr_or<bool>("is_training", true) || AlgebraOf(conv->op()) != Algebra::kProduct || !IsPure(graph, *conv) ||
      conv->consumers().size() != 1 || !SamePlace(*conv, *norm) || norm->num_inputs() != 5 ||
      !norm->control_inputs().empty()) {
    return false;
  }
  const std::string format = conv->attr_or<std::string>("data_format", "");
  if (format.empty() || format != norm->attr_or<std::string>("data_format", "NHWC")) return false;
  for (const Consumer& c : norm->consumers()) {
    if (c.input < 0 || c.node->input(c.input).index != 0) return false;  // somebody reads the statistics
  }
  const Tensor* filter = ConstantOf(conv->input(1));
  if (!filter || filter->dtype() != DT_FLOAT || filter->rank() != 4) return false;
  const int64_t channels = filter->dim(3);
  const float* statistics[4];
  for (int i = 0; i < 4; ++i) {
    const Tensor* t = ConstantOf(norm->input(i + 1));
    if (!t || t->dtype() != DT_FLOAT || t->rank() != 1 || t->num_elements() != channels) return false;
    if (!norm->input(i + 1).node->control_inputs().empty()) return false;
    statistics[i] = t->data<float>();
  }
  const auto [scale, offset, mean, variance] = statistics;
  const float epsilon = norm->attr_or<float>("epsilon", 1e-4f);
  Tensor scaled(DT_FLOAT, filter->shape()), bias(DT_FLOAT, Shape({channels}));
  std::vector<float> factor(channels);
  for (int64_t c = 0; c < channels; ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    bias.mutable_data<float>()[c] = offset[c] - mean[c] * factor[c];
    if (!std::isfinite(factor[c])) return false;
  }
  const float* from = filter->data<float>();
  float* to = scaled.mutable_data<float>();
  for (int64_t i = 0; i < filter->num_elements(); i += channels) {
    for (int64_t c = 0; c < channels; ++c) to[i + c] = from[i + c] * factor[c];
  }
  Node* old_filter = conv->input(1).node;
  Node* new_filter = AddConstant(graph, *old_filter, std::move(scaled), old_filter->control_inputs());
  Node* constant = AddConstant(graph, *norm, std::move(bias), {});
  Node* add = graph.AddNode({.op = "BiasAdd",
                             .name = graph.UniqueName(norm->name() + "/folded"),
                             .inputs = {{conv, 0}, {constant, 0}},
                             .control_inputs = {},
                             .attrs = {{"data_format", format}},
                             .device = norm->device()});
  if (const AttrValue* place = norm->attrs().Find("_class")) graph.SetAttr(add, "_class", *place);
  graph.UpdateInput(conv, 1, {new_filter, 0});
  Redirect(graph, {norm, 0}, {add, 0});
  RemoveUnused(graph, old_filter);  // before `norm`, which may read the filter's node as well
  RemoveUnused(graph, norm);
  return true;
}

}  // namespace

int FoldBatchNormalization(Graph& graph) {
  int folded = 0;
  const OpDef* bias_add = nullptr;
  ForEachNode(graph, [&](Node* node) {
    if (AlgebraOf(node->op()) != Algebra::kNormalize || !IsPure(graph, *node)) return;
    if (!bias_add && (!(bias_add = graph.ops().Find("BiasAdd")) || bias_add->known_by_name_only)) return;
    folded += Fold(graph, node);
  });
  return folded;
}

}  // namespace penstock
