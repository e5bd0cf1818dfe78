// Ragged tensors: values and, for each ragged dimension, where its rows begin.
#include <algorithm>
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

// Input i as row splits, that begin at 0, never fall, and end at `end` (negative: anywhere).
std::vector<int64_t> Splits(KernelContext& k, int i, int64_t end) {
  k.Require(k.shape(i).rank() == 1, "Ragged splits must be a vector, but have shape ", k.shape(i));
  std::vector<int64_t> splits = k.Ints(i);
  k.Require(!splits.empty(), "Ragged splits may not be empty");
  k.Require(splits[0] >= 0, "Ragged splits must be non-negative");
  k.Require(splits[0] == 0, "First value of ragged splits must be 0.");
  for (size_t j = 1; j < splits.size(); ++j) k.Require(splits[j - 1] <= splits[j], "Ragged splits must be sorted");
  k.Require(end < 0 || splits.back() <= end, "Ragged splits must not point past values");
  return splits;
}

void PutSplits(KernelContext& k, int output, const std::vector<int64_t>& splits) {
  Tensor& out = k.Output(output, Shape({static_cast<int64_t>(splits.size())}));
  for (size_t i = 0; i < splits.size(); ++i) {
    if (out.dtype() == DT_INT32) {
      out.mutable_data<int32_t>()[i] = static_cast<int32_t>(splits[i]);
    } else {
      out.mutable_data<int64_t>()[i] = splits[i];
    }
  }
}

// The nested splits in inputs [0, rank), which fit each other and the values in input `rank`.
std::vector<std::vector<int64_t>> NestedSplits(KernelContext& k, int rank) {
  k.Require(rank > 0, "rt_nested_splits must be non empty");
  k.Require(k.shape(rank).rank() > 0, "params.rank must be nonzero");
  std::vector<std::vector<int64_t>> splits;
  for (int i = 0; i < rank; ++i) {
    const int64_t end = i + 1 < rank ? k.input(i + 1).num_elements() - 1 : k.shape(rank).dim(0);
    splits.push_back(Splits(k, i, end));
  }
  return splits;
}

// Steps from start to limit, exactly where a double can tell.
template <class T>
double Count(T start, T limit, T delta) {
  if constexpr (std::is_integral_v<T>) {
    const __int128 distance = static_cast<__int128>(limit) - start, step = delta;
    return static_cast<double>((distance + step - (step > 0 ? 1 : -1)) / step);
  } else {
    return std::ceil(std::abs((limit - start) / delta));
  }
}

template <class T>
struct RaggedRange {
  void operator()(KernelContext& k) const {
    int64_t rows = -1;
    const char* const names[] = {"starts", "limits", "deltas"};
    for (int i = 0; i < 3; ++i) {
      k.Require(k.shape(i).rank() <= 1, names[i], " must be a scalar or vector");
      if (k.shape(i).rank() == 0) continue;
      k.Require(rows < 0 || k.shape(i).dim(0) == rows, "starts, limits, and deltas must have the same shape");
      rows = k.shape(i).dim(0);
    }
    rows = rows < 0 ? 1 : rows;
    const auto at = [&](int input, int64_t row) { return k.in<T>(input)[k.shape(input).rank() == 0 ? 0 : row]; };
    std::vector<int64_t> splits = {0};
    const int64_t most = k.node().output_type(0) == DT_INT32 ? INT32_MAX : int64_t{1} << 40;
    for (int64_t row = 0; row < rows; ++row) {
      const T start = at(0, row), limit = at(1, row), delta = at(2, row);
      k.Require(delta != T(0), "Requires delta != 0");
      int64_t size = 0;
      if ((delta > 0 && limit > start) || (delta < 0 && limit < start)) {
        const double count = Count(start, limit, delta);
        k.Require(count <= static_cast<double>(most), "Requires ((limit - start) / delta) <= ", most);
        size = static_cast<int64_t>(count);
      }
      splits.push_back(splits.back() + size);
      k.Require(splits.back() <= most, "Requires the ranges to have at most ", most, " values");
    }
    PutSplits(k, 0, splits);
    const auto out = k.out<T>(1, Shape({splits.back()}));
    for (int64_t row = 0; row < rows; ++row) {
      T value = at(0, row);
      const T delta = at(2, row);
      for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
        out[i] = value;
        if (i + 1 < splits[row + 1]) value = static_cast<T>(value + delta);
      }
    }
  }
};

