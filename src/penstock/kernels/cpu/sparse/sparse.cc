// Sparse tensors converted, reordered, selected from and joined.
#include <algorithm>
#include <map>
#include <numeric>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/copy_one.h"
#include "penstock/kernels/cpu/sparse/sparse_tensor.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

class SparseToDense {
 public:
  explicit SparseToDense(const NodeView& node) : validate_(node.attr<bool>("validate_indices")) {}
  void operator()(KernelContext& k) const {
    const Tensor &indices = k.input(0), &values = k.input(2);
    k.Require(indices.rank() <= 2, "sparse_indices should be a scalar, vector, or matrix, got shape ", indices.shape());
    k.Require(k.input(1).rank() == 1, "output_shape should be a vector, got shape ", k.shape(1));
    const int64_t n = indices.rank() > 0 ? indices.dim(0) : 1, rank = indices.rank() > 1 ? indices.dim(1) : 1;
    k.Require(k.input(1).num_elements() == rank,
              "output_shape has incorrect number of elements: ", k.input(1).num_elements(), " should be: ", rank);
    k.Require(values.rank() == 0 || (values.rank() == 1 && values.dim(0) == n), "sparse_values has incorrect shape ",
              values.shape(), ", should be [] or [", n, "]");
    k.Require(k.input(3).rank() == 0, "default_value should be a scalar.");
    const Shape shape = k.ShapeInput(1);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() > 0) FillElements(k, out.dtype(), out.mutable_raw(), k.input(3).raw(), out.num_elements());
    const std::vector<int64_t> steps = Strides(shape);
    std::vector<int64_t> wide;
    if (indices.dtype() != DT_INT64) wide = shapes::Integers(indices);
    const int64_t* all = indices.dtype() == DT_INT64 ? indices.data<int64_t>() : wide.data();
    WithCopyOf(out.dtype(), 1, [&](auto copy) { Put(all, n, rank, steps, shape, values, out, copy); });
  }

 private:
  template <class Copy>
  void Put(const int64_t* all, int64_t n, int64_t rank, const std::vector<int64_t>& steps, const Shape& shape,
           const Tensor& values, Tensor& out, Copy copy) const {
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    const char* value = static_cast<const char*>(values.raw());
    const size_t value_step = values.rank() == 0 ? 0 : DataTypeSize(values.dtype());
    for (int64_t e = 0; e < n; ++e, value += value_step) {
      const int64_t* index = all + e * rank;
      int64_t at = 0;
      bool inside = true;
      for (int64_t d = 0; d < rank; ++d) {
        const bool fits = static_cast<uint64_t>(index[d]) < static_cast<uint64_t>(dims[d]);
        inside &= fits;
        at += fits ? index[d] * steps[d] : 0;
      }
      if (!inside) throw InvalidArgument(Where(all, e, rank), " is out of bounds: need 0 <= index < ", shape);
      if (validate_ && e > 0) {
        const int order = ComparePositions(index - rank, index, rank);
        if (order == 0) throw InvalidArgument(Where(all, e, rank), " is repeated");
        if (order > 0) {
          throw InvalidArgument(
              Where(all, e, rank),
              " is out of order. Many sparse ops require sorted indices.\n  Use `tf.sparse.reorder` to create a "
              "correctly ordered copy.\n\n");
        }
      }
      copy(At(out, at), value);
    }
  }
  static std::string Where(const int64_t* all, int64_t entry, int64_t rank) {
    return StrCat("indices[", entry, "] = [", StrJoin(std::span(all + entry * rank, rank), ","), "]");
  }

  bool validate_;
};

struct SparseReorder {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0, false);
    if (InRowMajorOrder(in.indices, in.entries, in.rank)) {
      k.SetOutput(0, k.input(0));
      return k.SetOutput(1, k.input(1));
    }
    PutEntries(k, in, RowMajorOrder(in.indices, in.entries, in.shape), 0, 1);
  }
};

