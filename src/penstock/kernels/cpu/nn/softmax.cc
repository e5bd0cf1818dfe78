// Softmax and the losses made of it: each row is read a few times while it lies in the cache.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

// The loops of nn_loops.h for floats, plain ones for double.
struct FloatRows {
  static float ExpRow(const float* x, float* y, int64_t n, float* largest) {
    return CpuLoops().nn->exp_row(x, y, n, largest);
  }
  static float ExpSum(const float* x, int64_t n, float* largest) { return CpuLoops().nn->exp_sum(x, n, largest); }
  static void Affine(const float* x, float scale, float shift, float* y, int64_t n) {
    CpuLoops().nn->affine(x, scale, shift, y, n);
  }
  static float Xent(const float* logits, const float* labels, float constant, float scale, float* dx, int64_t n) {
    return CpuLoops().nn->xent_row(logits, labels, constant, scale, dx, n);
  }
};
struct DoubleRows {
  static double ExpRow(const double* x, double* y, int64_t n, double* largest) {
    *largest = n ? *std::max_element(x, x + n) : 0;
    double sum = 0;
    if (const UnaryLoop exp = CpuLoops()(UnaryOp::kExp, DT_DOUBLE)) {
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] - *largest;
      exp(y, y, n);
      for (int64_t i = 0; i < n; ++i) sum += y[i];
    } else {
      for (int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - *largest);
    }
    return sum;
  }
  static double ExpSum(const double* x, int64_t n, double* largest) {
    *largest = n ? *std::max_element(x, x + n) : 0;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - *largest);
    return sum;
  }
  static void Affine(const double* x, double scale, double shift, double* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
  }
  static double Xent(const double* logits, const double* labels, double constant, double scale, double* dx, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += labels[i] * (constant - logits[i]);
      dx[i] = dx[i] * scale - labels[i];
    }
    return sum;
  }
};
template <class C>
using Rows = std::conditional_t<std::is_same_v<C, float>, FloatRows, DoubleRows>;

// Rows shorter than a vector or two: the powers of many rows are taken together. Gives row(r, shifted, power, sum) each
// row less its largest element, the powers of that, and their sum.
constexpr int64_t kShortRow = 48;
template <class Row>
void ShortRows(const float* x, int64_t begin, int64_t end, int64_t n, Row row) {
  constexpr int64_t kRows = 64;
  const UnaryLoop exp = CpuLoops()(UnaryOp::kExp, DT_FLOAT);
  float shifted[kRows * kShortRow], powers[kRows * kShortRow];
  for (int64_t first = begin; first < end; first += kRows) {
    const int64_t rows = std::min(kRows, end - first);
    const float* const from = x + first * n;
    for (int64_t r = 0; r < rows; ++r) {
      float largest = from[r * n];
      for (int64_t i = 1; i < n; ++i) largest = largest < from[r * n + i] ? from[r * n + i] : largest;
      for (int64_t i = 0; i < n; ++i) shifted[r * n + i] = from[r * n + i] - largest;
    }
    exp(shifted, powers, rows * n);
    for (int64_t r = 0; r < rows; ++r) {
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        // As TensorFlow's threads have it, what is below the smallest normal number is 0.
        if (powers[r * n + i] < std::numeric_limits<float>::min()) powers[r * n + i] = 0;
        sum += powers[r * n + i];
      }
      row(first + r, shifted + r * n, powers + r * n, sum);
    }
  }
}

enum class Row { kShort, kLong, kDouble };
constexpr std::array<const char*, 3> kRows = {"short rows", "long rows", "doubles"};
constinit BranchTable<3> softmax_rows{"softmax", kRows}, log_softmax_rows{"log_softmax", kRows},
    xent_rows{"softmax_cross_entropy", kRows}, sparse_xent_rows{"sparse_softmax_cross_entropy", kRows};
template <class C>
Row RowOf(int64_t n) {
  return !std::is_same_v<C, float> ? Row::kDouble : n <= kShortRow ? Row::kShort : Row::kLong;
}

