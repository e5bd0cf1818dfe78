// Every combination of the features of each row.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void CrossShape(ShapeContext& c) {
  c.out(0, {-1, 2});
  c.out(1, {-1});
  c.out(2, {2});
}

}  // namespace

void RegisterSparseCrossOps(OpRegistry& ops) {
  ops.Add("SparseCross").Input("indices: N * int64").Input("values: sparse_types").Input("shapes: N * int64")
      .Input("dense_inputs: dense_types").Output("output_indices: int64").Output("output_values: out_type")
      .Output("output_shape: int64").Attr("N: int >= 0").Attr("hashed_output: bool").Attr("num_buckets: int >= 0")
      .Attr("hash_key: int").Attr("sparse_types: list({int64, string}) >= 0")
      .Attr("dense_types: list({int64, string}) >= 0").Attr("out_type: {int64, string}")
      .Attr("internal_type: {int64, string}").Shape(CrossShape)
      .Doc("For each row, every combination of one feature of each input: joined by _X_, or as a hash.");
  ops.Add("SparseCrossV2").Input("indices: N * int64").Input("values: sparse_types").Input("shapes: N * int64")
      .Input("dense_inputs: dense_types").Input("sep: string").Output("output_indices: int64")
      .Output("output_values: string").Output("output_shape: int64").Attr("N: int >= 0")
      .Attr("sparse_types: list({int64, string}) >= 0").Attr("dense_types: list({int64, string}) >= 0")
      .Shape(CrossShape).Doc("For each row, every combination of one feature of each input, joined by `sep`.");
  ops.Add("SparseCrossHashed").Input("indices: N * int64").Input("values: sparse_types").Input("shapes: N * int64")
      .Input("dense_inputs: dense_types").Input("num_buckets: int64").Input("strong_hash: bool").Input("salt: int64")
      .Output("output_indices: int64").Output("output_values: int64").Output("output_shape: int64").Attr("N: int >= 0")
      .Attr("sparse_types: list({int64, string}) >= 0").Attr("dense_types: list({int64, string}) >= 0")
      .Shape(CrossShape).Doc("For each row, the hash of every combination of one feature of each input.");
  ops.Add("RaggedCross")
      .Input("ragged_values: ragged_values_types")
      .Input("ragged_row_splits: ragged_splits_types")
      .Input("sparse_indices: Nsparse * int64")
      .Input("sparse_values: sparse_values_types")
      .Input("sparse_shape: Nsparse * int64")
      .Input("dense_inputs: dense_types")
      .Output("output_values: out_values_type")
      .Output("output_row_splits: out_row_splits_type")
      .Attr("Nsparse: int >= 0")
      .Attr("input_order: string")
      .Attr("hashed_output: bool")
      .Attr("num_buckets: int >= 0")
      .Attr("hash_key: int")
      .Attr("ragged_values_types: list({int64, string}) >= 0")
      .Attr("ragged_splits_types: list({int32, int64}) >= 0")
      .Attr("sparse_values_types: list({int64, string}) >= 0")
      .Attr("dense_types: list({int64, string}) >= 0")
      .Attr("out_values_type: {int64, string}")
      .Attr("out_row_splits_type: {int32, int64}")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.out(0, PartialShape({-1}));
        c.out(1, PartialShape({-1}));
      })
      .Doc("Every combination of the features of each row, as a ragged tensor.");
}

}  // namespace penstock
