#include "penstock/ops/shape_helpers.h"

#include <limits>

namespace penstock::shapes {

int NormalAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("axis ", axis, " is out of range [", -rank, ", ", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> Integers(const Tensor& values) {
  std::vector<int64_t> result(values.num_elements());
  auto copy = [&]<class T>(const T* from) { std::copy(from, from + result.size(), result.begin()); };
  switch (values.dtype()) {
    case DT_INT8:
      copy(values.data<int8_t>());
      break;
    case DT_INT16:
      copy(values.data<int16_t>());
      break;
    case DT_INT32:
      copy(values.data<int32_t>());
      break;
    case DT_INT64:
      copy(values.data<int64_t>());
      break;
    case DT_UINT8:
      copy(values.data<uint8_t>());
      break;
    default:
      throw InvalidArgument("expected integers, got ", values.dtype());
  }
  return result;
}

PartialShape Merge(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank()) {
    throw InvalidArgument("Shapes must be equal rank, but are ", a.rank(), " and ", b.rank());
  }
  PartialShape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) {
      throw InvalidArgument("Dimension ", i, " in both shapes must be equal, but are ", a[i], " and ", b[i],
                            ". Shapes are ", a, " and ", b, ".");
    }
    if (a[i] < 0) merged.set_dim(i, b[i]);
  }
  return merged;
}

void RequireDim(int64_t dim, int64_t value) {
  if (dim >= 0 && dim != value) throw InvalidArgument("Dimension must be ", value, " but is ", dim);
}

int64_t AddDims(int64_t a, int64_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a < 0 || b < 0) return -1;
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw InvalidArgument("Dimension size overflow from adding ", a, " and ", b);
  }
  return sum;
}

int64_t SubtractDims(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (a < 0 || b < 0) return -1;
  if (a < b) throw InvalidArgument("Negative dimension size caused by subtracting ", b, " from ", a);
  return a - b;
}

int64_t MultiplyDims(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == 1) return b;
  if (b == 1) return a;
  if (a < 0 || b < 0) return -1;
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw InvalidArgument("Negative dimension size from overflow when multiplying ", a, " and ", b);
  }
  return product;
}

int64_t DivideDims(int64_t a, int64_t b, bool evenly) {
  if (b == 0) throw InvalidArgument("Divisor must be positive but is 0");
  if (b == 1) return a;
  if (a < 0 || b < 0) return -1;
  if (evenly && a % b != 0) {
    throw InvalidArgument("Dimension size must be evenly divisible by ", b, " but is ", a);
  }
  return a / b;
}

int64_t DimFromInput(ShapeContext& c, int i) {
  const std::optional<int64_t> value = c.in_int(i);
  if (!value) return -1;
  if (*value < 0) {
    throw InvalidArgument("Dimension size, given by scalar input ", i, ", must be non-negative but is ", *value);
  }
  return *value;
}

PartialShape AnyOfRank(int64_t rank) {
  return rank < 0 ? PartialShape() : PartialShape::OfRank(static_cast<int>(rank));
}

PartialShape PerhapsShape(ShapeContext& c, int i) {
  if (c.in_type(i) != DT_INT32 && c.in_type(i) != DT_INT64) return {};
  const PartialShape& in = c.in(i);
  if (!in.known_rank() || in.rank() > 1) return {};
  if (const Tensor* value = c.in_value(i)) {
    std::vector<int64_t> dims = Integers(*value);
    for (int64_t d : dims) {
      if (d < -1) return {};
    }
    return PartialShape(std::move(dims));
  }
  return in.rank() == 1 && in[0] <= kMaxRank ? c.in_as_shape(i) : PartialShape();
}

void FromShapeInput(ShapeContext& c) {
  const PartialShape shape = c.in_as_shape(0);
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, shape);
}

void Reduction(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  const bool keep = c.attr<bool>("keep_dims");
  c.WithRankAtMost(1, 1);
  const Tensor* axes = c.in_value(1);
  if (!axes) {
    if (keep && in.known_rank()) return c.out(0, PartialShape::OfRank(in.rank()));
    return c.out(0, PartialShape());
  }
  if (!in.known_rank()) {
    // All axes of anything: a scalar only if no axis remains, which cannot be known.
    return c.out(0, PartialShape());
  }
  std::vector<bool> reduced(in.rank(), false);
  for (int64_t i = 0; i < axes->num_elements(); ++i) {
    const int64_t axis = axes->IntAt(i);
    if (axis < -in.rank() || axis >= in.rank()) {
      throw InvalidArgument("Invalid reduction dimension ", axis, " for input with ", in.rank(), " dimensions.");
    }
    reduced[axis < 0 ? axis + in.rank() : axis] = true;
  }
  std::vector<int64_t> dims;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d]) {
      dims.push_back(in.dim(d));
    } else if (keep) {
      dims.push_back(1);
    }
  }
  c.out(0, PartialShape(std::move(dims)));
}

