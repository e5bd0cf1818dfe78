// Points that fill the unit cube evenly.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {

void RegisterSobolOps(OpRegistry& ops) {
  ops.Add("SobolSample")
      .Input("dim: int32").Input("num_results: int32").Input("skip: int32").Output("samples: dtype")
      .Attr("dtype: {float, double} = DT_FLOAT").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < 3; ++i) c.WithRank(i, 0);
        c.out(0, PartialShape({shapes::DimFromInput(c, 1), shapes::DimFromInput(c, 0)}));
      })
      .Doc("Points of Sobol's sequence in `dim` dimensions, those from number `skip` on.");
}

}  // namespace penstock
