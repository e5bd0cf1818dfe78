// Rows and slices picked by index.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// Product of x's dimensions [begin, end) as a scalar of type `type`; a constant where they are known.
Out DimProduct(Out shape, Out begin, Out end) {
  return Call("Prod", {VectorSlice(shape, begin, end), ConstVector(*shape.scope, {0})}, {{"keep_dims", false}});
}

// The gradient of rows picked along `axis` of x(0), with the first `batch` dimensions in step: each picked row's
// gradient is added to its row. Everything is folded into [batch, outer, axis, inner] so that no rank need be known.
Out GatherGradient(GradContext& g, Out axis, int64_t batch) {
  Scope& scope = g.scope();
  const Out params = g.x(0), indices = g.x(1), dy = g.dy();
  const auto scalar = [&](int64_t v) { return scope.Scalar<int32_t>(static_cast<int32_t>(v)); };
  const Out shape = ShapeOf(params), index_shape = ShapeOf(indices);
  const Out at = Cast(axis, DT_INT32), b = scalar(batch), next = at + scalar(1);
  const Out rank = Call("Rank", {params});
  const Out batches = DimProduct(shape, scalar(0), b), outer = DimProduct(shape, b, at);
  const Out rows = Reshape(VectorSlice(shape, at, next), ConstVector(scope, {}));
  const Out inner = DimProduct(shape, next, rank);
  const Out picked = DimProduct(index_shape, b, Call("Rank", {indices}));
  const auto vector = [&](std::initializer_list<Out> parts) {
    return CallOp("Pack", std::vector<Out>(parts), {{"axis", 0}})[0];
  };
  const Out rows_first =
      Transpose(Reshape(dy, vector({batches, outer, picked, inner})), ConstVector(scope, {0, 2, 1, 3}));
  const Out flat = Reshape(rows_first, vector({batches * picked, outer, inner}));
  const Out starts = Call("Range", {scalar(0), batches, scalar(1)}) * rows;
  const Out index =
      Reshape(Cast(indices, DT_INT32), vector({batches, picked})) + Reshape(starts, vector({batches, scalar(1)}));
  const Out sums = Call("UnsortedSegmentSum", {flat, Reshape(index, vector({batches * picked})), batches * rows});
  const Out apart = Transpose(Reshape(sums, vector({batches, rows, outer, inner})), ConstVector(scope, {0, 2, 1, 3}));
  return Reshape(apart, shape);
}

// The gradient of rows along dimension 0: the rows with their indices.
Grad GatherRowsGradient(GradContext& g) {
  const Out params = g.x(0), indices = g.x(1);
  const DataType shape_type = DT_INT32;
  const Out count = Reshape(g.Call("Size", {indices}), ConstVector(g.scope(), {1}));
  const Out values = Reshape(g.dy(), ConcatVectors({count, ShapePart(params, 1, -1, shape_type)}));
  return Grad::Slices(values, Reshape(indices, count), ShapeOf(params, shape_type));
}

}  // namespace

