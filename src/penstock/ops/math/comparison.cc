// Comparisons and logic.
#include <algorithm>

#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// Shapes that do not fit are an answer (not equal), not an error, if the attribute says so.
void EqualShape(ShapeContext& c) {
  if (c.attr<bool>("incompatible_shape_error")) return shapes::Broadcast(c);
  const PartialShape &a = c.in(0), &b = c.in(1);
  if (!a.known_rank() || !b.known_rank()) return c.out(0, PartialShape());
  const int rank = std::max(a.rank(), b.rank());
  PartialShape out = PartialShape::OfRank(rank);
  for (int i = 0; i < rank; ++i) {
    const auto dim = [&](const PartialShape& s) { return i < rank - s.rank() ? 1 : s[i - (rank - s.rank())]; };
    const int64_t x = dim(a), y = dim(b);
    if (x == 1 || y == 1 || x == y) {
      out.set_dim(i, x == 1 ? y : x);
    } else {
      return c.out(0, x < 0 || y < 0 ? PartialShape() : PartialShape({}));  // perhaps, or surely, the scalar False
    }
  }
  c.out(0, out);
}

}  // namespace

void RegisterComparisonOps(OpRegistry& ops) {
  for (const char* name : {"Equal", "NotEqual"}) {
    ops.Add(name).Input("x: T").Input("y: T").Output("z: bool").Attr("T: type")
        .Attr("incompatible_shape_error: bool = true").Commutative().Elementwise().NotDifferentiable().Shape(EqualShape)
        .Doc("Compares element by element.");
  }
  for (const char* name : {"Less", "LessEqual", "Greater", "GreaterEqual"}) {
    ops.Add(name).Input("x: T").Input("y: T").Output("z: bool").Attr("T: realnumbertype").Elementwise()
        .NotDifferentiable().Shape(shapes::Broadcast).Doc("Compares element by element.");
  }
  ops.Add("ApproximateEqual").Input("x: T").Input("y: T").Output("z: bool").Attr("T: numbertype")
      .Attr("tolerance: float = 1e-5").Commutative().Elementwise().NotDifferentiable()
      .Doc("|x - y| < tolerance.")
      .Shape([](ShapeContext& c) { c.out(0, c.in(0).MergeWith(c.in(1))); });
  ops.Add("CompareAndBitpack").Input("input: T").Input("threshold: T").Output("output: uint8")
      .Attr("T: {bool, half, float, double, int8, int16, int32, int64}")
      .Doc("Whether elements are above a threshold, eight in a byte: the first is the highest bit.")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        const PartialShape in = c.WithRankAtLeast(0, 1);
        if (!in.known_rank()) return c.out(0, in);
        std::vector<int64_t> dims(in.rank());
        for (int i = 0; i < in.rank(); ++i) dims[i] = in[i];
        if (dims.back() >= 0) {
          if (dims.back() % 8)
            throw InvalidArgument("Dimension size must be evenly divisible by 8 but is ", dims.back());
          dims.back() /= 8;
        }
        c.out(0, PartialShape(dims));
      });
  for (const char* name : {"LogicalAnd", "LogicalOr"}) {
    ops.Add(name).Input("x: bool").Input("y: bool").Output("z: bool").Commutative().Elementwise().NotDifferentiable()
        .Shape(shapes::Broadcast);
  }
}

}  // namespace penstock
