// Batch normalisation: one pass over the rows for mean and variance, one for the result.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"
#include "penstock/kernels/cpu/nn/windows.h"

namespace penstock {
namespace {

// Rows in blocks that stay in the cache; how many pieces work on them depends on the shape only.
constexpr int64_t kBlockElements = 8192;

constinit BranchTable<2> moments{"batch_norm/moments", {"one piece", "several pieces"}};
constinit BranchTable<2> gradient_sums{"batch_norm/gradient", {"one piece", "several pieces"}};

struct Pieces {
  int64_t count, length;  // rows of each piece
  Pieces(int64_t rows, int64_t channels) {
    count = std::clamp<int64_t>(rows * channels / 65536, 1, 32);
    length = (rows + count - 1) / count;
  }
};

// Mean and sum of squared differences from it, for each channel. Blocks are joined by the formula of Chan, Golub and
// LeVeque, so that nothing cancels.
void Moments(const KernelContext& k, const float* x, int64_t rows, int64_t n, float* mean, float* squares) {
  const NnLoops& loops = *CpuLoops().nn;
  const Pieces pieces(rows, n);
  moments.Enter(pieces.count == 1 ? 0 : 1);
  std::vector<float> means(pieces.count * n), sums(pieces.count * n);
  const auto join = [n](float* mean_a, float* squares_a, int64_t count_a, const float* mean_b, const float* squares_b,
                        int64_t count_b) {
    const float part = static_cast<float>(count_b) / static_cast<float>(count_a + count_b);
    for (int64_t c = 0; c < n; ++c) {
      const float d = mean_b[c] - mean_a[c];
      mean_a[c] += d * part;
      squares_a[c] += squares_b[c] + d * d * part * static_cast<float>(count_a);
    }
  };
  k.Parallel(pieces.count, std::max<int64_t>(1, pieces.length * n / 4), [&](int64_t begin, int64_t end) {
    std::vector<float> block_mean(n), block_squares(n);
    const int64_t block = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, n));
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * pieces.length, last = std::min(rows, first + pieces.length);
      for (int64_t r = first; r < last; r += block) {
        const int64_t count = std::min(block, last - r);
        std::fill_n(block_mean.data(), n, 0.0f);
        std::fill_n(block_squares.data(), n, 0.0f);
        loops.sum_rows(x + r * n, count, n, block_mean.data());
        for (int64_t c = 0; c < n; ++c) block_mean[c] /= static_cast<float>(count);
        loops.square_rows(x + r * n, block_mean.data(), count, n, block_squares.data());
        join(means.data() + p * n, sums.data() + p * n, r - first, block_mean.data(), block_squares.data(), count);
      }
    }
  });
  std::fill_n(mean, n, 0.0f);
  std::fill_n(squares, n, 0.0f);
  for (int64_t p = 0; p < pieces.count; ++p) {
    const int64_t first = p * pieces.length, count = std::min(rows, first + pieces.length) - first;
    if (count > 0) join(mean, squares, first, means.data() + p * n, sums.data() + p * n, count);
  }
}

struct BatchNormAttrs {
  float epsilon;
  bool training, third;
  DataFormat format;
  explicit BatchNormAttrs(const NodeView& node)
      : epsilon(node.attr<float>("epsilon")),
        training(node.attr<bool>("is_training")),
        third(node.op().name.ends_with("V3")),
        format(DataFormat::Parse(node.attr<std::string>("data_format"))) {}

  // How input 0 lies in memory.
  DataFormat Layout(const KernelContext& k) const {
    const Shape& shape = k.shape(0);
    // The first attribute values of V3 mean volumes, too.
    DataFormat layout = format;
    if (third && shape.rank() == 5) layout.spatial = 3;
    k.Require(shape.rank() == layout.rank(), "input must be ", layout.rank(), "-dimensional", shape);
    return layout;
  }
};

