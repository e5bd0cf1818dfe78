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
  for (const char* name : {"LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"}) {
    Sampler(ops, name).Attr("range_max: int >= 1").Attr("seed: int = 0").Attr("seed2: int = 0")
        .Doc("Classes in [0, range_max), each with a probability of 1 + how often it was a true one in earlier steps.");
  }
  Sampler(ops, "FixedUnigramCandidateSampler").Attr("range_max: int >= 1").Attr("vocab_file: string = ''")
      .Attr("distortion: float = 1.0").Attr("num_reserved_ids: int = 0").Attr("num_shards: int >= 1 = 1")
      .Attr("shard: int >= 0 = 0").Attr("unigrams: list(float) = []").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Doc("Classes in [0, range_max) by given weights, each to the power `distortion`: `unigrams`, or the last column "
           "of the lines of `vocab_file`, whose columns commas separate. Reserved classes come first, and are never "
           "drawn.");
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
