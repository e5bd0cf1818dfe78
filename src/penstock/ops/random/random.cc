// Random numbers from generators that the op keeps: seeded by `seed` and `seed2`, or differently each time if both are
// 0.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

#include "penstock/graph/gradient.h"

namespace penstock {
namespace {

void ShapeFromInput0(ShapeContext& c) { c.out(0, c.in_as_shape(0)); }

void UniformIntShape(ShapeContext& c) {
  c.WithRank(1, 0);
  c.WithRank(2, 0);
  ShapeFromInput0(c);
}

// One sample for each element of input 0's shape and each parameter in input 1.
void SamplesShape(ShapeContext& c) { c.out(0, shapes::Concatenate(c.in_as_shape(0), c.in(1))); }

void MultinomialShape(ShapeContext& c) {
  const PartialShape logits = c.WithRank(0, 2);
  c.WithRank(1, 0);
  c.out(0, PartialShape({logits.known_rank() ? logits[0] : -1, c.in_int(1).value_or(-1)}));
}

void TruncatedShape(ShapeContext& c) {
  for (int i = 1; i < 5; ++i) c.WithRankAtMost(i, 1);
  ShapeFromInput0(c);
}

// The sample is differentiated as an implicit function of alpha.
void GammaGradient(GradContext& g) {
  const Out alpha = g.x(1), sample = g.y();
  const Out alpha_shape = ShapeOf(alpha);
  const Out extra = g.Call("Size", {g.x(0)});
  const Out ones =
      g.Call("Fill", {g.Call("ExpandDims", {extra, g.scope().Scalar(int32_t{0})}), g.scope().Scalar(int32_t{1})});
  const Out aligned = Reshape(alpha, g.Call("ConcatV2", {ones, alpha_shape, g.scope().Scalar(int32_t{0})}));
  const Out by_alpha = g.Call("RandomGammaGrad", {aligned, sample});
  const Out axes = g.Call("Range", {g.scope().Scalar(int32_t{0}), extra, g.scope().Scalar(int32_t{1})});
  g.Set(1, Sum(g.dy() * by_alpha, axes));
}

}  // namespace

void RegisterRandomOps(OpRegistry& ops) {
  struct Simple {
    const char *name, *doc;
  };
  for (const auto& [name, doc] : {Simple{"RandomUniform", "Uniform numbers in [0, 1)."},
                                  Simple{"RandomStandardNormal", "Normal numbers of mean 0 and deviation 1."},
                                  Simple{"TruncatedNormal", "Normal numbers, drawn again if they lie beyond 2."}}) {
    ops.Add(name)
        .Input("shape: T").Output("output: dtype").Attr("seed: int = 0").Attr("seed2: int = 0")
        .Attr("dtype: {half, bfloat16, float, double}").Attr("T: {int32, int64}").Stateful().NotDifferentiable()
        .Shape(ShapeFromInput0).Doc(doc);
  }
  ops.Add("RandomUniformInt")
      .Input("shape: T").Input("minval: Tout").Input("maxval: Tout").Output("output: Tout").Attr("seed: int = 0")
      .Attr("seed2: int = 0").Attr("Tout: {int32, int64}").Attr("T: {int32, int64}").Stateful().Shape(UniformIntShape)
      .Doc("Uniform integers in [minval, maxval).");
  ops.Add("RandomShuffle")
      .Input("value: T").Output("output: T").Attr("seed: int = 0").Attr("seed2: int = 0").Attr("T: type").Stateful()
      .NotDifferentiable().Shape(shapes::SameAsInput0).Doc("The rows in random order.");
  ops.Add("Multinomial")
      .Input("logits: T").Input("num_samples: int32").Output("output: output_dtype").Attr("seed: int = 0")
      .Attr("seed2: int = 0").Attr("T: realnumbertype").Attr("output_dtype: {int32, int64} = DT_INT64").Stateful()
      .NotDifferentiable().Shape(MultinomialShape).Doc("Classes drawn by their unnormalised log probabilities.");
  ops.Add("RandomGamma")
      .Input("shape: S").Input("alpha: T").Output("output: T").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Attr("S: {int32, int64}").Attr("T: {half, float, double}").Stateful().Shape(SamplesShape)
      .Gradient(GammaGradient).Doc("Samples of the Gamma distributions with these `alpha`.");
  ops.Add("RandomPoisson")
      .Input("shape: S")
      .Input("rate: dtype")
      .Output("output: dtype")
      .Attr("seed: int = 0")
      .Attr("seed2: int = 0")
      .Attr("S: {int32, int64}")
      .Attr("dtype: {half, float, double}")
      .Stateful()
      .Deprecated(25, "Replaced by RandomPoissonV2")
      .Shape(SamplesShape)
      .Doc("Use RandomPoissonV2 instead.");
  ops.Add("RandomPoissonV2")
      .Input("shape: S").Input("rate: R").Output("output: dtype").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Attr("S: {int32, int64}").Attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
      .Attr("dtype: {half, float, double, int32, int64} = DT_INT64").Stateful().Shape(SamplesShape)
      .Doc("Samples of the Poisson distributions with these rates.");
  ops.Add("ParameterizedTruncatedNormal")
      .Input("shape: T").Input("means: dtype").Input("stdevs: dtype").Input("minvals: dtype").Input("maxvals: dtype")
      .Output("output: dtype").Attr("seed: int = 0").Attr("seed2: int = 0")
      .Attr("dtype: {half, bfloat16, float, double}").Attr("T: {int32, int64}").Stateful().NotDifferentiable()
      .Shape(TruncatedShape).Doc("Normal numbers between bounds, with parameters for each batch.");
}

}  // namespace penstock
