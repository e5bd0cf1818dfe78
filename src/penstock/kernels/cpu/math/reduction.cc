// Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm; ArgMax and ArgMin.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/math/reduce.h"

namespace penstock {
namespace {

constinit BranchTable<3> reductions{"reduction/way", {"reshape", "own type", "wider type"}};
constinit BranchTable<3> extremes{"arg_extreme/axis", {"floats along memory", "others along memory", "across memory"}};

void CastAll(const KernelContext& k, UnaryLoop cast, DataType from, const void* x, DataType to, void* y, int64_t n) {
  ParallelElements(k, n, 300, [&](int64_t begin, int64_t end) {
    cast(static_cast<const char*>(x) + begin * DataTypeSize(from), static_cast<char*>(y) + begin * DataTypeSize(to),
         end - begin);
  });
}

template <class T>
void Scale(void* values, int64_t n, int64_t count) {
  T* y = static_cast<T*>(values);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>) {
      y[i] = count == 0 ? T(0) : static_cast<T>(y[i] / static_cast<T>(count));
    } else {
      using R = decltype(std::abs(y[i]));
      // Nothing has the mean NaN, but 0 as a complex number, as in TensorFlow.
      y[i] = count == 0 && !std::is_floating_point_v<T> ? T(0) : y[i] / static_cast<R>(count);
    }
  }
}
template <class T>
void Root(void* values, int64_t n) {
  T* y = static_cast<T*>(values);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>) {
      y[i] = static_cast<T>(std::sqrt(static_cast<double>(y[i])));
    } else {
      y[i] = std::sqrt(y[i]);
    }
  }
}

enum class Finish { kNothing, kMean, kRoot };

void Apply(Finish finish, DataType type, void* y, int64_t n, int64_t count) {
  if (finish == Finish::kNothing) return;
  const auto with = [&]<class T>(T) {
    if (finish == Finish::kMean) {
      Scale<T>(y, n, count);
    } else {
      Root<T>(y, n);
    }
  };
  switch (type) {
    case DT_FLOAT: return with(float());
    case DT_DOUBLE: return with(double());
    case DT_INT8: return with(int8_t());
    case DT_INT16: return with(int16_t());
    case DT_INT32: return with(int32_t());
    case DT_INT64: return with(int64_t());
    case DT_UINT8: return with(uint8_t());
    case DT_UINT16: return with(uint16_t());
    case DT_UINT32: return with(uint32_t());
    case DT_UINT64: return with(uint64_t());
    case DT_COMPLEX64: return with(Complex64());
    case DT_COMPLEX128: return with(Complex128());
    default: throw Internal("no mean or norm of ", type);
  }
}

template <class From, class To>
void ConvertInts(const void* x, void* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<To*>(y)[i] = static_cast<To>(static_cast<const From*>(x)[i]);
}

template <ReduceOp kOp, Finish kFinish = Finish::kNothing>
class Reduction {
 public:
  explicit Reduction(const NodeView& node) : type_(node.input_type(0)), keep_dims_(node.attr<bool>("keep_dims")) {
    compute_ = type_;
    if (elementwise::IsFloat16(type_)) {
      compute_ = DT_FLOAT;
      widen_ = CpuLoops().cast[type_][DT_FLOAT];
      narrow_ = CpuLoops().cast[DT_FLOAT][type_];
    } else if (kFinish == Finish::kMean && IsInteger(type_) && DataTypeSize(type_) < 8) {
      // The sum of small integers may not fit them, but their mean does.
      compute_ = DT_INT64;
      switch (type_) {
        case DT_INT8: Wide<int8_t>(); break;
        case DT_INT16: Wide<int16_t>(); break;
        case DT_INT32: Wide<int32_t>(); break;
        case DT_UINT8: Wide<uint8_t>(); break;
        case DT_UINT16: Wide<uint16_t>(); break;
        default: Wide<uint32_t>(); break;
      }
    }
  }

