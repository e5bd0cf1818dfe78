// Larger tensors made from smaller ones: padding, tiling, one-hot.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void PadShape(ShapeContext& c) {
  const PartialShape paddings = c.WithRank(1, 2);
  shapes::RequireDim(paddings[1], 2);
  const Tensor* values = c.in_value(1);
  PartialShape in = c.in(0);
  if (!values) {
    if (in.known_rank()) {
      shapes::RequireDim(paddings[0], in.rank());
      return c.out(0, PartialShape::OfRank(in.rank()));
    }
    return c.out(0, shapes::AnyOfRank(paddings[0]));
  }
  const std::vector<int64_t> sizes = shapes::Integers(*values);
  const int rank = static_cast<int>(values->dim(0));
  in = ShapeContext::WithRank(in, rank);
  PartialShape out = in;
  for (int i = 0; i < rank; ++i) {
    if (sizes[2 * i] < 0 || sizes[2 * i + 1] < 0)
      throw InvalidArgument("Paddings must be non-negative: ", sizes[2 * i], ", ", sizes[2 * i + 1]);
    out.set_dim(i, in[i] < 0 ? -1 : shapes::AddDims(in[i], shapes::AddDims(sizes[2 * i], sizes[2 * i + 1])));
  }
  int64_t elements = 1;
  for (int64_t d : out.dims()) elements = shapes::MultiplyDims(elements, d);  // refuses what no integer counts
  c.out(0, out);
}

// The padded tensor's middle: where it starts is the first column of the paddings.
Out Unpad(GradContext& g, Out padded, Out paddings, Out like) {
  Scope& scope = g.scope();
  const Out rank = Call("Rank", {like});
  const Out first_column =
      Call("Slice", {paddings, ConstVector(scope, {0, 0}),
                     CallOp("Pack", std::vector<Out>{rank, scope.Scalar<int32_t>(1)}, {{"axis", 0}})[0]});
  return Call("Slice", {padded, Reshape(first_column, ConstVector(scope, {-1})), ShapeOf(like, paddings.type())});
}

}  // namespace

