// Evenly spaced numbers.
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

template <class T>
struct Range {
  void operator()(KernelContext& k) const {
    using C = elementwise::ComputeType<T>;
    for (int i = 0; i < 3; ++i) {
      k.Require(k.input(i).num_elements() == 1 && k.shape(i).rank() <= 1,
                i == 0   ? "start"
                : i == 1 ? "limit"
                         : "delta",
                " must be a scalar, not shape ", k.shape(i));
    }
    const C start = *k.input(0).data<T>(), limit = *k.input(1).data<T>(), delta = *k.input(2).data<T>();
    k.Require(delta != C(0), "Requires delta != 0: ", delta);
    if (delta > C(0)) k.Require(start <= limit, "Requires start <= limit when delta > 0: ", start, "/", limit);
    if (delta < C(0)) k.Require(start >= limit, "Requires start >= limit when delta < 0: ", start, "/", limit);
    int64_t size = 0;
    if constexpr (std::is_integral_v<C>) {
      // Unsigned, where the difference of two int64 cannot overflow.
      const uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
      const uint64_t step = delta > 0 ? uint64_t(delta) : 0 - uint64_t(delta);
      const uint64_t n = span / step + (span % step != 0);
      k.Require(n <= uint64_t(INT64_MAX), "Requires ((limit - start) / delta) <= ", INT64_MAX);
      size = static_cast<int64_t>(n);
    } else {
      // Rounded to T at each step, as TensorFlow does: 0.3 by 0.1 are 3 floats.
      const C span = C(T(limit - start));
      const double n = std::ceil(std::fabs(static_cast<double>(C(T(span / delta)))));
      k.Require(n >= 0 && n <= 9.2e18, "Requires ((limit - start) / delta) <= ", INT64_MAX);
      size = static_cast<int64_t>(n);
    }
    const auto out = k.out<T>(0, Shape({size}));
    C value = start;
    for (int64_t i = 0; i < size; ++i) {
      out[i] = T(value);
      // By repeated addition, as TensorFlow does; an integer's last step may wrap around and is not read.
      if constexpr (std::is_integral_v<C>) {
        value = C(std::make_unsigned_t<C>(value) + std::make_unsigned_t<C>(delta));
      } else {
        value = static_cast<C>(T(value + delta));
      }
    }
  }
};

template <class T>
struct LinSpace {
  void operator()(KernelContext& k) const {
    using C = elementwise::ComputeType<T>;
    for (int i = 0; i < 3; ++i) {
      k.Require(k.input(i).rank() == 0, k.node().op().inputs[i].name, " must be a scalar, not shape ", k.shape(i));
    }
    const C start = k.Scalar<T>(0), stop = k.Scalar<T>(1);
    const int64_t n = k.Int(2);
    k.Require(n > 0, "Requires num > 0: ", n);
    const auto out = k.out<T>(0, Shape({n}));
    out[0] = T(start);
    if (n == 1) return;
    const C step = (stop - start) / static_cast<C>(n - 1);
    for (int64_t i = 1; i < n - 1; ++i) out[i] = T(start + step * static_cast<C>(i));
    out[n - 1] = T(stop);
  }
};

}  // namespace

void RegisterSequenceKernels(KernelRegistry& kernels) {
  using RangeTypes =
      Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t>;
  kernels.Add<Range>("Range", RangeTypes{}, "Tidx").HostInput(0).HostInput(1).HostInput(2);
  kernels.Add<LinSpace>("LinSpace", Floats{}).HostInput(0).HostInput(1).HostInput(2);
}

}  // namespace penstock
