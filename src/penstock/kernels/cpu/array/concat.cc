// Tensors joined and taken apart.
#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

constinit BranchTable<2> join_ways{"concat/join", {"one after the other", "several at once"}};
constinit BranchTable<3> concat_ways{"concat/way", {"one input", "whole inputs", "columns"}};
constinit BranchTable<2> part_ways{"split/part", {"shared", "copied"}};

int64_t Product(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= shape[i];
  return product;
}

// Copies a tensor seen as [outer, width] into columns [at, at + width) of one seen as [outer, total].
void PutColumns(const KernelContext& k, Tensor& out, int64_t outer, int64_t total, int64_t at, const Tensor& part,
                int64_t width) {
  const CopyAxis axes[] = {{outer, total, width}, {width, 1, 1}};
  if (outer * width > 0) CopyBox(k, out.dtype(), axes, At(out, at), part.raw());
}

// n inputs from `first` on, one behind the other: each whole by one thread if they are many and alike.
void Join(const KernelContext& k, Tensor& out, int first, int n) {
  std::vector<int64_t> begins(n + 1, 0);
  int64_t largest = 0;
  for (int i = 0; i < n; ++i) {
    const int64_t count = k.shape(first + i).num_elements();
    begins[i + 1] = begins[i] + count, largest = std::max(largest, count);
  }
  const auto copy = [&](int i, auto&... context) {
    const int64_t count = begins[i + 1] - begins[i];
    if (count > 0) CopyElements(context..., out.dtype(), At(out, begins[i]), k.input(first + i).raw(), count);
  };
  const bool large = n < 8 || largest > begins[n] / 4;
  join_ways.Enter(large ? 0 : 1);
  if (large) {
    for (int i = 0; i < n; ++i) copy(i, k);
    return;
  }
  const int64_t bytes = begins[n] * static_cast<int64_t>(DataTypeSize(out.dtype()));
  k.Parallel(n, std::max<int64_t>(1, bytes / n / 8), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) copy(static_cast<int>(i));
  });
}

struct ConcatOp {
  bool axis_first;

  explicit ConcatOp(const NodeView& node) : axis_first(node.op().name == "Concat") {}
  void operator()(KernelContext& k) const {
    const int n = k.num_inputs() - 1, first = axis_first ? 1 : 0;
    const int64_t wanted = k.Int(axis_first ? 0 : n);
    const Shape& like = k.shape(first);
    const int rank = like.rank();
    k.Require(rank > 0 || n == 0, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
    k.Require(wanted >= -rank && wanted < rank, "ConcatOp : Expected concatenating dimensions in the range [", -rank,
              ", ", rank, "), but got ", wanted);
    const int axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
    int64_t joined = 0;
    int filled = -1, several = 0;  // a single non-empty input is handed over
    for (int i = 0; i < n; ++i) {
      const Shape& shape = k.shape(first + i);
      k.Require(shape.rank() == rank, "ConcatOp : Ranks of all input tensors should match: shape[0] = ", like,
                " vs. shape[", i, "] = ", shape);
      for (int d = 0; d < rank; ++d) {
        k.Require(d == axis || shape[d] == like[d], "ConcatOp : Dimension ", d,
                  " in both shapes must be equal: shape[0] = ", like, " vs. shape[", i, "] = ", shape);
      }
      joined += shape[axis];
      if (shape.num_elements() > 0) {
        filled = first + i;
        ++several;
      }
    }
    if (several == 1) {
      concat_ways.Enter(0);
      return k.Forward(filled, 0);
    }
    Shape shape = like;
    shape.set_dim(axis, joined);
    const int64_t outer = Product(shape, 0, axis), inner = Product(shape, axis + 1, rank);
    Tensor& out = k.Output(0, shape);
    concat_ways.Enter(outer == 1 ? 1 : 2);
    if (outer == 1) return Join(k, out, first, n);
    int64_t at = 0;
    for (int i = 0; i < n; ++i) {
      const int64_t width = k.shape(first + i)[axis] * inner;
      PutColumns(k, out, outer, joined * inner, at, k.input(first + i), width);
      at += width;
    }
  }
};

struct ConcatOffset {
  void operator()(KernelContext& k) const {
    const int64_t wanted = k.Int(0);
    const int n = k.num_inputs() - 1;
    for (int i = 0; i < n; ++i) {
      k.Require(k.input(1 + i).rank() == 1, "input ", i, " should be a vector, but got shape ", k.shape(1 + i));
    }
    const std::vector<int64_t> like = k.Ints(1);
    const int64_t rank = static_cast<int64_t>(like.size());
    k.Require(wanted >= -rank && wanted < rank, "Concat dim is out of range: ", wanted, " vs. ", rank);
    const int64_t axis = wanted < 0 ? wanted + rank : wanted;
    int64_t at = 0;
    for (int i = 0; i < n; ++i) {
      const std::vector<int64_t> shape = k.Ints(1 + i);
      k.Require(static_cast<int64_t>(shape.size()) == rank, "input ", i, " should contain ", rank,
                " elements, but got ", shape.size());
      for (int64_t d = 0; d < rank; ++d) {
        if (d == axis || shape[d] == like[d]) [[likely]]
          continue;
        throw InvalidArgument("All dimensions except ", axis, " must match. Input ", i, " has shape [",
                              StrJoin(shape, " "), "] and doesn't match input 0 with shape [", StrJoin(like, " "),
                              "].");
      }
      Tensor& out = k.Output(i, k.shape(1 + i));
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t offset = d == axis ? at : 0;
        if (out.dtype() == DT_INT64) {
          out.mutable_data<int64_t>()[d] = offset;
        } else {
          out.mutable_data<int32_t>()[d] = static_cast<int32_t>(offset);
        }
      }
      at += shape[axis];
    }
  }
};

