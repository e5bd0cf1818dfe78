// Arithmetic on sparse tensors.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/sparse/sparse_tensor.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

constinit BranchTable<3> product_ways{"sparse_matmul/way", {"each entry", "rows", "ordered rows"}};

template <class T>
T Conjugate(T v) {
  if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    return std::conj(v);
  } else {
    return v;
  }
}

// Half and bfloat16 are summed in float.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// Rows of b, picked by entries' columns, weighted and added up for each row of the product.
template <class T>
struct SparseTensorDenseMatMul {
  bool adjoint_a, adjoint_b;

  explicit SparseTensorDenseMatMul(const NodeView& node)
      : adjoint_a(node.attr<bool>("adjoint_a")), adjoint_b(node.attr<bool>("adjoint_b")) {}
  void operator()(KernelContext& k) const {
    const Tensor &indices = k.input(0), &weights = k.input(1);
    k.Require(k.input(3).rank() == 2, "Tensor 'b' is not a matrix");
    k.Require(k.input(2).rank() == 1, "Tensor 'a_shape' is not a vector");
    k.Require(k.input(2).num_elements() == 2, "Tensor 'a_shape' must have 2 elements");
    k.Require(weights.rank() == 1, "Tensor 'a_values' is not a vector");
    k.Require(indices.rank() == 2, "Tensor 'a_indices' is not a matrix");
    k.Require(indices.dim(0) == weights.dim(0),
              "Number of rows of a_indices does not match number of entries in a_values");
    k.Require(indices.dim(1) == 2, "Number of columns of a_indices does not match number of entries in a_shape");
    const auto a_shape = k.in<int64_t>(2);
    const int64_t rows = a_shape[adjoint_a ? 1 : 0], inner = a_shape[adjoint_a ? 0 : 1];
    const Tensor& given = k.input(3);
    const int64_t b_rows = given.dim(adjoint_b ? 1 : 0), n = given.dim(adjoint_b ? 0 : 1), entries = weights.dim(0);
    k.Require(rows >= 0 && inner >= 0, "a_shape must not be negative: [", a_shape[0], ",", a_shape[1], "]");
    k.Require(inner == b_rows, "Cannot multiply A and B because inner dimension does not match: ", inner, " vs. ",
              b_rows, ".  Did you forget a transpose?  Dimensions of A: [", a_shape[0], ", ", a_shape[1],
              ").  Dimensions of B: ", given.shape());
    auto out = k.out<T>(0, Shape({rows, n}));
    if (out.empty()) return;

    // Int32 indices are widened once.
    Tensor wide = indices;
    if (indices.dtype() == DT_INT32) {
      wide = Tensor(DT_INT64, indices.shape());
      std::copy_n(indices.data<int32_t>(), indices.num_elements(), wide.mutable_data<int64_t>());
    }
    const int64_t* at = wide.data<int64_t>();
    const int row_column = adjoint_a ? 1 : 0;
    std::atomic<bool> sorted = true, inside = true;
    k.Parallel(entries, 1, [&](int64_t begin, int64_t end) {
      bool all_sorted = true, all_inside = true;
      for (int64_t e = begin, last = begin ? at[2 * begin - 2 + row_column] : 0; e < end; ++e) {
        const int64_t r = at[2 * e + row_column], c = at[2 * e + 1 - row_column];
        all_inside &= (static_cast<uint64_t>(r) < static_cast<uint64_t>(rows)) &
                      (static_cast<uint64_t>(c) < static_cast<uint64_t>(inner));
        all_sorted &= last <= r;
        last = r;
      }
      if (!all_sorted) sorted = false;
      if (!all_inside) inside = false;
    });
    if (!inside) ThrowOutside(at, entries, row_column, rows, inner);
    if constexpr (std::is_arithmetic_v<T>) {
      // Finding the rows' entries would take longer than their sums.
      if (!adjoint_b && entries <= kFew && n <= (sorted ? kNarrow : kNarrowMoved)) {
        product_ways.Enter(0);
        return AddEach(at, weights.data<T>(), entries, row_column, given.data<T>(), n, out);
      }
    }

    // Where each row's entries start. Entries that do not come by rows are brought in that order.
    std::vector<int64_t> starts(rows + 1, entries);
    if (sorted) {
      k.Parallel(entries, 1, [&](int64_t begin, int64_t end) {
        for (int64_t e = begin, last = begin ? at[2 * begin - 2 + row_column] : -1; e < end; ++e) {
          const int64_t r = at[2 * e + row_column];
          while (last < r) starts[++last] = e;
        }
      });
    } else {
      std::ranges::fill(starts, 0);
      for (int64_t e = 0; e < entries; ++e) ++starts[at[2 * e + row_column] + 1];
      for (int64_t r = 0; r < rows; ++r) starts[r + 1] += starts[r];
    }
    const T* w = weights.data<T>();
    std::vector<int64_t> columns;
    std::vector<T> ordered;
    const int64_t* column = at + 1 - row_column;
    int64_t step = 2;
    const bool as_they_are = sorted && (!adjoint_a || std::is_arithmetic_v<T>);
    product_ways.Enter(as_they_are ? 1 : 2);
    if (!as_they_are) {
      columns.resize(entries);
      ordered.resize(entries);
      std::vector<int64_t> next(starts.begin(), starts.end() - 1);
      for (int64_t e = 0; e < entries; ++e) {
        const int64_t to = next[at[2 * e + row_column]]++;
        columns[to] = at[2 * e + 1 - row_column];
        ordered[to] = adjoint_a ? Conjugate(w[e]) : w[e];
      }
      w = ordered.data();
      column = columns.data();
      step = 1;
    }
    Tensor turned;
    const T* b = given.data<T>();
    if (adjoint_b) {
      turned = k.Temp(given.dtype(), Shape({b_rows, n}));
      const CopyAxis axes[] = {{b_rows, n, 1}, {n, 1, b_rows}};
      if (turned.num_elements() > 0) CopyBox(k, given.dtype(), axes, turned.mutable_raw(), given.raw());
      T* t = turned.mutable_data<T>();
      if constexpr (!std::is_arithmetic_v<T>) {
        for (int64_t i = 0; i < b_rows * n; ++i) t[i] = Conjugate(t[i]);
      }
      b = t;
    }
    const int64_t cost = 1 + n * (1 + entries / std::max<int64_t>(rows, 1)) / 8;
    k.Parallel(rows, cost, [&](int64_t begin, int64_t end) {
      std::vector<Sum<T>> sums(std::is_same_v<Sum<T>, T> ? 0 : n);
      for (int64_t r = begin; r < end; ++r) {
        T* y = out.data() + r * n;
        const int64_t first = starts[r], count = starts[r + 1] - first;
        if constexpr (std::is_same_v<T, float>) {
          std::fill_n(y, n, 0.0f);
          CpuLoops().weighted_rows_f32(count, w + first, column + first * step, step, b, n, y);
        } else if constexpr (std::is_same_v<Sum<T>, T>) {
          std::fill_n(y, n, T());
          for (int64_t e = first; e < first + count; ++e) {
            const T* row = b + column[e * step] * n;
#pragma GCC ivdep
            for (int64_t c = 0; c < n; ++c) y[c] += w[e] * row[c];
          }
        } else {
          std::fill(sums.begin(), sums.end(), 0.0f);
          for (int64_t e = first; e < first + count; ++e) {
            const T* row = b + column[e * step] * n;
            for (int64_t c = 0; c < n; ++c) sums[c] += static_cast<float>(w[e]) * static_cast<float>(row[c]);
          }
          for (int64_t c = 0; c < n; ++c) y[c] = T(sums[c]);
        }
      }
    });
  }

