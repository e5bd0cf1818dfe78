// Arithmetic on sparse tensors.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

Out FloorDiv(Out a, Out b) { return Call("FloorDiv", {a, b}); }

// The shape that keeps reduced axes with size 1.
Out ReducedShape(GradContext& g, Out shape, Out axes) {
  Scope& scope = g.scope();
  const Out wide = Cast(shape, DT_INT32);
  const Out rank = g.Call("Size", {wide});
  const Out positive = g.Call("FloorMod", {axes + rank, rank});
  const Out all = g.Call("Range", {scope.Scalar<int32_t>(0), rank, scope.Scalar<int32_t>(1)});
  return g.CallAll("DynamicStitch", std::vector<Out>{all, positive, wide, OnesLike(positive)}, {{"N", 2}})[0];
}

void CwiseShape(ShapeContext& c) {
  const PartialShape indices = c.WithRank(0, 2);
  c.out(0, {indices[0]});
}

// Products and quotients with a dense tensor that is broadcast to the sparse one's shape.
void CwiseGradient(GradContext& g, bool divide) {
  Scope& scope = g.scope();
  const Out indices = g.x(0), values = g.x(1), shape = g.x(2), dense = g.x(3), dy = g.dy();
  const Out dense_shape = ShapeOf(dense, DT_INT64);
  const Out one = scope.Scalar<int64_t>(1);
  const Out added = g.Call("Size", {shape}) - g.Call("Rank", {dense});
  const Out ones = g.Call("Fill", {Reshape(added, ConstVector(scope, {1})), one});
  const Out scaling = FloorDiv(shape, g.Call("Maximum", {ConcatVectors({ones, dense_shape}), one}));
  const Out scaled = FloorDiv(indices, g.Call("Maximum", {scaling, one}));
  const Out start = g.CallAll("Pack", std::vector<Out>{scope.Scalar<int32_t>(0), added}, {{"axis", 0}})[0];
  const Out at = g.Call("Slice", {scaled, start, ConstVector(scope, {-1, -1})});
  const Out other = g.Call("GatherNd", {dense, at});
  g.Set(1, divide ? dy / other : dy * other);
  const Out dense_part = divide ? dy * (-values / (other * other)) : dy * values;
  g.Set(3, g.Call("ScatterNd", {at, dense_part, dense_shape}));
}

void NoGradientYet(GradContext& g) {
  throw Unimplemented("Gradient for ", g.op().name, " is currently not implemented yet.");
}