struct Pack {
  int64_t axis_attr;

  explicit Pack(const NodeView& node) : axis_attr(node.attr<int64_t>("axis")) {}
  void operator()(KernelContext& k) const {
    const int n = k.num_inputs();
    Shape shape = k.shape(0);
    const int rank = shape.rank() + 1;
    k.Require(axis_attr >= -rank && axis_attr < rank, "axis = ", axis_attr, " not in [", -rank, ", ", rank, ")");
    const int axis = static_cast<int>(axis_attr < 0 ? axis_attr + rank : axis_attr);
    for (int i = 1; i < n; ++i) {
      k.Require(k.shape(i) == shape, "Shapes of all inputs must match: values[0].shape = ", shape, " != values[", i,
                "].shape = ", k.shape(i));
    }
    const int64_t outer = Product(shape, 0, axis), inner = Product(shape, axis, rank - 1);
    shape.InsertDim(axis, n);
    if (n == 1) return k.SetOutput(0, k.Take(0).Reshaped(shape));
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    if (outer == 1) {
      Join(k, out, 0, n);
    } else {
      for (int i = 0; i < n; ++i) PutColumns(k, out, outer, n * inner, i * inner, k.input(i), inner);
    }
  }
};

struct ParallelConcat {
  Shape shape;

  explicit ParallelConcat(const NodeView& node) : shape(node.attr<PartialShape>("shape").AsShape()) {}
  void operator()(KernelContext& k) const {
    const int n = k.num_inputs();
    Shape row = shape;
    k.Require(shape.rank() > 0 && shape[0] == n, "shape must have ", n, " rows, but is ", shape);
    row.set_dim(0, 1);
    for (int i = 0; i < n; ++i)
      k.Require(k.shape(i) == row, "input ", i, " must have shape ", row, ", but has ", k.shape(i));
    Tensor& out = k.Output(0, shape);
    for (int i = 0; i < n; ++i)
      CopyElements(k, out.dtype(), At(out, i * row.num_elements()), k.input(i).raw(), row.num_elements());
  }
};

// Columns [at, at + width) of a tensor seen as [outer, total], as output i. Shares memory with the input where the part
// lies in one piece and starts at an aligned place.
void TakeColumns(KernelContext& k, int i, const Tensor& in, const Shape& shape, int64_t outer, int64_t total,
                 int64_t at, int64_t width) {
  if (outer == 1 && in.buffer() && width > 0) {
    const size_t begin = static_cast<const char*>(At(in, at)) - static_cast<const char*>(in.buffer()->data());
    if (begin % kAlignment == 0) {
      part_ways.Enter(0);
      return k.SetOutput(i, Tensor(in.dtype(), shape, in.buffer(), begin));
    }
  }
  part_ways.Enter(1);
  Tensor& out = k.Output(i, shape);
  const CopyAxis axes[] = {{outer, width, total}, {width, 1, 1}};
  if (outer * width > 0) CopyBox(k, in.dtype(), axes, out.mutable_raw(), At(in, at));
}