 private:
  // Columns up to which not too many entries are added one by one on one thread: if they come by rows, and if not.
  static constexpr int64_t kFew = 1 << 20, kNarrow = 4, kNarrowMoved = 16;
  static void AddEach(const int64_t* at, const T* weights, int64_t entries, int row_column, const T* b, int64_t n,
                      std::span<T> out) {
    std::fill(out.begin(), out.end(), T());
    T* const y = out.data();
    if (n == 1) {
      for (int64_t e = 0; e < entries; ++e) y[at[2 * e + row_column]] += weights[e] * b[at[2 * e + 1 - row_column]];
      return;
    }
    for (int64_t e = 0; e < entries; ++e) {
      T* const to = y + at[2 * e + row_column] * n;
      const T* const row = b + at[2 * e + 1 - row_column] * n;
#pragma GCC ivdep
      for (int64_t c = 0; c < n; ++c) to[c] += weights[e] * row[c];
    }
  }
  static void ThrowOutside(const int64_t* at, int64_t entries, int row_column, int64_t rows, int64_t inner) {
    for (int64_t e = 0; e < entries; ++e) {
      const int64_t r = at[2 * e + row_column], c = at[2 * e + 1 - row_column];
      if (c < 0 || c >= inner) {
        throw InvalidArgument("k (", c, ") from index[", e, ",", 1 - row_column, "] out of bounds (>=", inner, ")");
      }
      if (r < 0 || r >= rows) {
        throw InvalidArgument("m (", r, ") from index[", e, ",", row_column, "] out of bounds (>=", rows, ")");
      }
    }
  }
};