struct SparseReshape {
  void operator()(KernelContext& k) const {
    const Tensor& indices = k.input(0);
    k.Require(indices.rank() == 2, "Input indices should be a matrix but received shape ", indices.shape());
    k.Require(k.input(1).rank() == 1, "Input shape should be a vector but received shape ", k.shape(1));
    k.Require(k.input(2).rank() == 1, "Target shape should be a vector but received shape ", k.shape(2));
    const std::vector<int64_t> from = k.Ints(1);
    std::vector<int64_t> to = k.Ints(2);
    k.Require(indices.dim(1) == static_cast<int64_t>(from.size()), "Input tensor rank must match input shape length.");
    for (const int64_t d : from) k.Require(d >= 0, "Input shape must have no negative dimensions, got ", d);
    int64_t total = 1, known = 1, open = -1;
    bool overflow = false;
    for (const int64_t d : from) overflow |= __builtin_mul_overflow(total, d, &total);
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] == -1) {
        k.Require(open < 0, "only one output dimension may be -1, not both ", open, " and ", i);
        open = static_cast<int64_t>(i);
        continue;
      }
      k.Require(to[i] >= 0, "size ", i, " must be non-negative, not ", to[i]);
      overflow |= __builtin_mul_overflow(known, to[i], &known);
    }
    k.Require(!overflow, "Shape has too many elements");
    if (open >= 0) {
      k.Require(known > 0,
                "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
                "non-zero");
      to[open] = total / known;
      k.Require(to[open] * known == total, "Input to reshape is a SparseTensor with ", total,
                " dense values, but the requested shape requires a multiple of ", known, ". input_shape=[",
                StrJoin(from, ","), "]");
      known *= to[open];
    }
    k.Require(known == total, "Input to reshape is a tensor with ", total,
              " dense values, but the requested shape has ", known, ". input_shape=[", StrJoin(from, ","),
              "] output_shape=[", StrJoin(to, ","), "]");
    const std::vector<int64_t> from_steps = SparseStrides(from), to_steps = SparseStrides(to);
    const int64_t n = indices.dim(0), rank = static_cast<int64_t>(from.size()),
                  new_rank = static_cast<int64_t>(to.size());
    const int64_t* x = indices.data<int64_t>();
    int64_t* y = k.Output(0, Shape({n, new_rank})).mutable_data<int64_t>();
    k.Parallel(n, 4 * (rank + new_rank), [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) {
        int64_t at = 0;
        for (int64_t d = 0; d < rank; ++d) {
          const int64_t i = x[e * rank + d];
          if (i < 0 || i >= from[d]) throw InvalidArgument("indices[", e, ", ", d, "] is out of bounds");
          at += i * from_steps[d];
        }
        for (int64_t d = 0; d < new_rank - 1; ++d) {
          const int64_t i = at / to_steps[d];
          y[e * new_rank + d] = i;
          at -= i * to_steps[d];
        }
        if (new_rank > 0) y[e * new_rank + new_rank - 1] = at;
      }
    });
    PutVector(k, 1, to);
  }
};

struct SparseConcat {
  int64_t axis_attr;

  explicit SparseConcat(const NodeView& node) : axis_attr(node.attr<int64_t>("concat_dim")) {}
  void operator()(KernelContext& k) const {
    const int n = k.num_inputs() / 3;
    std::vector<SparseInput> parts;
    for (int i = 0; i < n; ++i) parts.emplace_back(k, i, n + i, 2 * n + i, true);
    const int64_t rank = parts[0].rank;
    k.Require(axis_attr >= -rank && axis_attr < rank, "Concat dimension must be in range [", -rank, ", ", rank,
              "), got ", axis_attr);
    const int64_t axis = axis_attr < 0 ? axis_attr + rank : axis_attr;
    std::vector<int64_t> shape = parts[0].shape;
    shape[axis] = 0;
    // Every entry with its new place, then in row-major order.
    struct Entry {
      int part;
      int64_t entry;
    };
    std::vector<Entry> entries;
    std::vector<int64_t> places, shifts(n);
    for (int i = 0; i < n; ++i) {
      k.Require(parts[i].rank == rank, "Ranks of all input tensors must match: expected ", rank, " but got ",
                parts[i].rank, " at position ", i);
      for (int64_t d = 0; d < rank; ++d) {
        k.Require(d == axis || parts[i].shape[d] == shape[d], "Input shapes must match: expected ", shape[d],
                  " for dimension ", d, " but got ", parts[i].shape[d], " at position ", i);
      }
      shifts[i] = shape[axis];
      k.Require(!__builtin_add_overflow(shape[axis], parts[i].shape[axis], &shape[axis]),
                "the joined dimension is too large");
      const int64_t before = static_cast<int64_t>(entries.size());
      places.insert(places.end(), parts[i].indices, parts[i].at(parts[i].entries));
      entries.resize(before + parts[i].entries);
      for (int64_t e = 0; e < parts[i].entries; ++e) {
        entries[before + e] = {i, e};
        places[(before + e) * rank + axis] += shifts[i];
      }
    }
    const int64_t count = static_cast<int64_t>(entries.size());
    const std::vector<int64_t> order = RowMajorOrder(places.data(), count, shape);
    int64_t* indices = k.Output(0, Shape({count, rank})).mutable_data<int64_t>();
    Tensor& values = k.Output(1, Shape({count}));
    WithCopyOf(values.dtype(), 1, [&](auto copy) {
      for (int64_t i = 0; i < count; ++i) {
        const Entry& e = entries[order[i]];
        for (int64_t d = 0; d < rank; ++d) indices[i * rank + d] = places[order[i] * rank + d];
        copy(At(values, i), At(*parts[e.part].values, e.entry));
      }
    });
    PutVector(k, 2, shape);
  }
};

