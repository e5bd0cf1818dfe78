// Isotonic regression: neighbouring runs that violate the order are pooled until none does.
#include <vector>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

template <class T, class Result>
struct IsotonicRegression {
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    const int64_t n = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
    const auto x = k.in<T>(0);
    const auto y = k.out<Result>(0, shape);
    const auto segments = k.out<int32_t>(1, shape);
    if (x.empty()) return;
    struct Run {
      double sum;
      int64_t count;
    };
    k.Parallel(static_cast<int64_t>(x.size()) / n, 5 * n, [&](int64_t begin, int64_t end) {
      std::vector<Run> runs;
      for (int64_t row = begin; row < end; ++row) {
        runs.clear();
        for (int64_t i = row * n; i < (row + 1) * n; ++i) {
          Run run{static_cast<double>(x[i]), 1};
          while (!runs.empty() &&
                 runs.back().sum * static_cast<double>(run.count) < run.sum * static_cast<double>(runs.back().count)) {
            run = {runs.back().sum + run.sum, runs.back().count + run.count};
            runs.pop_back();
          }
          runs.push_back(run);
        }
        int64_t at = row * n;
        for (size_t r = 0; r < runs.size(); ++r) {
          const auto mean = static_cast<Result>(runs[r].sum / static_cast<double>(runs[r].count));
          for (int64_t i = 0; i < runs[r].count; ++i, ++at) y[at] = mean, segments[at] = static_cast<int32_t>(r);
        }
      }
    });
  }
};

template <class Result>
struct To {
  template <class T>
  using From = IsotonicRegression<T, Result>;
};

}  // namespace

void RegisterIsotonicKernels(KernelRegistry& kernels) {
  const auto add = [&]<class Result, class... Ts>(Result, Types<Ts...> from) {
    kernels.Add<To<Result>::template From>("IsotonicRegression", from).Only("output_dtype", {kTypeOf<Result>});
  };
  add(float(), Types<float, int8_t, int16_t>{});
  add(double(), Types<double, int32_t, int64_t>{});
  add(Half(), Types<Half>{});
  add(BFloat16(), Types<BFloat16>{});
}

}  // namespace penstock