template <class T>
struct SparseTensorDenseAdd {
  void operator()(KernelContext& k) const {
    const Tensor& indices = k.input(0);
    k.Require(indices.rank() == 2, "Input a_indices should be a matrix but received shape: ", indices.shape());
    k.Require(k.input(1).rank() == 1 && k.input(2).rank() == 1,
              "Inputs a_values and a_shape should be vectors but received shapes: ", k.shape(1), " and ", k.shape(2));
    const Shape shape = k.shape(3);
    k.Require(k.input(2).num_elements() == shape.rank(),
              "Two operands have different ranks; received: ", k.input(2).num_elements(), " and ", shape.rank());
    const std::vector<int64_t> dims = shapes::Integers(k.input(2)), at = shapes::Integers(indices),
                               steps = Strides(shape);
    k.Require(std::equal(dims.begin(), dims.end(), shape.begin()), "Dimensions of a_shape and b must be equal: [",
              StrJoin(dims, ","), "] and ", shape);
    const int64_t n = indices.dim(0), rank = indices.dim(1);
    k.Require(k.input(1).dim(0) == n && rank == shape.rank(), "a_indices ", indices.shape(), " does not fit a_values ",
              k.shape(1), " and b ", shape);
    for (int64_t e = 0; e < n; ++e) {
      for (int64_t d = 0; d < rank; ++d) {
        k.Require(at[e * rank + d] >= 0 && at[e * rank + d] < shape[static_cast<int>(d)],
                  "Sparse tensor has an invalid index on dimension ", d, ". a_indices(", e, ",", d,
                  ") = ", at[e * rank + d], ". Dense tensor shape: ", shape);
      }
    }
    Tensor out = k.CanTake(3) ? k.Take(3) : k.input(3).Clone();
    T* y = out.mutable_data<T>();
    const T* v = k.input(1).template data<T>();
    for (int64_t e = 0; e < n; ++e) {
      T& to = y[FlatPosition(&at[e * rank], steps)];
      to = static_cast<T>(to + v[e]);
    }
    k.SetOutput(0, std::move(out));
  }
};