// a - b, or the integer next to it.
int64_t Minus(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? INT64_MAX : INT64_MIN;
}

struct SparseSlice {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0, false);
    k.Require(k.input(3).rank() == 1, "Input start should be a vector but received shape ", k.shape(3));
    k.Require(k.input(4).rank() == 1, "Input size should be a vector but received shape ", k.shape(4));
    const std::vector<int64_t> start = k.Ints(3);
    const std::vector<int64_t> size = k.Ints(4);
    const size_t rank = static_cast<size_t>(in.rank);
    k.Require(start.size() == rank, "Expected start to be a vector of length ", rank, " but got length ", start.size());
    k.Require(size.size() == rank, "Expected size to be a vector of length ", rank, " but got length ", size.size());
    std::vector<int64_t> shape(rank);
    for (size_t d = 0; d < rank; ++d) {
      const int64_t n = in.shape[d];
      // A box that starts behind the end is empty, whatever its size.
      shape[d] = start[d] < Minus(n, size[d]) ? size[d] : std::max<int64_t>(Minus(n, start[d]), 0);
      k.Require(shape[d] >= 0, "Expected a non-negative size, got ", size[d]);
    }
    std::vector<int64_t> kept;
    for (int64_t e = 0; e < in.entries; ++e) {
      bool inside = true;
      for (int64_t d = 0; d < in.rank; ++d) inside &= in.at(e)[d] >= start[d] && Minus(in.at(e)[d], size[d]) < start[d];
      if (inside) kept.push_back(e);
    }
    int64_t* const indices = PutEntries(k, in, kept, 0, 1);
    for (size_t i = 0; i < kept.size(); ++i) {
      for (size_t d = 0; d < rank; ++d) indices[i * rank + d] -= start[d];
    }
    PutVector(k, 2, shape);
  }
};

struct SparseSplit {
  void operator()(KernelContext& k) const {
    const int n = k.num_outputs() / 3;
    const SparseInput in(k, 1);
    k.Require(k.input(0).rank() == 0, "Input axis should be a scalar but received shape ", k.input(0).shape());
    const int64_t given = k.Int(0);
    k.Require(given >= -in.rank && given < in.rank, "Input axis should be in range [", -in.rank, ", ", in.rank,
              "), got ", given);
    const int64_t axis = given < 0 ? given + in.rank : given, dim = in.shape[axis];
    k.Require(n >= 1 && n <= dim, "Input num_split should be between 1 and the splitting dimension size (", dim,
              "), got ", n);
    // The first parts are one longer where it does not come out even.
    const int64_t length = dim / n, longer = dim % n, rest = longer * (length + 1);
    const auto part_of = [&](int64_t i) { return i < rest ? i / (length + 1) : longer + (i - rest) / length; };
    std::vector<int64_t> parts(in.entries), counts(n), size = in.shape;
    for (int64_t e = 0; e < in.entries; ++e) ++counts[parts[e] = part_of(in.at(e)[axis])];
    struct Part {
      int64_t start;
      int64_t* indices;
      char* values;
    };
    std::vector<Part> to(n);
    for (int i = 0; i < n; ++i) {
      size[axis] = length + (i < longer ? 1 : 0);
      to[i].start = i * length + std::min<int64_t>(i, longer);
      to[i].indices = k.Output(i, Shape({counts[i], in.rank})).mutable_data<int64_t>();
      to[i].values = static_cast<char*>(k.Output(n + i, Shape({counts[i]})).mutable_raw());
      PutVector(k, 2 * n + i, size);
    }
    const size_t step = DataTypeSize(in.values->dtype());
    WithCopyOf(in.values->dtype(), 1, [&](auto copy) {
      for (int64_t e = 0; e < in.entries; ++e) {
        Part& part = to[parts[e]];
        for (int64_t d = 0; d < in.rank; ++d) part.indices[d] = in.at(e)[d];
        part.indices[axis] -= part.start;
        copy(part.values, At(*in.values, e));
        part.indices += in.rank;
        part.values += step;
      }
    });
  }
};

