// The cross product of vectors of three.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterCrossOps(OpRegistry& ops) {
  ops.Add("Cross").Input("a: T").Input("b: T").Output("product: T").Attr("T: realnumbertype")
      .Doc("The cross product of vectors of three, which lie along the last dimension.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("Cross", {g.x(1), g.dy()}));
        g.Set(1, g.Call("Cross", {g.dy(), g.x(0)}));
      })
      .Shape([](ShapeContext& c) {
        const PartialShape shape = c.WithRankAtLeast(0, 1).MergeWith(c.WithRankAtLeast(1, 1));
        if (shape.known_rank()) ShapeContext::MergeDim(shape[shape.rank() - 1], 3);
        c.out(0, shape);
      });
}

}  // namespace penstock
