#include "penstock/op/shape_inference.h"

#include <algorithm>

namespace penstock {

std::pair<int, int> ShapeContext::InputRange(std::string_view name) const {
  int at = 0;
  for (const ArgDef& arg : op_->inputs) {
    int n = 1;
    if (!arg.number_attr.empty()) n = static_cast<int>(attr<int64_t>(arg.number_attr));
    if (!arg.type_list_attr.empty()) n = static_cast<int>(attr<std::vector<DataType>>(arg.type_list_attr).size());
    if (arg.name == name) return {at, n};
    at += n;
  }
  throw Internal("op ", op_->name, " has no input ", name);
}

PartialShape ShapeContext::in_as_shape(int i) {
  const PartialShape shape = WithRank(i, 1);
  if (const Tensor* value = in_value(i)) {
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < value->num_elements(); ++d) {
      const int64_t size = value->IntAt(d);
      if (size < -1) throw InvalidArgument("Invalid value in tensor used for shape: ", size);
      dims.push_back(size);
    }
    return PartialShape(std::move(dims));
  }
  if (shape[0] < 0) return PartialShape();
  if (shape[0] > kMaxRank) throw InvalidArgument("Shape of rank ", shape[0], " is not supported");
  return PartialShape::OfRank(static_cast<int>(shape[0]));
}

std::optional<int64_t> ShapeContext::in_int(int i) {
  const Tensor* value = in_value(i);
  if (!value) return std::nullopt;
  if (value->rank() != 0 || (value->dtype() != DT_INT32 && value->dtype() != DT_INT64)) {
    throw InvalidArgument("Input must be scalar but has rank ", value->rank());
  }
  return value->IntAt(0);
}

PartialShape ShapeContext::WithRank(const PartialShape& shape, int rank) {
  if (!shape.known_rank()) return PartialShape::OfRank(rank);
  if (shape.rank() != rank) throw InvalidArgument("Shape must be rank ", rank, " but is rank ", shape.rank());
  return shape;
}
PartialShape ShapeContext::WithRankAtLeast(const PartialShape& shape, int rank) {
  if (shape.known_rank() && shape.rank() < rank) {
    throw InvalidArgument("Shape must be at least rank ", rank, " but is rank ", shape.rank());
  }
  return shape;
}
PartialShape ShapeContext::WithRankAtMost(const PartialShape& shape, int rank) {
  if (shape.known_rank() && shape.rank() > rank) {
    throw InvalidArgument("Shape must be at most rank ", rank, " but is rank ", shape.rank());
  }
  return shape;
}
PartialShape ShapeContext::WithRank(int i, int rank) { return WithRank(in(i), rank); }
PartialShape ShapeContext::WithRankAtLeast(int i, int rank) { return WithRankAtLeast(in(i), rank); }
PartialShape ShapeContext::WithRankAtMost(int i, int rank) { return WithRankAtMost(in(i), rank); }

int64_t ShapeContext::MergeDim(int64_t a, int64_t b) {
  if (a < 0) return b;
  if (b >= 0 && a != b) throw InvalidArgument("Dimensions must be equal, but are ", a, " and ", b);
  return a;
}

namespace shapes {

void Unknown(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, PartialShape());
}
void Scalar(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, PartialShape(std::vector<int64_t>{}));
}
void None(ShapeContext&) {}
void SameAsInput0(ShapeContext& c) {
  c.out(0, c.in(0));
  c.out_handle(0, c.in_handle(0));
}
void Broadcast(ShapeContext& c) { c.out(0, BroadcastShapes(c.in(0), c.in(1))); }
void MergeAll(ShapeContext& c) {
  PartialShape merged = c.in(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    try {
      merged = c.in(i).MergeWith(merged);
    } catch (const Error& e) {
      throw InvalidArgument(e.what(), "\n\tFrom merging shape ", i, " with other shapes.");
    }
  }
  c.out(0, merged);
}

PartialShape BroadcastShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return PartialShape();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t x = ia < 0 ? 1 : a[ia], y = ib < 0 ? 1 : b[ib];
    if (x < 0 || y < 0) {
      // An unknown size may be 1; against a known size other than 1 the result is that size.
      dims[i] = x > 1 ? x : y > 1 ? y : x == 1 ? y : y == 1 ? x : -1;
      if ((x == 0 && y < 0) || (y == 0 && x < 0)) dims[i] = 0;
    } else if (x == y || y == 1) {
      dims[i] = x;
    } else if (x == 1) {
      dims[i] = y;
    } else {
      throw InvalidArgument("Dimensions must be equal, but are ", x, " and ", y);
    }
  }
  return PartialShape(std::move(dims));
}

PartialShape Concatenate(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return PartialShape();
  std::vector<int64_t> dims = a.dims();
  dims.insert(dims.end(), b.dims().begin(), b.dims().end());
  return PartialShape(std::move(dims));
}

PartialShape Subshape(const PartialShape& s, int begin, int end) {
  if (!s.known_rank()) return s;
  const int rank = s.rank();
  begin = std::clamp(begin < 0 ? begin + rank : begin, 0, rank);
  end = std::clamp(end < 0 ? end + rank : end, begin, rank);
  return PartialShape(std::vector<int64_t>(s.dims().begin() + begin, s.dims().begin() + end));
}

Window WindowedOutput(int64_t in, int64_t filter, int64_t dilation, int64_t stride, std::string_view padding,
                      int64_t explicit_before, int64_t explicit_after) {
  if (stride <= 0) throw InvalidArgument("Stride must be > 0, but got ", stride);
  if (dilation < 1) throw InvalidArgument("Dilation rate must be >= 1, but got ", dilation);
  if (in < 0 || filter < 0) return {-1, explicit_before, explicit_after};
  const int64_t reach = (filter - 1) * dilation + 1;
  Window w{0, 0, 0};
  if (padding == "VALID") {
    w.out = (in - reach + stride) / stride;
  } else if (padding == "EXPLICIT") {
    w.pad_before = explicit_before;
    w.pad_after = explicit_after;
    w.out = (in + explicit_before + explicit_after - reach + stride) / stride;
  } else if (padding == "SAME") {
    w.out = (in + stride - 1) / stride;
    const int64_t pad = std::max<int64_t>(0, (w.out - 1) * stride + reach - in);
    w.pad_before = pad / 2;
    w.pad_after = pad - w.pad_before;
  } else {
    throw InvalidArgument("Unknown padding type: ", padding);
  }
  if (w.out < 0) {  // rounded towards zero: a window that reaches beyond the image by less than a stride gives nothing
    throw InvalidArgument("Computed output size would be negative: ", w.out, " [input_size: ", in,
                          ", effective_filter_size: ", reach, ", stride: ", stride, "]");
  }
  return w;
}

}  // namespace shapes
}  // namespace penstock
