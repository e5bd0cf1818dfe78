// Conversion between types.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

void BitcastShape(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  const int64_t from = DataTypeSize(c.in_type(0)), to = DataTypeSize(c.out_type(0));
  if (!in.known_rank() || from == 0 || to == 0) return c.out(0, PartialShape());
  std::vector<int64_t> dims = in.dims();
  if (from > to) {
    dims.push_back(from / to);
  } else if (from < to) {
    const int64_t factor = to / from;
    c.WithRankAtLeast(0, 1);
    if (dims.back() >= 0 && dims.back() != factor) {
      throw InvalidArgument("Cannot bitcast from ", static_cast<int>(c.in_type(0)), " to ",
                            static_cast<int>(c.out_type(0)), " due to shape. ", dims.back(), " does not match ",
                            factor);
    }
    dims.pop_back();
  }
  c.out(0, PartialShape(std::move(dims)));
}

}  // namespace

void RegisterCastOps(OpRegistry& ops) {
  ops.Add("Cast").Input("x: SrcT").Output("y: DstT").Attr("SrcT: type").Attr("DstT: type")
      .Attr("Truncate: bool = false").Shape(shapes::SameAsInput0).Elementwise()
      .Doc("x converted to another type; floats lose their fraction when they become integers.")
      .Gradient([](GradContext& g) {
        const auto differentiable = [](DataType t) { return IsFloating(t) || IsComplex(t); };
        if (differentiable(g.x(0).type()) && differentiable(g.y().type())) g.Set(0, Cast(g.dy(), g.x(0).type()));
      });
  ops.Add("Bitcast").Input("input: T").Output("output: type").Attr("T: numbertype").Attr("type: numbertype")
      .Shape(BitcastShape).Free().Doc("The same bits as another type.");
}

}  // namespace penstock
