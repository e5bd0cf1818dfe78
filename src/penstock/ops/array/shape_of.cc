// Shapes as tensors, and the same elements under another shape.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// The one unknown dimension of a new shape follows from the number of elements.
void ReshapeShape(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  PartialShape out = c.in_as_shape(1);
  c.WithRankAtMost(1, 1);
  if (!out.known_rank()) return c.out(0, out);
  int64_t known = 1, unknown_at = -1;
  int unknown = 0;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] < 0) {
      ++unknown;
      unknown_at = i;
    } else {
      known = shapes::MultiplyDims(known, out[i]);
    }
  }
  int64_t elements = in.num_elements();
  for (int i = 0; i < in.rank(); ++i) {
    if (in[i] == 0) elements = 0;  // whatever the other dimensions are
  }
  const auto refuse = [&](std::string_view tail) {
    throw InvalidArgument("Cannot reshape a tensor with ", elements, " elements to shape ", out, " (",
                          unknown ? std::string("?") : StrCat(known), " elements)", tail);
  };
  if (elements >= 0) {
    if ((unknown == 0 && known != elements) || (known == 0 && elements > 0)) refuse("");
    if (unknown == 1 && known > 0) {
      if (elements % known != 0)
        refuse(StrCat(": the dimension size must be evenly divisible by ", known, " but is ", elements));
      out.set_dim(static_cast<int>(unknown_at), elements / known);
    }
  }
  c.out(0, out);
}

}  // namespace

