// Lists of tensors: values like any other, so that loops carry them and gradients flow through them.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// The elements' shape as the list's handle says.
PartialShape Element(ShapeContext& c, int i = 0) {
  return c.in_handle(i).empty() ? PartialShape() : c.in_handle(i)[0].shape;
}

// An element_shape input: -1 is any shape.
PartialShape ShapeInput(ShapeContext& c, int i) {
  const Tensor* value = c.in_value(i);
  const bool scalar = value ? value->rank() == 0 : c.in(i).known_rank() && c.in(i).rank() == 0;
  return scalar ? PartialShape() : c.in_as_shape(i);
}

void ListOf(ShapeContext& c, const PartialShape& element) {
  c.out(0, PartialShape({}));
  c.out_handle(0, {{c.attr<DataType>("element_dtype"), element}});
}

void SameList(ShapeContext& c) {
  c.out(0, PartialShape({}));
  c.out_handle(0, c.in_handle(0));
}

PartialShape Rows(const PartialShape& element, int64_t count) {
  return shapes::Concatenate(PartialShape({count}), element);
}

// Shape of an element of x, whose rows are elements.
Out RowShape(Out x) {
  const PartialShape& shape = x.shape();
  if (shape.fully_known() && shape.rank() > 0) {
    return ConstVector(*x.scope, std::vector<int32_t>(shape.dims().begin() + 1, shape.dims().end()));
  }
  return Call("Slice", {ShapeOf(x), ConstVector(*x.scope, {1}), ConstVector(*x.scope, {-1})});
}

AttrMap Typed(GradContext& g) { return {{"element_dtype", g.attr("element_dtype")}}; }
AttrMap TypedWithShape(GradContext& g) {
  return {{"element_dtype", g.attr("element_dtype")}, {"shape_type", DT_INT32}};
}
Out ElementShape(GradContext& g, Out list) {
  return g.Call("TensorListElementShape", {list}, {{"shape_type", DT_INT32}});
}
// A list as long as `list` in which nothing is set.
Out Unset(GradContext& g, Out list) {
  return g.Call("TensorListReserve", {ElementShape(g, list), g.Call("TensorListLength", {list})}, TypedWithShape(g));
}

void PushBackGradient(GradContext& g) {
  const Outs back = g.CallAll("TensorListPopBack", Outs{g.dy(), ShapeOf(g.x(1))}, Typed(g));
  g.Set(0, back[0]);
  g.Set(1, back[1]);
}

void PopBackGradient(GradContext& g) {
  const Out item = g.has_dy(1) ? g.dy(1) : ZerosLike(g.y(1));
  g.Set(0, g.Call("TensorListPushBack", {g.dy(0), item}, Typed(g)));
}

void SetItemGradient(GradContext& g) {
  Out list = g.Call("TensorListSetItem", {g.dy(), g.x(1), ZerosLike(g.x(2))}, Typed(g));
  if (g.attr<bool>("resize_if_index_out_of_bounds")) {
    list = g.Call("TensorListResize", {list, g.Call("TensorListLength", {g.x(0)})});
  }
  g.Set(0, list);
  g.Set(2, g.Call("TensorListGetItem", {g.dy(), g.x(1), ShapeOf(g.x(2))}, Typed(g)));
}

void GetItemGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListSetItem", {Unset(g, g.x(0)), g.x(1), g.dy()}, Typed(g)));
}

void StackGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListFromTensor", {g.dy(), RowShape(g.dy())}, TypedWithShape(g)));
}

void FromTensorGradient(GradContext& g) { g.Set(0, g.Call("TensorListStack", {g.dy(), RowShape(g.x(0))}, Typed(g))); }

void GatherGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListScatterV2", {g.dy(), g.x(1), RowShape(g.dy()), g.Call("TensorListLength", {g.x(0)})},
                  TypedWithShape(g)));
}

void ScatterGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListGather", {g.dy(), g.x(1), RowShape(g.x(0))}, Typed(g)));
}

void ScatterIntoGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListScatterIntoExistingList", {g.dy(), ZerosLike(g.x(1)), g.x(2)}, Typed(g)));
  g.Set(1, g.Call("TensorListGather", {g.dy(), g.x(2), RowShape(g.x(1))}, Typed(g)));
}

void ConcatGradient(GradContext& g) {
  g.Set(0, g.Call("TensorListSplit", {g.dy(), g.scope().Scalar(int32_t{-1}), g.y(1)}, TypedWithShape(g)));
}