  void operator()(KernelContext& k) const {
    const Tensor& x = k.input(0);
    const ReductionPlan plan = PlanReduction(x.shape(), k.input(1));
    const Shape& shape = keep_dims_ ? plan.out_kept : plan.out;
    if (x.num_elements() == plan.out.num_elements() && kFinish != Finish::kRoot && plan.count == 1) {
      reductions.Enter(0);
      return k.SetOutput(0, x.Reshaped(shape));  // sizes of 1 only
    }
    Tensor& y = k.Output(0, shape);
    const int64_t n = y.num_elements();
    reductions.Enter(compute_ == type_ ? 1 : 2);
    if (compute_ == type_) {
      Reduce(k, kOp, type_, plan, x.raw(), y.mutable_raw());
      Apply(kFinish, type_, y.mutable_raw(), n, plan.count);
      return;
    }
    Tensor wide = k.Temp(compute_, x.shape()), result = k.Temp(compute_, plan.out);
    CastAll(k, widen_, type_, x.raw(), compute_, wide.mutable_raw(), x.num_elements());
    Reduce(k, kOp, compute_, plan, wide.raw(), result.mutable_raw());
    Apply(kFinish, compute_, result.mutable_raw(), n, plan.count);
    CastAll(k, narrow_, compute_, result.raw(), type_, y.mutable_raw(), n);
  }

 private:
  template <class T>
  void Wide() {
    widen_ = &ConvertInts<T, int64_t>;
    narrow_ = &ConvertInts<int64_t, T>;
  }
  DataType type_, compute_;
  bool keep_dims_;
  UnaryLoop widen_ = nullptr, narrow_ = nullptr;
};

// --- ArgMax, ArgMin

// NaN never beats anything; the first of equal elements wins.
template <bool kMax, class T>
int64_t ArgExtreme(const T* x, int64_t n, int64_t stride) {
  T best = kMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T v = x[i * stride];
    if (kMax ? v > best : v < best) {
      best = v;
      at = i;
    }
  }
  return at;
}

template <bool kMax>
class ArgReduction {
 public:
  explicit ArgReduction(const NodeView& node) : type_(node.input_type(0)), index_(node.output_type(0)) {}

  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    const Tensor& dimension = k.input(1);
    k.Require(dimension.rank() == 0, "dim must be a scalar, but received tensor of shape: ", dimension.shape());
    int64_t axis = dimension.dtype() == DT_INT16 ? dimension.scalar<int16_t>() : dimension.IntAt(0);
    k.Require(axis >= -shape.rank() && axis < shape.rank(), "Expected dimension in the range [", -shape.rank(), ", ",
              shape.rank(), "), but got ", axis);
    if (axis < 0) axis += shape.rank();
    const int64_t n = shape.dim(static_cast<int>(axis));
    k.Require(n > 0, "Reduction axis ", axis, " is empty in shape ", shape);
    Shape out_shape = shape;
    out_shape.RemoveDim(static_cast<int>(axis));
    int64_t inner = 1;
    for (int d = static_cast<int>(axis) + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
    const Tensor& x = k.input(0);
    Tensor& y = k.Output(0, out_shape);
    const int64_t results = y.num_elements();
    if (results == 0) return;
    if (elementwise::IsFloat16(type_)) {
      Tensor wide = k.Temp(DT_FLOAT, shape);
      CastAll(k, CpuLoops().cast[type_][DT_FLOAT], type_, x.raw(), DT_FLOAT, wide.mutable_raw(), x.num_elements());
      return Run<float>(k, wide.data<float>(), n, inner, results, y);
    }
    switch (type_) {
      case DT_FLOAT: return Run(k, x.data<float>(), n, inner, results, y);
      case DT_DOUBLE: return Run(k, x.data<double>(), n, inner, results, y);
      case DT_INT8: return Run(k, x.data<int8_t>(), n, inner, results, y);
      case DT_INT16: return Run(k, x.data<int16_t>(), n, inner, results, y);
      case DT_INT32: return Run(k, x.data<int32_t>(), n, inner, results, y);
      case DT_INT64: return Run(k, x.data<int64_t>(), n, inner, results, y);
      case DT_UINT8:
      case DT_BOOL: return Run(k, x.data<uint8_t>(), n, inner, results, y);
      case DT_UINT16: return Run(k, x.data<uint16_t>(), n, inner, results, y);
      case DT_UINT32: return Run(k, x.data<uint32_t>(), n, inner, results, y);
      case DT_UINT64: return Run(k, x.data<uint64_t>(), n, inner, results, y);
      default: throw Internal("no order of ", type_);
    }
  }

