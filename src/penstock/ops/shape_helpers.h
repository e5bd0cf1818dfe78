// Shape functions' and gradients' small change: axes, merges, dimension arithmetic.
#pragma once

#include <optional>
#include <vector>

#include "penstock/graph/gradient.h"
#include "penstock/op/shape_inference.h"
#include "penstock/ops/integers.h"

namespace penstock::shapes {

// An axis of `rank` dimensions, made non-negative. InvalidArgument naming both if it is out of range.
int NormalAxis(int64_t axis, int rank);
// What both shapes know together; errors worded as TensorFlow's ("Shapes must be equal rank, but are 2 and 1").
PartialShape Merge(const PartialShape& a, const PartialShape& b);
// InvalidArgument "Dimension must be 3 but is 2" if `dim` is known and differs.
void RequireDim(int64_t dim, int64_t value);
// Sums, differences and products of dimensions; unknown if either is, unless the other decides.
int64_t AddDims(int64_t a, int64_t b);
int64_t SubtractDims(int64_t a, int64_t b);  // InvalidArgument "Negative dimension size caused by subtracting 3 from 2"
int64_t MultiplyDims(int64_t a, int64_t b);
int64_t DivideDims(int64_t a, int64_t b, bool evenly = true);
// The dimension given by scalar input i: its value, or unknown. InvalidArgument if negative.
int64_t DimFromInput(ShapeContext& c, int i);
// Unknown dimensions, as many as `rank`; unknown rank if that is negative.
PartialShape AnyOfRank(int64_t rank);
// Input i, which may or may not be a part of a shape, as far as its elements are known; unknown if it is none. Never
// throws: for ShapeValue functions, which are asked about any tensor.
PartialShape PerhapsShape(ShapeContext& c, int i);
// All outputs take the shape that input 0 is a vector of.
void FromShapeInput(ShapeContext& c);
// Input 0 without the axes in input 1 (attribute keep_dims), and with one dimension of input 2 in place of those of
// input 1.
void Reduction(ShapeContext& c);
void UnsortedSegment(ShapeContext& c);
// Inputs at, at + 1, at + 2 may be indices, values and shape of a sparse tensor. InvalidArgument if not.
void RequireSparse(ShapeContext& c, int at);
// InvalidArgument unless updates [..., inner] at indices [..., depth] fit a target of shape `shape`, which messages
// call `target`. Depths beyond its rank are left to whoever runs it.
void CheckScatter(const PartialShape& shape, const PartialShape& indices, const PartialShape& updates,
                  std::string_view target);

}  // namespace penstock::shapes

namespace penstock {

// All axes of x, for a reduction: a constant if the rank is known.
Out AllAxes(Out x);
// Part of a vector: v[begin:end].
Out VectorSlice(Out v, Out begin, Out end);
// Vectors end to end.
Out ConcatVectors(std::initializer_list<Out> parts);
// Elements [begin, end) of x's shape as a vector, constant where known; end < 0: to the last.
Out ShapePart(Out x, int begin, int end, DataType type = DT_INT32);
// Gradients that pass straight through to input 0.
void IdentityGradient(GradContext& g);
void ReshapeToInputGradient(GradContext& g);

}  // namespace penstock