struct RaggedTensorToSparse {
  void operator()(KernelContext& k) const {
    const int levels = k.num_inputs() - 1;
    const auto splits = NestedSplits(k, levels);
    const Tensor& values = k.input(levels);
    for (int level = 0; level < levels; ++level) {
      const int64_t end = level + 1 < levels ? static_cast<int64_t>(splits[level + 1].size()) - 1 : values.dim(0);
      k.Require(splits[level].back() == end,
                "Final value of ragged splits must match the length the corresponding ragged array.");
    }
    const int64_t inner = values.dim(0) > 0 ? values.num_elements() / values.dim(0) : 0;
    const int rank = levels + values.rank();
    const int64_t n = values.dim(0) * inner;
    int64_t* index = k.Output(0, Shape({n, rank})).mutable_data<int64_t>();
    // The row of each level that a value lies in, and its place there.
    std::vector<int64_t> rows(levels, 0), place(levels);
    for (int64_t i = 0; i < values.dim(0); ++i) {
      int64_t at = i;
      for (int level = levels - 1; level >= 0; --level) {
        while (splits[level][rows[level] + 1] <= at) ++rows[level];
        place[level] = at - splits[level][rows[level]];
        at = rows[level];
      }
      for (int64_t j = 0; j < inner; ++j) {
        *index++ = at;
        for (const int64_t p : place) *index++ = p;
        int64_t rest = j;
        for (int d = values.rank() - 1; d > 0; --d) {
          index[d - 1] = rest % values.dim(d);
          rest /= values.dim(d);
        }
        index += values.rank() - 1;
      }
    }
    k.SetOutput(1, values.Reshaped(Shape({n})));
    const auto shape = k.out<int64_t>(2, Shape({rank}));
    shape[0] = static_cast<int64_t>(splits[0].size()) - 1;
    for (int level = 0; level < levels; ++level) {
      int64_t longest = 0;
      for (size_t i = 1; i < splits[level].size(); ++i)
        longest = std::max(longest, splits[level][i] - splits[level][i - 1]);
      shape[level + 1] = longest;
    }
    for (int d = 1; d < values.rank(); ++d) shape[levels + d] = values.dim(d);
  }
};

struct RaggedGather {
  void operator()(KernelContext& k) const {
    const int levels = k.num_inputs() - 2;
    auto splits = NestedSplits(k, levels);
    const Tensor &values = k.input(levels), &indices = k.input(levels + 1);
    const int64_t rows = static_cast<int64_t>(splits[0].size()) - 1;
    // Rows that are wanted of each level; in the end, of the values.
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = indices.IntAt(i);
      k.Require(index >= 0 && index < rows, "indices", Position{indices.shape(), i}, " = ", index, " is not in [0, ",
                rows, ")");
      ranges.emplace_back(index, index + 1);
    }
    // The dimensions of the indices but the last become ragged ones of equal rows.
    int output = 0;
    int64_t count = indices.rank() > 0 ? indices.dim(0) : 1;
    for (int d = 1; d < indices.rank(); ++d) {
      std::vector<int64_t> even = {0};
      for (int64_t i = 0; i < count; ++i) even.push_back(even.back() + indices.dim(d));
      PutSplits(k, output++, even);
      count *= indices.dim(d);
    }
    for (int level = 0; level < levels; ++level) {
      std::vector<int64_t> out = {0};
      for (auto& [begin, end] : ranges) {
        for (int64_t row = begin; row < end; ++row) {
          out.push_back(out.back() + splits[level][row + 1] - splits[level][row]);
        }
        begin = splits[level][begin];
        end = splits[level][end];
      }
      k.Require(output < k.num_outputs() - 1, "OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + indices.rank - 1");
      PutSplits(k, output++, out);
    }
    k.Require(output == k.num_outputs() - 1, "OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + indices.rank - 1");
    int64_t total = 0;
    for (const auto& [begin, end] : ranges) total += end - begin;
    Shape shape = values.shape();
    shape.set_dim(0, total);
    Tensor& out = k.Output(output, shape);
    const int64_t inner = values.dim(0) > 0 ? values.num_elements() / values.dim(0) : 0;
    int64_t at = 0;
    for (const auto& [begin, end] : ranges) {
      CopyElements(values, begin * inner, (end - begin) * inner, &out, at * inner);
      at += end - begin;
    }
  }
};