struct BatchNorm : BatchNormAttrs {
  float factor;
  explicit BatchNorm(const NodeView& node)
      : BatchNormAttrs(node), factor(node.attr_or<float>("exponential_avg_factor", 1)) {}

  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    const DataFormat layout = Layout(k);
    const int64_t n = shape[layout.channel()], rows = n ? shape.num_elements() / n : 0;
    constexpr const char* kNames[] = {"x", "scale", "offset", "mean", "variance"};
    const bool has_running = !training || factor != 1;
    for (int i = 1; i < 5; ++i) {
      k.Require(k.shape(i).rank() == 1, kNames[i], " must be 1-dimensional", k.shape(i));
      if (i < 3 || has_running) {
        k.Require(k.shape(i)[0] == n, kNames[i], " must have the same number of elements as the channels of x, got ",
                  k.shape(i)[0], " and ", n);
      }
    }
    const float* scale = k.in<float>(1).data();
    const float* offset = k.in<float>(2).data();
    const float* running[2] = {k.in<float>(3).data(), k.in<float>(4).data()};
    float* out[4];
    for (int i = 0; i < 4; ++i) out[i] = k.out<float>(1 + i, Shape({n})).data();
    if (third) k.Output(5, Shape({0}));
    const Tensor last = ChannelsLast(k, k.input(0), layout);
    const ComputeInput<float> x(k, last);
    if (training) {
      Moments(k, x.data, rows, n, out[2], out[3]);
      for (int64_t c = 0; c < n; ++c) {
        const float squares = out[3][c];
        // What running averages get is the estimate without bias; what the gradient gets is of this batch.
        const float unbiased = squares / static_cast<float>(std::max<int64_t>(1, rows - 1));
        out[3][c] = squares / static_cast<float>(rows);
        out[0][c] = out[2][c];
        out[1][c] = unbiased;
        if (rows == 0) out[0][c] = out[1][c] = std::numeric_limits<float>::quiet_NaN();
        if (factor != 1) {
          out[0][c] = (1 - factor) * running[0][c] + factor * out[0][c];
          out[1][c] = (1 - factor) * running[1][c] + factor * out[1][c];
        }
      }
    } else {
      for (int i = 0; i < 4; ++i) std::copy_n(running[i % 2], n, out[i]);
    }
    std::vector<float> a(n);
    for (int64_t c = 0; c < n; ++c) a[c] = scale[c] / std::sqrt(out[3][c] + epsilon);
    Write(k, 0, shape, layout, [&](float* y) {
      k.Parallel(rows, std::max<int64_t>(1, n / 4), [&](int64_t begin, int64_t end) {
        CpuLoops().nn->normalise_rows(x.data + begin * n, out[2], a.data(), offset, y + begin * n, end - begin, n);
      });
    });
  }

  template <class Fill>
  static void Write(KernelContext& k, int i, const Shape& shape, const DataFormat& layout, Fill fill) {
    ComputeOutput<float> out(k, i, shape);
    if (shape.num_elements() == 0) return;
    if (!layout.channels_first) {
      fill(out.data);
    } else {
      std::vector<int64_t> dims(shape.begin(), shape.end());
      std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
      Tensor last = k.Temp(DT_FLOAT, Shape(dims)), first = k.Temp(DT_FLOAT, shape);
      fill(last.mutable_data<float>());
      FromChannelsLast(k, last, layout, first);
      std::copy_n(first.data<float>(), shape.num_elements(), out.data);
    }
    out.Store();
  }
};

