// Updates of parts of variables. One loop for all: `count` places, `width` elements each, one after the other, since a
// place may be named several times.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/row_shares.h"
#include "penstock/kernels/cpu/state/variables.h"
#include "penstock/ops/integers.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

enum class Change { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

Change ChangeOf(std::string_view op) {
  const std::pair<std::string_view, Change> names[] = {
      {"Update", Change::kUpdate}, {"Add", Change::kAdd}, {"Sub", Change::kSub}, {"Mul", Change::kMul},
      {"Div", Change::kDiv},       {"Min", Change::kMin}, {"Max", Change::kMax}};
  for (const auto& [name, change] : names) {
    if (op.ends_with(name)) return change;
  }
  throw Internal("unknown scatter op ", op);
}

// Where the updates go: element offsets in the variable.
struct Places {
  std::vector<int64_t> at;
  int64_t width = 0;
  bool scalar = false;  // one value for all
};

Places Rows(KernelContext& k, const Shape& var) {
  const Tensor &indices = k.input(1), &updates = k.input(2);
  k.Require(var.rank() >= 1, "params must be at least 1-D, got shape ", var);
  Places places;
  places.scalar = updates.rank() == 0;
  Shape wanted = indices.shape();
  for (int d = 1; d < var.rank(); ++d) wanted.AddDim(var[d]);
  k.Require(places.scalar || updates.shape() == wanted,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape ",
            updates.shape(), ", indices.shape ", indices.shape(), ", params.shape ", var);
  places.at = shapes::Integers(indices);
  if (places.at.empty()) return places;
  places.width = 1;
  for (int d = 1; d < var.rank(); ++d) places.width *= var[d];
  for (size_t i = 0; i < places.at.size(); ++i) {
    k.Require(places.at[i] >= 0 && places.at[i] < var[0], "indices", Position{indices.shape(), static_cast<int64_t>(i)},
              " = ", places.at[i], " is not in [0, ", var[0], ")");
    places.at[i] *= places.width;
  }
  return places;
}

Places Slices(KernelContext& k, const Shape& var) {
  const Tensor &indices = k.input(1), &updates = k.input(2);
  k.Require(indices.rank() >= 1, "Indices shape must have rank at least one. Found:", indices.shape());
  const int64_t depth = indices.dim(indices.rank() - 1);
  k.Require(var.rank() >= 1, "Output must be at least 1-D, got shape: ", var);
  k.Require(depth <= var.rank(), "The inner ", depth, " dimensions of indices must index into params, which has shape ",
            var);
  Shape outer = indices.shape();
  outer.RemoveDim(outer.rank() - 1);
  Shape wanted = outer;
  Places places;
  places.width = 1;
  for (int d = static_cast<int>(depth); d < var.rank(); ++d) {
    wanted.AddDim(var[d]);
    places.width *= var[d];
  }
  k.Require(updates.shape() == wanted,
            "Must have updates.shape = indices.shape[:-1] + params.shape[indices.shape[-1]:], got ",
            "updates.shape: ", updates.shape(), ", indices.shape: ", indices.shape(), ", params_shape: ", var);
  const std::vector<int64_t> flat = shapes::Integers(indices);
  places.at.resize(outer.num_elements());
  for (size_t i = 0; i < places.at.size(); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t index = flat[i * depth + d];
      if (index < 0 || index >= var[static_cast<int>(d)]) {
        const std::vector<int64_t> bad(flat.begin() + i * depth, flat.begin() + (i + 1) * depth);
        throw InvalidArgument("indices", Position{outer, static_cast<int64_t>(i)}, " = [", StrJoin(bad, ", "),
                              "] does not index into shape ", var);
      }
      at = at * var[static_cast<int>(d)] + index;
    }
    places.at[i] = at * places.width;
  }
  return places;
}

class ScatterKernel : public Kernel {
 public:
  explicit ScatterKernel(const NodeView& node)
      : change_(ChangeOf(node.op().name)), by_slices_(node.op().name.find("ScatterNd") != std::string::npos) {}

  void Run(KernelContext& k) final {
    Ref<VariableSlot> slot = VariableInput(k, 0);
    {
      std::lock_guard lock(slot->mutex);
      if (!slot->value.initialized())
        throw k.is_ref(0) ? FailedPrecondition("Null ref for params") : MissingVariable(k.handle(0));
      k.Require(slot->value.dtype() == k.input(2).dtype(), "the variable holds ", slot->value.dtype(),
                ", the updates are ", k.input(2).dtype());
      const Places places = by_slices_ ? Slices(k, slot->value.shape()) : Rows(k, slot->value.shape());
      if (places.width > 0) Apply(k, places, &WritableValue(k, *slot), k.input(2));
    }
    if (k.num_outputs() > 0) k.SetRef(0, slot);
  }