struct Unpack {
  int64_t axis_attr;

  explicit Unpack(const NodeView& node) : axis_attr(node.attr<int64_t>("axis")) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank(), n = k.num_outputs();
    k.Require(axis_attr >= -rank && axis_attr < rank, "axis = ", axis_attr, " not in [", -rank, ", ", rank, ")");
    const int axis = static_cast<int>(axis_attr < 0 ? axis_attr + rank : axis_attr);
    k.Require(in.dim(axis) == n, "Input shape axis ", axis, " must equal ", n, ", got shape ", in.shape());
    const int64_t outer = Product(in.shape(), 0, axis), inner = Product(in.shape(), axis + 1, rank);
    Shape shape = in.shape();
    shape.RemoveDim(axis);
    for (int i = 0; i < n; ++i) TakeColumns(k, i, in, shape, outer, n * inner, i * inner, inner);
  }
};

struct Split {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(1);
    const int n = k.num_outputs(), rank = in.rank();
    k.Require(k.input(0).rank() == 0, "split_dim must be a scalar but has rank ", k.input(0).rank());
    const int64_t wanted = k.Int(0);
    k.Require(wanted >= -rank && wanted < rank, "-input rank(-", rank, ") <= split_dim < input rank (", rank,
              "), but got ", wanted);
    const int axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
    k.Require(in.dim(axis) % n == 0,
              "Number of ways to split should evenly divide the split dimension, but got split_dim ", axis,
              " (size = ", in.dim(axis), ") and num_split ", n);
    if (n == 1) return k.Forward(1, 0);
    const int64_t outer = Product(in.shape(), 0, axis), inner = Product(in.shape(), axis + 1, rank),
                  part = in.dim(axis) / n;
    Shape shape = in.shape();
    shape.set_dim(axis, part);
    for (int i = 0; i < n; ++i) TakeColumns(k, i, in, shape, outer, n * part * inner, i * part * inner, part * inner);
  }
};

struct SplitV {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int n = k.num_outputs(), rank = in.rank();
    k.Require(k.input(2).num_elements() == 1, "split_dim_tensor must have exactly one element.");
    const int64_t wanted = k.input(2).IntAt(0);
    k.Require(k.input(1).rank() == 1 && k.shape(1)[0] == n,
              "size_splits must be 1-D and have the same length as number of outputs, ", n, ", but has shape ",
              k.shape(1));
    k.Require(wanted >= -rank && wanted < rank, "-input rank(-", rank, ") <= split_dim < input rank (", rank,
              "), but got ", wanted);
    const int axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
    std::vector<int64_t> sizes = shapes::Integers(k.input(1));
    int64_t open = -1, total = 0;
    for (int i = 0; i < n; ++i) {
      if (sizes[i] == -1) {
        k.Require(open < 0, "There can only be one -1 in the input.");
        open = i;
        continue;
      }
      k.Require(sizes[i] >= 0, "Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
      k.Require(!__builtin_add_overflow(total, sizes[i], &total), "size_splits are too large");
    }
    k.Require(open < 0 ? total == in.dim(axis) : total <= in.dim(axis),
              "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
              "than the "
              "size of the input along split_dim if not fully specified.  Got: ",
              total);
    if (open >= 0) sizes[open] = in.dim(axis) - total;
    if (n == 1) return k.Forward(0, 0);
    const int64_t outer = Product(in.shape(), 0, axis), inner = Product(in.shape(), axis + 1, rank);
    Shape shape = in.shape();
    int64_t at = 0;
    for (int i = 0; i < n; ++i) {
      shape.set_dim(axis, sizes[i]);
      TakeColumns(k, i, in, shape, outer, in.dim(axis) * inner, at, sizes[i] * inner);
      at += sizes[i] * inner;
    }
  }
};

}  // namespace

void RegisterConcatKernels(KernelRegistry& kernels) {
  kernels.Add<ConcatOp>("Concat");
  kernels.Add<ConcatOp>("ConcatV2");
  kernels.Add<ConcatOffset>("ConcatOffset");
  kernels.Add<Pack>("Pack");
  kernels.Add<ParallelConcat>("ParallelConcat");
  kernels.Add<Unpack>("Unpack");
  kernels.Add<Split>("Split");
  kernels.Add<SplitV>("SplitV");
}

}  // namespace penstock
