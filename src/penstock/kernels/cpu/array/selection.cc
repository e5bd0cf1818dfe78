// Positions of what is not zero, differences of lists, distances of sequences.
#include <algorithm>
#include <map>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/hash_index.h"

namespace penstock {

namespace {

constinit BranchTable<2> where_pieces{"where/pieces", {"one", "several"}};

template <class T>
struct Where {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank();
    k.Require(rank > 0, "WhereOp : Unhandled input dimensions: 0");
    const int64_t n = in.num_elements();
    const T* x = in.data<T>();
    // Pieces are counted, then each writes its own part.
    constexpr int64_t kPiece = 16384;
    const int64_t pieces = (n + kPiece - 1) / kPiece;
    where_pieces.Enter(pieces > 1 ? 1 : 0);
    std::vector<int64_t> starts(pieces + 1);
    k.Parallel(pieces, kPiece / 4, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t count = 0;
        for (int64_t i = p * kPiece; i < std::min(n, (p + 1) * kPiece); ++i) count += x[i] != T(0);
        starts[p + 1] = count;
      }
    });
    for (int64_t p = 0; p < pieces; ++p) starts[p + 1] += starts[p];
    int64_t* out = k.Output(0, Shape({starts[pieces], rank})).mutable_data<int64_t>();
    const std::vector<int64_t> steps = Strides(in.shape());
    const int64_t row = in.dim(rank - 1);
    k.Parallel(pieces, kPiece * 2, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> at(rank);
      for (int64_t p = begin; p < end; ++p) {
        int64_t* to = out + starts[p] * rank;
        const int64_t last = std::min(n, (p + 1) * kPiece);
        int64_t i = p * kPiece;
        while (i < last) {
          int64_t rest = i;
          for (int d = 0; d < rank; ++d) {
            at[d] = rest / steps[d];
            rest %= steps[d];
          }
          const int64_t stop = std::min(last, i + row - at[rank - 1]);
          for (int64_t column = at[rank - 1]; i < stop; ++i, ++column) {
            if (x[i] == T(0)) continue;
            for (int d = 0; d + 1 < rank; ++d) *to++ = at[d];
            *to++ = column;
          }
        }
      }
    });
  }
};

void PutIndex(Tensor& t, int64_t i, int64_t value) {
  if (t.dtype() == DT_INT64) {
    t.mutable_data<int64_t>()[i] = value;
  } else {
    t.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
  }
}

// Unique elements of a vector, or unique slices along an axis.
struct Unique {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    int axis = 0;
    bool vector = k.num_inputs() == 1;
    if (vector) {
      k.Require(in.rank() == 1, "unique expects a 1D vector.");
    } else {
      const Tensor& axes = k.input(1);
      k.Require(axes.rank() == 1, "axis expects a 1D vector.");
      k.Require(axes.num_elements() <= 1, "axis does not support input tensors larger than 1 elements");
      if (axes.num_elements() == 0) {
        k.Require(in.rank() == 1, "unique expects a 1D vector.");
      } else {
        const int64_t given = axes.IntAt(0);
        k.Require(given >= -in.rank() && given < in.rank(), "axis has to be between [0, ", in.rank(), ") but got ",
                  given);
        axis = static_cast<int>(given < 0 ? given + in.rank() : given);
      }
      vector = in.rank() == 1;
    }
    const DataType type = in.dtype();
    const int64_t n = in.dim(axis);
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= in.dim(i);
    for (int i = axis + 1; i < in.rank(); ++i) inner *= in.dim(i);