 protected:
  virtual void Apply(KernelContext& k, const Places& places, Tensor* var, const Tensor& updates) const = 0;
  const Change change_;

 private:
  const bool by_slices_;
};

// Any type.
class ScatterUpdate final : public ScatterKernel {
 public:
  using ScatterKernel::ScatterKernel;

 protected:
  void Apply(KernelContext&, const Places& places, Tensor* var, const Tensor& updates) const override {
    for (size_t i = 0; i < places.at.size(); ++i) {
      if (!places.scalar) {
        CopyElements(updates, static_cast<int64_t>(i) * places.width, places.width, var, places.at[i]);
        continue;
      }
      for (int64_t j = 0; j < places.width; ++j) CopyElements(updates, 0, 1, var, places.at[i] + j);
    }
  }
};

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

template <class T>
T WrapMul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class T>
T Divide(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a;
  } else if constexpr (std::is_integral_v<T>) {
    // Checked for zero before. The smallest number divided by -1 wraps around.
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return WrapSub(T{0}, a);
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

template <class T>
class Scatter final : public ScatterKernel {
 public:
  using ScatterKernel::ScatterKernel;

 protected:
  void Apply(KernelContext& k, const Places& places, Tensor* var, const Tensor& updates) const override {
    const T* from = updates.data<T>();
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; change_ == Change::kDiv && i < updates.num_elements(); ++i) {
        k.Require(from[i] != T{0}, "Integer division by zero");
      }
    }
    switch (change_) {
      case Change::kAdd: return Loop(k, places, var, from, [](T a, T b) { return WrapAdd(a, b); });
      case Change::kSub: return Loop(k, places, var, from, [](T a, T b) { return WrapSub(a, b); });
      case Change::kMul: return Loop(k, places, var, from, [](T a, T b) { return WrapMul(a, b); });
      case Change::kDiv: return Loop(k, places, var, from, [](T a, T b) { return Divide(a, b); });
      case Change::kMin:
        if constexpr (!kIsComplex<T>) return Loop(k, places, var, from, [](T a, T b) { return b < a ? b : a; });
        break;
      case Change::kMax:
        if constexpr (!kIsComplex<T>) return Loop(k, places, var, from, [](T a, T b) { return a < b ? b : a; });
        break;
      case Change::kUpdate: break;
    }
    throw Unimplemented(k.node().op().name, " is not there for ", updates.dtype());
  }

 private:
  template <class F>
  static void Loop(KernelContext& k, const Places& places, Tensor* var, const T* from, F change) {
    T* to = var->mutable_data<T>();
    const int64_t count = static_cast<int64_t>(places.at.size()), width = places.width;
    ShareRows(k, var->num_elements() / width, width, sizeof(T), count * std::max<int64_t>(width / 4, 2),
              [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
                const int64_t bytes = (end - begin) * static_cast<int64_t>(sizeof(T));
                for (int64_t i = 0; i < count; ++i) {
                  if (i + kPrefetchAhead < count) {
                    PrefetchRow(to + places.at[i + kPrefetchAhead] + begin, bytes);
                    if (!places.scalar) PrefetchRow(from + (i + kPrefetchAhead) * width + begin, bytes);
                  }
                  if (places.at[i] < first * width || places.at[i] >= last * width) continue;
                  T* row = to + places.at[i];
                  const T* by = places.scalar ? from : from + i * width;
                  for (int64_t j = begin; j < end; ++j) row[j] = change(row[j], by[places.scalar ? 0 : j]);
                }
              });
  }
};

}  // namespace

void RegisterScatterKernels(KernelRegistry& kernels) {
  for (const char* prefix : {"Scatter", "ResourceScatter"}) {
    const std::string_view type = *prefix == 'S' ? "T" : "dtype";
    kernels.Add<ScatterUpdate>(StrCat(prefix, "Update"));
    kernels.Add<ScatterUpdate>(StrCat(prefix, "NdUpdate"));
    for (const char* change : {"Add", "Sub", "Mul", "Div"})
      kernels.Add<Scatter>(StrCat(prefix, change), Numbers{}, type);
    for (const char* change : {"Min", "Max"}) kernels.Add<Scatter>(StrCat(prefix, change), Reals{}, type);
    for (const char* change : {"NdAdd", "NdSub"}) kernels.Add<Scatter>(StrCat(prefix, change), PodTypes{});
    for (const char* change : {"NdMin", "NdMax"}) kernels.Add<Scatter>(StrCat(prefix, change), Reals{});
  }
}

}  // namespace penstock
