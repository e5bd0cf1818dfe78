// Values put, added, ... at positions of a new tensor.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/nd_index.h"

namespace penstock {

namespace {

enum class Combine { kUpdate, kAdd, kSub, kMin, kMax };

void CheckShapes(KernelContext& k, const Shape& shape, const Tensor& indices, const Tensor& updates, int64_t* row) {
  k.Require(indices.rank() >= 1, "Indices shape must have rank at least one. Found:", indices.shape());
  k.Require(updates.rank() >= 1, "Updates shape must have rank at least one. Found:", updates.shape());
  const int outer = indices.rank() - 1;
  const int64_t depth = indices.dim(outer);
  k.Require(shape.num_elements() > 0 || (indices.num_elements() == 0 && updates.num_elements() == 0) ||
                (updates.num_elements() == 0),
            "Indices and updates specified for empty output tensor");
  const auto refuse = [&](std::string_view why) {
    throw InvalidArgument(why, ": indices shape ", indices.shape(), ", updates shape ", updates.shape(), ", shape ",
                          shape);
  };
  if (depth > shape.rank()) refuse("The innermost dimension of indices is larger than the rank of the output");
  const int d = static_cast<int>(depth);
  if (updates.rank() != outer + shape.rank() - d)
    refuse("Must have updates.shape = indices.shape[:batch_dim] + shape[slice_dim:], got");
  for (int i = 0; i < outer; ++i) {
    if (updates.dim(i) != indices.dim(i)) refuse("The outer dimensions of indices and updates must match");
  }
  *row = 1;
  for (int i = d; i < shape.rank(); ++i) {
    if (updates.dim(outer + i - d) != shape[i]) {
      throw InvalidArgument("The inner ", shape.rank() - d, " dimensions of output.shape=", shape,
                            " must match the inner ", updates.rank() - outer, " dimensions of updates.shape=", updates);
    }
    *row *= shape[i];
  }
}

// A row at a time in the order of the updates; wide rows are cut into columns for the threads, so that the order holds.
template <class Row>
void EachRow(const KernelContext& k, const std::vector<int64_t>& rows, int64_t width, size_t size, Row row) {
  const int64_t columns = std::max<int64_t>(64 / static_cast<int64_t>(size), 1),
                parts = std::max<int64_t>(width / columns, 1);
  k.Parallel(parts, 1 + static_cast<int64_t>(rows.size()) * 8, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * columns, last = end == parts ? width : end * columns;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= 0) row(rows[i] * width + first, static_cast<int64_t>(i) * width + first, last - first);
    }
  });
}

template <class T>
void Apply(const KernelContext& k, Combine combine, Tensor& out, const std::vector<int64_t>& rows,
           const Tensor& updates, int64_t width) {
  T* to = out.mutable_data<T>();
  const T* from = updates.data<T>();
  const auto run = [&](auto f) {
    EachRow(k, rows, width, sizeof(T), [&](int64_t t, int64_t u, int64_t n) {
      for (int64_t i = 0; i < n; ++i) to[t + i] = f(to[t + i], from[u + i]);
    });
  };
  if constexpr (std::is_same_v<T, bool>) {
    run([](bool a, bool b) { return a || b; });
  } else if constexpr (std::is_same_v<T, TString>) {
    run([](const TString& a, const TString& b) { return TString(StrCat(a.view(), b.view())); });
  } else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    if (combine == Combine::kAdd) {
      run([](T a, T b) { return a + b; });
    } else {
      run([](T a, T b) { return a - b; });
    }
  } else {
    switch (combine) {
      case Combine::kAdd: return run([](T a, T b) { return static_cast<T>(a + b); });
      case Combine::kSub: return run([](T a, T b) { return static_cast<T>(a - b); });
      case Combine::kMin: return run([](T a, T b) { return b < a ? b : a; });
      default: return run([](T a, T b) { return a < b ? b : a; });
    }
  }
}

// Rows of `updates` into `out`, which this kernel owns.
void Scatter(KernelContext& k, Combine combine, Tensor& out, const Tensor& indices, const Tensor& updates,
             bool ignore_bad) {
  int64_t width;
  CheckShapes(k, out.shape(), indices, updates, &width);
  if (out.num_elements() == 0 || updates.num_elements() == 0) return;
  const std::vector<int64_t> rows = RowNumbers(indices, out.shape(), "shape", ignore_bad);
  if (combine == Combine::kUpdate) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= 0)
        CopyElements(out.dtype(), At(out, rows[i] * width), At(updates, static_cast<int64_t>(i) * width), width);
    }
    return;
  }
  const auto each = [&]<class... Ts>(Types<Ts...>) {
    const bool done =
        ((kTypeOf<Ts> == out.dtype() ? (Apply<Ts>(k, combine, out, rows, updates, width), true) : false) || ...);
    if (!done) throw Unimplemented("scattering elements of type ", out.dtype());
  };
  each(ConcatTypes<PodTypes, Types<TString>>::type{});
}

struct ScatterNd {
  bool ignore_bad;

  explicit ScatterNd(const NodeView& node) : ignore_bad(IgnoresBad(node)) {}
  void operator()(KernelContext& k) const {
    k.Require(k.input(2).rank() == 1, "Shape must be a vector, got shape ", k.shape(2));
    const Shape shape = k.ShapeInput(2);
    Tensor& out = k.Output(0, shape);
    ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
    Scatter(k, Combine::kAdd, out, k.input(0), k.input(1), ignore_bad);
  }
};

template <Combine kCombine>
struct TensorScatter {
  bool ignore_bad;

  explicit TensorScatter(const NodeView& node) : ignore_bad(IgnoresBad(node)) {}
  void operator()(KernelContext& k) const {
    Tensor out = k.CanTake(0) ? k.Take(0) : k.input(0).Clone();
    Scatter(k, kCombine, out, k.input(1), k.input(2), ignore_bad);
    k.SetOutput(0, std::move(out));
  }
};

}  // namespace

void RegisterScatterNdKernels(KernelRegistry& kernels) {
  kernels.Add<ScatterNd>("ScatterNd");
  kernels.Add<TensorScatter<Combine::kAdd>>("ScatterNdNonAliasingAdd");
  kernels.Add<TensorScatter<Combine::kUpdate>>("TensorScatterUpdate");
  kernels.Add<TensorScatter<Combine::kAdd>>("TensorScatterAdd", Concat<Numbers, Types<bool, TString>>{});
  kernels.Add<TensorScatter<Combine::kSub>>("TensorScatterSub", Numbers{});
  kernels.Add<TensorScatter<Combine::kMin>>("TensorScatterMin", Reals{});
  kernels.Add<TensorScatter<Combine::kMax>>("TensorScatterMax", Reals{});
}

}  // namespace penstock
