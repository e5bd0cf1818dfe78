// What the kernels on sparse tensors share: the three parts checked, entries in row-major order.
#pragma once

#include <vector>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Inputs `first` (indices, [entries, rank]), first + 1 (values) and first + 2 (shape), found to belong together.
struct SparseInput {
  const Tensor* values;
  const int64_t* indices;
  int64_t entries, rank;
  std::vector<int64_t> shape;

  // InvalidArgument if the parts do not fit or, with `check_bounds`, an index lies outside the shape.
  SparseInput(KernelContext& k, int first, bool check_bounds = true)
      : SparseInput(k, first, first + 1, first + 2, check_bounds) {}
  SparseInput(KernelContext& k, int indices_at, int values_at, int shape_at, bool check_bounds);
  const int64_t* at(int64_t entry) const { return indices + entry * rank; }
};

// Row-major strides of a shape; InvalidArgument if it has more elements than an int64 counts.
std::vector<int64_t> SparseStrides(const std::vector<int64_t>& shape);
int64_t FlatPosition(const int64_t* index, const std::vector<int64_t>& strides);
// -1, 0, 1 as position a comes before, at, behind b.
inline int ComparePositions(const int64_t* a, const int64_t* b, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}
bool InRowMajorOrder(const int64_t* indices, int64_t entries, int64_t rank);
// Entries' numbers in row-major order; entries at the same place keep their order. Indices may lie outside the shape.
std::vector<int64_t> RowMajorOrder(const int64_t* indices, int64_t entries, const std::vector<int64_t>& shape);

// Outputs `indices_at` and `values_at`: entries of `in` by number. Returns where their indices lie now.
int64_t* PutEntries(KernelContext& k, const SparseInput& in, const std::vector<int64_t>& entries, int indices_at,
                    int values_at);
void PutVector(KernelContext& k, int output, const std::vector<int64_t>& values);

}  // namespace penstock