struct BatchNormGrad : BatchNormAttrs {
  using BatchNormAttrs::BatchNormAttrs;
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    const DataFormat layout = Layout(k);
    k.Require(shape == k.shape(1), "x and y_backprop must have same shape, but x has shape ", k.shape(1),
              " and y_backprop has shape ", shape);
    const int64_t n = shape[layout.channel()], rows = n ? shape.num_elements() / n : 0;
    constexpr const char* kNames[] = {"", "", "scale", "saved mean", "saved variance"};
    for (int i = 2; i < 5; ++i) {
      k.Require(k.shape(i).rank() == 1, kNames[i], " must be 1-dimensional", k.shape(i));
      k.Require(k.shape(i)[0] == n, kNames[i], " must have the same number of elements as the channels of x, got ",
                k.shape(i)[0], " and ", n);
    }
    const float* scale = k.in<float>(2).data();
    const float* mean = k.in<float>(3).data();
    const float* variance = k.in<float>(4).data();
    float* dscale = k.out<float>(1, Shape({n})).data();
    float* doffset = k.out<float>(2, Shape({n})).data();
    k.Output(3, Shape({0}));
    k.Output(4, Shape({0}));
    const Tensor dy_last = ChannelsLast(k, k.input(0), layout), x_last = ChannelsLast(k, k.input(1), layout);
    const ComputeInput<float> dy(k, dy_last), x(k, x_last);
    Sums(k, dy.data, x.data, mean, rows, n, doffset, dscale);
    // dx = dy a + (x - mean) b + d, or dy a with given statistics, whatever x is
    std::vector<float> a(n), b(n), d(n), none(n, -0.0f);
    for (int64_t c = 0; c < n; ++c) {
      const float r = 1 / std::sqrt(variance[c] + epsilon);
      const float product = rows > 0 ? dscale[c] * r : 0;  // sum of dy h; the variance of nothing is not a number
      dscale[c] = product;
      a[c] = scale[c] * r;
      if (training && rows > 0) {
        const float over = 1 / static_cast<float>(rows);
        b[c] = -a[c] * product * over * r;
        d[c] = -a[c] * doffset[c] * over;
      }
    }
    BatchNorm::Write(k, 0, shape, layout, [&](float* dx) {
      k.Parallel(rows, std::max<int64_t>(1, n / 3), [&](int64_t begin, int64_t end) {
        const NnLoops& loops = *CpuLoops().nn;
        const float* from = dy.data + begin * n;
        float* to = dx + begin * n;
        if (training) {
          loops.norm_grad_rows(from, x.data + begin * n, mean, a.data(), b.data(), d.data(), to, end - begin, n);
        } else {
          loops.normalise_rows(from, d.data(), a.data(), none.data(), to, end - begin, n);
        }
      });
    });
  }

  static void Sums(const KernelContext& k, const float* dy, const float* x, const float* mean, int64_t rows, int64_t n,
                   float* sum, float* product) {
    const Pieces pieces(rows, n);
    gradient_sums.Enter(pieces.count == 1 ? 0 : 1);
    std::vector<float> sums(pieces.count * n), products(pieces.count * n);
    const int64_t block = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, n));
    k.Parallel(pieces.count, std::max<int64_t>(1, pieces.length * n / 4), [&](int64_t begin, int64_t end) {
      std::vector<float> s(n), t(n);
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p * pieces.length, last = std::min(rows, first + pieces.length);
        for (int64_t r = first; r < last; r += block) {
          std::fill_n(s.data(), n, 0.0f);
          std::fill_n(t.data(), n, 0.0f);
          CpuLoops().nn->norm_grad_sums(dy + r * n, x + r * n, mean, std::min(block, last - r), n, s.data(), t.data());
          for (int64_t c = 0; c < n; ++c) sums[p * n + c] += s[c], products[p * n + c] += t[c];
        }
      }
    });
    std::fill_n(sum, n, 0.0f);
    std::fill_n(product, n, 0.0f);
    for (int64_t p = 0; p < pieces.count; ++p) {
      for (int64_t c = 0; c < n; ++c) sum[c] += sums[p * n + c], product[c] += products[p * n + c];
    }
  }
};

// The first version: with given statistics, channels last. y = (x - mean) gamma / sqrt(variance + epsilon) + beta.
struct GlobalNormalization {
  float epsilon;
  bool scales;

  explicit GlobalNormalization(const NodeView& node)
      : epsilon(node.attr<float>("variance_epsilon")), scales(node.attr<bool>("scale_after_normalization")) {}
  int64_t Channels(KernelContext& k, std::initializer_list<int> vectors) const {
    k.Require(k.shape(0).rank() == 4, "input must be 4-dimensional", k.shape(0));
    const int64_t n = k.shape(0)[3];
    for (const int i : vectors) {
      const auto& name = k.node().op().inputs[i].name;
      k.Require(k.shape(i).rank() == 1, name, " must be 1-dimensional", k.shape(i));
      k.Require(k.shape(i)[0] == n, name, " must have ", n, " elements, but has shape ", k.shape(i));
    }
    return n;
  }
};