template <class T>
struct SparseSliceGrad {
  void operator()(KernelContext& k) const {
    const Tensor &dy = k.input(0), &in = k.input(1), &start = k.input(2), &out = k.input(3);
    k.Require(dy.rank() == 1, "Input backprop_val_grad should be a vector but received shape ", dy.shape());
    k.Require(in.rank() == 2 && out.rank() == 2, "Input and output indices should be matrices but received shapes ",
              in.shape(), " and ", out.shape());
    const int64_t rank = in.dim(1);
    k.Require(out.dim(1) == rank, "The input and output should have the same ndims: got: ", rank, " and ", out.dim(1));
    k.Require(start.rank() == 1 && start.dim(0) == rank, "Input start should be a vector of length ", rank,
              " but received shape ", start.shape());
    k.Require(dy.dim(0) == out.dim(0),
              "# elements in backprop_val_grad and # rows in output_indices should match: got ", dy.dim(0), " and ",
              out.dim(0));
    std::map<std::vector<int64_t>, int64_t> places;
    const int64_t *o = out.data<int64_t>(), *x = in.data<int64_t>(), *s = start.data<int64_t>();
    for (int64_t e = 0; e < out.dim(0); ++e) {
      std::vector<int64_t> at(o + e * rank, o + (e + 1) * rank);
      for (int64_t d = 0; d < rank; ++d)
        at[d] = static_cast<int64_t>(static_cast<uint64_t>(at[d]) + static_cast<uint64_t>(s[d]));
      places.emplace(std::move(at), e);
    }
    auto dx = k.out<T>(0, Shape({in.dim(0)}));
    for (int64_t e = 0; e < in.dim(0); ++e) {
      const auto found = places.find(std::vector<int64_t>(x + e * rank, x + (e + 1) * rank));
      dx[e] = found == places.end() ? T() : dy.data<T>()[found->second];
    }
  }
};

// Entries of `rows` rows, with `rank` numbers each at `from` of which the first is the row, go to outputs 0 (those
// numbers, in a tensor of shape [entries, inner]) and 1 (the values) row by row. A row that has none gets one entry of
// input 3, the default, behind whose row are zeros; output 2 says which these are, and output 3 where entries went.
void FillEmptyRows(KernelContext& k, const int64_t* from, int64_t entries, int64_t rank, int64_t rows,
                   const Tensor& from_values, const std::vector<int64_t>& inner) {
  k.Require(k.input(3).rank() == 0, "default_value must be a scalar, saw: ", k.shape(3));
  bool* empty = k.Output(2, Shape({rows})).mutable_data<bool>();  // first: there may be too many rows
  std::vector<int64_t> starts(rows + 1);
  bool sorted = true;
  for (int64_t e = 0, last = 0; e < entries; ++e) {
    const int64_t row = from[e * rank];
    if (row < 0 || row >= rows) throw InvalidArgument("indices(", e, ", 0) is invalid: ", row, " >= ", rows);
    sorted &= last <= row;
    last = row;
    ++starts[row + 1];
  }
  for (int64_t r = 0; r < rows; ++r) {
    empty[r] = starts[r + 1] == 0;
    starts[r + 1] = starts[r] + std::max<int64_t>(starts[r + 1], 1);
  }
  const int64_t n = starts[rows];
  int64_t* reverse = k.Output(3, Shape({entries})).mutable_data<int64_t>();
  if (sorted && n == entries) {  // nothing to add and nothing to move
    k.SetOutput(0, k.input(0));
    k.SetOutput(1, from_values);
    return std::iota(reverse, reverse + entries, 0);
  }
  std::vector<int64_t> shape = {n};
  shape.insert(shape.end(), inner.begin(), inner.end());
  int64_t* indices = k.Output(0, Shape(shape)).mutable_data<int64_t>();
  Tensor& values = k.Output(1, Shape({n}));
  WithCopyOf(values.dtype(), 1, [&](auto copy) {
    for (int64_t r = 0; r < rows; ++r) {
      if (!empty[r]) continue;
      std::fill_n(indices + starts[r] * rank, rank, 0);
      indices[starts[r] * rank] = r;
      copy(At(values, starts[r]), k.input(3).raw());
    }
    for (int64_t e = 0; e < entries; ++e) {
      const int64_t to = starts[from[e * rank]]++;
      for (int64_t d = 0; d < rank; ++d) indices[to * rank + d] = from[e * rank + d];
      copy(At(values, to), At(from_values, e));
      reverse[e] = to;
    }
  });
}