// A dense tensor of which each ragged dimension has a size of its own or that of the longest row.
class RaggedTensorToTensor {
 public:
  explicit RaggedTensorToTensor(const NodeView& node) {
    for (const std::string& name : node.attr<std::vector<std::string>>("row_partition_types")) {
      const auto* known = std::find(std::begin(kNames), std::end(kNames), name);
      if (known == std::end(kNames)) throw InvalidArgument("Unknown string for partition info type: ", name);
      kinds_.push_back(static_cast<Kind>(known - std::begin(kNames)));
    }
    if (kinds_.empty()) throw InvalidArgument("No row_partition_types given.");
    if (kinds_[0] == kRowIds) throw InvalidArgument("Cannot handle VALUE_ROWIDS in first dimension.");
    for (size_t i = 1; i < kinds_.size(); ++i) {
      if (kinds_[i] == kFirstDim) throw InvalidArgument("Unsupported partition type: FIRST_DIM_SIZE");
    }
    if (static_cast<int>(kinds_.size()) != node.num_inputs() - 3) {
      throw InvalidArgument("There are ", kinds_.size(), " row_partition_types, but ", node.num_inputs() - 3,
                            " partitions");
    }
  }

  void operator()(KernelContext& k) const {
    const Tensor &values = k.input(1), &fallback = k.input(2);
    const int first = kinds_[0] == kFirstDim ? 1 : 0;
    const int levels = static_cast<int>(kinds_.size()) - first;
    k.Require(values.rank() >= 1, "values must have at least one dimension");
    k.Require(k.input(3).num_elements() > 0, "Invalid first partition input. Tensor requires at least one element.");
    const int64_t rows = first == 1 ? k.Int(3) : k.input(3).num_elements() - 1;
    k.Require(rows >= 0, "the first dimension must not be negative, but is ", rows);
    // The place of each row in the output, level by level: row i of a level lies at [parent of i, position in it].
    std::vector<int64_t> shape = OutputShape(k, levels, values.shape());
    if (shape[0] < 0) shape[0] = rows;
    std::vector<std::vector<int64_t>> parents, positions;
    int64_t count = rows;
    for (int level = 0; level < levels; ++level) {
      parents.emplace_back();
      positions.emplace_back();
      Partition(k, first + level, count, &parents.back(), &positions.back());
      count = static_cast<int64_t>(parents.back().size());
      if (shape[level + 1] < 0) {
        int64_t longest = 0;
        for (const int64_t position : positions.back()) longest = std::max(longest, position + 1);
        shape[level + 1] = longest;
      }
    }
    k.Require(count <= values.dim(0), "the partitions have ", count, " values, but there are ", values.dim(0));
    const Shape out_shape(shape);
    Tensor& out = k.Output(0, out_shape);
    if (out.num_elements() == 0) return;
    // One value is an element of this shape.
    Shape inner = values.shape();
    inner.RemoveDim(0);
    const int64_t size = inner.num_elements();
    k.Require(fallback.rank() <= inner.rank(), "default_value.shape=", fallback.shape(),
              " and rt_input.flat_values.shape=", values.shape(),
              " are incompatible: default_value.rank must be less than rt_input.flat_values.rank");
    for (int d = 1; d <= fallback.rank(); ++d) {
      const int64_t a = fallback.dim(fallback.rank() - d), b = inner[inner.rank() - d];
      k.Require(a == b || a == 1, "default_value.shape=", fallback.shape(),
                " and rt_input.flat_values.shape=", values.shape(), " are incompatible");
    }
    std::vector<int64_t> from(size);  // which element of the default stands at each place of a value
    for (int64_t i = 0; i < size; ++i) {
      int64_t rest = i, stride = 1;
      for (int d = 1; d <= inner.rank(); ++d) {
        const int64_t place = rest % inner[inner.rank() - d];
        rest /= inner[inner.rank() - d];
        if (d > fallback.rank()) continue;
        const int64_t n = fallback.dim(fallback.rank() - d);
        from[i] += n == 1 ? 0 : place * stride;
        stride *= n;
      }
    }
    if (fallback.num_elements() == 1) {
      FillElements(k, out.dtype(), out.mutable_raw(), fallback.raw(), out.num_elements());
    } else {
      for (int64_t i = 0; i < out.num_elements(); ++i) CopyElements(fallback, from[i % size], 1, &out, i);
    }
    // Where each row begins, in values; -1: outside.
    std::vector<int64_t> at(rows);
    for (int64_t i = 0; i < rows; ++i) at[i] = i < shape[0] ? i : -1;
    for (int level = 0; level < levels; ++level) {
      std::vector<int64_t> next(parents[level].size());
      for (size_t i = 0; i < next.size(); ++i) {
        const int64_t parent = at[parents[level][i]], position = positions[level][i];
        next[i] = parent < 0 || position >= shape[level + 1] ? -1 : parent * shape[level + 1] + position;
      }
      at = std::move(next);
    }
    for (size_t i = 0, end; i < at.size(); i = end) {  // values that stay side by side are copied at once
      for (end = i + 1; end < at.size() && at[i] >= 0 && at[end] == at[end - 1] + 1;) ++end;
      if (at[i] < 0) continue;
      const auto run = static_cast<int64_t>(end - i);
      CopyElements(values, static_cast<int64_t>(i) * size, run * size, &out, at[i] * size);
    }
  }