// Two sparse tensors in row-major order, place by place: f(a's entry or -1, b's entry or -1).
template <class F>
void Merge(const SparseInput& a, const SparseInput& b, F f) {
  int64_t i = 0, j = 0;
  while (i < a.entries || j < b.entries) {
    const int order = i == a.entries ? 1 : j == b.entries ? -1 : ComparePositions(a.at(i), b.at(j), a.rank);
    f(order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

void RequireSameShape(KernelContext& k, const SparseInput& a, const SparseInput& b) {
  k.Require(a.rank == b.rank, "Operands do not have the same ranks; got shapes: ", StrJoin(a.shape, " "), " and ",
            StrJoin(b.shape, " "));
  for (int64_t d = 0; d < a.rank; ++d) {
    k.Require(a.shape[d] == b.shape[d], "Operands' shapes do not match: got ", a.shape[d], " and ", b.shape[d],
              " for dimension ", d);
  }
}

template <class T>
struct SparseAdd {
  void operator()(KernelContext& k) const {
    const SparseInput a(k, 0, false), b(k, 3, false);
    RequireSameShape(k, a, b);
    k.Require(k.input(6).rank() == 0, "The magnitude threshold must be a scalar: got shape ", k.shape(6));
    const double threshold = Threshold(k.input(6));
    const T *x = a.values->template data<T>(), *y = b.values->template data<T>();
    std::vector<const int64_t*> places;
    std::vector<T> sums;
    Merge(a, b, [&](int64_t i, int64_t j) {
      const T sum = i < 0 ? y[j] : j < 0 ? x[i] : static_cast<T>(x[i] + y[j]);
      // Only sums of two entries are left out; NaN stays.
      if (i >= 0 && j >= 0 && static_cast<double>(std::abs(Wide(sum))) < threshold) return;
      places.push_back(i < 0 ? b.at(j) : a.at(i));
      sums.push_back(sum);
    });
    const int64_t n = static_cast<int64_t>(sums.size());
    int64_t* indices = k.Output(0, Shape({n, a.rank})).mutable_data<int64_t>();
    for (int64_t e = 0; e < n; ++e) std::copy_n(places[e], a.rank, indices + e * a.rank);
    std::copy(sums.begin(), sums.end(), k.out<T>(1, Shape({n})).begin());
    PutVector(k, 2, a.shape);
  }

 private:
  static auto Wide(T v) {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(v);
    } else {
      return v;
    }
  }
  static double Threshold(const Tensor& t) {
    switch (t.dtype()) {
      case DT_FLOAT: return *t.data<float>();
      case DT_DOUBLE: return *t.data<double>();
      case DT_INT8: return *t.data<int8_t>();
      case DT_INT16: return *t.data<int16_t>();
      case DT_INT32: return *t.data<int32_t>();
      case DT_INT64: return static_cast<double>(*t.data<int64_t>());
      default: throw Unimplemented("a threshold of type ", t.dtype());
    }
  }
};

template <class T>
struct SparseAddGrad {
  void operator()(KernelContext& k) const {
    const Tensor &dy = k.input(0), &a = k.input(1), &b = k.input(2), &sum = k.input(3);
    k.Require(dy.rank() == 1, "Input backprop_val_grad should be a vector but received shape: ", dy.shape());
    for (const Tensor* t : {&a, &b, &sum})
      k.Require(t->rank() == 2, "Input indices should be matrices but received shape: ", t->shape());
    const int64_t rank = sum.dim(1), n = sum.dim(0);
    k.Require(a.dim(1) == rank && b.dim(1) == rank, "The densified operands should have the same ndims; got ", a.dim(1),
              ", ", b.dim(1), ", ", rank);
    k.Require(dy.dim(0) == n,
              "# elements in backprop_val_grad and # rows in sum_indices should match (#nnz of sum): got ", dy.dim(0),
              " and ", n);
    const int64_t* at = sum.data<int64_t>();
    for (int o = 0; o < 2; ++o) {
      const Tensor& in = o ? b : a;
      auto dx = k.out<T>(o, Shape({in.dim(0)}));
      // Both are in row-major order.
      int64_t s = 0;
      for (int64_t e = 0; e < in.dim(0); ++e) {
        const int64_t* place = in.data<int64_t>() + e * rank;
        while (s < n && ComparePositions(at + s * rank, place, rank) < 0) ++s;
        dx[e] = s < n && ComparePositions(at + s * rank, place, rank) == 0 ? dy.data<T>()[s] : T();
      }
    }
  }
};

template <class T>
struct SparseSparseExtreme {
  bool maximum;

  explicit SparseSparseExtreme(const NodeView& node) : maximum(node.op().name == "SparseSparseMaximum") {}
  void operator()(KernelContext& k) const {
    const SparseInput a(k, 0, false), b(k, 3, false);
    RequireSameShape(k, a, b);
    const T *x = a.values->template data<T>(), *y = b.values->template data<T>();
    std::vector<int64_t> places;
    std::vector<T> values;
    Merge(a, b, [&](int64_t i, int64_t j) {
      const T u = i < 0 ? T(0) : x[i], v = j < 0 ? T(0) : y[j];
      const int64_t* place = i < 0 ? b.at(j) : a.at(i);
      places.insert(places.end(), place, place + a.rank);
      values.push_back(maximum ? std::max(u, v) : std::min(u, v));
    });
    const int64_t n = static_cast<int64_t>(values.size());
    std::copy(places.begin(), places.end(), k.Output(0, Shape({n, a.rank})).template mutable_data<int64_t>());
    std::copy(values.begin(), values.end(), k.out<T>(1, Shape({n})).begin());
  }
};

// SparseReduceSum and SparseReduceMax, with dense or sparse results.
template <class T, bool kMax>
void Reduce(KernelContext& k, bool keep, bool sparse) {
  const SparseInput in(k, 0);
  SparseStrides(in.shape);  // a shape whose elements nobody can count is refused, whatever is left of it
  const std::vector<int64_t> axes = shapes::Integers(k.input(3));
  std::vector<bool> reduced(in.rank);
  for (const int64_t axis : axes) {
    k.Require(axis >= -in.rank && axis < in.rank, "Invalid reduction dimension ", axis, ", for input with ", in.rank,
              " dimensions.");
    reduced[axis < 0 ? axis + in.rank : axis] = true;
  }
  std::vector<int64_t> shape, kept_dims;
  for (int64_t d = 0; d < in.rank; ++d) {
    if (!reduced[d]) kept_dims.push_back(d);
    if (!reduced[d] || keep) shape.push_back(reduced[d] ? 1 : in.shape[d]);
  }
  std::vector<int64_t> dims;
  for (const int64_t d : kept_dims) dims.push_back(in.shape[d]);
  const std::vector<int64_t> steps = SparseStrides(dims);
  const T* x = in.values->data<T>();
  // Entries grouped by their place in the result; order within a group is the input's.
  std::vector<std::pair<int64_t, int64_t>> places(in.entries);
  for (int64_t e = 0; e < in.entries; ++e) {
    int64_t at = 0;
    for (size_t i = 0; i < kept_dims.size(); ++i) at += in.at(e)[kept_dims[i]] * steps[i];
    places[e] = {at, e};
  }
  std::sort(places.begin(), places.end());
  std::vector<int64_t> found;
  std::vector<T> values;
  for (size_t i = 0; i < places.size();) {
    const int64_t at = places[i].first;
    Sum<T> sum = static_cast<Sum<T>>(x[places[i].second]);
    for (++i; i < places.size() && places[i].first == at; ++i) {
      const Sum<T> v = static_cast<Sum<T>>(x[places[i].second]);
      if constexpr (kMax) {
        sum = std::max(sum, v);
      } else {
        sum = static_cast<Sum<T>>(sum + v);
      }
    }
    found.push_back(at);
    values.push_back(static_cast<T>(sum));
  }
  if (!sparse) {
    auto out = k.out<T>(0, Shape(shape));
    std::fill(out.begin(), out.end(), T());
    for (size_t i = 0; i < found.size(); ++i) out[found[i]] = values[i];
    return;
  }
  const int64_t n = static_cast<int64_t>(found.size()), rank = static_cast<int64_t>(shape.size());
  int64_t* indices = k.Output(0, Shape({n, rank})).mutable_data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = found[i], column = 0;
    size_t kept = 0;
    for (int64_t d = 0; d < in.rank; ++d) {
      if (reduced[d]) {
        if (keep) indices[i * rank + column++] = 0;
      } else {
        indices[i * rank + column++] = rest / steps[kept];
        rest %= steps[kept++];
      }
    }
  }
  std::copy(values.begin(), values.end(), k.out<T>(1, Shape({n})).begin());
  PutVector(k, 2, shape);
}

struct ReduceAttrs {
  bool keep, sparse;
  explicit ReduceAttrs(const NodeView& node)
      : keep(node.attr<bool>("keep_dims")), sparse(node.op().name.ends_with("Sparse")) {}
};
template <class T>
struct SparseReduceSum : ReduceAttrs {
  using ReduceAttrs::ReduceAttrs;
  void operator()(KernelContext& k) const { Reduce<T, false>(k, keep, sparse); }
};
template <class T>
struct SparseReduceMax : ReduceAttrs {
  using ReduceAttrs::ReduceAttrs;
  void operator()(KernelContext& k) const { Reduce<T, true>(k, keep, sparse); }
};

template <class T>
struct SparseDenseCwise {
  enum { kAdd, kMul, kDiv } how;

  explicit SparseDenseCwise(const NodeView& node)
      : how(node.op().name == "SparseDenseCwiseAdd"   ? kAdd
            : node.op().name == "SparseDenseCwiseMul" ? kMul
                                                      : kDiv) {}
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0);
    const Tensor& dense = k.input(3);
    k.Require(in.entries == 0 || dense.num_elements() > 0, "The dense tensor is empty: ", dense.shape());
    const int64_t extra = in.rank - dense.rank();
    const auto refuse = [&] {
      throw InvalidArgument("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: [",
                            StrJoin(in.shape, ","), "] vs. ", dense.shape());
    };
    if (extra < 0) refuse();
    std::vector<int64_t> steps(in.rank, 0);
    const std::vector<int64_t> own = Strides(dense.shape());
    for (int d = 0; d < dense.rank(); ++d) {
      if (dense.dim(d) != 1 && dense.dim(d) != in.shape[extra + d]) refuse();
      steps[extra + d] = dense.dim(d) == 1 ? 0 : own[d];
    }
    const T *x = in.values->template data<T>(), *b = dense.data<T>();
    auto y = k.out<T>(0, Shape({in.entries}));
    for (int64_t e = 0; e < in.entries; ++e) {
      const T v = b[FlatPosition(in.at(e), steps)];
      if constexpr (std::is_integral_v<T>) {
        if (how == kDiv) {
          k.Require(v != 0, "Integer division by zero");
          y[e] = std::is_signed_v<T> && v == static_cast<T>(-1)
                     ? static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(x[e]))
                     : static_cast<T>(x[e] / v);
          continue;
        }
      }
      y[e] = static_cast<T>(how == kAdd   ? x[e] + v
                            : how == kMul ? x[e] * v
                                          : x[e] / (v == T() && std::is_integral_v<T> ? T(1) : v));
    }
  }
};