void RegisterGatherOps(OpRegistry& ops) {
  ops.Add("Gather")
      .Input("params: Tparams")
      .Input("indices: Tindices")
      .Output("output: Tparams")
      .Attr("validate_indices: bool = true")
      .Attr("Tparams: type")
      .Attr("Tindices: {int32, int64}")
      .Shape([](ShapeContext& c) {
        const PartialShape params = c.WithRankAtLeast(0, 1);
        c.out(0,
              shapes::Concatenate(c.in(1), params.known_rank() ? shapes::Subshape(params, 1, params.rank()) : params));
      })
      .Gradient([](GradContext& g) { g.Set(0, GatherRowsGradient(g)); })
      .Doc("The rows `params`[indices].");

  ops.Add("GatherV2")
      .Input("params: Tparams")
      .Input("indices: Tindices")
      .Input("axis: Taxis")
      .Output("output: Tparams")
      .Attr("batch_dims: int = 0")
      .Attr("Tparams: type")
      .Attr("Tindices: {int16, int32, int64}")
      .Attr("Taxis: {int32, int64}")
      .Shape([](ShapeContext& c) {
        c.WithRank(2, 0);
        c.WithRankAtLeast(0, 1);
        const PartialShape &params = c.in(0), &indices = c.in(1);
        const int64_t batch_attr = c.attr<int64_t>("batch_dims");
        int64_t batch = batch_attr;
        if (indices.known_rank()) {
          if (batch < -indices.rank() || batch > indices.rank()) {
            throw InvalidArgument("Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(),
                                  "], but got ", batch);
          }
          if (batch < 0) batch += indices.rank();
        }
        const std::optional<int64_t> wanted = c.in_int(2);
        if (!wanted || !params.known_rank() || batch < 0) {
          if (wanted && *wanted >= 0) c.WithRankAtLeast(0, static_cast<int>(std::min<int64_t>(*wanted, kMaxRank)) + 1);
          if (params.known_rank() && indices.known_rank()) {
            c.out(0, PartialShape::OfRank(static_cast<int>(params.rank() + indices.rank() - 1 - batch)));
          }
          return;
        }
        const int axis = [&] {
          if (*wanted < -params.rank() || *wanted >= params.rank()) {
            throw InvalidArgument("Shape must be at least rank ", *wanted < 0 ? -*wanted : *wanted + 1, " but is rank ",
                                  params.rank());
          }
          return static_cast<int>(*wanted < 0 ? *wanted + params.rank() : *wanted);
        }();
        if (axis < batch) throw InvalidArgument("axis (", axis, ") must be >= batch_dims (", batch, ")");
        if (!indices.known_rank()) return;
        const int b = static_cast<int>(batch);
        PartialShape head = shapes::Subshape(params, 0, axis);
        for (int i = 0; i < b; ++i) head.set_dim(i, ShapeContext::MergeDim(params[i], indices[i]));
        c.out(0, shapes::Concatenate(shapes::Concatenate(head, shapes::Subshape(indices, b, indices.rank())),
                                     shapes::Subshape(params, axis + 1, params.rank())));
      })
      .Gradient([](GradContext& g) {
        int64_t batch = g.attr<int64_t>("batch_dims");
        if (batch < 0) {
          if (!g.x(1).shape().known_rank()) {
            throw InvalidArgument("the gradient of GatherV2 with negative batch_dims needs indices of known rank");
          }
          batch += g.x(1).shape().rank();
        }
        Out axis = g.x(2);
        const Tensor* value = g.scope().Constant(axis);
        int64_t known = value ? value->IntAt(0) : -1;
        const int rank = g.x(0).shape().rank();
        if (value && known < 0 && rank >= 0) known += rank;
        if (value && known == 0 && batch == 0) return g.Set(0, GatherRowsGradient(g));
        if (known < 0) {  // perhaps negative
          const Out wide = Cast(axis, DT_INT32), dims = g.Call("Rank", {g.x(0)});
          axis = g.Call("FloorMod", {wide + dims, dims});
        } else {
          axis = g.scope().Scalar(static_cast<int32_t>(known));
        }
        g.Set(0, GatherGradient(g, axis, batch));
      })
      .Doc(
          "Slices of `params` along dimension `axis` at `indices`; the first `batch_dims` dimensions of both go in "
          "step.");

  ops.Add("GatherNd")
      .Input("params: Tparams")
      .Input("indices: Tindices")
      .Output("output: Tparams")
      .Attr("Tparams: type")
      .Attr("Tindices: {int16, int32, int64}")
      .Attr("bad_indices_policy: string = ''")
      .Shape([](ShapeContext& c) {
        const PartialShape& params = c.in(0);
        const PartialShape indices = c.WithRankAtLeast(1, 1);
        if (!indices.known_rank()) return;
        const int64_t depth = indices[indices.rank() - 1];
        if (!params.known_rank() || depth < 0) return;
        if (depth > params.rank()) {
          throw InvalidArgument("indices.shape[-1] must be <= params.rank, but saw indices shape: ", indices,
                                " and params shape: ", params);
        }
        c.out(0, shapes::Concatenate(shapes::Subshape(indices, 0, indices.rank() - 1),
                                     shapes::Subshape(params, static_cast<int>(depth), params.rank())));
      })
      .Gradient([](GradContext& g) {
        const Out params = g.x(0), indices = g.x(1);
        const PartialShape& shape = indices.shape();
        const std::string policy = g.attr<std::string>("bad_indices_policy");
        if (policy.empty() && shape.known_rank() && shape.rank() == 2 && shape[1] == 1) {
          const Out flat = g.Call("Squeeze", {indices}, {{"squeeze_dims", std::vector<int64_t>{-1}}});
          return g.Set(0, Grad::Slices(g.dy(), flat, ShapeOf(params)));
        }
        g.Set(0, g.Call("ScatterNd", {indices, g.dy(), ShapeOf(params, indices.type())},
                        {{"bad_indices_policy", policy}}));
      })
      .Doc("Slices of `params` at the positions that the last dimension of `indices` spells out.");
}

}  // namespace penstock
