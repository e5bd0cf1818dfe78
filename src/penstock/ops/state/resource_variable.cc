// Variables behind resource handles: creation, reading, assignment, gathering from them.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void HandleShape(ShapeContext& c) {
  c.out(0, PartialShape({}));
  c.out_handle(0, {{c.attr<DataType>("dtype"), c.attr<PartialShape>("shape")}});
}

// What the handle in input i is known to name. InvalidArgument if it holds another type.
PartialShape VariableBehind(ShapeContext& c, int i, const char* dtype_attr) {
  const auto& data = c.in_handle(i);
  if (data.empty()) return PartialShape();
  const DataType wanted = c.attr<DataType>(dtype_attr);
  if (data[0].dtype != wanted && data[0].dtype != DT_INVALID) {
    throw InvalidArgument("Trying to access variable with wrong dtype. Expected ", data[0].dtype, " got ", wanted);
  }
  return data[0].shape;
}

void ReadShape(ShapeContext& c) {
  c.out(0, VariableBehind(c, 0, "dtype"));
  if (c.in_handle(0).size() > 1) c.out_handle(0, {c.in_handle(0).begin() + 1, c.in_handle(0).end()});
}

void AssignShape(ShapeContext& c) { (void)VariableBehind(c, 0, "dtype").MergeWith(c.in(1)); }

void GatherShape(ShapeContext& c) {
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  const PartialShape params =
      ShapeContext::WithRankAtLeast(VariableBehind(c, 0, "dtype"), static_cast<int>(batch_dims) + 1);
  const PartialShape& indices = c.in(1);
  if (!params.known_rank() || !indices.known_rank()) return;
  if (batch_dims < 0 || batch_dims > indices.rank())
    throw InvalidArgument("batch_dims ", batch_dims, " is out of range");
  PartialShape out(std::vector<int64_t>(params.dims().begin(), params.dims().begin() + batch_dims));
  for (int i = static_cast<int>(batch_dims); i < indices.rank(); ++i) out.AddDim(indices[i]);
  for (int i = static_cast<int>(batch_dims) + 1; i < params.rank(); ++i) out.AddDim(params[i]);
  c.out(0, out);
}

void GatherNdShape(ShapeContext& c) {
  const PartialShape params = VariableBehind(c, 0, "dtype");
  const PartialShape indices = c.WithRankAtLeast(1, 1);
  if (!params.known_rank() || !indices.known_rank() || indices[indices.rank() - 1] < 0) return;
  const int64_t depth = indices[indices.rank() - 1];
  if (depth > params.rank()) {
    throw InvalidArgument("indices.shape[-1] must be <= params.rank, but saw indices shape: ", indices,
                          " and params shape: ", params);
  }
  c.out(0, shapes::Concatenate(shapes::Subshape(indices, 0, indices.rank() - 1),
                               shapes::Subshape(params, static_cast<int>(depth), params.rank())));
}

void ReadGradient(GradContext& g) { g.Set(0, g.raw_dy()); }

// Rows of the variable: the gradient of the gathered values, flattened to a list of rows.
void GatherGradient(GradContext& g) {
  const Out shape = g.Call("VariableShape", {g.x(0)}, {{"out_type", DT_INT32}});
  const Out count = g.Call("ExpandDims", {g.Call("Size", {g.x(1)}), g.scope().Scalar(int32_t{0})});
  const Out inner = g.Call("Slice", {shape, ConstVector(g.scope(), {1}), ConstVector(g.scope(), {-1})});
  const Out values_shape = g.Call("ConcatV2", {count, inner, g.scope().Scalar(int32_t{0})});
  g.Set(0, Grad::Slices(Reshape(g.dy(), values_shape), Reshape(g.x(1), count), shape));
}

