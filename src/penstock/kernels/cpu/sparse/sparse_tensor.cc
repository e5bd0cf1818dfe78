#include "penstock/kernels/cpu/sparse/sparse_tensor.h"

#include <algorithm>
#include <numeric>

#include "penstock/kernels/cpu/array/copy.h"

namespace penstock {

SparseInput::SparseInput(KernelContext& k, int indices_at, int values_at, int shape_at, bool check_bounds) {
  const Tensor &index = k.input(indices_at), &dims = k.input(shape_at);
  values = &k.input(values_at);
  k.Require(index.rank() == 2, "Input indices should be a matrix but received shape ", index.shape());
  k.Require(values->rank() == 1, "Input values should be a vector but received shape ", values->shape());
  k.Require(dims.rank() == 1, "Input shape should be a vector but received shape ", dims.shape());
  entries = index.dim(0);
  rank = index.dim(1);
  k.Require(values->dim(0) == entries, "Number of values must match first dimension of indices. Got ", values->dim(0),
            " values, indices shape: ", index.shape());
  k.Require(dims.num_elements() == rank, "Number of dimensions must match second dimension of indices. Got ",
            dims.num_elements(), " dimensions, indices shape: ", index.shape());
  shape = k.Ints(shape_at);
  for (const int64_t d : shape) k.Require(d >= 0, "Shape dimensions must be non-negative, got ", d);
  indices = index.data<int64_t>();
  if (!check_bounds) return;
  for (int64_t e = 0; e < entries; ++e) {
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t i = at(e)[d];
      if (i >= 0 && i < shape[d]) continue;
      throw InvalidArgument("indices[", e, "] = [", StrJoin(std::span(at(e), rank), ","),
                            "] is out of bounds: need 0 <= index < [", StrJoin(shape, ","), "]");
    }
  }
}

std::vector<int64_t> SparseStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    if (__builtin_mul_overflow(step, std::max<int64_t>(shape[i], 1), &step)) {
      throw InvalidArgument("Shape [", StrJoin(shape, ","), "] has too many elements");
    }
  }
  return strides;
}

int64_t FlatPosition(const int64_t* index, const std::vector<int64_t>& strides) {
  int64_t at = 0;
  for (size_t d = 0; d < strides.size(); ++d) at += index[d] * strides[d];
  return at;
}

int ComparePositions(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

std::vector<int64_t> RowMajorOrder(const SparseInput& in) {
  std::vector<int64_t> order(in.entries);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](int64_t a, int64_t b) { return ComparePositions(in.at(a), in.at(b), in.rank) < 0; };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  return order;
}

void PutEntries(KernelContext& k, const SparseInput& in, const std::vector<int64_t>& entries, int indices_at,
                int values_at) {
  const int64_t n = static_cast<int64_t>(entries.size());
  int64_t* indices = k.Output(indices_at, Shape({n, in.rank})).mutable_data<int64_t>();
  Tensor& values = k.Output(values_at, Shape({n}));
  for (int64_t e = 0; e < n; ++e) {
    std::copy_n(in.at(entries[e]), in.rank, indices + e * in.rank);
    CopyElements(values.dtype(), At(values, e), At(*in.values, entries[e]), 1);
  }
}

void PutVector(KernelContext& k, int output, const std::vector<int64_t>& values) {
  k.SetOutput(output, Tensor::Vector(values));
}

}  // namespace penstock