struct SparseFillEmptyRows {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0, false);
    k.Require(in.rank >= 1, "Dense shape cannot be empty.");
    const int64_t rows = in.shape[0];
    k.Require(rows > 0 || in.entries == 0,
              "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", in.entries);
    FillEmptyRows(k, in.indices, in.entries, in.rank, rows, *in.values, {in.rank});
  }
};

struct RaggedFillEmptyRows {
  void operator()(KernelContext& k) const {
    const Tensor &rowids = k.input(0), &values = k.input(1), &rows = k.input(2);
    k.Require(rowids.rank() == 1, "value_rowids must be a vector, saw: ", rowids.shape());
    k.Require(values.rank() == 1, "values must be a vector, saw: ", values.shape());
    k.Require(rowids.dim(0) == values.dim(0), "The length of `values` (", values.dim(0),
              ") must match the first dimension of `value_rowids` (", rowids.dim(0), ").");
    k.Require(rows.rank() == 0, "nrows must be a scalar, saw: ", rows.shape());
    const int64_t n = k.Int(2);
    k.Require(n >= 0 && n < int64_t{1} << 40, "nrows must be a number of rows, but is ", n);
    FillEmptyRows(k, rowids.data<int64_t>(), rowids.dim(0), 1, n, values, {});
  }
};

template <class T>
struct FillEmptyRowsGrad {
  void operator()(KernelContext& k) const {
    const Tensor &map = k.input(0), &dy = k.input(1);
    k.Require(map.rank() == 1, "reverse_index_map must be a vector, saw: ", map.shape());
    k.Require(dy.rank() == 1, "grad_values must be a vector, saw: ", dy.shape());
    const auto to = map.flat<int64_t>();
    const auto g = dy.flat<T>();
    auto dx = k.out<T>(0, Shape({map.dim(0)}));
    std::vector<bool> used(g.size());
    for (size_t i = 0; i < to.size(); ++i) {
      k.Require(to[i] >= 0 && to[i] < static_cast<int64_t>(g.size()), "Elements in reverse index must be in [0, ",
                g.size(), ") but got ", to[i]);
      dx[i] = g[to[i]];
      used[to[i]] = true;
    }
    T rest = T();
    for (size_t i = 0; i < g.size(); ++i) {
      if (!used[i]) rest = static_cast<T>(rest + g[i]);
    }
    *k.out<T>(1, Shape()).data() = rest;
  }
};

}  // namespace

void RegisterSparseKernels(KernelRegistry& kernels) {
  kernels.Add<SparseToDense>("SparseToDense");
  kernels.Add<SparseReorder>("SparseReorder");
  kernels.Add<SparseReshape>("SparseReshape");
  kernels.Add<SparseConcat>("SparseConcat");
  kernels.Add<SparseSplit>("SparseSplit");
  kernels.Add<SparseSlice>("SparseSlice");
  kernels.Add<SparseSliceGrad>("SparseSliceGrad", Numbers{});
  kernels.Add<SparseFillEmptyRows>("SparseFillEmptyRows");
  kernels.Add<RaggedFillEmptyRows>("RaggedFillEmptyRows").HostInput(2);
  kernels.Add<FillEmptyRowsGrad>("SparseFillEmptyRowsGrad", Numbers{});
  kernels.Add<FillEmptyRowsGrad>("RaggedFillEmptyRowsGrad", Numbers{});
}

}  // namespace penstock
