// Pools over regions of slightly different, randomly chosen sizes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

// Sizes of regions that cover `in` positions by `out` regions, as their running sums.
std::vector<int64_t> Regions(int64_t in, int64_t out, SharedPhilox& random, bool pseudo_random) {
  const int64_t least = in / out;
  std::vector<int64_t> sizes(out, least);
  if (pseudo_random) {
    // Borders at ceil(ratio * (i + u)), u small enough for the first and the last region to be of a usual size too.
    const double ratio = static_cast<double>(in) / static_cast<double>(out);
    const double by_first = static_cast<double>(least + 2) / ratio - 1;
    const double by_last = static_cast<double>(in + 1 - least) / ratio - static_cast<double>(out - 1);
    PhiloxSingles single(random.Reserve(1));
    const uint32_t high = single(), low = single();
    const double u = UnitDouble(high, low) * std::min(by_first, by_last);
    int64_t before = 1;
    for (int64_t i = 0; i < out; ++i) {
      const int64_t border =
          i + 1 == out ? in + 1 : static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i + 1) + u)));
      sizes[i] = border - before;
      before = border;
    }
  } else {
    std::fill(sizes.begin(), sizes.begin() + in % out, least + 1);
    PhiloxSingles single(random.Reserve((out + 3) / 4));
    for (int64_t i = 0; i + 1 < out; ++i) {
      std::swap(sizes[i], sizes[i + single() % static_cast<uint32_t>(out - i)]);
    }
  }
  std::vector<int64_t> sums(out + 1, 0);
  for (int64_t i = 0; i < out; ++i) sums[i + 1] = sums[i] + sizes[i];
  return sums;
}

struct Span {
  int64_t begin, end;
};
Span RegionAt(std::span<const int64_t> sums, int64_t i, int64_t size, bool overlapping) {
  return {sums[i], std::min(size, overlapping ? sums[i + 1] + 1 : sums[i + 1])};
}

template <class T, bool kMax>
class FractionalPool {
 public:
  explicit FractionalPool(const NodeView& node)
      : ratio_(node.attr<std::vector<float>>("pooling_ratio")),
        pseudo_random_(node.attr<bool>("pseudo_random")),
        overlapping_(node.attr<bool>("overlapping")),
        seed_(node.attr<int64_t>("seed")),
        seed2_(node.attr<int64_t>("seed2")) {
    const auto require = [](bool ok, const auto&... parts) { KernelContext::Require(ok, parts...); };
    require(ratio_.size() == 4, "pooling_ratio field must specify 4 dimensions");
    for (const float r : ratio_) require(r >= 1, "pooling_ratio cannot be smaller than 1, got: ", r);
    if (ratio_[0] != 1 || ratio_[3] != 1) {
      throw Unimplemented("Fractional pooling is not yet supported on the batch nor channel dimension.");
    }
    if (node.attr<bool>("deterministic")) {
      if (seed_ == 0 && seed2_ == 0) {
        seed_ = static_cast<int64_t>(NondeterministicSeed()), seed2_ = static_cast<int64_t>(NondeterministicSeed());
      }
    } else {
      require(seed_ == 0 && seed2_ == 0, "Both seed and seed2 should be 0 if deterministic is false.");
    }
  }

  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 4, "tensor_in must be 4-dimensional");
    int64_t size[2];
    for (int i = 0; i < 2; ++i) {
      size[i] = static_cast<int64_t>(std::floor(static_cast<double>(in[i + 1]) / ratio_[i + 1]));
      k.Require(size[i] > 0, "Output size ", i + 1, " must be positive, got ", size[i], " for an input of shape ", in);
    }
    SharedPhilox random(seed_, seed2_);
    const std::vector<int64_t> rows = Regions(in[1], size[0], random, pseudo_random_),
                               columns = Regions(in[2], size[1], random, pseudo_random_);
    const int64_t n = in[3], line = in[2] * n;
    T* y = k.out<T>(0, Shape({in[0], size[0], size[1], n})).data();
    k.SetOutput(1, Tensor::Vector(rows));
    k.SetOutput(2, Tensor::Vector(columns));
    if (in.num_elements() == 0) return;
    const T* x = k.in<T>(0).data();
    k.Parallel(in[0] * size[0], std::max<int64_t>(1, line * 4), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* image = x + r / size[0] * in[1] * line;
        const Span vertical = RegionAt(rows, r % size[0], in[1], overlapping_);
        for (int64_t c = 0; c < size[1]; ++c) {
          const Span horizontal = RegionAt(columns, c, in[2], overlapping_);
          T* to = y + (r * size[1] + c) * n;
          std::fill(to, to + n, kMax ? std::numeric_limits<T>::lowest() : T(0));
          for (int64_t i = vertical.begin; i < vertical.end; ++i) {
            for (int64_t j = horizontal.begin; j < horizontal.end; ++j) {
              const T* from = image + i * line + j * n;
              for (int64_t d = 0; d < n; ++d) to[d] = kMax ? std::max(to[d], from[d]) : to[d] + from[d];
            }
          }
          if (kMax) continue;
          const auto count = static_cast<T>((vertical.end - vertical.begin) * (horizontal.end - horizontal.begin));
          for (int64_t d = 0; d < n; ++d) to[d] /= count;
        }
      }
    });
  }

 private:
  std::vector<float> ratio_;
  bool pseudo_random_, overlapping_;
  int64_t seed_, seed2_;
};
template <class T>
using FractionalMaxPool = FractionalPool<T, true>;
template <class T>
using FractionalAvgPool = FractionalPool<T, false>;

