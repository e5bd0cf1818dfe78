// Arrays of tensors that loops read and write. The `flow` scalar orders the ops: each takes that of the one before it.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// What the handle says of the elements.
PartialShape ElementShape(ShapeContext& c) { return c.in_handle(0).empty() ? PartialShape() : c.in_handle(0)[0].shape; }

void FlowShape(ShapeContext& c) { c.out(0, PartialShape({})); }

void ReadShape(ShapeContext& c) {
  c.WithRank(1, 0);
  c.out(0, ElementShape(c));
}

void GatherShape(ShapeContext& c) {
  const PartialShape indices = c.WithRank(1, 1);
  const PartialShape element = ElementShape(c).MergeWith(c.attr<PartialShape>("element_shape"));
  c.out(0, shapes::Concatenate(PartialShape({indices.known_rank() ? indices[0] : -1}), element));
}

void ConcatShape(ShapeContext& c) {
  c.out(0, shapes::Concatenate(PartialShape({-1}), c.attr<PartialShape>("element_shape_except0")));
  c.out(1, PartialShape({-1}));
}

// The handle of the array of gradients that belongs to an array. What orders its use is `flow` itself, not the flow
// that the op gives: further gradients go back along it.
Out ArrayOfGradients(GradContext& g, Out flow) {
  return g.Call("TensorArrayGradV3", {g.x(0), flow}, {{"source", g.scope().name()}});
}

// Reading: the gradient is written, and added to what other readers write.
void ReadGradient(GradContext& g) {
  const Out flow = g.scope().Scalar(0.0f);
  g.Set(2, g.Call("TensorArrayWriteV3", {ArrayOfGradients(g, flow), g.x(1), g.dy(), flow}));
}

void GatherGradient(GradContext& g) {
  const Out flow = g.scope().Scalar(0.0f);
  g.Set(2, g.Call("TensorArrayScatterV3", {ArrayOfGradients(g, flow), g.x(1), g.dy(), flow}));
}

void ConcatGradient(GradContext& g) {
  const Out flow = g.scope().Scalar(0.0f);
  g.Set(1, g.Call("TensorArraySplitV3", {ArrayOfGradients(g, flow), g.dy(0), g.y(1), flow}));
}

// Writing: by the time that the flow's gradient arrives, all readers have written theirs.
void WriteGradient(GradContext& g) {
  const Out flow = g.dy();
  g.Set(2, g.Call("TensorArrayReadV3", {ArrayOfGradients(g, flow), g.x(1), flow}, {{"dtype", g.attr("T")}}));
  g.Set(3, flow);
}

void ScatterGradient(GradContext& g) {
  const Out flow = g.dy();
  g.Set(2, g.Call("TensorArrayGatherV3", {ArrayOfGradients(g, flow), g.x(1), flow}, {{"dtype", g.attr("T")}}));
  g.Set(3, flow);
}

void SplitGradient(GradContext& g) {
  const Out flow = g.dy();
  g.Set(1, g.Call("TensorArrayConcatV3", {ArrayOfGradients(g, flow), flow}, {{"dtype", g.attr("T")}}));
  g.Set(3, flow);
}

void OldHandleShape(ShapeContext& c) { c.out(0, PartialShape({2})); }

void GradShape(ShapeContext& c) {
  c.out(0, PartialShape({2}));
  c.out(1, PartialShape({}));
  c.out_handle(0, c.in_handle(0));
}

// The first two versions, which old graphs hold: a handle is two strings, by reference or by value.
void RegisterOldVersions(OpRegistry& ops) {
  for (const bool first : {true, false}) {
    const std::string version = first ? "" : "V2", type = first ? "Ref(string)" : "string";
    const auto add = [&](const std::string& what, int deprecated_since) {
      OpBuilder op = ops.Add("TensorArray" + what + version);
      op.Doc("As TensorArray" + what + "V3.");
      if (deprecated_since > 0) op.Deprecated(deprecated_since, "Use TensorArray" + what + "V3");
      return op;
    };
    const auto use = [&](const std::string& what, int deprecated_since) {
      return add(what, deprecated_since).Input("handle: " + type).OrderDependent();
    };
    const int v3 = first ? 16 : 26;
    OpBuilder array = add("", v3).Input("size: int32").Output("handle: " + type).Attr("dtype: type").Stateful();
    if (!first) array.Attr("element_shape: shape = ?");
    array.Attr("dynamic_size: bool = false").Attr("clear_after_read: bool = true")
        .Attr("tensor_array_name: string = ''").NotDifferentiable().Shape(OldHandleShape);
    if (first) array.Attr("element_shape: shape = ?");
    add("Grad", v3).Input("handle: string").Input("flow_in: float").Output("grad_handle: " + type)
        .Attr("source: string").Stateful().NotDifferentiable().Shape(OldHandleShape);
    use("Write", v3).Input("index: int32").Input("value: T").Input("flow_in: float").Output("flow_out: float")
        .Attr("T: type").Shape(FlowShape);
    use("Read", v3).Input("index: int32").Input("flow_in: float").Output("value: dtype").Attr("dtype: type")
        .Shape(shapes::Unknown);
    use("Gather", v3).Input("indices: int32").Input("flow_in: float").Output("value: dtype").Attr("dtype: type")
        .Attr("element_shape: shape = ?").Shape(shapes::Unknown);
    use("Scatter", first ? 19 : 26).Input("indices: int32").Input("value: T").Input("flow_in: float")
        .Output("flow_out: float").Attr("T: type").Shape(FlowShape);
    use("Concat", first ? 16 : 0).Input("flow_in: float").Output("value: dtype").Output("lengths: int64")
        .Attr("dtype: type").Attr("element_shape_except0: shape = ?").Shape(shapes::Unknown);
    use("Split", v3).Input("value: T").Input("lengths: int64").Input("flow_in: float").Output("flow_out: float")
        .Attr("T: type").Shape(FlowShape);
    use("Size", v3).Input("flow_in: float").Output("size: int32").NotDifferentiable().Shape(shapes::Scalar);
    use("Close", v3).NotDifferentiable().Shape(shapes::None);
  }
  ops.Add("TensorArrayPack").Input("handle: Ref(string)").Input("flow_in: float").Output("value: dtype")
      .Attr("dtype: type").Attr("element_shape: shape = ?").OrderDependent()
      .Shape(shapes::Unknown).Deprecated(16, "Use TensorArrayGatherV3 with RangeOp")
      .Doc("All elements, stacked along a new first dimension.");
  ops.Add("TensorArrayUnpack").Input("handle: Ref(string)").Input("value: T").Input("flow_in: float")
      .Output("flow_out: float").Attr("T: type").OrderDependent().Shape(FlowShape)
      .Deprecated(20, "Use TensorArrayScatterV3 with RangeOp").Doc("Writes all elements: the rows of `value`.");
}

}  // namespace