template <class T>
struct SparseSoftmax {
  void operator()(KernelContext& k) const {
    const SparseInput in(k, 0, false);
    k.Require(in.rank >= 2, "Input should have rank >= 2, but received shape: [", StrJoin(in.shape, ","), "]");
    const T* x = in.values->template data<T>();
    auto y = k.out<T>(0, Shape({in.entries}));
    for (int64_t first = 0; first < in.entries;) {
      int64_t last = first + 1;
      while (last < in.entries && ComparePositions(in.at(first), in.at(last), in.rank - 1) == 0) ++last;
      Sum<T> most = -std::numeric_limits<Sum<T>>::infinity(), total = 0;
      for (int64_t e = first; e < last; ++e) most = std::max(most, static_cast<Sum<T>>(x[e]));
      for (int64_t e = first; e < last; ++e) total += std::exp(static_cast<Sum<T>>(x[e]) - most);
      for (int64_t e = first; e < last; ++e) y[e] = static_cast<T>(std::exp(static_cast<Sum<T>>(x[e]) - most) / total);
      first = last;
    }
  }
};

}  // namespace

void RegisterSparseMathKernels(KernelRegistry& kernels) {
  using MatMulTypes = Types<float, double, int32_t, Complex64, Complex128, BFloat16, Half>;
  kernels.Add<SparseTensorDenseMatMul>("SparseTensorDenseMatMul", MatMulTypes{});
  kernels.Add<SparseTensorDenseAdd>("SparseTensorDenseAdd", Numbers{});
  using AddTypes = Types<float, double, int8_t, int16_t, int32_t, int64_t, Complex64, Complex128>;
  kernels.Add<SparseAdd>("SparseAdd", AddTypes{});
  kernels.Add<SparseAddGrad>("SparseAddGrad", AddTypes{});
  for (const char* op : {"SparseSparseMaximum", "SparseSparseMinimum"}) kernels.Add<SparseSparseExtreme>(op, Reals{});
  for (const char* op : {"SparseReduceSum", "SparseReduceSumSparse"}) kernels.Add<SparseReduceSum>(op, Numbers{});
  for (const char* op : {"SparseReduceMax", "SparseReduceMaxSparse"}) kernels.Add<SparseReduceMax>(op, Reals{});
  for (const char* op : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"})
    kernels.Add<SparseDenseCwise>(op, Numbers{});
  kernels.Add<SparseSoftmax>("SparseSoftmax", Types<Half, float, double>{});
}

}  // namespace penstock