void SplitGradient(GradContext& g) {
  const Out rows = g.Call("ConcatV2", {ConstVector(g.scope(), {-1}), RowShape(g.x(0)), g.scope().Scalar<int32_t>(0)},
                          {{"N", 2}});
  g.Set(0, g.CallAll("TensorListConcatV2", Outs{g.dy(), rows, g.x(2)}, TypedWithShape(g))[0]);
}

void FromTensorShape(ShapeContext& c) {
  PartialShape rows;
  if (c.in(0).known_rank()) rows = shapes::Subshape(c.WithRankAtLeast(0, 1), 1, c.in(0).rank());
  ListOf(c, rows.MergeWith(ShapeInput(c, 1)));
}

}  // namespace

void RegisterTensorListOps(OpRegistry& ops) {
  ops.Add("EmptyTensorList")
      .Input("element_shape: shape_type").Input("max_num_elements: int32").Output("handle: variant")
      .Attr("element_dtype: type").Attr("shape_type: {int32, int64}").NotDifferentiable()
      .Shape([](ShapeContext& c) { ListOf(c, ShapeInput(c, 0)); }).Doc("A list without elements.");
  ops.Add("TensorListReserve")
      .Input("element_shape: shape_type").Input("num_elements: int32").Output("handle: variant")
      .Attr("element_dtype: type").Attr("shape_type: {int32, int64}").NotDifferentiable()
      .Shape([](ShapeContext& c) { ListOf(c, ShapeInput(c, 0)); }).Doc("A list of elements that are not set yet.");
  ops.Add("TensorListPushBack")
      .Input("input_handle: variant").Input("tensor: element_dtype").Output("output_handle: variant")
      .Attr("element_dtype: type").Gradient(PushBackGradient)
      .Shape([](ShapeContext& c) { ListOf(c, Element(c)); }).Doc("The list with one more element at its end.");
  ops.Add("TensorListPopBack")
      .Input("input_handle: variant").Input("element_shape: int32").Output("output_handle: variant")
      .Output("tensor: element_dtype").Attr("element_dtype: type").Gradient(PopBackGradient)
      .Shape([](ShapeContext& c) {
        ListOf(c, Element(c));
        c.out(1, Element(c).MergeWith(ShapeInput(c, 1)));
      })
      .Doc("The list without its last element, and that element.");
  ops.Add("TensorListPushBackBatch")
      .Input("input_handles: variant").Input("tensor: element_dtype").Output("output_handles: variant")
      .Attr("element_dtype: type").Shape(shapes::SameAsInput0).NotDifferentiable()
      .Doc("Each list with one more element: a row of `tensor`.");
  ops.Add("TensorListLength").Input("input_handle: variant").Output("length: int32").NotDifferentiable()
      .Shape(shapes::Scalar).Doc("How many elements there are.");
  ops.Add("TensorListElementShape")
      .Input("input_handle: variant").Output("element_shape: shape_type").Attr("shape_type: {int32, int64}")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        const PartialShape element = Element(c);
        c.out(0, element.known_rank() ? PartialShape({element.rank()}) : PartialShape());
      })
      .Doc("What is known of the elements' shape; -1 if nothing is.");
  ops.Add("TensorListResize")
      .Input("input_handle: variant").Input("size: int32").Output("output_handle: variant").Shape(SameList)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("TensorListResize", {g.dy(), g.Call("TensorListLength", {g.x(0)})}));
      })
      .Doc("The list made longer by elements that are not set, or shorter.");
  ops.Add("TensorListGetItem")
      .Input("input_handle: variant").Input("index: int32").Input("element_shape: Tshape")
      .Output("item: element_dtype").Attr("element_dtype: type").Attr("Tshape: {int32, int64} = DT_INT32")
      .Gradient(GetItemGradient)
      .Shape([](ShapeContext& c) { c.out(0, Element(c).MergeWith(ShapeInput(c, 2))); }).Doc("One element.");
  ops.Add("TensorListSetItem")
      .Input("input_handle: variant").Input("index: int32").Input("item: element_dtype")
      .Output("output_handle: variant").Attr("element_dtype: type")
      .Attr("resize_if_index_out_of_bounds: bool = false").Gradient(SetItemGradient)
      .Shape([](ShapeContext& c) { ListOf(c, Element(c)); }).Doc("The list with another element in one place.");
  ops.Add("TensorListStack")
      .Input("input_handle: variant")
      .Input("element_shape: int32")
      .Output("tensor: element_dtype")
      .Attr("element_dtype: type")
      .Attr("num_elements: int = -1")
      .Gradient(StackGradient)
      .Shape([](ShapeContext& c) {
        c.out(0, Rows(Element(c).MergeWith(ShapeInput(c, 1)), c.attr<int64_t>("num_elements")));
      })
      .Doc("All elements, along a new first dimension.");
  ops.Add("TensorListFromTensor")
      .Input("tensor: element_dtype").Input("element_shape: shape_type").Output("output_handle: variant")
      .Attr("element_dtype: type").Attr("shape_type: {int32, int64}").Shape(FromTensorShape)
      .Gradient(FromTensorGradient).Doc("The rows of a tensor as a list.");
  ops.Add("TensorListGather")
      .Input("input_handle: variant").Input("indices: int32").Input("element_shape: int32")
      .Output("values: element_dtype").Attr("element_dtype: type").Gradient(GatherGradient)
      .Shape([](ShapeContext& c) {
        const PartialShape indices = c.WithRank(1, 1);
        c.out(0, Rows(Element(c).MergeWith(ShapeInput(c, 2)), indices.known_rank() ? indices[0] : -1));
      })
      .Doc("Some elements, along a new first dimension.");
  ops.Add("TensorListScatter")
      .Input("tensor: element_dtype").Input("indices: int32").Input("element_shape: shape_type")
      .Output("output_handle: variant").Attr("element_dtype: type").Attr("shape_type: {int32, int64}")
      .Gradient(ScatterGradient).Shape([](ShapeContext& c) { ListOf(c, ShapeInput(c, 2)); })
      .Doc("A list whose elements `indices` are the rows of a tensor.");
  ops.Add("TensorListScatterV2")
      .Input("tensor: element_dtype").Input("indices: int32").Input("element_shape: shape_type")
      .Input("num_elements: int32").Output("output_handle: variant").Attr("element_dtype: type")
      .Attr("shape_type: {int32, int64}").Gradient(ScatterGradient)
      .Shape([](ShapeContext& c) { ListOf(c, ShapeInput(c, 2)); })
      .Doc("A list of `num_elements` whose elements `indices` are the rows of a tensor.");
  ops.Add("TensorListScatterIntoExistingList")
      .Input("input_handle: variant").Input("tensor: element_dtype").Input("indices: int32")
      .Output("output_handle: variant").Attr("element_dtype: type").Gradient(ScatterIntoGradient)
      .Shape([](ShapeContext& c) { ListOf(c, Element(c)); })
      .Doc("The list with the rows of a tensor as elements `indices`.");
  ops.Add("TensorListConcat")
      .Input("input_handle: variant").Output("tensor: element_dtype").Output("lengths: int64")
      .Attr("element_dtype: type").Attr("element_shape: shape = ?").Gradient(ConcatGradient)
      .Shape([](ShapeContext& c) {
        PartialShape rows = Element(c).MergeWith(c.attr<PartialShape>("element_shape"));
        if (rows.known_rank() && rows.rank() > 0) rows.set_dim(0, -1);
        c.out(0, rows);
        c.out(1, PartialShape({-1}));
      })
      .Doc("All elements, joined along their first dimension, and how long each is there.");
  ops.Add("TensorListConcatV2")
      .Input("input_handle: variant").Input("element_shape: shape_type").Input("leading_dims: int64")
      .Output("tensor: element_dtype").Output("lengths: int64").Attr("element_dtype: type")
      .Attr("shape_type: {int32, int64}").Gradient(ConcatGradient)
      .Shape([](ShapeContext& c) {
        PartialShape rows = Element(c).MergeWith(ShapeInput(c, 1));
        if (rows.known_rank() && rows.rank() > 0) rows.set_dim(0, -1);
        c.out(0, rows);
        c.out(1, PartialShape({-1}));
      })
      .Doc("As TensorListConcat; `leading_dims` are the lengths of elements that are not set.");
  ops.Add("TensorListSplit")
      .Input("tensor: element_dtype").Input("element_shape: shape_type").Input("lengths: int64")
      .Output("output_handle: variant").Attr("element_dtype: type").Attr("shape_type: {int32, int64}")
      .Gradient(SplitGradient)
      .Shape([](ShapeContext& c) {
        PartialShape element = c.WithRankAtLeast(0, 1);
        if (element.known_rank()) element.set_dim(0, -1);
        c.WithRank(2, 1);
        ListOf(c, element.MergeWith(ShapeInput(c, 1)));
      })
      .Doc("A list of pieces of a tensor, of these lengths.");
  ops.Add("TensorListConcatLists")
      .Input("input_a: variant").Input("input_b: variant").Output("output: variant").Attr("element_dtype: type")
      .NotDifferentiable().Shape(shapes::SameAsInput0).Doc("The elements of the first list and then of the second.");
}

}  // namespace penstock