void GatherNdGradient(GradContext& g) {
  const PartialShape& indices = g.x(1).shape();
  const Out shape = g.Call("VariableShape", {g.x(0)}, {{"out_type", g.x(1).type()}});
  if (indices.known_rank() && indices.rank() == 2 && indices[1] == 1) {
    g.Set(0, Grad::Slices(g.dy(), g.Call("Squeeze", {g.x(1)}, {{"squeeze_dims", std::vector<int64_t>{-1}}}), shape));
  } else {
    g.Set(0, g.Call("ScatterNd", {g.x(1), g.dy(), shape}));
  }
}

}  // namespace

void RegisterResourceVariableOps(OpRegistry& ops) {
  ops.Add("VarHandleOp")
      .Output("resource: resource").Attr("container: string = ''").Attr("shared_name: string = ''")
      .Attr("debug_name: string = ''").Attr("dtype: type").Attr("shape: shape")
      .Attr("allowed_devices: list(string) = []").Stateful().Free().Shape(HandleShape)
      .Doc("A handle of the variable that `container` and `shared_name` (or the node's name) name.");
  ops.Add("VarIsInitializedOp")
      .Input("resource: resource").Output("is_initialized: bool").Stateful().NotDifferentiable().Free()
      .Shape(shapes::Scalar).Doc("Whether the variable holds a value.");
  ops.Add("ReadVariableOp")
      .Input("resource: resource").Output("value: dtype").Attr("dtype: type").Stateful().ReadsVariable().Free()
      .Shape(ReadShape).Gradient(ReadGradient).Doc("The variable's value.");
  ops.Add("AssignVariableOp")
      .Input("resource: resource").Input("value: dtype").Attr("dtype: type").Attr("validate_shape: bool = false")
      .Stateful().Shape(AssignShape).Doc("Gives the variable a value.");
  ops.Add("AssignAddVariableOp")
      .Input("resource: resource").Input("value: dtype").Attr("dtype: type").Stateful().Shape(AssignShape)
      .Doc("Adds to the variable.");
  ops.Add("AssignSubVariableOp")
      .Input("resource: resource").Input("value: dtype").Attr("dtype: type").Stateful().Shape(AssignShape)
      .Doc("Subtracts from the variable.");
  ops.Add("VariableShape")
      .Input("input: resource").Output("output: out_type").Attr("out_type: {int32, int64} = DT_INT32").Stateful()
      .NotDifferentiable().Free()
      .Shape([](ShapeContext& c) {
        const bool known = !c.in_handle(0).empty() && c.in_handle(0)[0].shape.known_rank();
        c.out(0, PartialShape({known ? c.in_handle(0)[0].shape.rank() : -1}));
      })
      .Doc("The shape of the variable's value.");
  ops.Add("ResourceGather")
      .Input("resource: resource").Input("indices: Tindices").Output("output: dtype").Attr("batch_dims: int = 0")
      .Attr("validate_indices: bool = true").Attr("dtype: type").Attr("Tindices: {int32, int64}").Stateful()
      .ReadsVariable().Shape(GatherShape).Gradient(GatherGradient).Doc("Rows of the variable.");
  ops.Add("ResourceGatherNd")
      .Input("resource: resource").Input("indices: Tindices").Output("output: dtype").Attr("dtype: type")
      .Attr("Tindices: {int32, int64}").Stateful().ReadsVariable().Shape(GatherNdShape).Gradient(GatherNdGradient)
      .Doc("Elements or slices of the variable, each named by a vector of indices.");
  ops.Add("ResourceCountUpTo")
      .Input("resource: resource").Output("output: T").Attr("limit: int").Attr("T: {int32, int64}").Stateful()
      .Shape([](ShapeContext& c) { c.out(0, ShapeContext::WithRank(VariableBehind(c, 0, "T"), 0)); })
      .Doc("The variable's value before it is raised by one; OutOfRange when it has reached `limit`.");
  ops.Add("DestroyResourceOp")
      .Input("resource: resource").Attr("ignore_lookup_error: bool = true").Stateful().Shape(shapes::None)
      .Doc("Deletes what the handle names.");
  ops.Add("DisableCopyOnRead")
      .Input("resource: resource").Stateful().Shape(shapes::None)
      .Doc("Has no effect here: reading a variable shares its memory until one side writes.");
}

}  // namespace penstock
