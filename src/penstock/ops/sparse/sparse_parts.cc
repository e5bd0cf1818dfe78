// Sparse tensors that leave a graph as strings, variants or numbers of a table, and come back.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void Put(ShapeContext& c, const PartialShape& shape) {
  shapes::RequireSparse(c, 0);
  c.out(0, shape);
}
void OneShape(ShapeContext& c) { Put(c, PartialShape({3})); }
void ManyShape(ShapeContext& c) { Put(c, {-1, 3}); }
void AddShape(ShapeContext& c) { Put(c, PartialShape({})); }
void AddManyShape(ShapeContext& c) { Put(c, PartialShape({-1})); }

void Back(ShapeContext& c) {
  c.out(0, PartialShape::OfRank(2));
  c.out(1, PartialShape::OfRank(1));
  c.out(2, PartialShape::OfRank(1));
}
void BackShape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 1);
  if (in.known_rank()) shapes::RequireDim(in[in.rank() - 1], 3);
  Back(c);
}
void BackManyShape(ShapeContext& c) {
  c.WithRank(0, 2);
  BackShape(c);
}
void TakeShape(ShapeContext& c) {
  c.WithRank(0, 1);
  Back(c);
}

}  // namespace

void RegisterSparsePartsOps(OpRegistry& ops) {
  ops.Add("SerializeSparse").Input("sparse_indices: int64").Input("sparse_values: T").Input("sparse_shape: int64")
      .Output("serialized_sparse: out_type").Attr("T: type").Attr("out_type: {string, variant} = DT_STRING")
      .Shape(OneShape).Doc("A sparse tensor as three strings or variants.");
  ops.Add("SerializeManySparse").Input("sparse_indices: int64").Input("sparse_values: T").Input("sparse_shape: int64")
      .Output("serialized_sparse: out_type").Attr("T: type").Attr("out_type: {string, variant} = DT_STRING")
      .Shape(ManyShape).Doc("Each row of a sparse tensor as three strings or variants.");
  ops.Add("DeserializeSparse").Input("serialized_sparse: Tserialized").Output("sparse_indices: int64")
      .Output("sparse_values: dtype").Output("sparse_shape: int64").Attr("dtype: type")
      .Attr("Tserialized: {string, variant} = DT_STRING").Shape(BackShape)
      .Doc("The sparse tensors that SerializeSparse gave, side by side.");
  ops.Add("DeserializeManySparse").Input("serialized_sparse: string").Output("sparse_indices: int64")
      .Output("sparse_values: dtype").Output("sparse_shape: int64").Attr("dtype: type").Shape(BackManyShape)
      .Doc("The sparse tensors that SerializeManySparse gave, side by side.");
  ops.Add("AddSparseToTensorsMap").Input("sparse_indices: int64").Input("sparse_values: T")
      .Input("sparse_shape: int64").Output("sparse_handle: int64").Attr("T: type").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(AddShape)
      .Doc("Puts a sparse tensor into a table; gives its number there.");
  ops.Add("AddManySparseToTensorsMap").Input("sparse_indices: int64").Input("sparse_values: T")
      .Input("sparse_shape: int64").Output("sparse_handles: int64").Attr("T: type").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(AddManyShape)
      .Doc("Puts each row of a sparse tensor into a table; gives their numbers there.");
  ops.Add("TakeManySparseFromTensorsMap").Input("sparse_handles: int64").Output("sparse_indices: int64")
      .Output("sparse_values: dtype").Output("sparse_shape: int64").Attr("dtype: type").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(TakeShape)
      .Doc("Takes sparse tensors out of a table, side by side.");
}

}  // namespace penstock
