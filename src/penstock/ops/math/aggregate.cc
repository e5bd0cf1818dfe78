// Sums of many tensors.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

void EachGetsDy(GradContext& g) {
  for (int i = 0; i < g.num_inputs(); ++i) g.Set(i, g.dy());
}

}  // namespace

void RegisterAggregateOps(OpRegistry& ops) {
  ops.Add("AddN").Input("inputs: N * T").Output("sum: T").Attr("N: int >= 1")
      .Attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
            "quint16, uint16, complex128, half, uint32, uint64, variant}")
      .Commutative().Aggregate().Elementwise().Shape(shapes::MergeAll).Gradient(EachGetsDy)
      .Doc("The sum of all inputs, which have one shape.");
  ops.Add("AccumulateNV2").Input("inputs: N * T").Output("sum: T").Attr("N: int >= 1").Attr("T: numbertype")
      .Attr("shape: shape").Commutative().Aggregate().Elementwise().Gradient(EachGetsDy)
      .Doc("The sum of all inputs, which have one shape.")
      .Shape([](ShapeContext& c) {
        PartialShape shape = c.attr<PartialShape>("shape");
        for (int i = 0; i < c.num_inputs(); ++i) shape = shape.MergeWith(c.in(i));
        c.out(0, shape);
      });
}

}  // namespace penstock