template <class T>
struct GlobalBatchNorm : GlobalNormalization {
  using GlobalNormalization::GlobalNormalization;
  void operator()(KernelContext& k) const {
    using C = elementwise::ComputeType<T>;
    const int64_t n = Channels(k, {1, 2, 3, 4});
    const auto x = k.in<T>(0), mean = k.in<T>(1), variance = k.in<T>(2), beta = k.in<T>(3), gamma = k.in<T>(4);
    std::vector<C> factor(n);
    for (int64_t c = 0; c < n; ++c) {
      factor[c] = (scales ? C(gamma[c]) : C(1)) / std::sqrt(C(variance[c]) + static_cast<C>(epsilon));
    }
    const auto y = k.out<T>(0, k.shape(0));
    for (size_t i = 0, c = 0; i < y.size(); ++i, c = c + 1 == factor.size() ? 0 : c + 1) {
      y[i] = T((C(x[i]) - C(mean[c])) * factor[c] + C(beta[c]));
    }
  }
};

template <class T>
struct GlobalBatchNormGrad : GlobalNormalization {
  using GlobalNormalization::GlobalNormalization;
  void operator()(KernelContext& k) const {
    using C = elementwise::ComputeType<T>;
    const int64_t n = Channels(k, {1, 2, 3});
    k.Require(k.shape(4) == k.shape(0), "backprop must have the shape of the input, ", k.shape(0), ", but has ",
              k.shape(4));
    const auto x = k.in<T>(0), mean = k.in<T>(1), variance = k.in<T>(2), gamma = k.in<T>(3), dy = k.in<T>(4);
    std::vector<C> inverse(n), sum(n), product(n);  // 1 / deviation, sum of dy, sum of dy (x - mean)
    for (int64_t c = 0; c < n; ++c) inverse[c] = 1 / std::sqrt(C(variance[c]) + static_cast<C>(epsilon));
    const auto weight = [&](int64_t c) { return scales ? C(gamma[c]) : C(1); };
    const auto dx = k.out<T>(0, k.shape(0));
    for (size_t i = 0, c = 0; i < dx.size(); ++i, c = c + 1 == inverse.size() ? 0 : c + 1) {
      sum[c] += C(dy[i]);
      product[c] += C(dy[i]) * (C(x[i]) - C(mean[c]));
      dx[i] = T(C(dy[i]) * inverse[c] * weight(c));
    }
    const Shape vector({n});
    const auto dmean = k.out<T>(1, vector), dvariance = k.out<T>(2, vector), dbeta = k.out<T>(3, vector),
               dgamma = k.out<T>(4, vector);
    for (int64_t c = 0; c < n; ++c) {
      dmean[c] = T(-sum[c] * inverse[c] * weight(c));
      dvariance[c] = T(product[c] * C(-0.5) * inverse[c] * inverse[c] * inverse[c] * weight(c));
      dbeta[c] = T(sum[c]);
      dgamma[c] = scales ? T(product[c] * inverse[c]) : T(0);
    }
  }
};

}  // namespace

void RegisterBatchNormKernels(KernelRegistry& kernels) {
  kernels.Add<GlobalBatchNorm>("BatchNormWithGlobalNormalization", Types<Half, float, double>{});
  kernels.Add<GlobalBatchNormGrad>("BatchNormWithGlobalNormalizationGrad", Types<Half, float, double>{});
  kernels.Add<BatchNorm>("FusedBatchNorm", Types<float>{});
  kernels.Add<BatchNormGrad>("FusedBatchNormGrad", Types<float>{});
  for (const char* version : {"V2", "V3"}) {
    kernels.Add<BatchNorm>(StrCat("FusedBatchNorm", version), FloatComputed{}).Only("U", {DT_FLOAT});
    kernels.Add<BatchNormGrad>(StrCat("FusedBatchNormGrad", version), FloatComputed{}).Only("U", {DT_FLOAT});
  }
}

}  // namespace penstock
