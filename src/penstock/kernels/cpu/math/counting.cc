// Counting values: bincounts, histograms, buckets.
#include <algorithm>
#include <cmath>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

constinit BranchTable<2> pieces_counted{"histogram/pieces", {"one", "several"}};
constinit BranchTable<2> boundary_counts{"bucketize/boundaries", {"few", "many"}};

using Countable = Types<int32_t, int64_t, float, double>;

template <class T>
struct Bincount {
  bool binary = false;
  explicit Bincount(const NodeView& node) : binary(node.attr_or<bool>("binary_output", false)) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const Shape shape = in.shape();
    k.Require(k.input(1).rank() == 0, "Shape must be rank 0 but is rank ", k.input(1).rank());
    const int64_t size = k.Int(1);
    k.Require(size >= 0, "size (", size, ") must be non-negative");
    const bool one_row = k.node().op().name == "Bincount";
    k.Require(one_row || shape.rank() <= 2, "Shape must be at most rank 2 but is rank ", shape.rank());
    const bool weighted = k.input(2).num_elements() > 0;
    if (one_row) {
      k.Require(!weighted || k.input(2).num_elements() == in.num_elements(),
                "Input indices and weights must have the same size.");
    } else {
      k.Require(!weighted || k.shape(2) == shape,
                "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which "
                "case it acts as all weights equal to 1. Received ",
                k.shape(2));
    }
    const int64_t rows = !one_row && shape.rank() == 2 ? shape.dim(0) : 1, n = rows ? in.num_elements() / rows : 0;
    const T* weights = k.input(2).data<T>();
    const auto out = k.out<T>(0, !one_row && shape.rank() == 2 ? Shape({rows, size}) : Shape({size}));
    std::fill(out.begin(), out.end(), T(0));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const int64_t value = in.IntAt(i);
      k.Require(value >= 0, "Input arr must be non-negative!");
      if (value >= size) continue;
      T& bin = out[i / n * size + value];
      bin = binary ? T(1) : weighted ? T(bin + weights[i]) : T(bin + T(1));
    }
  }
};

template <class T>
struct HistogramFixedWidth {
  void operator()(KernelContext& k) const {
    const auto values = k.in<T>(0), range = k.in<T>(1);
    k.Require(k.shape(1).rank() == 1 && range.size() == 2, "value_range should be a vector of 2 elements.");
    k.Require(k.shape(2).rank() == 0, "nbins should be a scalar.");
    const int64_t bins = k.Int(2);
    k.Require(bins > 0, "nbins should be a positive number, but got '", bins, "'");
    k.Require(range[0] < range[1], "value_range should satisfy value_range[0] < value_range[1], but got '[", range[0],
              ", ", range[1], "]'");
    const double low = static_cast<double>(range[0]);
    const double step = (static_cast<double>(range[1]) - low) / static_cast<double>(bins);
    // Each piece of the values is counted on its own, unless the bins are more than they.
    const auto n = static_cast<int64_t>(values.size());
    const int64_t pieces = std::clamp<int64_t>(std::min<int64_t>(n / 16384, 4 * n / bins), 1, 32);
    pieces_counted.Enter(pieces > 1 ? 1 : 0);
    std::vector<int64_t> counts(pieces * bins, 0);
    k.Parallel(pieces, n / pieces * 4, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        int64_t* const to = counts.data() + piece * bins;
        const double last = static_cast<double>(bins - 1);
        const int64_t begin_piece = n * piece / pieces, end_piece = n * (piece + 1) / pieces;
        constexpr int64_t kBlock = 256;
        int64_t bin[kBlock];
        int not_numbers = 0;
        for (int64_t i = begin_piece; i < end_piece; i += kBlock) {
          const int64_t count = std::min(kBlock, end_piece - i);
          for (int64_t j = 0; j < count; ++j) {
            const double at = (static_cast<double>(values[i + j]) - low) / step;
            not_numbers |= at != at;
            const double positive = at > 0 ? at : 0;  // NaN too
            bin[j] = static_cast<int64_t>(positive < last ? positive : last);
          }
          for (int64_t j = 0; j < count; ++j) ++to[bin[j]];
        }
        k.Require(!not_numbers, "Histogram values must not contain NaN");
      }
    });
    for (int64_t i = bins; i < pieces * bins; ++i) counts[i % bins] += counts[i];
    Tensor& out = k.Output(0, Shape({bins}));
    for (int64_t i = 0; i < bins; ++i) {
      if (out.dtype() == DT_INT32) {
        out.mutable_data<int32_t>()[i] = static_cast<int32_t>(counts[i]);
      } else {
        out.mutable_data<int64_t>()[i] = counts[i];
      }
    }
  }
};

template <class T>
struct Bucketize {
  std::vector<float> boundaries;
  explicit Bucketize(const NodeView& node) : boundaries(node.attr<std::vector<float>>("boundaries")) {
    if (!std::is_sorted(boundaries.begin(), boundaries.end())) throw InvalidArgument("Expected sorted boundaries");
  }
  void operator()(KernelContext& k) const {
    const auto x = k.in<T>(0);
    const auto y = k.out<int32_t>(0, k.shape(0));
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    constexpr size_t kFew = 32;
    boundary_counts.Enter(boundaries.size() <= kFew ? 0 : 1);
    ParallelElements(k, x.size(), 10000, [&](int64_t begin, int64_t end) {
      if (boundaries.size() <= kFew) {  // comparing with all of them needs no branches
        std::fill(y.begin() + begin, y.begin() + end, 0);
        for (const float boundary : boundaries) {
          for (int64_t i = begin; i < end; ++i) y[i] += static_cast<Compared>(x[i]) < boundary ? 0 : 1;
        }
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), x[i],
                                         [](T v, float boundary) { return static_cast<double>(v) < boundary; });
        y[i] = static_cast<int32_t>(at - boundaries.begin());
      }
    });
  }
};

}  // namespace

void RegisterCountingKernels(KernelRegistry& kernels) {
  kernels.Add<Bincount>("Bincount", Countable{}).HostInput(1);
  kernels.Add<Bincount>("DenseBincount", Countable{}).HostInput(1);
  kernels.Add<HistogramFixedWidth>("HistogramFixedWidth", Countable{}).HostInput(2);
  kernels.Add<Bucketize>("Bucketize", Countable{});
}

}  // namespace penstock
