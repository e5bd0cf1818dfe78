// Random numbers of generators whose state is a variable (tf.random.Generator): Philox's counter and key.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

OpBuilder Drawing(OpRegistry& ops, const char* name) {
  return ops.Add(name).Input("resource: resource").Input("algorithm: int64").Input("shape: shape_dtype");
}

void DrawnShape(ShapeContext& c) {
  c.WithRank(1, 0);
  c.out(0, c.in_as_shape(2));
}

}  // namespace

void RegisterGeneratorOps(OpRegistry& ops) {
  struct Simple {
    const char *name, *dtype, *doc;
  };
  for (const auto& [name, dtype, doc] :
       {Simple{"StatefulUniform", "dtype: type = DT_FLOAT", "Uniform numbers in [0, 1)."},
        Simple{"StatefulUniformFullInt", "dtype: type = DT_UINT64", "Uniform integers of all their values."},
        Simple{"StatefulStandardNormalV2", "dtype: type = DT_FLOAT", "Normal numbers of mean 0 and deviation 1."},
        Simple{"StatefulTruncatedNormal", "dtype: type = DT_FLOAT", "Normal numbers not beyond 2."}}) {
    Drawing(ops, name).Output("output: dtype").Attr(dtype).Attr("shape_dtype: type = DT_INT64").Stateful()
        .Shape(DrawnShape).Doc(doc);
  }
  Drawing(ops, "StatefulUniformInt")
      .Input("minval: dtype").Input("maxval: dtype").Output("output: dtype").Attr("dtype: type = DT_INT64")
      .Attr("shape_dtype: type = DT_INT64").Stateful()
      .Shape([](ShapeContext& c) {
        c.WithRank(3, 0);
        c.WithRank(4, 0);
        DrawnShape(c);
      })
      .Doc("Uniform integers in [minval, maxval).");
  ops.Add("StatefulStandardNormal")
      .Input("resource: resource").Input("shape: shape_dtype").Output("output: dtype")
      .Attr("dtype: type = DT_FLOAT").Attr("shape_dtype: type = DT_INT64").Stateful()
      .Deprecated(29, "Use StatefulStandardNormalV2 instead")
      .Shape([](ShapeContext& c) { c.out(0, c.in_as_shape(1)); })
      .Doc("Use StatefulStandardNormalV2 instead: here the state begins with the algorithm.");
  ops.Add("StatefulRandomBinomial")
      .Input("resource: resource").Input("algorithm: int64").Input("shape: S").Input("counts: T").Input("probs: T")
      .Output("output: dtype").Attr("S: {int32, int64}").Attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .Attr("dtype: {half, float, double, int32, int64} = DT_INT64").Stateful().Shape(DrawnShape)
      .Doc("Samples of binomial distributions, whose shape ends with that of `counts` and `probs` together.");
  ops.Add("RngSkip")
      .Input("resource: resource").Input("algorithm: int64").Input("delta: int64").Stateful()
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        c.WithRank(2, 0);
      })
      .Doc("Leaves out `delta` numbers.");
  ops.Add("RngReadAndSkip")
      .Input("resource: resource").Input("alg: int32").Input("delta: uint64").Output("value: int64").Stateful()
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        c.WithRank(2, 0);
        c.out(0, PartialShape({3}));
      })
      .Doc("The state, which then leaves out `delta` numbers.");
  ops.Add("NonDeterministicInts")
      .Input("shape: shape_dtype").Output("output: dtype").Attr("dtype: type = DT_INT64")
      .Attr("shape_dtype: type = DT_INT64").Stateful()
      .Shape([](ShapeContext& c) { c.out(0, c.in_as_shape(0)); })
      .Doc("Integers that no seed determines.");
}

}  // namespace penstock
