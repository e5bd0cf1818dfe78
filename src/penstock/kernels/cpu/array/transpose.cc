// Elements in another order: transposes, reversals, rolls.
#include <algorithm>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

template <class T>
void ConjugateAll(KernelContext& k, Tensor& t) {
  T* x = t.mutable_data<T>();
  k.Parallel(t.num_elements(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] = std::conj(x[i]);
  });
}

struct Transpose {
  bool conjugate;

  explicit Transpose(const NodeView& node) : conjugate(node.op().name == "ConjugateTranspose") {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank();
    k.Require(k.input(1).rank() == 1, "perm must be rank 1, got shape ", k.shape(1));
    k.Require(k.input(1).num_elements() == rank, "transpose expects a vector of size ", rank,
              ". But input(1) is a vector of size ", k.input(1).num_elements());
    std::vector<int64_t> perm = shapes::Integers(k.input(1));
    std::vector<bool> seen(rank);
    for (int64_t& p : perm) {
      k.Require(p >= -rank && p < rank, p, " is out of range [0 .. ", rank, ")");
      if (p < 0) p += rank;
      seen[p] = true;
    }
    for (int i = 0; i < rank; ++i) {
      if (!seen[i]) [[unlikely]]
        throw InvalidArgument(i, " is missing from {", StrJoin(perm, ","), "}.");
    }

    Shape shape = in.shape();
    for (int i = 0; i < rank; ++i) shape.set_dim(i, in.dim(static_cast<int>(perm[i])));
    // Dimensions of size 1 may go anywhere.
    int64_t last = -1;
    bool same_order = true;
    for (const int64_t p : perm) {
      if (in.dim(static_cast<int>(p)) == 1) continue;
      same_order &= p > last;
      last = p;
    }
    const DataType type = in.dtype();
    const bool conj = conjugate && IsComplex(type);
    if ((same_order || in.num_elements() == 0) && !conj) return k.SetOutput(0, k.Take(0).Reshaped(shape));
    Tensor& out = k.Output(0, shape);
    const std::vector<int64_t> from = Strides(in.shape()), to = Strides(shape);
    std::vector<CopyAxis> axes(rank);
    for (int i = 0; i < rank; ++i) axes[i] = {shape[i], to[i], from[perm[i]]};
    if (out.num_elements() > 0) CopyBox(k, type, axes, out.mutable_raw(), in.raw());
    if (conj && type == DT_COMPLEX64) ConjugateAll<Complex64>(k, out);
    if (conj && type == DT_COMPLEX128) ConjugateAll<Complex128>(k, out);
  }
};

template <class T>
struct InvertPermutation {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 1, "invert_permutation expects a 1D vector.");
    const auto x = k.in<T>(0);
    const int64_t n = static_cast<int64_t>(x.size());
    auto y = k.out<T>(0, k.shape(0));
    std::fill(y.begin(), y.end(), T(-1));
    for (int64_t i = 0; i < n; ++i) {
      k.Require(x[i] >= 0 && x[i] < n, x[i], " is not between 0 and ", n);
      k.Require(y[x[i]] == -1, x[i], " is duplicated in the input.");
      y[x[i]] = static_cast<T>(i);
    }
  }
};

void ReverseAxes(KernelContext& k, const std::vector<bool>& reversed) {
  const Tensor& in = k.input(0);
  bool any = false;
  for (int i = 0; i < in.rank(); ++i) any |= reversed[i] && in.dim(i) > 1;
  if (!any || in.num_elements() == 0) return k.Forward(0, 0);
  const std::vector<int64_t> steps = Strides(in.shape());
  std::vector<CopyAxis> axes(in.rank());
  int64_t start = 0;
  for (int i = 0; i < in.rank(); ++i) {
    axes[i] = {in.dim(i), steps[i], reversed[i] ? -steps[i] : steps[i]};
    if (reversed[i]) start += (in.dim(i) - 1) * steps[i];
  }
  Tensor& out = k.Output(0, in.shape());
  CopyBox(k, in.dtype(), axes, out.mutable_raw(), At(in, start));
}

struct Reverse {
  void operator()(KernelContext& k) const {
    const Tensor& dims = k.input(1);
    const int rank = k.input(0).rank();
    k.Require(rank <= 8, "reverse is not implemented for tensors of rank > 8");
    k.Require(rank == 0 || dims.rank() == 1, "'dims' must be 1-dimension, not ", dims.rank());
    k.Require(rank == 0 || dims.num_elements() == rank,
              "'dims' must have the same number of values as 'input' has dimensions. ", "'input' has ", rank,
              "'dims' has ", dims.num_elements(), " values");
    std::vector<bool> reversed(rank);
    for (int i = 0; i < rank; ++i) reversed[i] = dims.data<bool>()[i];
    ReverseAxes(k, reversed);
  }
};

struct ReverseV2 {
  void operator()(KernelContext& k) const {
    const int rank = k.input(0).rank();
    k.Require(rank <= 8, "reverse is not implemented for tensors of rank > 8");
    k.Require(k.input(1).rank() == 1, "'axis' must be 1-dimension, not ", k.input(1).rank());
    std::vector<bool> reversed(rank);
    const std::vector<int64_t> axes = shapes::Integers(k.input(1));
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t a = axes[i] < 0 ? axes[i] + rank : axes[i];
      k.Require(a >= 0 && a < rank, "'axis'[", i, "] = ", axes[i], " is out of valid range [0, ", rank - 1);
      k.Require(!reversed[a], "axis ", a, " specified more than once.");
      reversed[a] = true;
    }
    ReverseAxes(k, reversed);
  }
};