void RegisterPadOps(OpRegistry& ops) {
  ops.Add("Pad")
      .Input("input: T")
      .Input("paddings: Tpaddings")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Shape(PadShape)
      .Gradient([](GradContext& g) { g.Set(0, Unpad(g, g.dy(), g.x(1), g.x(0))); })
      .Doc("`input` with paddings[i][0] zeros before and paddings[i][1] after it along dimension i.");

  ops.Add("PadV2")
      .Input("input: T")
      .Input("paddings: Tpaddings")
      .Input("constant_values: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        c.WithRank(2, 0);
        PadShape(c);
      })
      .Gradient([](GradContext& g) { g.Set(0, Unpad(g, g.dy(), g.x(1), g.x(0))); })
      .Doc("`input` with paddings[i][0] `constant_values` before and paddings[i][1] after it along dimension i.");

  ops.Add("MirrorPad")
      .Input("input: T")
      .Input("paddings: Tpaddings")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .Shape(PadShape)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MirrorPadGrad", {g.dy(), g.x(1)}, {{"mode", g.attr("mode")}}));
      })
      .Doc("`input` mirrored at its ends; REFLECT leaves the border element itself out, SYMMETRIC repeats it.");

  ops.Add("MirrorPadGrad")
      .Input("input: T")
      .Input("paddings: Tpaddings")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .Shape([](ShapeContext& c) {
        const PartialShape paddings = c.WithRank(1, 2);
        shapes::RequireDim(paddings[1], 2);
        const Tensor* values = c.in_value(1);
        if (!values) return c.out(0, shapes::AnyOfRank(c.in(0).known_rank() ? c.in(0).rank() : paddings[0]));
        const std::vector<int64_t> sizes = shapes::Integers(*values);
        const int rank = static_cast<int>(values->dim(0));
        PartialShape out = ShapeContext::WithRank(c.in(0), rank);
        for (int i = 0; i < rank; ++i) {
          if (sizes[2 * i] < 0 || sizes[2 * i + 1] < 0) throw InvalidArgument("Paddings must be non-negative");
          out.set_dim(i, shapes::SubtractDims(out[i], shapes::AddDims(sizes[2 * i], sizes[2 * i + 1])));
        }
        c.out(0, out);
      })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MirrorPad", {g.dy(), g.x(1)}, {{"mode", g.attr("mode")}}));
      })
      .Doc("The gradient of MirrorPad: what mirrors an element is added to it.");

  ops.Add("Tile")
      .Input("input: T")
      .Input("multiples: Tmultiples")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tmultiples: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const PartialShape& in = c.in(0);
        const PartialShape multiples = c.in_as_shape(1);
        c.WithRank(1, 1);
        int64_t rank = in.known_rank() ? in.rank() : multiples.known_rank() ? multiples.rank() : c.in(1).num_elements();
        if (rank < 0) return;
        if (c.in(1).num_elements() >= 0) rank = c.in(1).num_elements();
        const PartialShape input = ShapeContext::WithRank(in, static_cast<int>(rank));
        std::vector<int64_t> dims(rank, -1);
        for (int i = 0; i < rank; ++i) {
          const int64_t times = multiples.known_rank() && i < multiples.rank() ? multiples[i] : -1;
          dims[i] = shapes::MultiplyDims(input[i], times);
        }
        c.out(0, PartialShape(std::move(dims)));
      })
      .Gradient([](GradContext& g) {
        // [m0, d0, m1, d1, ...]: the copies stand along the even dimensions, which are summed.
        Scope& scope = g.scope();
        const Out multiples = g.x(1), x = g.x(0);
        const PartialShape& shape = x.shape();
        const Tensor* times = scope.Constant(multiples);
        if (times && shape.fully_known()) {
          std::vector<int64_t> split;
          std::vector<int32_t> axes;
          const std::vector<int64_t> m = shapes::Integers(*times);
          for (size_t i = 0; i < m.size(); ++i) {
            axes.push_back(static_cast<int32_t>(2 * i));
            split.push_back(m[i]);
            split.push_back(shape[static_cast<int>(i)]);
          }
          const Out apart = Reshape(g.dy(), scope.Const(Tensor::Vector(split)));
          return g.Set(0, Sum(apart, ConstVector(scope, std::move(axes))));
        }
        const Out pairs = CallOp("Pack", std::vector<Out>{multiples, ShapeOf(x, multiples.type())}, {{"axis", 1}})[0];
        const Out split = Reshape(pairs, ConstVector(scope, {-1}));
        const Out axes = g.Call("Range", {scope.Scalar<int32_t>(0), g.Call("Size", {split}), scope.Scalar<int32_t>(2)});
        g.Set(0, ReshapeLike(Sum(Reshape(g.dy(), split), axes), x));
      })
      .Doc("`input` repeated multiples[i] times along dimension i.");

  ops.Add("OneHot")
      .Input("indices: TI")
      .Input("depth: int32")
      .Input("on_value: T")
      .Input("off_value: T")
      .Output("output: T")
      .Attr("axis: int = -1")
      .Attr("T: type")
      .Attr("TI: {uint8, int8, int32, int64} = DT_INT64")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const int64_t axis = c.attr<int64_t>("axis");
        if (axis < -1) throw InvalidArgument("axis must be >= -1");
        const int64_t depth = shapes::DimFromInput(c, 1);
        c.WithRank(2, 0);
        c.WithRank(3, 0);
        const PartialShape& in = c.in(0);
        if (!in.known_rank()) return;
        if (axis > in.rank())
          throw InvalidArgument("Expected axis to be -1 or between [0, ", in.rank() + 1, ").  But received: ", axis);
        std::vector<int64_t> dims = in.dims();
        dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth);
        c.out(0, PartialShape(std::move(dims)));
      })
      .Doc("`on_value` at position indices[i] of a new dimension of size `depth`, `off_value` elsewhere.");
}

}  // namespace penstock