void RegisterTensorArrayOps(OpRegistry& ops) {
  ops.Add("TensorArrayV3")
      .Input("size: int32").Output("handle: resource").Output("flow: float").Attr("dtype: type")
      .Attr("element_shape: shape = ?").Attr("dynamic_size: bool = false").Attr("clear_after_read: bool = true")
      .Attr("identical_element_shapes: bool = false").Attr("tensor_array_name: string = ''").Stateful()
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        c.out(0, PartialShape({2}));
        c.out(1, PartialShape({}));
        c.out_handle(0, {{c.attr<DataType>("dtype"), c.attr<PartialShape>("element_shape")}});
      })
      .Doc("An array of `size` tensors.");
  ops.Add("TensorArrayWriteV3")
      .Input("handle: resource").Input("index: int32").Input("value: T").Input("flow_in: float")
      .Output("flow_out: float").Attr("T: type").Stateful().Shape(FlowShape).Gradient(WriteGradient)
      .Doc("Writes one element.");
  ops.Add("TensorArrayReadV3")
      .Input("handle: resource").Input("index: int32").Input("flow_in: float").Output("value: dtype")
      .Attr("dtype: type").Stateful().Shape(ReadShape).Gradient(ReadGradient)
      .Doc("Reads one element.");
  ops.Add("TensorArrayGatherV3")
      .Input("handle: resource").Input("indices: int32").Input("flow_in: float").Output("value: dtype")
      .Attr("dtype: type").Attr("element_shape: shape = ?").Stateful().Shape(GatherShape)
      .Gradient(GatherGradient)
      .Doc("Elements, stacked along a new first dimension.");
  ops.Add("TensorArrayScatterV3")
      .Input("handle: resource").Input("indices: int32").Input("value: T").Input("flow_in: float")
      .Output("flow_out: float").Attr("T: type").Stateful().Shape(FlowShape)
      .Gradient(ScatterGradient)
      .Doc("Writes elements: the rows of `value`.");
  ops.Add("TensorArrayConcatV3")
      .Input("handle: resource").Input("flow_in: float").Output("value: dtype").Output("lengths: int64")
      .Attr("dtype: type").Attr("element_shape_except0: shape = ?").Stateful().Shape(ConcatShape)
      .Gradient(ConcatGradient)
      .Doc("All elements, joined along their first dimension, and how long each is there.");
  ops.Add("TensorArraySplitV3")
      .Input("handle: resource").Input("value: T").Input("lengths: int64").Input("flow_in: float")
      .Output("flow_out: float").Attr("T: type").Stateful().Shape(FlowShape)
      .Gradient(SplitGradient)
      .Doc("Writes all elements: pieces of `value` of these lengths.");
  ops.Add("TensorArrayGradV3")
      .Input("handle: resource").Input("flow_in: float").Output("grad_handle: resource").Output("flow_out: float")
      .Attr("source: string").Stateful().NotDifferentiable().Shape(GradShape)
      .Doc("The array of gradients of an array: one for each `source`. What is written twice is added up.");
  ops.Add("TensorArrayGradWithShape")
      .Input("handle: resource").Input("flow_in: float").Input("shape_to_prepend: int32")
      .Output("grad_handle: resource").Output("flow_out: float").Attr("source: string").Stateful().NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.out(0, PartialShape({2}));
        c.out(1, PartialShape({}));
        if (c.in_handle(0).empty()) return;
        const DtypeAndShape& behind = c.in_handle(0)[0];
        const PartialShape front = c.WithRank(2, 1);
        const PartialShape more =
            front[0] < 0 ? PartialShape() : PartialShape(std::vector<int64_t>(static_cast<size_t>(front[0]), -1));
        c.out_handle(0, {{behind.dtype, shapes::Concatenate(more, behind.shape)}});
      })
      .Doc("As TensorArrayGradV3, with elements that have more dimensions in front.");
  ops.Add("TensorArraySizeV3")
      .Input("handle: resource").Input("flow_in: float").Output("size: int32").Stateful().NotDifferentiable()
      .Shape(shapes::Scalar).Doc("How many elements there are.");
  ops.Add("TensorArrayCloseV3")
      .Input("handle: resource").Stateful().NotDifferentiable().Shape(shapes::None).Doc("Frees the elements.");
  RegisterOldVersions(ops);
}

}  // namespace penstock