struct ReverseSequence {
  int64_t batch_dim, seq_dim;

  explicit ReverseSequence(const NodeView& node)
      : batch_dim(node.attr<int64_t>("batch_dim")), seq_dim(node.attr<int64_t>("seq_dim")) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(in.rank() >= 1, "input must be at least 1-D, got shape ", in.shape());
    k.Require(k.input(1).rank() == 1, "seq_lens input must be 1-dim, not ", k.input(1).rank());
    k.Require(batch_dim != seq_dim, "batch_dim == seq_dim == ", seq_dim);
    k.Require(seq_dim >= 0 && seq_dim < in.rank(), "seq_dim must be < input rank ( ", seq_dim, " vs. ", in.rank(), ")");
    k.Require(batch_dim >= 0 && batch_dim < in.rank(), "batch_dim must be < input rank ( ", batch_dim, " vs. ",
              in.rank(), ")");
    const int batch = static_cast<int>(batch_dim), seq = static_cast<int>(seq_dim);
    const std::vector<int64_t> lengths = shapes::Integers(k.input(1));
    k.Require(static_cast<int64_t>(lengths.size()) == in.dim(batch), "Length of seq_lens != input.dims(", batch, "), (",
              lengths.size(), " vs. ", in.dim(batch), ")");
    for (size_t i = 0; i < lengths.size(); ++i) {
      k.Require(lengths[i] >= 0, "seq_lens(", i, ") < 0");
      k.Require(lengths[i] <= in.dim(seq), "seq_lens(", i, ") > input.dims(", seq, ")");
    }
    Tensor& out = k.Output(0, in.shape());
    if (in.num_elements() == 0) return;
    const std::vector<int64_t> steps = Strides(in.shape());
    std::vector<CopyAxis> axes(in.rank());
    for (int i = 0; i < in.rank(); ++i) axes[i] = {in.dim(i), steps[i], steps[i]};
    axes[batch].n = 1;
    for (size_t b = 0; b < lengths.size(); ++b) {
      const int64_t at = static_cast<int64_t>(b) * steps[batch], n = lengths[b];
      axes[seq] = {n, steps[seq], -steps[seq]};
      CopyBox(k, in.dtype(), axes, At(out, at), At(in, at + (n > 0 ? n - 1 : 0) * steps[seq]));
      axes[seq] = {in.dim(seq) - n, steps[seq], steps[seq]};
      CopyBox(k, in.dtype(), axes, At(out, at + n * steps[seq]), At(in, at + n * steps[seq]));
    }
  }
};

struct Roll {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank();
    k.Require(rank >= 1, "input must be 1-D or higher");
    k.Require(k.input(1).rank() <= 1, "shift must be a scalar or a 1-D vector. Found: ", k.shape(1));
    k.Require(k.input(2).rank() <= 1, "axis must be a scalar or a 1-D vector. Found: ", k.shape(2));
    k.Require(k.shape(1) == k.shape(2), "shift and axis must have the same size");
    const std::vector<int64_t> shifts = shapes::Integers(k.input(1)), rolled = shapes::Integers(k.input(2));
    std::vector<int64_t> shift(rank);
    for (size_t i = 0; i < rolled.size(); ++i) {
      const int64_t a = rolled[i] < 0 ? rolled[i] + rank : rolled[i];
      k.Require(a >= 0 && a < rank, "axis ", rolled[i], " is out of range");
      const int64_t n = std::max<int64_t>(in.dim(static_cast<int>(a)), 1);
      shift[a] = (shift[a] + (shifts[i] % n + n) % n) % n;
    }
    std::vector<int> moved;
    for (int i = 0; i < rank; ++i) {
      if (shift[i] != 0) moved.push_back(i);
    }
    if (moved.empty() || in.num_elements() == 0) return k.Forward(0, 0);
    k.Require(moved.size() <= 20, "too many rolled dimensions: ", moved.size());
    Tensor& out = k.Output(0, in.shape());
    const std::vector<int64_t> steps = Strides(in.shape());
    std::vector<CopyAxis> axes(rank);
    for (int i = 0; i < rank; ++i) axes[i] = {in.dim(i), steps[i], steps[i]};
    // Each rolled dimension falls into two parts that change places.
    for (int64_t parts = 0; parts < int64_t{1} << moved.size(); ++parts) {
      int64_t to = 0, from = 0;
      for (size_t j = 0; j < moved.size(); ++j) {
        const int d = moved[j];
        const int64_t head = in.dim(d) - shift[d];
        if (parts >> j & 1) {
          axes[d].n = shift[d];
          from += head * steps[d];
        } else {
          axes[d].n = head;
          to += shift[d] * steps[d];
        }
      }
      CopyBox(k, in.dtype(), axes, At(out, to), At(in, from));
    }
  }
};

}  // namespace

void RegisterTransposeKernels(KernelRegistry& kernels) {
  kernels.Add<Transpose>("Transpose");
  kernels.Add<Transpose>("ConjugateTranspose");
  kernels.Add<InvertPermutation>("InvertPermutation", Indices{});
  kernels.Add<Reverse>("Reverse");
  kernels.Add<ReverseV2>("ReverseV2");
  kernels.Add<ReverseSequence>("ReverseSequence");
  kernels.Add<Roll>("Roll");
}

}  // namespace penstock