void ReduceToDenseShape(ShapeContext& c) {
  const PartialShape shape = c.in_as_shape(2);
  const Tensor* axes = c.in_value(3);
  const bool keep = c.attr<bool>("keep_dims");
  if (!shape.known_rank() || !axes) return;
  std::vector<bool> reduced(shape.rank());
  for (int64_t axis : shapes::Integers(*axes)) {
    if (axis < -shape.rank() || axis >= shape.rank()) return;  // what runs it says so
    reduced[axis < 0 ? axis + shape.rank() : axis] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduced[i]) {
      dims.push_back(shape[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  c.out(0, PartialShape(std::move(dims)));
}

void ReduceToSparseShape(ShapeContext& c) {
  c.out(0, PartialShape::OfRank(2));
  c.out(1, PartialShape::OfRank(1));
  c.out(2, PartialShape::OfRank(1));
}

OpBuilder ReduceInputs(OpRegistry& ops, std::string_view name) {
  return ops.Add(name)
      .Input("input_indices: int64")
      .Input("input_values: T")
      .Input("input_shape: int64")
      .Input("reduction_axes: int32");
}
OpBuilder ReduceToDense(OpRegistry& ops, std::string_view name, std::string_view types) {
  return ReduceInputs(ops, name)
      .Output("output: T")
      .Attr("keep_dims: bool = false")
      .Attr(types)
      .Shape(ReduceToDenseShape);
}
OpBuilder ReduceToSparse(OpRegistry& ops, std::string_view name, std::string_view types) {
  return ReduceInputs(ops, name)
      .Output("output_indices: int64")
      .Output("output_values: T")
      .Output("output_shape: int64")
      .Attr("keep_dims: bool = false")
      .Attr(types)
      .Shape(ReduceToSparseShape);
}

}  // namespace

void RegisterSparseMathOps(OpRegistry& ops) {
  ops.Add("SparseTensorDenseMatMul")
      .Input("a_indices: Tindices")
      .Input("a_values: T")
      .Input("a_shape: int64")
      .Input("b: T")
      .Output("product: T")
      .Attr("T: type")
      .Attr("Tindices: {int32, int64} = DT_INT64")
      .Attr("adjoint_a: bool = false")
      .Attr("adjoint_b: bool = false")
      .Shape([](ShapeContext& c) {
        const PartialShape indices = c.WithRank(0, 2);
        c.WithRank(1, 1);
        const PartialShape a = ShapeContext::WithRank(c.in_as_shape(2), 2), b = c.WithRank(3, 2);
        shapes::RequireDim(indices[1], 2);
        const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
        ShapeContext::MergeDim(a[adjoint_a ? 0 : 1], b[adjoint_b ? 1 : 0]);
        c.out(0, {a[adjoint_a ? 1 : 0], b[adjoint_b ? 0 : 1]});
      })
      .Gradient([](GradContext& g) {
        Scope& scope = g.scope();
        const bool adjoint_a = g.attr<bool>("adjoint_a"), adjoint_b = g.attr<bool>("adjoint_b");
        const Out indices = g.x(0), dy = g.dy();
        const auto adjoint = [&](Out m) { return g.Call("ConjugateTranspose", {m, ConstVector(scope, {1, 0})}); };
        const Out db = g.Call("SparseTensorDenseMatMul", {indices, g.x(1), g.x(2), dy},
                              {{"adjoint_a", !adjoint_a}, {"adjoint_b", false}});
        g.Set(3, adjoint_b ? adjoint(db) : db);
        // Each value's gradient is the product of a row of dy and a row of b.
        const Out b = adjoint_b ? adjoint(g.x(3)) : g.x(3);
        const auto column = [&](int i) {
          return g.Call(
              "StridedSlice",
              {indices, ConstVector(scope, {0, i}), ConstVector(scope, {0, i + 1}), ConstVector(scope, {1, 1})},
              {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
        };
        const auto rows = [&](Out m, int i) { return g.Call("GatherV2", {m, column(i), scope.Scalar<int32_t>(0)}); };
        const Out of_dy = rows(dy, adjoint_a ? 1 : 0), of_b = rows(b, adjoint_a ? 0 : 1);
        const Out product = Sum(of_dy * Conj(of_b), ConstVector(scope, {1}));
        g.Set(1, adjoint_a ? Conj(product) : product);
      })
      .Heavy()
      .Doc("The product of a sparse matrix and a dense one.");

  ops.Add("SparseTensorDenseAdd")
      .Input("a_indices: Tindices")
      .Input("a_values: T")
      .Input("a_shape: Tindices")
      .Input("b: T")
      .Output("output: T")
      .Attr("T: numbertype")
      .Attr("Tindices: {int32, int64}")
      .Shape([](ShapeContext& c) { c.out(0, c.in(3)); })
      .Gradient([](GradContext& g) {
        g.Set(1, g.Call("GatherNd", {g.dy(), g.x(0)}));
        g.Set(3, g.dy());
      })
      .Doc("The dense sum of a sparse tensor and a dense one of the same shape.");

  ops.Add("SparseAdd")
      .Input("a_indices: int64")
      .Input("a_values: T")
      .Input("a_shape: int64")
      .Input("b_indices: int64")
      .Input("b_values: T")
      .Input("b_shape: int64")
      .Input("thresh: Treal")
      .Output("sum_indices: int64")
      .Output("sum_values: T")
      .Output("sum_shape: int64")
      .Attr("T: numbertype")
      .Attr("Treal: realnumbertype")
      .Shape([](ShapeContext& c) {
        const PartialShape shape = c.WithRank(2, 1);
        c.out(0, {-1, shape[0]});
        c.out(1, PartialShape::OfRank(1));
        c.out(2, shape);
      })
      .Gradient([](GradContext& g) {
        const Outs dx = g.CallAll("SparseAddGrad", std::vector<Out>{g.dy(1), g.x(0), g.x(3), g.y(0)});
        g.Set(1, dx[0]);
        g.Set(4, dx[1]);
      })
      .Doc("The sparse sum; sums of two entries are left out if of magnitude below `thresh`.");

  ops.Add("SparseAddGrad")
      .Input("backprop_val_grad: T")
      .Input("a_indices: int64")
      .Input("b_indices: int64")
      .Input("sum_indices: int64")
      .Output("a_val_grad: T")
      .Output("b_val_grad: T")
      .Attr("T: numbertype")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.out(0, {c.WithRank(1, 2)[0]});
        c.out(1, {c.WithRank(2, 2)[0]});
      })
      .Doc("The gradient of SparseAdd's values.");

  ReduceToDense(ops, "SparseReduceSum", "T: numbertype")
      .Gradient([](GradContext& g) {
        const Out indices = g.x(0), shape = g.x(2);
        const Out kept = ReducedShape(g, shape, g.x(3));
        const Out scale = FloorDiv(shape, Cast(kept, DT_INT64));
        g.Set(1, g.Call("GatherNd", {Reshape(g.dy(), kept), FloorDiv(indices, scale)}));
      })
      .Doc("Sums over `reduction_axes` as a dense tensor.");

  ReduceToDense(ops, "SparseReduceMax", "T: realnumbertype")
      .Doc("Maxima over `reduction_axes` as a dense tensor; 0 where there is no entry.");

  ReduceToSparse(ops, "SparseReduceSumSparse", "T: numbertype").Doc("Sums over `reduction_axes` as a sparse tensor.");

  ReduceToSparse(ops, "SparseReduceMaxSparse", "T: realnumbertype")
      .Doc("Maxima over `reduction_axes` as a sparse tensor.");

  ops.Add("SparseDenseCwiseMul")
      .Input("sp_indices: int64")
      .Input("sp_values: T")
      .Input("sp_shape: int64")
      .Input("dense: T")
      .Output("output: T")
      .Attr("T: numbertype")
      .Shape(CwiseShape)
      .Gradient([](GradContext& g) { CwiseGradient(g, false); })
      .Doc("The entries times a dense tensor that is broadcast to their shape.");

  ops.Add("SparseDenseCwiseDiv")
      .Input("sp_indices: int64")
      .Input("sp_values: T")
      .Input("sp_shape: int64")
      .Input("dense: T")
      .Output("output: T")
      .Attr("T: numbertype")
      .Shape(CwiseShape)
      .Gradient([](GradContext& g) { CwiseGradient(g, true); })
      .Doc("The entries divided by a dense tensor that is broadcast to their shape.");

  ops.Add("SparseDenseCwiseAdd")
      .Input("sp_indices: int64")
      .Input("sp_values: T")
      .Input("sp_shape: int64")
      .Input("dense: T")
      .Output("output: T")
      .Attr("T: numbertype")
      .Shape(CwiseShape)
      .Gradient(NoGradientYet)
      .Doc(
          "The entries plus a dense tensor that is broadcast to their shape; where there is no entry nothing is "
          "added.");

  ops.Add("SparseSoftmax")
      .Input("sp_indices: int64")
      .Input("sp_values: T")
      .Input("sp_shape: int64")
      .Output("output: T")
      .Attr("T: {half, float, double}")
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 2);
        c.WithRank(2, 1);
        c.out(0, c.WithRank(1, 1));
      })
      .Gradient([](GradContext& g) {
        const Out indices = g.x(0), shape = g.x(2), y = g.y(), product = g.dy() * y;
        const Out sums =
            g.Call("SparseReduceSum", {indices, product, shape, ConstVector(g.scope(), {-1})}, {{"keep_dims", true}});
        const Out less = g.Call("SparseDenseCwiseAdd", {indices, g.dy(), shape, -sums});
        g.Set(1, less * y);
      })
      .Doc("Softmax over the entries of each row (the last dimension).");

  struct Extreme {
    const char *name, *types, *doc;
  };
  for (const Extreme& extreme :
       {Extreme{"SparseSparseMaximum", "T: realnumbertype",
                "The larger of two sparse tensors' elements; a missing entry is 0."},
        Extreme{"SparseSparseMinimum", "T: numbertype",
                "The smaller of two sparse tensors' elements; a missing entry is 0."}}) {
    ops.Add(extreme.name)
        .Input("a_indices: int64")
        .Input("a_values: T")
        .Input("a_shape: int64")
        .Input("b_indices: int64")
        .Input("b_values: T")
        .Input("b_shape: int64")
        .Output("output_indices: int64")
        .Output("output_values: T")
        .Attr(extreme.types)
        .Shape([](ShapeContext& c) {
          c.out(0, {-1, c.WithRank(0, 2)[1]});
          c.out(1, PartialShape::OfRank(1));
        })
        .Gradient(NoGradientYet)
        .Doc(extreme.doc);
  }
}

}  // namespace penstock
