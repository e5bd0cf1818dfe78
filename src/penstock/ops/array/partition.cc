// Rows dealt out to several tensors, and brought together again; rows changed in place.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void StitchShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  PartialShape inner;
  int64_t rows = 0;
  bool known = true;
  for (int i = 0; i < n; ++i) {
    const PartialShape &indices = c.in(i), &data = c.in(n + i);
    if (const Tensor* value = c.in_value(i)) {
      for (int64_t index : shapes::Integers(*value)) rows = std::max(rows, index + 1);
    } else {
      known = false;
    }
    if (!indices.known_rank() || !data.known_rank()) continue;
    if (data.rank() < indices.rank()) {
      throw InvalidArgument("data[", i, "].shape must start with indices[", i, "].shape: ", data, " against ", indices);
    }
    shapes::Merge(indices, shapes::Subshape(data, 0, indices.rank()));
    inner = shapes::Merge(inner, shapes::Subshape(data, indices.rank(), data.rank()));
  }
  c.out(0, shapes::Concatenate(PartialShape({known ? rows : -1}), inner));
}

void StitchGradient(GradContext& g) {
  const int n = g.num_inputs() / 2;
  for (int i = 0; i < n; ++i) g.Set(n + i, g.Call("GatherV2", {g.dy(), g.x(i), g.scope().Scalar<int32_t>(0)}));
}

void InplaceShape(ShapeContext& c) { c.out(0, c.in(0)); }

OpBuilder Stitch(OpRegistry& ops, std::string_view name) {
  return ops.Add(name)
      .Input("indices: N * int32")
      .Input("data: N * T")
      .Output("merged: T")
      .Attr("N: int >= 1")
      .Attr("T: type")
      .Shape(StitchShape)
      .Gradient(StitchGradient);
}

OpBuilder OfRows(OpRegistry& ops, std::string_view name) {
  return ops.Add(name).Input("x: T").Input("i: int32").Input("v: T").Output("y: T").Attr("T: type").Shape(InplaceShape);
}

}  // namespace

void RegisterPartitionOps(OpRegistry& ops) {
  ops.Add("DynamicPartition")
      .Input("data: T")
      .Input("partitions: int32")
      .Output("outputs: num_partitions * T")
      .Attr("num_partitions: int >= 1")
      .Attr("T: type")
      .Shape([](ShapeContext& c) {
        const PartialShape &data = c.in(0), &partitions = c.in(1);
        PartialShape out;
        if (data.known_rank() && partitions.known_rank()) {
          const int p = partitions.rank();
          if (data.rank() < p) {
            throw InvalidArgument("data.shape must start with partitions.shape: ", data, " against ", partitions);
          }
          shapes::Merge(shapes::Subshape(data, 0, p), partitions);
          out = shapes::Concatenate(PartialShape({-1}), shapes::Subshape(data, p, data.rank()));
        }
        for (int i = 0; i < c.num_outputs(); ++i) c.out(i, out);
      })
      .Gradient([](GradContext& g) {
        // The rows' own numbers go the same way, and bring the gradients back.
        Scope& scope = g.scope();
        const Out partitions = g.x(1), shape = ShapeOf(partitions);
        const Out count = g.Call("Prod", {shape, ConstVector(scope, {0})}, {{"keep_dims", false}});
        const Out numbers =
            Reshape(g.Call("Range", {scope.Scalar<int32_t>(0), count, scope.Scalar<int32_t>(1)}), shape);
        Outs inputs = g.CallAll("DynamicPartition", std::vector<Out>{numbers, partitions},
                                {{"num_partitions", g.attr("num_partitions")}});
        const int64_t n = static_cast<int64_t>(inputs.size());
        for (int i = 0; i < n; ++i) inputs.push_back(g.dy(i));
        const Out joined = g.CallAll("ParallelDynamicStitch", inputs, {{"N", n}})[0];
        g.Set(0, ReshapeLike(joined, g.x(0)));
      })
      .Doc("Row i of `data` goes to output partitions[i], in order.");

  Stitch(ops, "DynamicStitch")
      .Doc("Row j of data[i] becomes row indices[i][j]; where several want one row, the last wins.");

  Stitch(ops, "ParallelDynamicStitch").Doc("Row j of data[i] becomes row indices[i][j]; each row has one source.");

  OfRows(ops, "InplaceUpdate").Doc("`x` with rows `i` replaced by `v`.");

  OfRows(ops, "InplaceAdd").Doc("`x` with `v` added to rows `i`.");

  OfRows(ops, "InplaceSub").Doc("`x` with `v` subtracted from rows `i`.");
}

}  // namespace penstock
