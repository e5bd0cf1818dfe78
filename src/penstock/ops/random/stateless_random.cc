// Random numbers that follow from their inputs alone: a seed of two numbers, or (V2) the key and counter of a
// generator.
#include <numbers>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void CheckSeed(ShapeContext& c, int i) {
  const PartialShape seed = c.WithRank(i, 1);
  if (seed.known_rank()) ShapeContext::MergeDim(seed[0], 2);
}

void SeededShape(ShapeContext& c) {
  CheckSeed(c, 1);
  c.out(0, c.in_as_shape(0));
}

void SeededIntShape(ShapeContext& c) {
  SeededShape(c);
  c.WithRank(2, 0);
  c.WithRank(3, 0);
}

void CheckKey(ShapeContext& c, int first) {
  c.WithRank(first, 1);
  c.WithRank(first + 1, 1);
  c.WithRank(first + 2, 0);
}

void KeyedShape(ShapeContext& c) {
  CheckKey(c, 1);
  c.out(0, c.in_as_shape(0));
}

void KeyedIntShape(ShapeContext& c) {
  KeyedShape(c);
  c.WithRank(4, 0);
  c.WithRank(5, 0);
}

void KeyCounterShape(ShapeContext& c) {
  CheckSeed(c, 0);
  c.out(0, PartialShape({1}));
  c.out(1, PartialShape({2}));
  if (c.num_outputs() > 2) c.out(2, PartialShape({}));
}

// One number, or as many as any of the inputs has.
void IndexShuffleShape(ShapeContext& c) {
  const PartialShape index = c.WithRankAtMost(0, 1), max_index = c.WithRankAtMost(2, 1), seed = c.in(1);
  if (!seed.known_rank() || !index.known_rank() || !max_index.known_rank()) return;
  const bool fits = seed.rank() == 1 || seed.rank() == 2;
  if (!fits || (seed[seed.rank() - 1] != 3 && seed[seed.rank() - 1] != -1)) {
    throw InvalidArgument("Seed must have shape [3] or [n, 3] but got ", seed, ".");
  }
  if (index.rank() == 0 && seed.rank() == 1 && max_index.rank() == 0) return c.out(0, PartialShape({}));
  int64_t n = -1;
  if (index.rank() == 1) n = ShapeContext::MergeDim(n, index[0]);
  if (seed.rank() == 2) n = ShapeContext::MergeDim(n, seed[0]);
  if (max_index.rank() == 1) n = ShapeContext::MergeDim(n, max_index[0]);
  c.out(0, PartialShape({n}));
}

// The sample is differentiated as an implicit function of alpha, input `kAlpha`.
template <int kAlpha>
void GammaGradient(GradContext& g) {
  const Out alpha = g.x(kAlpha), zero = g.scope().Scalar(int32_t{0}), one = g.scope().Scalar(int32_t{1});
  const Out extra = g.Call("Size", {g.x(0)}) - g.Call("Rank", {alpha});
  const Out ones = g.Call("Fill", {g.Call("ExpandDims", {extra, zero}), one});
  const Out aligned = Reshape(alpha, g.Call("ConcatV2", {ones, ShapeOf(alpha), zero}));
  const Out by_alpha = g.Call("RandomGammaGrad", {aligned, g.y()});
  g.Set(kAlpha, Sum(g.dy() * by_alpha, g.Call("Range", {zero, extra, one})));
}

// The share of the normal distribution that lies below t.
Out NormalShare(Out t) { return Call("Erfc", {t * -std::numbers::sqrt2 / 2.0}) * 0.5; }

