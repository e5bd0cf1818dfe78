// Sets: the rows along the last dimension of dense or sparse tensors.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

// A sparse tensor of this rank (negative: unknown) in outputs 0 to 2.
void PutSparse(ShapeContext& c, int64_t rank) {
  c.out(0, {-1, rank});
  c.out(1, PartialShape({-1}));
  c.out(2, PartialShape({rank}));
}

int64_t SparseRank(ShapeContext& c, int at) {
  shapes::RequireSparse(c, at);
  return c.in(at + 2).known_rank() ? c.in(at + 2)[0] : -1;
}

void DenseShape(ShapeContext& c) {
  const PartialShape a = c.WithRankAtLeast(0, 2);
  const PartialShape b = a.known_rank() ? c.WithRank(1, a.rank()) : c.WithRankAtLeast(1, 2);
  if (a.known_rank() && b.known_rank()) {
    shapes::Merge(shapes::Subshape(a, 0, a.rank() - 1), shapes::Subshape(b, 0, b.rank() - 1));
  }
  PutSparse(c, a.known_rank() ? a.rank() : b.rank());
}

void DenseSparseShape(ShapeContext& c) {
  int64_t rank = SparseRank(c, 1);
  const PartialShape a = c.WithRankAtLeast(0, 2);
  if (a.known_rank()) {
    shapes::RequireDim(rank, a.rank());
    rank = a.rank();
  }
  PutSparse(c, rank);
}

void SparseShape(ShapeContext& c) {
  const int64_t a = SparseRank(c, 0), b = SparseRank(c, 3);
  PutSparse(c, ShapeContext::MergeDim(a, b));
}

}  // namespace

void RegisterSetOps(OpRegistry& ops) {
  ops.Add("SetSize").Input("set_indices: int64").Input("set_values: T").Input("set_shape: int64")
      .Output("size: int32").Attr("validate_indices: bool = true")
      .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}").NotDifferentiable()
      .Doc("The number of different values in each row along the last dimension of a sparse tensor.");
  ops.Add("DenseToDenseSetOperation").Input("set1: T").Input("set2: T").Output("result_indices: int64")
      .Output("result_values: T").Output("result_shape: int64").Attr("set_operation: string")
      .Attr("validate_indices: bool = true").Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
      .NotDifferentiable().Shape(DenseShape)
      .Doc("A set operation on the rows of two tensors; the results' rows are sorted.");
  ops.Add("DenseToSparseSetOperation").Input("set1: T").Input("set2_indices: int64").Input("set2_values: T")
      .Input("set2_shape: int64").Output("result_indices: int64").Output("result_values: T")
      .Output("result_shape: int64").Attr("set_operation: string").Attr("validate_indices: bool = true")
      .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}").NotDifferentiable().Shape(DenseSparseShape)
      .Doc("A set operation on the rows of a tensor and of a sparse one.");
  ops.Add("SparseToSparseSetOperation").Input("set1_indices: int64").Input("set1_values: T")
      .Input("set1_shape: int64").Input("set2_indices: int64").Input("set2_values: T").Input("set2_shape: int64")
      .Output("result_indices: int64").Output("result_values: T").Output("result_shape: int64")
      .Attr("set_operation: string").Attr("validate_indices: bool = true")
      .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}").NotDifferentiable().Shape(SparseShape)
      .Doc("A set operation on the rows of two sparse tensors.");
}

}  // namespace penstock