template <class C, bool kLog>
struct SoftmaxKernel {
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() >= 1, "logits must have >= 1 dimension, got ", shape);
    const int64_t n = shape[shape.rank() - 1], rows = n ? shape.num_elements() / n : 0;
    const ComputeInput<C> in(k, k.input(0));
    ComputeOutput<C> out(k, 0, shape);
    (kLog ? log_softmax_rows : softmax_rows).Enter(RowOf<C>(n));
    k.Parallel(rows, std::max<int64_t>(1, n / 2), [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<C, float>) {
        if (n <= kShortRow) {
          return ShortRows(in.data, begin, end, n, [&](int64_t r, const float* shifted, const float* power, float sum) {
            float* const y = out.data + r * n;
            const float scale = kLog ? std::log(sum) : 1 / sum;
            for (int64_t i = 0; i < n; ++i) y[i] = kLog ? shifted[i] - scale : power[i] * scale;
          });
        }
      }
      for (int64_t r = begin; r < end; ++r) {
        const C* x = in.data + r * n;
        C* y = out.data + r * n;
        C largest;
        if constexpr (kLog) {
          const C sum = Rows<C>::ExpSum(x, n, &largest);
          // Two steps: x - largest is exact where it matters.
          Rows<C>::Affine(x, 1, -largest, y, n);
          Rows<C>::Affine(y, 1, -std::log(sum), y, n);
        } else {
          const C sum = Rows<C>::ExpRow(x, y, n, &largest);
          Rows<C>::Affine(y, C(1) / sum, 0, y, n);
        }
      }
    });
    out.Store();
  }
};
template <class C>
using Softmax = SoftmaxKernel<C, false>;
template <class C>
using LogSoftmax = SoftmaxKernel<C, true>;

template <class C>
struct Xent {
  void operator()(KernelContext& k) const {
    const Shape* inputs[] = {&k.shape(0), &k.shape(1)};
    Broadcast plan;
    k.Require(TryMakeBroadcast(inputs, &plan), "logits and labels must be broadcastable: logits_size=", k.shape(0),
              " labels_size=", k.shape(1));
    const Shape shape = plan.out;
    k.Require(shape.rank() == 2, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
    const int64_t rows = shape[0], n = shape[1];
    const Tensor logits = Stretched(k, plan, 0), labels = Stretched(k, plan, 1);
    const ComputeInput<C> x(k, logits), p(k, labels);
    ComputeOutput<C> loss(k, 0, Shape({rows})), dx(k, 1, shape);
    xent_rows.Enter(RowOf<C>(n));
    k.Parallel(rows, std::max<int64_t>(10, n), [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<C, float>) {
        if (n <= kShortRow) {
          return ShortRows(x.data, begin, end, n, [&](int64_t r, const float* shifted, const float* power, float sum) {
            const float log_sum = std::log(sum), scale = 1 / sum;
            const float* const label = p.data + r * n;
            float total = 0;
            for (int64_t i = 0; i < n; ++i) {
              total += label[i] * (log_sum - shifted[i]);
              dx.data[r * n + i] = power[i] * scale - label[i];
            }
            loss.data[r] = total;
          });
        }
      }
      for (int64_t r = begin; r < end; ++r) {
        C largest;
        const C sum = Rows<C>::ExpRow(x.data + r * n, dx.data + r * n, n, &largest);
        loss.data[r] =
            Rows<C>::Xent(x.data + r * n, p.data + r * n, std::log(sum) + largest, C(1) / sum, dx.data + r * n, n);
      }
    });
    loss.Store();
    dx.Store();
  }
  static Tensor Stretched(KernelContext& k, const Broadcast& plan, int i) {
    if (plan.Plain(i)) return k.input(i);
    Tensor full = k.Temp(k.input(i).dtype(), plan.out);
    Gather(plan, i, k.input(i).raw(), DataTypeSize(full.dtype()), 0, full.num_elements(), full.mutable_raw());
    return full;
  }
};

template <class C>
struct SparseXent {
  void operator()(KernelContext& k) const {
    const Shape &shape = k.shape(0), &label_shape = k.shape(1);
    k.Require(shape.rank() == 2, "logits must be 2-D, but got shape ", shape);
    k.Require(label_shape.rank() == 1, "labels must be 1-D, but got shape ", label_shape);
    k.Require(shape[0] == label_shape[0], "logits and labels must have the same first dimension, got logits shape ",
              shape, " and labels shape ", label_shape);
    const int64_t rows = shape[0], n = shape[1];
    k.Require(rows == 0 || n > 0, "Must have at least one class, but got logits shape ", shape);
    const Tensor& labels = k.input(1);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t label = labels.IntAt(r);
      if (label >= 0 && label < n) continue;
      throw InvalidArgument("Received a label value of ", label, " which is outside the valid range of [0, ", n,
                            ").  Label values: ", Values(labels));
    }
    const ComputeInput<C> x(k, k.input(0));
    ComputeOutput<C> loss(k, 0, Shape({rows})), dx(k, 1, shape);
    sparse_xent_rows.Enter(RowOf<C>(n));
    k.Parallel(rows, std::max<int64_t>(10, n / 2), [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<C, float>) {
        if (n <= kShortRow) {
          return ShortRows(x.data, begin, end, n, [&](int64_t r, const float* shifted, const float* power, float sum) {
            const int64_t label = labels.IntAt(r);
            const float scale = 1 / sum;
            loss.data[r] = std::log(sum) - shifted[label];
            for (int64_t i = 0; i < n; ++i) dx.data[r * n + i] = power[i] * scale;
            dx.data[r * n + label] -= 1;
          });
        }
      }
      for (int64_t r = begin; r < end; ++r) {
        C* y = dx.data + r * n;
        C largest;
        const C sum = Rows<C>::ExpRow(x.data + r * n, y, n, &largest);
        const int64_t label = labels.IntAt(r);
        loss.data[r] = std::log(sum) - (x.data[r * n + label] - largest);
        Rows<C>::Affine(y, C(1) / sum, 0, y, n);
        y[label] -= 1;
      }
    });
    loss.Store();
    dx.Store();
  }
  static std::string Values(const Tensor& labels) {
    std::string text;
    for (int64_t i = 0; i < std::min<int64_t>(labels.num_elements(), 100); ++i) {
      text += StrCat(i ? " " : "", labels.IntAt(i));
    }
    return text;
  }
};

