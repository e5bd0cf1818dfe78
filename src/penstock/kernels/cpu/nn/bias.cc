// A vector added along the channels, and its gradient.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

enum class Adds { kFloatRows, kHalfRows, kRows, kPlanes };
constinit BranchTable<4> adds{"bias_add", {"rows of floats", "rows of halves", "rows", "planes"}};
enum class Sums { kRows, kPiecesOfRows, kPlanes };
constinit BranchTable<3> sums_of{"bias_add_gradient", {"rows", "pieces of rows", "planes"}};

bool ChannelsFirst(const NodeView& node) { return node.attr_or<std::string>("data_format", "NHWC") == "NCHW"; }

// Any type: a plain addition with the vector stretched.
template <class T>
struct BiasAdd {
  using C = elementwise::ComputeType<T>;
  bool first;
  explicit BiasAdd(const NodeView& node) : first(ChannelsFirst(node)) {}

  // Rows of half or bfloat16, some at a time as floats.
  static void AddInFloat(const T* in, const T* b, T* out, int64_t rows, int64_t n) {
    const UnaryLoop widen = ConversionLoop(kTypeOf<T>, DT_FLOAT), narrow = ConversionLoop(DT_FLOAT, kTypeOf<T>);
    const int64_t at_once = std::max<int64_t>(1, 4096 / n);
    std::vector<float> bias(static_cast<size_t>(n)), x(static_cast<size_t>(std::min(rows, at_once) * n));
    widen(b, bias.data(), n);
    for (int64_t r = 0; r < rows; r += at_once) {
      const int64_t some = std::min(at_once, rows - r);
      widen(in + r * n, x.data(), some * n);
      CpuLoops().nn->add_rows(x.data(), bias.data(), x.data(), some, n);
      narrow(x.data(), out + r * n, some * n);
    }
  }

  void operator()(KernelContext& k) const {
    const Shape &x = k.shape(0), &bias = k.shape(1);
    k.Require(x.rank() >= 2, "Input tensor must be at least 2D: ", x);
    k.Require(bias.rank() == 1, "Biases must be 1D: ", bias);
    const int channel = first ? 1 : x.rank() - 1;
    k.Require(bias[0] == x[channel], "Must provide as many biases as the last dimension of the input tensor: ", bias,
              " vs. ", x);
    int64_t inner = 1;
    for (int i = channel + 1; i < x.rank(); ++i) inner *= x[i];
    const T* in = k.in<T>(0).data();
    const T* b = k.in<T>(1).data();
    const int64_t n = bias[0];
    T* out = k.OutLike<T>(0).data();
    if (x.num_elements() == 0) return;
    adds.Enter(inner != 1                 ? Adds::kPlanes
               : std::is_same_v<T, float> ? Adds::kFloatRows
               : !std::is_same_v<T, C>    ? Adds::kHalfRows
                                          : Adds::kRows);
    if (inner == 1) {
      k.Parallel(x.num_elements() / n, std::max<int64_t>(1, n / 4), [&](int64_t begin, int64_t end) {
        if constexpr (std::is_same_v<T, float>) {
          CpuLoops().nn->add_rows(in + begin * n, b, out + begin * n, end - begin, n);
        } else if constexpr (!std::is_same_v<T, C>) {
          AddInFloat(in + begin * n, b, out + begin * n, end - begin, n);
        } else {
          for (int64_t r = begin; r < end; ++r) {
            for (int64_t c = 0; c < n; ++c) out[r * n + c] = in[r * n + c] + b[c];
          }
        }
      });
    } else {
      k.Parallel(x.num_elements() / inner, std::max<int64_t>(1, inner / 4), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const T v = b[r % n];
          for (int64_t i = r * inner; i < (r + 1) * inner; ++i) out[i] = in[i] + v;
        }
      });
    }
  }
};

// Pieces of the rows are summed side by side, then added up in order; the pieces depend on the shape only.
template <class T>
struct BiasAddGrad {
  using C = elementwise::ComputeType<T>;
  bool first;
  explicit BiasAddGrad(const NodeView& node) : first(ChannelsFirst(node)) {}

  void operator()(KernelContext& k) const {
    const Shape& dy = k.shape(0);
    k.Require(dy.rank() >= 2, "Input tensor must be at least 2D: ", dy);
    const int channel = first ? 1 : dy.rank() - 1;
    const int64_t n = dy[channel];
    ComputeOutput<C> out(k, 0, Shape({n}));
    std::fill_n(out.data, n, C(0));
    if (dy.num_elements() > 0) {
      const ComputeInput<C> in(k, k.input(0));
      int64_t inner = 1;
      for (int i = channel + 1; i < dy.rank(); ++i) inner *= dy[i];
      if (inner == 1) {
        SumRows(k, in.data, dy.num_elements() / n, n, out.data);
      } else {
        SumPlanes(k, in.data, dy[0], n, inner, out.data);
      }
    }
    out.Store();
  }

  static void AddRows(const C* x, int64_t rows, int64_t n, C* sum) {
    if constexpr (std::is_same_v<C, float>) {
      CpuLoops().nn->sum_rows(x, rows, n, sum);
    } else {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < n; ++c) sum[c] += x[r * n + c];
      }
    }
  }
  static void SumRows(KernelContext& k, const C* x, int64_t rows, int64_t n, C* sum) {
    const int64_t pieces = std::clamp<int64_t>(rows * n / 65536, 1, 32), length = (rows + pieces - 1) / pieces;
    std::vector<C> partial(pieces * n);
    sums_of.Enter(pieces == 1 ? Sums::kRows : Sums::kPiecesOfRows);
    k.Parallel(pieces, std::max<int64_t>(1, length * n / 8), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        // Runs of a few hundred rows keep the sums short, and so exact.
        const int64_t last = std::min(rows, (p + 1) * length);
        for (int64_t r = p * length; r < last; r += 256) {
          std::vector<C> run(n);
          AddRows(x + r * n, std::min<int64_t>(256, last - r), n, run.data());
          for (int64_t c = 0; c < n; ++c) partial[p * n + c] += run[c];
        }
      }
    });
    for (int64_t p = 0; p < pieces; ++p) {
      for (int64_t c = 0; c < n; ++c) sum[c] += partial[p * n + c];
    }
  }
  static void SumPlanes(KernelContext& k, const C* x, int64_t batch, int64_t n, int64_t inner, C* sum) {
    sums_of.Enter(Sums::kPlanes);
    k.Parallel(n, std::max<int64_t>(1, batch * inner / 2), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t b = 0; b < batch; ++b) {
          const C* plane = x + (b * n + c) * inner;
          C s[8] = {};
          int64_t i = 0;
          for (; i + 8 <= inner; i += 8) {
            for (int j = 0; j < 8; ++j) s[j] += plane[i + j];
          }
          for (; i < inner; ++i) s[0] += plane[i];
          sum[c] += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
      }
    });
  }
};

}  // namespace

void RegisterBiasKernels(KernelRegistry& kernels) {
  for (const char* name : {"BiasAdd", "BiasAddV1"}) kernels.Add<BiasAdd>(name, Numbers{});
  kernels.Add<BiasAddGrad>("BiasAddGrad", Numbers{});
}

}  // namespace penstock