 private:
  enum Kind { kFirstDim, kRowIds, kRowSplits };
  static constexpr std::string_view kNames[] = {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"};

  // The wanted shape as far as it is given: -1 elsewhere.
  std::vector<int64_t> OutputShape(KernelContext& k, int levels, const Shape& values) const {
    const int rank = levels + values.rank();
    std::vector<int64_t> shape(rank, -1);
    for (int d = 1; d < values.rank(); ++d) shape[levels + d] = values[d];
    if (k.shape(0).rank() == 0) {
      k.Require(k.Int(0) == -1, "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
      return shape;
    }
    const std::vector<int64_t> wanted = k.Ints(0);
    k.Require(static_cast<int>(wanted.size()) == rank, "shape and values are incompatible: shape has rank ",
              wanted.size(), ", the ragged tensor has rank ", rank);
    for (int d = 0; d < rank; ++d) {
      k.Require(wanted[d] >= -1, "shape must not be negative, but is ", wanted[d]);
      if (wanted[d] < 0) continue;
      k.Require(shape[d] < 0 || shape[d] == wanted[d], "Inner dimension ", d, " of the shape is ", wanted[d],
                ", but that of the values is ", shape[d]);
      shape[d] = wanted[d];
    }
    return shape;
  }

  // For each row of a level its parent and the place there.
  void Partition(KernelContext& k, int which, int64_t count, std::vector<int64_t>* parents,
                 std::vector<int64_t>* positions) const {
    if (kinds_[which] == kRowSplits) {
      const std::vector<int64_t> splits = Splits(k, 3 + which, k.shape(1).num_elements() == 0 ? -1 : int64_t{1} << 40);
      k.Require(static_cast<int64_t>(splits.size()) - 1 <= count,
                "Row partition size is greater than output size: ", splits.size() - 1, " > ", count);
      k.Require(splits.back() <= k.shape(1).dim(0) || which + 1 < static_cast<int>(kinds_.size()),
                "Ragged splits must not point past values");
      k.Require(which + 1 == static_cast<int>(kinds_.size()) || splits.back() <= k.input(4 + which).num_elements(),
                "Ragged splits must not point past the next partition");
      parents->reserve(splits.back());
      positions->reserve(splits.back());
      for (size_t row = 0; row + 1 < splits.size(); ++row) {
        for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
          parents->push_back(static_cast<int64_t>(row));
          positions->push_back(i - splits[row]);
        }
      }
      return;
    }
    const std::vector<int64_t> ids = k.Ints(3 + which);
    int64_t position = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      k.Require(ids[i] >= 0 && ids[i] < count, "Got current_value_rowid=", ids[i], " which is not less than ", count);
      k.Require(i == 0 || ids[i - 1] <= ids[i], "value_rowids must be sorted");
      position = i > 0 && ids[i - 1] == ids[i] ? position + 1 : 0;
      parents->push_back(ids[i]);
      positions->push_back(position);
    }
  }

  std::vector<Kind> kinds_;
};

}  // namespace

void RegisterRaggedKernels(KernelRegistry& kernels) {
  kernels.Add<RaggedRange>("RaggedRange", Types<float, double, int32_t, int64_t>{});
  kernels.Add<RaggedTensorToSparse>("RaggedTensorToSparse");
  kernels.Add<RaggedGather>("RaggedGather");
  kernels.Add<RaggedTensorToTensor>("RaggedTensorToTensor");
}

}  // namespace penstock
