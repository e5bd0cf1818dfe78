// Choice by a condition, and clipping.
#include <algorithm>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

// out[i] = c[i] ? a[i * sa] : b[i * sb]
using SelectLoop = void (*)(const bool* c, const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n);

template <class T>
void SelectObjects(const bool* c, const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = c[i] ? static_cast<const T*>(a)[i * sa] : static_cast<const T*>(b)[i * sb];
  }
}
struct Bytes16 {
  uint64_t a, b;
};
SelectLoop LoopFor(DataType type) {
  if (type == DT_STRING) return &SelectObjects<TString>;
  if (type == DT_RESOURCE) return &SelectObjects<ResourceHandle>;
  if (type == DT_VARIANT) return &SelectObjects<Variant>;
  const size_t size = DataTypeSize(type);
  return size == 16 ? &SelectObjects<Bytes16> : CpuLoops().select[size];
}

// All three of one shape, or stretched to one.
void SelectBroadcast(KernelContext& k, SelectLoop loop, size_t size, const Broadcast& plan) {
  const bool* c = k.input(0).data<bool>();
  const char* a = static_cast<const char*>(k.input(1).raw());
  const char* b = static_cast<const char*>(k.input(2).raw());
  Tensor& out = k.OutputLike(0, {1, 2}, plan.out);
  char* z = static_cast<char*>(out.mutable_raw());
  const int64_t steps[3] = {plan.strides[0].back(), plan.strides[1].back(), plan.strides[2].back()};
  ParallelElements(k, out.num_elements(), 500, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 1024;
    bool stretched[kBlock];
    ForEachRun(plan, begin, end, [&](int64_t at, const int64_t* from, int64_t n) {
      const char *pa = a + from[1] * size, *pb = b + from[2] * size;
      if (steps[0] == 1) return loop(c + from[0], pa, steps[1], pb, steps[2], z + at * size, n);
      std::fill_n(stretched, std::min(kBlock, n), c[from[0]]);
      for (int64_t i = 0; i < n; i += kBlock) {
        loop(stretched, pa + i * steps[1] * size, steps[1], pb + i * steps[2] * size, steps[2], z + (at + i) * size,
             std::min(kBlock, n - i));
      }
    });
  });
}

class SelectV2 {
 public:
  explicit SelectV2(const NodeView& node)
      : size_(DataTypeSize(node.output_type(0))), loop_(LoopFor(node.output_type(0))) {}
  void operator()(KernelContext& k) const {
    const Shape* const shapes[] = {&k.shape(0), &k.shape(1), &k.shape(2)};
    SelectBroadcast(k, loop_, size_, MakeBroadcast(shapes));
  }

 private:
  size_t size_;
  SelectLoop loop_;
};

class Select {
 public:
  explicit Select(const NodeView& node)
      : size_(DataTypeSize(node.output_type(0))), loop_(LoopFor(node.output_type(0))) {}
  void operator()(KernelContext& k) const {
    const Shape &c = k.shape(0), &t = k.shape(1), &e = k.shape(2);
    if (c.rank() == 0) {
      k.Require(t == e, "'then' and 'else' must have the same size.  but received: ", t, " vs. ", e);
      return k.SetOutput(0, k.input(*k.input(0).data<bool>() ? 1 : 2));
    }
    k.Require(t == e, "'then' and 'else' must have the same size.  but received: ", t, " vs. ", e);
    if (c == t) {
      const Shape* const shapes[] = {&c, &t, &e};
      return SelectBroadcast(k, loop_, size_, MakeBroadcast(shapes));
    }
    k.Require(c.rank() == 1, "'cond' must be a vector, but saw shape: ", c);
    k.Require(t.rank() >= 1, "'then' must be at least a vector, but saw shape: ", t);
    k.Require(t.dim(0) == c.dim(0), "Number of batches of 'then' must match size of 'cond', but saw: ", t.dim(0),
              " vs. ", c.dim(0));
    Shape column = c;
    for (int d = 1; d < t.rank(); ++d) column.AddDim(1);
    const Shape* const shapes[] = {&column, &t, &e};
    SelectBroadcast(k, loop_, size_, MakeBroadcast(shapes));
  }

 private:
  size_t size_;
  SelectLoop loop_;
};

// min(max(t, low), high) through the loops of Maximum and Minimum.
class ClipByValue {
 public:
  explicit ClipByValue(const NodeView& node) : type_(node.output_type(0)), compute_(type_) {
    if (elementwise::IsFloat16(type_)) {
      widen_ = CpuLoops().cast[type_][DT_FLOAT];
      narrow_ = CpuLoops().cast[DT_FLOAT][type_];
      compute_ = DT_FLOAT;
    }
    max_ = CpuLoops()(BinaryOp::kMaximum, compute_);
    min_ = CpuLoops()(BinaryOp::kMinimum, compute_);
  }
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    bool scalar[3] = {};
    for (int i = 1; i < 3; ++i) {
      scalar[i] = k.input(i).num_elements() == 1;
      k.Require(
          scalar[i] || k.shape(i) == shape,
          "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: ",
          shape, " clip_value_min shape: ", k.shape(1), " clip_value_max shape: ", k.shape(2));
    }
    const char* in[3];
    for (int i = 0; i < 3; ++i) in[i] = static_cast<const char*>(k.input(i).raw());
    Tensor& y = k.OutputLike(0, {0}, shape);
    char* out = static_cast<char*>(y.mutable_raw());
    const int64_t size = static_cast<int64_t>(DataTypeSize(type_));
    ParallelElements(k, y.num_elements(), 600, [&](int64_t begin, int64_t end) {
      constexpr int64_t kBlock = 512;
      alignas(64) float floats[3][kBlock];
      for (int64_t at = begin; at < end; at += kBlock) {
        const int64_t n = std::min(kBlock, end - at);
        const void* from[3];
        for (int i = 0; i < 3; ++i) {
          from[i] = in[i] + (scalar[i] ? 0 : at * size);
          if (widen_) {
            widen_(from[i], floats[i], scalar[i] ? 1 : n);
            from[i] = floats[i];
          }
        }
        void* to = widen_ ? static_cast<void*>(floats[0]) : out + at * size;
        // The lower bound is applied last: it wins where the bounds cross.
        min_(from[0], 1, from[2], scalar[2] ? 0 : 1, to, n);
        max_(to, 1, from[1], scalar[1] ? 0 : 1, to, n);
        if (widen_) narrow_(to, out + at * size, n);
      }
    });
  }

 private:
  DataType type_, compute_;
  UnaryLoop widen_ = nullptr, narrow_ = nullptr;
  BinaryLoop max_, min_;
};

}  // namespace

void RegisterSelectKernels(KernelRegistry& kernels) {
  kernels.Add<Select>("Select");
  kernels.Add<SelectV2>("SelectV2");
  kernels.Add<ClipByValue>("ClipByValue", Reals{});
}

}  // namespace penstock
