// Running sums, products and log-sum-exps along an axis.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

constinit BranchTable<2> scan_axes{"scan/axis", {"along memory", "across memory"}};

// What a step does: `join` adds the next element; C is what the running value is kept in.
template <class T>
struct SumStep {
  using C = elementwise::ComputeType<T>;
  static C Start() { return C(0); }
  static C Join(C a, C b) {
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }
};
template <class T>
struct ProdStep {
  using C = elementwise::ComputeType<T>;
  static C Start() { return C(1); }
  static C Join(C a, C b) {
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
template <class T>
struct LogSumExpStep {
  using C = elementwise::ComputeType<T>;
  static C Start() { return -std::numeric_limits<C>::infinity(); }
  static C Join(C a, C b) {
    const C high = a > b ? a : b, low = a > b ? b : a;
    if (std::isinf(high) && high < 0) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

template <template <class> class Step, class T>
struct Scan {
  using S = Step<T>;
  using C = typename S::C;
  bool exclusive, reverse;
  explicit Scan(const NodeView& node) : exclusive(node.attr<bool>("exclusive")), reverse(node.attr<bool>("reverse")) {}

  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    const Tensor& axis_tensor = k.input(1);
    k.Require(axis_tensor.rank() == 0, "ScanOp: axis must be a scalar, not ", axis_tensor.shape());
    int64_t axis = axis_tensor.IntAt(0);
    k.Require(axis >= -shape.rank() && axis < shape.rank(), "ScanOp: Expected scan axis in the range [", -shape.rank(),
              ", ", shape.rank(), "), but got ", axis);
    if (axis < 0) axis += shape.rank();
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < axis; ++d) outer *= shape.dim(d);
    for (int d = static_cast<int>(axis) + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
    const int64_t n = shape.dim(static_cast<int>(axis));
    const T* x = k.input(0).data<T>();
    T* y = k.OutputLike(0, {0}, shape).template mutable_data<T>();
    if (outer * inner * n == 0) return;
    scan_axes.Enter(inner == 1 ? 0 : 1);
    if (inner == 1) {
      Lines(k, x, y, outer, n);
    } else {
      Planes(k, x, y, outer, n, inner);
    }
  }

  // Along memory: each running value waits for the one before, so several lines go side by side.
  void Lines(KernelContext& k, const T* x, T* y, int64_t lines, int64_t n) const {
    constexpr int kTogether = 4;
    const int64_t step = reverse ? -1 : 1, first = reverse ? n - 1 : 0;
    k.Parallel((lines + kTogether - 1) / kTogether, n * kTogether, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        const int64_t line = group * kTogether;
        const int count = static_cast<int>(std::min<int64_t>(kTogether, lines - line));
        C value[kTogether];
        std::fill_n(value, kTogether, S::Start());
        if (count == kTogether) {
          for (int64_t i = 0, at = line * n + first; i < n; ++i, at += step) {
            for (int j = 0; j < kTogether; ++j) {
              const C next = S::Join(value[j], static_cast<C>(x[at + j * n]));
              y[at + j * n] = T(exclusive ? value[j] : next);
              value[j] = next;
            }
          }
        } else {
          for (int j = 0; j < count; ++j) {
            for (int64_t i = 0, at = (line + j) * n + first; i < n; ++i, at += step) {
              const C next = S::Join(value[j], static_cast<C>(x[at]));
              y[at] = T(exclusive ? value[j] : next);
              value[j] = next;
            }
          }
        }
      }
    });
  }

  // Across memory: whole rows at once, in blocks that stay in the cache.
  void Planes(KernelContext& k, const T* x, T* y, int64_t outer, int64_t n, int64_t inner) const {
    constexpr int64_t kBlock = 1024;
    const int64_t blocks = (inner + kBlock - 1) / kBlock;
    k.Parallel(outer * blocks, n * std::min(inner, kBlock), [&](int64_t begin, int64_t end) {
      C value[kBlock];
      for (int64_t b = begin; b < end; ++b) {
        const int64_t column = b % blocks * kBlock, width = std::min(kBlock, inner - column);
        std::fill_n(value, width, S::Start());
        for (int64_t i = 0; i < n; ++i) {
          const int64_t at = (b / blocks * n + (reverse ? n - 1 - i : i)) * inner + column;
          const T* from = x + at;
          T* to = y + at;
          for (int64_t j = 0; j < width; ++j) {
            const C next = S::Join(value[j], static_cast<C>(from[j]));
            to[j] = T(exclusive ? value[j] : next);
            value[j] = next;
          }
        }
      }
    });
  }
};
template <class T>
struct Cumsum : Scan<SumStep, T> {
  using Scan<SumStep, T>::Scan;
};
template <class T>
struct Cumprod : Scan<ProdStep, T> {
  using Scan<ProdStep, T>::Scan;
};
template <class T>
struct CumulativeLogsumexp : Scan<LogSumExpStep, T> {
  using Scan<LogSumExpStep, T>::Scan;
};

}  // namespace

void RegisterScanKernels(KernelRegistry& kernels) {
  kernels.Add<Cumsum>("Cumsum", Numbers{}).HostInput(1);
  kernels.Add<Cumprod>("Cumprod", Numbers{}).HostInput(1);
  kernels.Add<CumulativeLogsumexp>("CumulativeLogsumexp", Floats{}).HostInput(1);
}

}  // namespace penstock