void UnsortedSegment(ShapeContext& c) {
  const PartialShape &data = c.in(0), &ids = c.in(1);
  c.WithRank(2, 0);
  if (!data.known_rank() || !ids.known_rank()) return c.out(0, PartialShape());
  if (data.rank() < ids.rank()) {
    throw InvalidArgument("Shape must be at least rank ", ids.rank(), " but is rank ", data.rank());
  }
  Subshape(data, 0, ids.rank()).MergeWith(ids);
  const auto n = c.in_int(2);
  if (n && *n < 0) throw InvalidArgument("Dimension size, given by scalar input 2, must be non-negative but is ", *n);
  c.out(0, Concatenate(PartialShape({n.value_or(-1)}), Subshape(data, ids.rank(), data.rank())));
}

void RequireSparse(ShapeContext& c, int at) {
  const PartialShape indices = c.WithRank(at, 2), values = c.WithRank(at + 1, 1), shape = c.WithRank(at + 2, 1);
  if (indices.known_rank() && values.known_rank()) ShapeContext::MergeDim(indices[0], values[0]);
  if (indices.known_rank() && shape.known_rank()) ShapeContext::MergeDim(indices[1], shape[0]);
}

void CheckScatter(const PartialShape& shape, const PartialShape& indices, const PartialShape& updates,
                  std::string_view target) {
  if (shape.known_rank() && shape.num_elements() == 0 && indices.num_elements() > 0 && updates.num_elements() > 0) {
    throw InvalidArgument("Indices and updates specified for empty output shape");
  }
  if (indices.known_rank() && indices.rank() < 1) throw InvalidArgument("Shape must be at least rank 1 but is rank 0");
  if (!indices.known_rank() || !updates.known_rank()) return;
  const int outer = indices.rank() - 1;
  if (updates.rank() < outer || !Subshape(indices, 0, outer).IsCompatibleWith(Subshape(updates, 0, outer))) {
    throw InvalidArgument("The outer ", outer, " dimensions of indices.shape=", indices, " must match the outer ",
                          outer, " dimensions of updates.shape=", updates);
  }
  const int64_t depth = indices[outer];
  if (depth < 0 || !shape.known_rank() || depth > shape.rank()) return;
  const int d = static_cast<int>(depth), inner = shape.rank() - d;
  if (!Subshape(shape, d, shape.rank()).IsCompatibleWith(Subshape(updates, outer, updates.rank()))) {
    throw InvalidArgument("The inner ", inner, " dimensions of ", target, ".shape=", shape, " must match the inner ",
                          updates.rank() - outer, " dimensions of updates.shape=", updates);
  }
}

}  // namespace penstock::shapes

namespace penstock {

Out AllAxes(Out x) {
  Scope& scope = *x.scope;
  if (x.shape().known_rank()) {
    std::vector<int32_t> axes(x.shape().rank());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int32_t>(i);
    return ConstVector(scope, std::move(axes));
  }
  return Call("Range", {scope.Scalar<int32_t>(0), Call("Rank", {x}), scope.Scalar<int32_t>(1)});
}

Out VectorSlice(Out v, Out begin, Out end) {
  auto vector = [](Out scalar) { return Reshape(scalar, ConstVector(*scalar.scope, {1})); };
  Scope& scope = *v.scope;
  const Out one =
      begin.type() == DT_INT64 ? scope.Const(Tensor::Vector(std::vector<int64_t>{1})) : ConstVector(scope, {1});
  return Call("StridedSlice", {v, vector(begin), vector(end), one});
}

Out ConcatVectors(std::initializer_list<Out> parts) {
  Outs inputs(parts);
  inputs.push_back(inputs[0].scope->Scalar<int32_t>(0));
  return CallOp("ConcatV2", inputs, {{"N", static_cast<int64_t>(parts.size())}})[0];
}

Out ShapePart(Out x, int begin, int end, DataType type) {
  Scope& scope = *x.scope;
  const PartialShape& shape = x.shape();
  if (shape.known_rank()) {
    if (end < 0) end = shape.rank();
    std::vector<int64_t> dims(shape.dims().begin() + begin, shape.dims().begin() + end);
    bool known = true;
    for (int64_t d : dims) known &= d >= 0 && (type == DT_INT64 || d <= std::numeric_limits<int32_t>::max());
    if (known && type == DT_INT64) return scope.Const(Tensor::Vector(dims));
    if (known) return ConstVector(scope, std::vector<int32_t>(dims.begin(), dims.end()));
  }
  return Call(
      "StridedSlice",
      {ShapeOf(x, type), ConstVector(scope, {begin}), ConstVector(scope, {end < 0 ? 0 : end}), ConstVector(scope, {1})},
      {{"end_mask", end < 0 ? 1 : 0}});
}

void IdentityGradient(GradContext& g) { g.Set(0, g.raw_dy()); }

void ReshapeToInputGradient(GradContext& g) { g.Set(0, ReshapeLike(g.dy(), g.x(0))); }

}  // namespace penstock