// Borders of regions that came in as input i, for `out` regions within `in` positions.
std::span<const int64_t> CheckRegions(KernelContext& k, int i, int64_t out, int64_t in) {
  const auto sums = k.in<int64_t>(i);
  k.Require(k.shape(i).rank() == 1, "pooling sequence must be a vector, but has shape ", k.shape(i));
  k.Require(static_cast<int64_t>(sums.size()) == out + 1, "pooling sequence must have ", out + 1, " elements, but has ",
            sums.size());
  for (size_t j = 0; j < sums.size(); ++j) {
    k.Require(sums[j] >= 0 && sums[j] <= in && (j == 0 || sums[j] > sums[j - 1]),
              "pooling sequence is invalid: ", sums[j], " at ", j, " for a dimension of ", in);
  }
  return sums;
}

// Calls fn(element of dy, rows, columns, offset of the image) for every region.
template <class F>
void ForEachRegion(KernelContext& k, const Shape& in, const Shape& dy, int first_sequence, bool overlapping,
                   const F& fn) {
  k.Require(in.rank() == 4, "orig_input must be 4-dimensional: ", in);
  k.Require(dy.rank() == 4 && dy[0] == in[0] && dy[3] == in[3], "out_backprop has the wrong shape ", dy,
            " for an input of shape ", in);
  const auto rows = CheckRegions(k, first_sequence, dy[1], in[1]),
             columns = CheckRegions(k, first_sequence + 1, dy[2], in[2]);
  int64_t at = 0;
  for (int64_t b = 0; b < dy[0]; ++b) {
    for (int64_t r = 0; r < dy[1]; ++r) {
      for (int64_t c = 0; c < dy[2]; ++c, at += dy[3]) {
        fn(at, RegionAt(rows, r, in[1], overlapping), RegionAt(columns, c, in[2], overlapping),
           b * in[1] * in[2] * in[3]);
      }
    }
  }
}

template <class T>
struct FractionalMaxPoolGrad {
  bool overlapping;
  explicit FractionalMaxPoolGrad(const NodeView& node) : overlapping(node.attr<bool>("overlapping")) {}
  void operator()(KernelContext& k) const {
    const Shape in = k.shape(0), &dy_shape = k.shape(2);
    k.Require(k.shape(1) == dy_shape, "orig_output and out_backprop must have one shape, but have ", k.shape(1),
              " and ", dy_shape);
    const auto dx = k.out<T>(0, in);
    std::fill(dx.begin(), dx.end(), T(0));
    const T *x = k.in<T>(0).data(), *dy = k.in<T>(2).data();
    ForEachRegion(k, in, dy_shape, 3, overlapping, [&](int64_t at, Span rows, Span columns, int64_t image) {
      for (int64_t d = 0; d < in[3]; ++d) {
        int64_t best = -1;
        for (int64_t i = rows.begin; i < rows.end; ++i) {
          for (int64_t j = columns.begin; j < columns.end; ++j) {
            const int64_t from = image + (i * in[2] + j) * in[3] + d;
            if (best < 0 || x[from] > x[best]) best = from;
          }
        }
        if (best >= 0) dx[best] += dy[at + d];
      }
    });
  }
};

template <class T>
struct FractionalAvgPoolGrad {
  bool overlapping;
  explicit FractionalAvgPoolGrad(const NodeView& node) : overlapping(node.attr<bool>("overlapping")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1 && k.shape(0)[0] == 4,
              "original input tensor shape must be 1-dimensional and 4 elements");
    const Shape in = k.ShapeInput(0);
    const auto dx = k.out<T>(0, in);
    std::fill(dx.begin(), dx.end(), T(0));
    const T* dy = k.in<T>(1).data();
    ForEachRegion(k, in, k.shape(1), 2, overlapping, [&](int64_t at, Span rows, Span columns, int64_t image) {
      const int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
      if (count <= 0) return;
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        for (int64_t j = columns.begin; j < columns.end; ++j) {
          T* to = dx.data() + image + (i * in[2] + j) * in[3];
          for (int64_t d = 0; d < in[3]; ++d) to[d] += dy[at + d] / static_cast<T>(count);
        }
      }
    });
  }
};

}  // namespace

void RegisterFractionalPoolKernels(KernelRegistry& kernels) {
  using Pooled = Types<float, double, int32_t, int64_t>;
  kernels.Add<FractionalMaxPool>("FractionalMaxPool", Pooled{});
  kernels.Add<FractionalAvgPool>("FractionalAvgPool", Pooled{});
  kernels.Add<FractionalMaxPoolGrad>("FractionalMaxPoolGrad", Pooled{});
  kernels.Add<FractionalAvgPoolGrad>("FractionalAvgPoolGrad", Pooled{}).HostInput(0);
}

}  // namespace penstock
