// Counting values in each row of a sparse or ragged batch (bincounts), and counts as sparse tensors.
#include <algorithm>
#include <map>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/sparse/sparse_tensor.h"

namespace penstock {
namespace {

using Countable = Types<int32_t, int64_t, float, double>;

// Values that belong to rows; a vector is one row, which the result has no dimension for.
struct Batch {
  const Tensor* values = nullptr;
  int64_t rows = 1;
  bool vector = false;
  std::vector<int64_t> row = {};  // of each value; all 0 if empty

  int64_t row_of(int64_t i) const { return row.empty() ? 0 : row[i]; }
  Shape shape(int64_t columns) const { return vector ? Shape({columns}) : Shape({rows, columns}); }
};

Batch DenseBatch(KernelContext& k, int values) {
  Batch batch{.values = &k.input(values)};
  const Shape shape = k.shape(values);
  k.Require(shape.rank() == 1 || shape.rank() == 2, "Input must be a 1 or 2-dimensional tensor. Got: ", shape);
  batch.vector = shape.rank() == 1;
  if (batch.vector) return batch;
  batch.rows = shape.dim(0);
  batch.row.resize(shape.num_elements());
  for (size_t i = 0; i < batch.row.size(); ++i) batch.row[i] = static_cast<int64_t>(i) / shape.dim(1);
  return batch;
}

// Inputs 0 to 2: indices, values, dense shape.
Batch SparseBatch(KernelContext& k) {
  const SparseInput in(k, 0);
  k.Require(in.rank > 0, "The dense shape must have at least one dimension");
  Batch batch{.values = in.values, .vector = in.rank == 1};
  if (batch.vector) return batch;
  batch.rows = in.shape[0];
  batch.row.resize(in.entries);
  for (int64_t i = 0; i < in.entries; ++i) batch.row[i] = in.at(i)[0];
  return batch;
}

// Inputs 0 and 1: row splits, values.
Batch RaggedBatch(KernelContext& k) {
  Batch batch{.values = &k.input(1)};
  k.Require(k.shape(0).rank() == 1, "Splits must be a vector, but have shape ", k.shape(0));
  k.Require(k.shape(1).rank() == 1, "Input values must be a vector. Got: ", k.shape(1));
  const std::vector<int64_t> splits = k.Ints(0);
  k.Require(!splits.empty(), "Splits must be non-empty");
  k.Require(splits[0] == 0, "Splits must start with 0, not with ", splits[0]);
  k.Require(splits.back() == batch.values->num_elements(), "Splits must end with the number of values, got ",
            splits.back(), " instead of ", batch.values->num_elements());
  k.Require(std::is_sorted(splits.begin(), splits.end()), "Splits must not decrease");
  batch.rows = static_cast<int64_t>(splits.size()) - 1;
  batch.row.resize(splits.back());
  for (int64_t r = 0; r < batch.rows; ++r) {
    std::fill(batch.row.begin() + splits[r], batch.row.begin() + splits[r + 1], r);
  }
  return batch;
}

template <class T>
struct RowBincount {
  bool binary, ragged;
  explicit RowBincount(const NodeView& node)
      : binary(node.attr<bool>("binary_output")), ragged(node.op().name == "RaggedBincount") {}

  void operator()(KernelContext& k) const {
    const int at = ragged ? 2 : 3;
    k.Require(k.input(at).rank() == 0, "Shape must be rank 0 but is rank ", k.input(at).rank());
    const int64_t size = k.Int(at);
    k.Require(size >= 0, "size (", size, ") must be non-negative");
    const Batch batch = ragged ? RaggedBatch(k) : SparseBatch(k);
    const auto weights = k.in<T>(at + 1);
    const int64_t n = batch.values->num_elements();
    k.Require(weights.empty() || std::ssize(weights) == n, "weights must have as many elements as values (", n,
              ") or none, but have ", weights.size());
    const auto out = k.out<T>(0, batch.shape(size));
    std::fill(out.begin(), out.end(), T(0));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t value = batch.values->IntAt(i);
      k.Require(value >= 0, "Input must be non-negative, but has ", value);
      if (value >= size) continue;
      T& bin = out[batch.row_of(i) * size + value];
      bin = binary ? T(1) : T(bin + (weights.empty() ? T(1) : weights[i]));
    }
  }
};

template <class T>
struct CountSparseOutput {
  enum Form { kDense, kSparse, kRagged } form;
  bool binary;
  int64_t minlength, maxlength;
  explicit CountSparseOutput(const NodeView& node)
      : form(node.op().name[0] == 'D'   ? kDense
             : node.op().name[0] == 'S' ? kSparse
                                        : kRagged),
        binary(node.attr<bool>("binary_output")),
        minlength(node.attr<int64_t>("minlength")),
        maxlength(node.attr<int64_t>("maxlength")) {}

  void operator()(KernelContext& k) const {
    const Batch batch = form == kDense ? DenseBatch(k, 0) : form == kSparse ? SparseBatch(k) : RaggedBatch(k);
    const int last = form == kDense ? 1 : form == kSparse ? 3 : 2;
    const auto weights = k.in<T>(last);
    k.Require(weights.empty() || k.shape(last) == batch.values->shape(),
              "Weights and values must have the same shape. Weight shape: ", k.shape(last),
              "; values shape: ", batch.values->shape());
    std::map<std::pair<int64_t, int64_t>, T> counts;  // by row and value
    int64_t largest = 0;
    for (int64_t i = 0; i < batch.values->num_elements(); ++i) {
      const int64_t value = batch.values->IntAt(i);
      k.Require(value >= 0, "Input values must all be non-negative, but one is ", value);
      if (maxlength >= 0 && value >= maxlength) continue;
      T& count = counts[{batch.row_of(i), value}];
      count = binary ? T(1) : T(count + (weights.empty() ? T(1) : weights[i]));
      largest = std::max(largest, value);
    }
    Put(k, batch, counts, maxlength >= 0 ? maxlength : std::max(largest + 1, minlength));
  }

  static void Put(KernelContext& k, const Batch& batch, const std::map<std::pair<int64_t, int64_t>, T>& counts,
                  int64_t columns) {
    const int64_t n = static_cast<int64_t>(counts.size()), rank = batch.vector ? 1 : 2;
    int64_t* index = k.out<int64_t>(0, Shape({n, rank})).data();
    T* value = k.out<T>(1, Shape({n})).data();
    for (const auto& [place, count] : counts) {
      if (!batch.vector) *index++ = place.first;
      *index++ = place.second;
      *value++ = count;
    }
    PutVector(k, 2, batch.vector ? std::vector{columns} : std::vector{batch.rows, columns});
  }
};

}  // namespace

void RegisterCountRowsKernels(KernelRegistry& kernels) {
  kernels.Add<RowBincount>("SparseBincount", Countable{}).HostInput(3);
  kernels.Add<RowBincount>("RaggedBincount", Countable{}).HostInput(2);
  for (const char* op : {"DenseCountSparseOutput", "SparseCountSparseOutput", "RaggedCountSparseOutput"}) {
    kernels.Add<CountSparseOutput>(op, Countable{}, "output_type");
  }
}

}  // namespace penstock
