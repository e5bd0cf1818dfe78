// Random numbers from generators that the op keeps: seeded by `seed` and `seed2`, or differently each time if both are 0.
#include "penstock/op/shape_inference.h"
#include "penstock/ops/all.h"

#include "penstock/graph/gradient.h"

namespace penstock {
namespace {

void ShapeFromInput0(ShapeContext& c) { c.out(0, c.in_as_shape(0)); }

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
}

}  // namespace penstock