void RegisterShapeOfOps(OpRegistry& ops) {
  ops.Add("Shape")
      .Input("input: T")
      .Output("output: out_type")
      .Attr("T: type")
      .Attr("out_type: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) { c.out(0, {c.in(0).rank()}); })
      .ShapeValue([](ShapeContext& c) { return c.in(0); })
      .Free()
      .Doc("The shape of `input` as a vector.");

  ops.Add("ShapeN")
      .Input("input: N * T")
      .Output("output: N * out_type")
      .Attr("N: int >= 1")
      .Attr("T: type")
      .Attr("out_type: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < c.num_inputs(); ++i) c.out(i, {c.in(i).rank()});
      })
      .Free()
      .Doc("The shape of each input as a vector.");

  ops.Add("Size")
      .Input("input: T")
      .Output("output: out_type")
      .Attr("T: type")
      .Attr("out_type: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape(shapes::Scalar)
      .Free()
      .Doc("How many elements `input` has.");

  ops.Add("Rank")
      .Input("input: T")
      .Output("output: int32")
      .Attr("T: type")
      .NotDifferentiable()
      .Shape(shapes::Scalar)
      .Free()
      .Doc("How many dimensions `input` has.");

  ops.Add("Reshape")
      .Input("tensor: T")
      .Input("shape: Tshape")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tshape: {int32, int64} = DT_INT32")
      .Shape(ReshapeShape)
      .Gradient(ReshapeToInputGradient)
      .MayAliasInput0()
      .Free()
      .Doc("The elements of `tensor` in the shape `shape`, of which one dimension may be -1: what fits.");

  ops.Add("QuantizedReshape")
      .Input("tensor: T")
      .Input("shape: Tshape")
      .Input("input_min: float")
      .Input("input_max: float")
      .Output("output: T")
      .Output("output_min: float")
      .Output("output_max: float")
      .Attr("T: type")
      .Attr("Tshape: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        ReshapeShape(c);
        for (int i = 1; i <= 2; ++i) {
          c.WithRank(i + 1, 0);
          c.out(i, PartialShape(std::vector<int64_t>{}));
        }
      })
      .Doc("The quantized elements of `tensor` in the shape `shape`, and their range.");

  ops.Add("ExpandDims")
      .Input("input: T")
      .Input("dim: Tdim")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tdim: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const PartialShape& in = c.in(0);
        if (!in.known_rank()) return;
        if (c.in(1).known_rank() && c.in(1).num_elements() > 1) {
          throw InvalidArgument("'dim' input must be a tensor with a single value");
        }
        const Tensor* value = c.in_value(1);
        if (!value) return c.out(0, PartialShape::OfRank(in.rank() + 1));
        if (value->num_elements() != 1) throw InvalidArgument("'dim' input must be a tensor with a single value");
        int64_t dim = value->IntAt(0);
        if (dim < -1 - in.rank() || dim > in.rank()) {
          throw InvalidArgument("dim ", dim, " not in the interval [", -1 - in.rank(), ", ", in.rank(), "].");
        }
        if (dim < 0) dim += in.rank() + 1;
        std::vector<int64_t> dims = in.dims();
        dims.insert(dims.begin() + dim, 1);
        c.out(0, PartialShape(std::move(dims)));
      })
      .Gradient(ReshapeToInputGradient)
      .MayAliasInput0()
      .Free()
      .Doc("`input` with a dimension of size 1 put in at `dim`.");

  ops.Add("Squeeze")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("squeeze_dims: list(int) >= 0 = []")
      .Shape([](ShapeContext& c) {
        const PartialShape& in = c.in(0);
        const auto& axes = c.attr<std::vector<int64_t>>("squeeze_dims");
        if (!in.known_rank()) return;
        std::vector<bool> squeezed(in.rank(), axes.empty());
        for (int64_t axis : axes) {
          if (axis < -in.rank() || axis >= in.rank()) {
            throw InvalidArgument("squeeze_dims[", axis, "] not in [", -in.rank(), ",", in.rank(), ").");
          }
          squeezed[axis < 0 ? axis + in.rank() : axis] = true;
        }
        PartialShape out(std::vector<int64_t>{});
        for (int i = 0; i < in.rank(); ++i) {
          if (!squeezed[i]) {
            out.AddDim(in[i]);
          } else if (in[i] < 0) {
            if (axes.empty()) return c.out(0, PartialShape());  // of size 1 or not: even the rank is unknown
          } else if (in[i] != 1) {
            if (!axes.empty()) {
              throw InvalidArgument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", in[i]);
            }
            out.AddDim(in[i]);
          }
        }
        c.out(0, out);
      })
      .Gradient(ReshapeToInputGradient)
      .MayAliasInput0()
      .Free()
      .Doc("`input` without its dimensions of size 1, or without those that `squeeze_dims` lists.");

  ops.Add("BroadcastTo")
      .Input("input: T")
      .Input("shape: Tidx")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const PartialShape shape = c.in_as_shape(1);
        const PartialShape& in = c.in(0);
        c.WithRank(1, 1);
        if (!shape.known_rank()) return;
        std::vector<int64_t> dims = shape.dims();
        if (in.known_rank()) {
          if (in.rank() > shape.rank()) {
            throw InvalidArgument("Shape must be at most rank ", shape.rank(), " but is rank ", in.rank());
          }
          for (int i = 0; i < in.rank(); ++i) {
            const int64_t from = in[in.rank() - 1 - i], to = shape[shape.rank() - 1 - i];
            if (from >= 0 && to >= 0 && from != 1 && from != to) {
              throw InvalidArgument("Dimensions must be equal, but are ", from, " and ", to);
            }
            if (to < 0 && from > 1) dims[shape.rank() - 1 - i] = from;
          }
        }
        c.out(0, PartialShape(std::move(dims)));
      })
      .Gradient([](GradContext& g) {
        const Outs axes = g.CallAll("BroadcastGradientArgs", std::vector<Out>{ShapeOf(g.y()), ShapeOf(g.x(0))});
        g.Set(0, ReshapeLike(Sum(g.dy(), axes[1], true), g.x(0)));
      })
      .Doc("`input` repeated along its dimensions of size 1 (and new leading ones) to the shape `shape`.");

  ops.Add("BroadcastArgs")
      .Input("s0: T")
      .Input("s1: T")
      .Output("r0: T")
      .Attr("T: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const PartialShape a = c.WithRank(0, 1), b = c.WithRank(1, 1);
        c.out(0, {a[0] < 0 || b[0] < 0 ? -1 : std::max(a[0], b[0])});
      })
      .Free()
      .Doc("The shape to which two shapes broadcast together.");

  ops.Add("BroadcastGradientArgs")
      .Input("s0: T")
      .Input("s1: T")
      .Output("r0: T")
      .Output("r1: T")
      .Attr("T: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 1);
        c.WithRank(1, 1);
        c.out(0, PartialShape::OfRank(1));
        c.out(1, PartialShape::OfRank(1));
      })
      .Free()
      .Doc("The axes over which a gradient is to be summed for each of two operands that were broadcast together.");
}

}  // namespace penstock
