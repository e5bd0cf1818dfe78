// Values that come from the graph or the caller: constants, placeholders, filled tensors.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void ShapeAttr(ShapeContext& c) { c.out(0, c.attr<PartialShape>("shape")); }

}  // namespace

void RegisterConstantOps(OpRegistry& ops) {
  ops.Add("Const")
      .Output("output: dtype")
      .Attr("value: tensor")
      .Attr("dtype: type")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) { c.out(0, c.attr<Tensor>("value").shape()); })
      .Free()
      .Doc("The tensor `value`.");

  ops.Add("HostConst")
      .Output("output: dtype")
      .Attr("value: tensor")
      .Attr("dtype: type")
      .Shape([](ShapeContext& c) { c.out(0, c.attr<Tensor>("value").shape()); })
      .Free()
      .Doc("The tensor `value`, in host memory.");

  ops.Add("Placeholder")
      .Is(Flow::kPlaceholder)
      .Output("output: dtype")
      .Attr("dtype: type")
      .Attr("shape: shape = { unknown_rank: true }")
      .Shape(ShapeAttr)
      .Free()
      .Doc("A tensor that must be fed. Fails when it is computed.");

  ops.Add("PlaceholderV2")
      .Is(Flow::kPlaceholder)
      .Output("output: dtype")
      .Attr("dtype: type")
      .Attr("shape: shape")
      .Deprecated(23, "Placeholder does the same.")
      .Shape(ShapeAttr)
      .Free()
      .Doc("A tensor that must be fed. Fails when it is computed.");

  ops.Add("PlaceholderWithDefault")
      .Input("input: dtype")
      .Output("output: dtype")
      .Attr("dtype: type")
      .Attr("shape: shape")
      .Shape([](ShapeContext& c) {
        const PartialShape& shape = c.attr<PartialShape>("shape");
        shapes::Merge(c.in(0), shape);
        c.out(0, shape);
      })
      .Gradient(IdentityGradient)
      .Is(Flow::kPlaceholder)  // a feed may change it: no value is seen through it
      .MayAliasInput0()
      .Free()
      .Doc("`input`, unless a value is fed.");

  ops.Add("Fill")
      .Input("dims: index_type")
      .Input("value: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("index_type: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 1);
        c.WithRank(1, 0);
        if (const Tensor* dims = c.in_value(0)) {
          for (int64_t d : shapes::Integers(*dims)) {
            if (d < 0) throw InvalidArgument("Fill dimensions must be >= 0, but got ", d);
          }
        }
        shapes::FromShapeInput(c);
      })
      .Gradient([](GradContext& g) { g.Set(1, Sum(g.dy(), AllAxes(g.dy()))); })
      .Doc("A tensor of shape `dims` in which every element is `value`.");

  ops.Add("ZerosLike")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: type")
      .NotDifferentiable()
      .Shape(shapes::SameAsInput0)
      .Doc("Zeros in the shape of `x`.");

  ops.Add("OnesLike")
      .Input("x: T")
      .Output("y: T")
      .Attr(
          "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, "
          "complex128, bool}")
      .NotDifferentiable()
      .Shape(shapes::SameAsInput0)
      .Doc("Ones in the shape of `x`.");

  ops.Add("Empty")
      .Input("shape: int32")
      .Output("output: dtype")
      .Attr("dtype: type")
      .Attr("init: bool = false")
      .Stateful()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 1);
        shapes::FromShapeInput(c);
      })
      .Doc("A tensor of unspecified content; zeros if `init`.");
}

}  // namespace penstock