// Half the sum of squares, in pieces that depend on the size only.
template <class C>
struct L2Loss {
  void operator()(KernelContext& k) const {
    const ComputeInput<C> in(k, k.input(0));
    const int64_t n = k.input(0).num_elements();
    constexpr int64_t kPiece = 1 << 16;
    const int64_t pieces = (n + kPiece - 1) / kPiece;
    std::vector<double> sums(pieces);
    k.Parallel(pieces, kPiece / 4, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        double total = 0;
        for (int64_t b = p * kPiece; b < std::min(n, (p + 1) * kPiece); b += 1024) {
          const int64_t m = std::min<int64_t>({1024, n - b});
          C s[16] = {};
          int64_t i = 0;
          for (; i + 16 <= m; i += 16) {
            for (int j = 0; j < 16; ++j) s[j] += in.data[b + i + j] * in.data[b + i + j];
          }
          for (; i < m; ++i) s[0] += in.data[b + i] * in.data[b + i];
          for (int j = 0; j < 16; ++j) total += s[j];
        }
        sums[p] = total;
      }
    });
    double total = 0;
    for (const double s : sums) total += s;
    ComputeOutput<C> out(k, 0, Shape());
    *out.data = static_cast<C>(total / 2);
    out.Store();
  }
};

// How many predictions are larger than the target's: fewer than k means yes. A row with a number that is not finite
// where it matters says no.
struct InTopK {
  int64_t k_attr;
  bool has_attr;
  explicit InTopK(const NodeView& node)
      : k_attr(node.attr_or<int64_t>("k", 0)), has_attr(node.attrs().Find("k") != nullptr) {}
  void operator()(KernelContext& k) const {
    const Shape &shape = k.shape(0), &target_shape = k.shape(1);
    k.Require(shape.rank() == 2, "predictions must be 2-dimensional");
    k.Require(target_shape.rank() == 1, "targets must be 1-dimensional");
    k.Require(shape[0] == target_shape[0], "First dimension of predictions ", shape[0],
              " must match length of targets ", target_shape[0]);
    const int64_t count = has_attr ? k_attr : k.Int(2), rows = shape[0], n = shape[1];
    const float* x = k.in<float>(0).data();
    const Tensor& targets = k.input(1);
    bool* out = k.out<bool>(0, Shape({rows})).data();
    k.Parallel(rows, std::max<int64_t>(1, n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t target = targets.IntAt(r);
        bool bad = target < 0 || target >= n;
        int64_t larger = 0;
        if (!bad) {
          const float mine = x[r * n + target];
          bad = !std::isfinite(mine);
          for (int64_t i = 0; i < n && !bad; ++i) {
            const float other = x[r * n + i];
            if (!std::isfinite(other)) {
              bad = true;
            } else if (other > mine && ++larger > count) {
              break;
            }
          }
        }
        out[r] = !bad && larger < count;
      }
    });
  }
};

}  // namespace

void RegisterSoftmaxKernels(KernelRegistry& kernels) {
  kernels.Add<Softmax<float>>("Softmax", FloatComputed{});
  kernels.Add<Softmax<double>>("Softmax", Types<double>{});
  kernels.Add<LogSoftmax<float>>("LogSoftmax", FloatComputed{});
  kernels.Add<LogSoftmax<double>>("LogSoftmax", Types<double>{});
  kernels.Add<Xent<float>>("SoftmaxCrossEntropyWithLogits", FloatComputed{});
  kernels.Add<Xent<double>>("SoftmaxCrossEntropyWithLogits", Types<double>{});
  kernels.Add<SparseXent<float>>("SparseSoftmaxCrossEntropyWithLogits", FloatComputed{});
  kernels.Add<SparseXent<double>>("SparseSoftmaxCrossEntropyWithLogits", Types<double>{});
  kernels.Add<L2Loss<float>>("L2Loss", FloatComputed{});
  kernels.Add<L2Loss<double>>("L2Loss", Types<double>{});
  kernels.Add<InTopK>("InTopK");
  kernels.Add<InTopK>("InTopKV2");
}

}  // namespace penstock