    Tensor& index = k.Output(1, Shape({n}));
    k.Require(index.dtype() == DT_INT64 || n <= std::numeric_limits<int32_t>::max(),
              "unique does not support input tensors larger than ", std::numeric_limits<int32_t>::max(), " elements");
    std::vector<int64_t> first;  // where each different one stands
    if (vector) {
      first = IndexElements(in, index);
    } else {
      // Slices laid out one after the other.
      Tensor rows = k.Temp(type, Shape({n, outer * inner}));
      const CopyAxis axes[] = {{n, outer * inner, inner}, {outer, inner, n * inner}, {inner, 1, 1}};
      if (rows.num_elements() > 0) CopyBox(k, type, axes, rows.mutable_raw(), in.raw());
      first = IndexRows(rows, index);
    }
    const int64_t found = static_cast<int64_t>(first.size());
    Shape shape = in.shape();
    shape.set_dim(axis, found);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() > 0) {
      for (int64_t u = 0; u < found; ++u) {
        for (int64_t o = 0; o < outer; ++o) {
          CopyElements(type, At(out, (o * found + u) * inner), At(in, (o * n + first[u]) * inner), inner);
        }
      }
    }
    if (k.num_outputs() > 2) {
      std::vector<int64_t> counts(found);
      for (int64_t i = 0; i < n; ++i) ++counts[index.IntAt(i)];
      Tensor& out_counts = k.Output(2, Shape({found}));
      for (int64_t u = 0; u < found; ++u) PutIndex(out_counts, u, counts[u]);
    }
  }
};

struct ListDiff {
  void operator()(KernelContext& k) const {
    const Tensor &x = k.input(0), &y = k.input(1);
    k.Require(x.rank() == 1, "x should be a 1D vector.");
    k.Require(y.rank() == 1, "y should be a 1D vector.");
    const std::vector<int64_t> kept = ElementsMissing(x, y);
    const int64_t n = static_cast<int64_t>(kept.size());
    Tensor& out = k.Output(0, Shape({n}));
    Tensor& at = k.Output(1, Shape({n}));
    for (int64_t i = 0; i < n; ++i) {
      CopyElements(x.dtype(), At(out, i), At(x, kept[i]), 1);
      PutIndex(at, i, kept[i]);
    }
  }
};

// Sequences of a sparse tensor, by the position of their group (all dimensions but the last).
using Groups = std::map<std::vector<int64_t>, std::vector<int64_t>>;

Groups GroupsOf(KernelContext& k, int first, const char* what) {
  const Tensor &indices = k.input(first), &values = k.input(first + 1), &shape = k.input(first + 2);
  k.Require(indices.rank() == 2, what, "_indices should be a matrix, but got shape: ", indices.shape());
  k.Require(values.rank() == 1, what, "_values should be a vector, but got shape: ", values.shape());
  k.Require(shape.rank() == 1, what, "_shape should be a vector, but got shape: ", shape.shape());
  k.Require(indices.dim(0) == values.dim(0), what, "_values.NumElements() must equal ", what,
            "_indices rows: ", values.dim(0), " vs. ", indices.dim(0));
  const int64_t rank = shape.num_elements();
  k.Require(rank >= 1, what, "_shape must have at least one element");
  k.Require(indices.dim(1) == rank, "expected ", what, "_shape.NumElements() == #cols(indices), got: ", rank, " and ",
            indices.dim(1));
  Groups groups;
  const int64_t *index = indices.data<int64_t>(), *size = shape.data<int64_t>();
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    for (int64_t d = 0; d < rank; ++d) {
      k.Require(index[i * rank + d] >= 0 && index[i * rank + d] < size[d], what, "_indices[", i,
                "] is out of bounds of ", what, "_shape");
    }
    groups[std::vector<int64_t>(index + i * rank, index + i * rank + rank - 1)].push_back(i);
  }
  return groups;
}

template <class T>
struct EditDistance {
  bool normalize;