// The sample z of the standard distribution between low and high stays at the same share of what lies between them as
// these change. Mean and deviation move and stretch it, as in TensorFlow, which does not count that they move the
// bounds.
void TruncatedNormalGradient(GradContext& g) {
  const Out mean = g.x(2), deviation = g.x(3), y = g.y(), dy = g.dy();
  const Out z = (y - mean) / deviation, low = (g.x(4) - mean) / deviation, high = (g.x(5) - mean) / deviation;
  const Out below = NormalShare(low), share = NormalShare(high) - below;
  const Out part = (NormalShare(z) - below) / share;
  const Out by_low = Call("Exp", {(Square(z) - Square(low)) * 0.5}) * (1.0 - part);
  const Out by_high = Call("Exp", {(Square(z) - Square(high)) * 0.5}) * part;
  const auto set = [&](int i, Out slope) {
    const Out shape = ShapeOf(g.x(i));
    const Out axes = CallOp("BroadcastGradientArgs", Outs{shape, ShapeOf(y)})[0];
    g.Set(i, Reshape(Sum(dy * slope, axes), shape));
  };
  set(2, OnesLike(z));
  set(3, z);
  set(4, by_low);
  set(5, by_high);
}

}  // namespace

void RegisterStatelessRandomOps(OpRegistry& ops) {
  struct Simple {
    const char *name, *doc;
  };
  for (const auto& [name, doc] : {Simple{"StatelessRandomUniform", "Uniform numbers in [0, 1)."},
                                  Simple{"StatelessRandomNormal", "Normal numbers of mean 0 and deviation 1."},
                                  Simple{"StatelessTruncatedNormal", "Normal numbers not beyond 2."}}) {
    ops.Add(name)
        .Input("shape: T").Input("seed: Tseed").Output("output: dtype")
        .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT").Attr("T: {int32, int64} = DT_INT32")
        .Attr("Tseed: {int32, int64} = DT_INT64").NotDifferentiable().Shape(SeededShape).Doc(doc);
    ops.Add(StrCat(name, "V2"))
        .Input("shape: Tshape").Input("key: uint64").Input("counter: uint64").Input("alg: int32")
        .Output("output: dtype").Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
        .Attr("Tshape: {int32, int64} = DT_INT32").NotDifferentiable().Shape(KeyedShape).Doc(doc);
  }
  ops.Add("StatelessRandomUniformInt")
      .Input("shape: T").Input("seed: Tseed").Input("minval: dtype").Input("maxval: dtype").Output("output: dtype")
      .Attr("dtype: {int32, int64}").Attr("T: {int32, int64}").Attr("Tseed: {int32, int64} = DT_INT64")
      .NotDifferentiable().Shape(SeededIntShape).Doc("Uniform integers in [minval, maxval).");
  ops.Add("StatelessRandomUniformFullInt")
      .Input("shape: T").Input("seed: Tseed").Output("output: dtype")
      .Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64").Attr("T: {int32, int64} = DT_INT32")
      .Attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64").NotDifferentiable().Shape(SeededShape)
      .Doc("Uniform integers of all their values.");
  ops.Add("StatelessMultinomial")
      .Input("logits: T").Input("num_samples: int32").Input("seed: Tseed").Output("output: output_dtype")
      .Attr("T: realnumbertype").Attr("Tseed: {int32, int64} = DT_INT64")
      .Attr("output_dtype: {int32, int64} = DT_INT64").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const PartialShape logits = c.WithRank(0, 2);
        c.WithRank(1, 0);
        CheckSeed(c, 2);
        c.out(0, PartialShape({logits.known_rank() ? logits[0] : -1, c.in_int(1).value_or(-1)}));
      })
      .Doc("Classes drawn by their unnormalised log probabilities.");
  ops.Add("StatelessRandomUniformIntV2")
      .Input("shape: Tshape").Input("key: uint64").Input("counter: uint64").Input("alg: int32").Input("minval: dtype")
      .Input("maxval: dtype").Output("output: dtype").Attr("dtype: {int32, int64, uint32, uint64}")
      .Attr("Tshape: {int32, int64} = DT_INT32").NotDifferentiable().Shape(KeyedIntShape)
      .Doc("Uniform integers in [minval, maxval).");
  ops.Add("StatelessRandomUniformFullIntV2")
      .Input("shape: Tshape").Input("key: uint64").Input("counter: uint64").Input("alg: int32")
      .Output("output: dtype").Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
      .Attr("Tshape: {int32, int64} = DT_INT32").NotDifferentiable().Shape(KeyedShape)
      .Doc("Uniform integers of all their values.");
  ops.Add("StatelessRandomGetKeyCounterAlg")
      .Input("seed: Tseed").Output("key: uint64").Output("counter: uint64").Output("alg: int32")
      .Attr("Tseed: {int32, int64} = DT_INT64").Shape(KeyCounterShape)
      .Doc("The generator's key and counter that a seed stands for, and the best algorithm of the device.");
  ops.Add("StatelessRandomGetKeyCounter")
      .Input("seed: Tseed").Output("key: uint64").Output("counter: uint64").Attr("Tseed: {int32, int64} = DT_INT64")
      .Shape(KeyCounterShape).Doc("The generator's key and counter that a seed stands for.");
  ops.Add("StatelessRandomGetAlg")
      .Output("alg: int32").Stateful().Shape(shapes::Scalar).Doc("The best algorithm of the device: 1, Philox.");
  ops.Add("StatelessShuffle")
      .Input("value: T").Input("key: uint64").Input("counter: uint64").Input("alg: int32").Output("output: T")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        CheckKey(c, 1);
        c.out(0, c.in(0));
      })
      .Doc("The rows in random order.");
  ops.Add("RandomIndexShuffle")
      .Input("index: dtype").Input("seed: Tseed").Input("max_index: dtype").Output("output: dtype")
      .Attr("rounds: int = 4").Attr("dtype: {int32, uint32, int64, uint64}")
      .Attr("Tseed: {int32, uint32, int64, uint64}").NotDifferentiable().Shape(IndexShuffleShape)
      .Doc("Where `index` goes in a random permutation of [0, max_index].");
  ops.Add("StatelessRandomBinomial")
      .Input("shape: S").Input("seed: Tseed").Input("counts: T").Input("probs: T").Output("output: dtype")
      .Attr("S: {int32, int64}").Attr("Tseed: {int32, int64} = DT_INT64")
      .Attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .Attr("dtype: {half, float, double, int32, int64} = DT_INT64").NotDifferentiable().Shape(SeededShape)
      .Doc("Samples of binomial distributions, whose shape ends with that of `counts` and `probs` together.");
  ops.Add("StatelessRandomPoisson")
      .Input("shape: T").Input("seed: Tseed").Input("lam: Rtype").Output("output: dtype")
      .Attr("Rtype: {half, float, double, int32, int64}").Attr("dtype: {half, float, double, int32, int64}")
      .Attr("T: {int32, int64}").Attr("Tseed: {int32, int64} = DT_INT64").NotDifferentiable().Shape(SeededShape)
      .Doc("Samples of the Poisson distributions with these rates, whose shape ends with that of `lam`.");
  ops.Add("StatelessParameterizedTruncatedNormal")
      .Input("shape: S").Input("seed: Tseed").Input("means: dtype").Input("stddevs: dtype").Input("minvals: dtype")
      .Input("maxvals: dtype").Output("output: dtype").Attr("S: {int32, int64}")
      .Attr("Tseed: {int32, int64} = DT_INT64").Attr("dtype: {half, float, double}").Shape(SeededShape)
      .Gradient(TruncatedNormalGradient)
      .Doc("Normal numbers between bounds; the output's shape ends with that of the parameters.");
  ops.Add("StatelessRandomGammaV2")
      .Input("shape: T").Input("seed: Tseed").Input("alpha: dtype").Output("output: dtype")
      .Attr("dtype: {half, float, double}").Attr("T: {int32, int64}").Attr("Tseed: {int32, int64} = DT_INT64")
      .Shape(SeededShape).Gradient(GammaGradient<2>)
      .Doc("Samples of the Gamma distributions with these `alpha`, with whose shape theirs ends.");
  ops.Add("StatelessRandomGammaV3")
      .Input("shape: shape_dtype").Input("key: uint64").Input("counter: uint64").Input("alg: int32")
      .Input("alpha: dtype").Output("output: dtype").Attr("dtype: {half, float, double}")
      .Attr("shape_dtype: {int32, int64} = DT_INT32").Shape(KeyedShape).Gradient(GammaGradient<4>)
      .Doc("Samples of the Gamma distributions with these `alpha`, with whose shape theirs ends.");
}

}  // namespace penstock
