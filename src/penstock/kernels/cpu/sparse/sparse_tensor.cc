#include "penstock/kernels/cpu/sparse/sparse_tensor.h"

#include <algorithm>
#include <numeric>

#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/copy_one.h"

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

namespace {

// Sorts pairs of key and number by keys below `limit`, stably: byte by byte, which takes a fraction of what comparing
// does.
void SortByKeys(std::vector<std::pair<uint64_t, int64_t>>& pairs, uint64_t limit) {
  std::vector<std::pair<uint64_t, int64_t>> other(pairs.size());
  for (int shift = 0; shift < 64 && limit >> shift; shift += 8) {
    size_t starts[257] = {};
    for (const auto& [key, number] : pairs) ++starts[(key >> shift & 255) + 1];
    for (int i = 0; i < 256; ++i) starts[i + 1] += starts[i];
    for (const auto& pair : pairs) other[starts[pair.first >> shift & 255]++] = pair;
    pairs.swap(other);
  }
}

}  // namespace

bool InRowMajorOrder(const int64_t* indices, int64_t entries, int64_t rank) {
  for (int64_t e = 1; e < entries; ++e) {
    if (ComparePositions(indices + (e - 1) * rank, indices + e * rank, rank) > 0) return false;
  }
  return true;
}

std::vector<int64_t> RowMajorOrder(const int64_t* indices, int64_t entries, const std::vector<int64_t>& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> order(entries);
  std::iota(order.begin(), order.end(), 0);
  if (InRowMajorOrder(indices, entries, rank)) return order;
  int64_t elements = 1;
  bool has_keys = entries >= 64;
  for (const int64_t d : shape) has_keys = has_keys && !__builtin_mul_overflow(elements, d, &elements);
  std::vector<std::pair<uint64_t, int64_t>> pairs(has_keys ? entries : 0);
  for (int64_t e = 0; has_keys && e < entries; ++e) {
    uint64_t key = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const auto i = static_cast<uint64_t>(indices[e * rank + d]), size = static_cast<uint64_t>(shape[d]);
      has_keys &= i < size;
      key = key * size + i;
    }
    pairs[e] = {key, e};
  }
  if (has_keys) {
    SortByKeys(pairs, static_cast<uint64_t>(elements));
    for (int64_t e = 0; e < entries; ++e) order[e] = pairs[e].second;
  } else {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return ComparePositions(indices + a * rank, indices + b * rank, rank) < 0;
    });
  }
  return order;
}

int64_t* PutEntries(KernelContext& k, const SparseInput& in, const std::vector<int64_t>& entries, int indices_at,
                    int values_at) {
  const int64_t n = static_cast<int64_t>(entries.size());
  int64_t* indices = k.Output(indices_at, Shape({n, in.rank})).mutable_data<int64_t>();
  Tensor& values = k.Output(values_at, Shape({n}));
  WithCopyOf(values.dtype(), 1, [&](auto copy) {
    for (int64_t e = 0; e < n; ++e) {
      for (int64_t d = 0; d < in.rank; ++d) indices[e * in.rank + d] = in.at(entries[e])[d];
      copy(At(values, e), At(*in.values, entries[e]));
    }
  });
  return indices;
}

void PutVector(KernelContext& k, int output, const std::vector<int64_t>& values) {
  k.SetOutput(output, Tensor::Vector(values));
}

}  // namespace penstock
