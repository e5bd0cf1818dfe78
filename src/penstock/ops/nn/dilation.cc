// Grayscale dilation: the greatest sum of image and filter under a sliding window.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/nn/windows.h"

namespace penstock {
namespace {

void RequireSpatial(const std::vector<int64_t>& values, const char* name) {
  if (values.size() != 4) {
    throw InvalidArgument("Dilation2D requires the ", name, " attribute to contain 4 values, but got: ", values.size());
  }
  if (values[0] != 1 || values[3] != 1) {
    throw InvalidArgument("Current implementation does not yet support ", name, " in the batch and depth dimensions.");
  }
}

void DilationShape(ShapeContext& c) {
  const PartialShape input = c.WithRank(0, 4), filter = c.WithRank(1, 3);
  const auto &strides = c.attr<std::vector<int64_t>>("strides"), &rates = c.attr<std::vector<int64_t>>("rates");
  RequireSpatial(strides, "strides");
  RequireSpatial(rates, "rates");
  PartialShape out = PartialShape::OfRank(4);
  if (input.known_rank()) out.set_dim(0, input[0]);
  out.set_dim(3, ShapeContext::MergeDim(input.known_rank() ? input[3] : -1, filter.known_rank() ? filter[2] : -1));
  for (int i = 0; i < 2 && input.known_rank() && filter.known_rank(); ++i) {
    if (input[i + 1] < 0 || filter[i] < 0) continue;
    out.set_dim(i + 1, shapes::WindowedOutput(input[i + 1], filter[i], rates[i + 1], strides[i + 1],
                                              c.attr<std::string>("padding")).out);
  }
  c.out(0, out);
}

OpBuilder Attributes(OpBuilder op) {
  return op.Attr("T: realnumbertype").Attr("strides: list(int) >= 4").Attr("rates: list(int) >= 4")
      .Attr("padding: {'SAME', 'VALID'}").Heavy();
}

}  // namespace

void RegisterDilationOps(OpRegistry& ops) {
  Attributes(ops.Add("Dilation2D").Input("input: T").Input("filter: T").Output("output: T"))
      .Shape(DilationShape)
      .Doc("The greatest sum of image and filter under each position of a sliding window.")
      .Gradient([](GradContext& g) {
        const AttrMap attrs = CopyAttrs(g, {"strides", "rates", "padding"});
        g.Set(0, g.Call("Dilation2DBackpropInput", {g.x(0), g.x(1), g.dy()}, attrs));
        g.Set(1, g.Call("Dilation2DBackpropFilter", {g.x(0), g.x(1), g.dy()}, attrs));
      });
  Attributes(ops.Add("Dilation2DBackpropInput").Input("input: T").Input("filter: T").Input("out_backprop: T")
                 .Output("in_backprop: T"))
      .Shape(shapes::SameAsInput0);
  Attributes(ops.Add("Dilation2DBackpropFilter").Input("input: T").Input("filter: T").Input("out_backprop: T")
                 .Output("filter_backprop: T"))
      .Shape([](ShapeContext& c) { c.out(0, c.in(1)); });
}

}  // namespace penstock
