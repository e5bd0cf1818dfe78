// Rows dealt out to several tensors, brought together again, changed in place.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/copy_one.h"
#include "penstock/tensor/elements.h"

namespace penstock {

namespace {

bool StartsWith(const Shape& shape, const Shape& prefix) {
  return shape.rank() >= prefix.rank() && std::equal(prefix.begin(), prefix.end(), shape.begin());
}

struct DynamicPartition {
  void operator()(KernelContext& k) const {
    const Tensor &data = k.input(0), &partitions = k.input(1);
    const int n = k.num_outputs();
    k.Require(StartsWith(data.shape(), partitions.shape()),
              "data.shape must start with partitions.shape, got data.shape = ", data.shape(),
              ", partitions.shape = ", partitions.shape());
    const auto to = partitions.flat<int32_t>();
    std::vector<int64_t> counts(n);
    for (size_t i = 0; i < to.size(); ++i) {
      k.Require(to[i] >= 0 && to[i] < n, "partitions", Position{partitions.shape(), static_cast<int64_t>(i)}, " = ",
                to[i], " is not in [0, ", n, ")");
      ++counts[to[i]];
    }
    int64_t width = 1;
    Shape shape({0});
    for (int i = partitions.rank(); i < data.rank(); ++i) {
      shape.AddDim(data.dim(i));
      width *= data.dim(i);
    }
    std::vector<char*> next(n);
    const size_t row = width * DataTypeSize(data.dtype());
    for (int p = 0; p < n; ++p) {
      shape.set_dim(0, counts[p]);
      next[p] = static_cast<char*>(k.Output(p, shape).mutable_raw());
    }
    if (data.num_elements() == 0) return;
    WithCopyOf(data.dtype(), width, [&](auto copy) {
      const char* from = static_cast<const char*>(data.raw());
      for (const int32_t p : to) {
        copy(next[p], from);
        next[p] += row;
        from += row;
      }
    });
  }
};

struct DynamicStitch {
  void operator()(KernelContext& k) const {
    const int n = k.num_inputs() / 2;
    int64_t rows = 0;
    Shape inner;
    for (int i = 0; i < n; ++i) {
      const Tensor &indices = k.input(i), &data = k.input(n + i);
      k.Require(StartsWith(data.shape(), indices.shape()), "data[", i, "].shape = ", data.shape(),
                " does not start with indices[", i, "].shape = ", indices.shape());
      Shape rest(data.shape().dims().subspan(indices.rank()));
      if (i == 0) inner = rest;
      k.Require(rest == inner, "Need data[0].shape[", k.input(0).rank(), ":] = data[", i, "].shape[", indices.rank(),
                ":], got data[0].shape = ", k.shape(n), ", data[", i, "].shape = ", data.shape(),
                ", indices[0].shape = ", k.shape(0), ", indices[", i, "].shape = ", indices.shape());
      for (const int32_t index : indices.flat<int32_t>()) {
        k.Require(index >= 0, "indices[", i, "] is out of range: ", index);
        rows = std::max<int64_t>(rows, int64_t{index} + 1);
      }
    }
    const int64_t width = inner.num_elements();
    Shape shape({rows});
    for (const int64_t d : inner) shape.AddDim(d);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    std::vector<const void*> from(rows);  // the last that gives the row; null: nobody does, it is zeros
    for (int i = 0; i < n; ++i) {
      const auto indices = k.in<int32_t>(i);
      for (size_t j = 0; j < indices.size(); ++j)
        from[indices[j]] = At(k.input(n + i), static_cast<int64_t>(j) * width);
    }
    const int64_t cost = 4 + width * static_cast<int64_t>(DataTypeSize(out.dtype())) / 8;
    k.Parallel(rows, cost, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        if (from[r]) {
          CopyElements(out.dtype(), At(out, r * width), from[r], width);
        } else {
          ZeroElements(out.dtype(), At(out, r * width), width);
        }
      }
    });
  }
};

template <class T>
void Accumulate(Tensor& to, int64_t at, const Tensor& from, int64_t from_at, int64_t n, bool subtract) {
  T* t = to.mutable_data<T>() + at;
  const T* f = from.data<T>() + from_at;
  for (int64_t i = 0; i < n; ++i) t[i] = static_cast<T>(subtract ? t[i] - f[i] : t[i] + f[i]);
}

// InplaceUpdate, InplaceAdd, InplaceSub on rows of x.
struct Inplace {
  enum { kUpdate, kAdd, kSub } how;

  explicit Inplace(const NodeView& node)
      : how(node.op().name == "InplaceUpdate" ? kUpdate
            : node.op().name == "InplaceAdd"  ? kAdd
                                              : kSub) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    const Tensor &indices = k.input(1), &v = k.input(2);
    k.Require(indices.rank() <= 1, "i must be a vector. ", indices.shape());
    k.Require(shape.rank() >= 1, "x must be at least 1-dimensional");
    k.Require(v.rank() == (indices.rank() == 0 && v.rank() == shape.rank() - 1 ? shape.rank() - 1 : shape.rank()),
              "x and v shape doesn't match (ranks differ): ", shape, " vs. ", v.shape());
    const int64_t n = indices.num_elements(), rows = shape[0], width = rows ? shape.num_elements() / rows : 0;
    const int skip = v.rank() == shape.rank() ? 1 : 0;
    if (skip) k.Require(v.dim(0) == n, "i and x shape doesn't match at index 0: ", indices.shape(), " vs. ", v.shape());
    for (int d = 1; d < shape.rank(); ++d) {
      k.Require(v.dim(d - 1 + skip) == shape[d], "x and v shape doesn't match at index ", d, " : ", shape, " vs. ",
                v.shape());
    }
    k.Require(n == 0 || rows > 0, "x has no rows");
    Tensor out = k.CanTake(0) ? k.Take(0) : k.input(0).Clone();
    for (int64_t i = 0; i < n; ++i) {
      int64_t row = indices.data<int32_t>()[i] % rows;
      if (row < 0) row += rows;
      if (how == kUpdate) {
        CopyElements(out.dtype(), At(out, row * width), At(v, i * width), width);
        continue;
      }
      const auto each = [&]<class... Ts>(Types<Ts...>) {
        const bool done =
            ((kTypeOf<Ts> == out.dtype() ? (Accumulate<Ts>(out, row * width, v, i * width, width, how == kSub), true)
                                         : false) ||
             ...);
        if (!done) throw InvalidArgument("Unsupported dtype: ", out.dtype());
      };
      each(Numbers{});
    }
    k.SetOutput(0, std::move(out));
  }
};

}  // namespace

void RegisterPartitionKernels(KernelRegistry& kernels) {
  kernels.Add<DynamicPartition>("DynamicPartition");
  kernels.Add<DynamicStitch>("DynamicStitch");
  kernels.Add<DynamicStitch>("ParallelDynamicStitch");
  for (const char* op : {"InplaceUpdate", "InplaceAdd", "InplaceSub"}) kernels.Add<Inplace>(op);
}

}  // namespace penstock