 private:
  template <class T>
  void Run(KernelContext& k, const T* x, int64_t n, int64_t inner, int64_t results, Tensor& y) const {
    void* out = y.mutable_raw();
    const auto store = [&](int64_t i, int64_t at) {
      switch (index_) {
        case DT_INT16: static_cast<int16_t*>(out)[i] = static_cast<int16_t>(at); break;
        case DT_UINT16: static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(at); break;
        case DT_INT32: static_cast<int32_t*>(out)[i] = static_cast<int32_t>(at); break;
        default: static_cast<int64_t*>(out)[i] = at;
      }
    };
    extremes.Enter(inner > 1 ? 2 : std::is_same_v<T, float> ? 0 : 1);
    if (inner == 1) {
      k.Parallel(results, std::max<int64_t>(1, n / (std::is_same_v<T, float> ? 8 : 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     if constexpr (std::is_same_v<T, float>) {
                       store(i, kMax ? CpuLoops().argmax_f32(x + i * n, n) : CpuLoops().argmin_f32(x + i * n, n));
                     } else {
                       store(i, ArgExtreme<kMax>(x + i * n, n, 1));
                     }
                   }
                 });
      return;
    }
    // Row by row over blocks of columns.
    constexpr int64_t kBlock = 256;
    const int64_t blocks = (inner + kBlock - 1) / kBlock;
    k.Parallel(results / inner * blocks, std::min(inner, kBlock) * n, [&](int64_t begin, int64_t end) {
      T best[kBlock];
      int64_t at[kBlock];
      for (int64_t b = begin; b < end; ++b) {
        const int64_t outer = b / blocks, first = b % blocks * kBlock, width = std::min(kBlock, inner - first);
        std::fill_n(best, width, kMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
        std::fill_n(at, width, 0);
        for (int64_t i = 0; i < n; ++i) {
          const T* row = x + (outer * n + i) * inner + first;
          for (int64_t j = 0; j < width; ++j) {
            const bool better = kMax ? row[j] > best[j] : row[j] < best[j];
            best[j] = better ? row[j] : best[j];
            at[j] = better ? i : at[j];
          }
        }
        for (int64_t j = 0; j < width; ++j) store(outer * inner + first + j, at[j]);
      }
    });
  }
  DataType type_, index_;
};

}  // namespace

void RegisterReductionKernels(KernelRegistry& kernels) {
  kernels.Add<Reduction<ReduceOp::kSum>>("Sum", Numbers{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kSum, Finish::kMean>>("Mean", Numbers{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kProd>>("Prod", Numbers{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kMax>>("Max", Reals{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kMin>>("Min", Reals{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kSumSquares, Finish::kRoot>>("EuclideanNorm", Numbers{}).HostInput(1);
  kernels.Add<Reduction<ReduceOp::kMin>>("All").HostInput(1);
  kernels.Add<Reduction<ReduceOp::kMax>>("Any").HostInput(1);
  using Ordered = Concat<Reals, Types<bool>>;
  kernels.Add<ArgReduction<true>>("ArgMax", Ordered{}).HostInput(1);
  kernels.Add<ArgReduction<false>>("ArgMin", Ordered{}).HostInput(1);
}

}  // namespace penstock