  explicit EditDistance(const NodeView& node) : normalize(node.attr<bool>("normalize")) {}
  void operator()(KernelContext& k) const {
    const Groups a = GroupsOf(k, 0, "hypothesis"), b = GroupsOf(k, 3, "truth");
    const auto sa = k.in<int64_t>(2), sb = k.in<int64_t>(5);
    k.Require(sa.size() == sb.size(),
              "hypothesis_shape and truth_shape must have the same number of elements: ", sa.size(), " vs. ",
              sb.size());
    std::vector<int64_t> dims;
    for (size_t i = 0; i + 1 < sa.size(); ++i) dims.push_back(std::max(sa[i], sb[i]));
    const Shape shape(dims);
    auto out = k.out<float>(0, shape);
    std::fill(out.begin(), out.end(), 0.0f);
    const std::vector<int64_t> steps = Strides(shape), none;
    const T *x = k.input(1).template data<T>(), *y = k.input(4).template data<T>();
    const auto put = [&](const std::vector<int64_t>& group, const std::vector<int64_t>& h,
                         const std::vector<int64_t>& t) {
      int64_t at = 0;
      for (size_t i = 0; i < group.size(); ++i) at += group[i] * steps[i];
      float distance = static_cast<float>(Distance(x, h, y, t));
      if (normalize)
        distance = t.empty() ? (h.empty() ? 0.0f : std::numeric_limits<float>::infinity())
                             : distance / static_cast<float>(t.size());
      out[at] = distance;
    };
    for (const auto& [group, h] : a) {
      const auto t = b.find(group);
      put(group, h, t == b.end() ? none : t->second);
    }
    for (const auto& [group, t] : b) {
      if (!a.contains(group)) put(group, none, t);
    }
  }

  static int64_t Distance(const T* x, const std::vector<int64_t>& h, const T* y, const std::vector<int64_t>& t) {
    std::vector<int64_t> row(t.size() + 1);
    for (size_t j = 0; j <= t.size(); ++j) row[j] = static_cast<int64_t>(j);
    for (size_t i = 0; i < h.size(); ++i) {
      int64_t diagonal = row[0];
      row[0] = static_cast<int64_t>(i) + 1;
      for (size_t j = 0; j < t.size(); ++j) {
        const int64_t substitute = diagonal + (x[h[i]] == y[t[j]] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
      }
    }
    return row.back();
  }
};

template <class T>
struct UnravelIndex {
  void operator()(KernelContext& k) const {
    const Tensor &indices = k.input(0), &dims = k.input(1);
    k.Require(indices.rank() <= 1, "The indices can only be scalar or vector, got \"", indices.shape(), "\"");
    k.Require(dims.rank() == 1, "The dims can only be 1-D, got \"", dims.shape(), "\"");
    const auto sizes = dims.flat<T>();
    T product = 1;
    bool overflow = false;
    for (const T d : sizes) {
      k.Require(d != 0, "Input dims cannot contain a dim of zero, but dims contains zero");
      k.Require(d > 0, "Input dims must be positive, but got ", d);
      overflow |= __builtin_mul_overflow(product, d, &product);
    }
    k.Require(!overflow, "Input dims product is causing integer overflow");
    const int64_t n = indices.num_elements(), rank = static_cast<int64_t>(sizes.size());
    auto out = k.out<T>(0, indices.rank() == 0 ? Shape({rank}) : Shape({rank, n}));
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = indices.data<T>()[i];
      k.Require(rest >= 0 && rest < product, "index is out of bound as with dims");
      for (int64_t d = rank - 1; d >= 0; --d) {
        out[d * n + i] = static_cast<T>(rest % sizes[d]);
        rest /= sizes[d];
      }
    }
  }
};

}  // namespace

void RegisterSelectionKernels(KernelRegistry& kernels) {
  kernels.Add<Where>("Where", PodTypes{});
  for (const char* op : {"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"}) kernels.Add<Unique>(op);
  kernels.Add<ListDiff>("ListDiff");
  kernels.Add<EditDistance>("EditDistance", Concat<PodTypes, Types<TString>>{});
  kernels.Add<UnravelIndex>("UnravelIndex", Indices{}, "Tidx");
}

}  // namespace penstock
