// Samples of classes for losses over many of them (tf.nn.nce_loss, tf.nn.sampled_softmax_loss).
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void SamplerShape(ShapeContext& c) {
  const PartialShape classes = c.WithRank(0, 2);
  const int64_t sampled = c.attr<int64_t>("num_sampled");
  c.out(0, PartialShape({sampled}));
  c.out(1, PartialShape({classes.dim(0), c.attr<int64_t>("num_true")}));
  c.out(2, PartialShape({sampled}));
}

OpBuilder Sampler(OpRegistry& ops, std::string_view name) {
  return ops.Add(name).Input("true_classes: int64").Output("sampled_candidates: int64")
      .Output("true_expected_count: float").Output("sampled_expected_count: float").Attr("num_true: int >= 1")
      .Attr("num_sampled: int >= 1").Attr("unique: bool").Stateful().Shape(SamplerShape);
}

}  // namespace

void RegisterCandidateSamplingOps(OpRegistry& ops) {
  Sampler(ops, "UniformCandidateSampler").Attr("range_max: int >= 1").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Doc("Classes in [0, range_max), all equally likely, and how often each class is expected among the samples.");
  Sampler(ops, "LogUniformCandidateSampler").Attr("range_max: int >= 1").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Doc("Classes in [0, range_max), class k with probability log((k + 2) / (k + 1)) / log(range_max + 1).");
  Sampler(ops, "AllCandidateSampler").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Doc("All classes, once each.");
  ops.Add("ComputeAccidentalHits").Input("true_classes: int64").Input("sampled_candidates: int64")
      .Output("indices: int32").Output("ids: int64").Output("weights: float").Attr("num_true: int")
      .Attr("seed: int = 0").Attr("seed2: int = 0").Doc("Where sampled classes are true ones: row, place among the "
      "samples, and the lowest float, which added to a logit takes it out of the loss.")
      .Shape([](ShapeContext& c) {
        PartialShape classes = c.WithRank(0, 2);
        ShapeContext::MergeDim(classes.dim(1), c.attr<int64_t>("num_true"));
        c.WithRank(1, 1);
        for (int i = 0; i < 3; ++i) c.out(i, PartialShape({-1}));
      });
}

}  // namespace penstock
