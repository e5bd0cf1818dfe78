// Comparisons and logic.
#include <cmath>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/quantization/quantized.h"
#include "penstock/tensor/quantized_types.h"

namespace penstock {
namespace {

using Looped = Concat<Types<float, double>, Ints>;

struct Equal {
  static constexpr BinaryOp kLoop = BinaryOp::kEqual;
  using InLoop = Concat<Looped, Types<bool>>;
  template <class T> bool operator()(const T& x, const T& y) const { return x == y; }
};
struct NotEqual {
  static constexpr BinaryOp kLoop = BinaryOp::kNotEqual;
  using InLoop = Concat<Looped, Types<bool>>;
  template <class T> bool operator()(const T& x, const T& y) const { return !(x == y); }
};
struct Less {
  static constexpr BinaryOp kLoop = BinaryOp::kLess;
  using InLoop = Looped;
};
struct LessEqual {
  static constexpr BinaryOp kLoop = BinaryOp::kLessEqual;
  using InLoop = Looped;
};
struct Greater {
  static constexpr BinaryOp kLoop = BinaryOp::kGreater;
  using InLoop = Looped;
};
struct GreaterEqual {
  static constexpr BinaryOp kLoop = BinaryOp::kGreaterEqual;
  using InLoop = Looped;
};

// Equal and NotEqual: tensors whose shapes do not fit together are unequal as a whole, where the node asks for that.
template <class F, class... Ts>
class Equality {
 public:
  explicit Equality(const NodeView& node)
      : compare_(node, elementwise::Binary<F, Ts...>::Pick(IntegerBehind(node.input_type(0))),
                 elementwise::CostOf<F>()),
        must_fit_(node.attr<bool>("incompatible_shape_error")),
        otherwise_(std::is_same_v<F, NotEqual>) {}
  void operator()(KernelContext& k) const {
    if (!must_fit_) {
      const Shape* const shapes[] = {&k.shape(0), &k.shape(1)};
      Broadcast plan;
      if (!TryMakeBroadcast(shapes, &plan)) return k.SetOutput(0, Tensor(otherwise_));
    }
    compare_(k);
  }

 private:
  elementwise::BinaryKernel compare_;
  bool must_fit_, otherwise_;
};
template <class F, class... Ts>
void AddEquality(KernelRegistry& kernels, std::string_view op, Types<Ts...>) {
  kernels.Add<Equality<F, Ts...>>(op, Types<Ts...>{});
  kernels.Add<Equality<F, Ts...>>(op, Quantizeds{});
}

template <class T>
struct ApproximateEqual {
  float tolerance;
  explicit ApproximateEqual(const NodeView& node) : tolerance(node.attr<float>("tolerance")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0) == k.shape(1), "x and y must be of the same shape. x shape: ", k.shape(0),
              ". y shape: ", k.shape(1));
    const auto x = k.in<T>(0), y = k.in<T>(1);
    const auto z = k.out<bool>(0, k.shape(0));
    ParallelElements(k, z.size(), 500, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) z[i] = std::abs(x[i] - y[i]) < static_cast<T>(tolerance);
    });
  }
};

template <class T>
struct CompareAndBitpack {
  void operator()(KernelContext& k) const {
    Shape shape = k.shape(0);
    k.Require(k.input(1).rank() == 0, "Compare must be a scalar, but saw shape: ", k.shape(1));
    k.Require(shape.rank() >= 1, "Input should be at least a vector, but saw a scalar.");
    const int last = shape.rank() - 1;
    k.Require(shape.dim(last) % 8 == 0, "Inner dimension of input should be divisible by 8, but saw shape: ", shape);
    shape.set_dim(last, shape.dim(last) / 8);
    const auto x = k.in<T>(0);
    const T threshold = *k.input(1).data<T>();
    const auto y = k.out<uint8_t>(0, shape);
    ParallelElements(k, y.size(), 8000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        uint8_t byte = 0;
        for (int bit = 0; bit < 8; ++bit) {
          if constexpr (std::is_same_v<T, bool>) {
            byte = static_cast<uint8_t>(byte << 1 | x[i * 8 + bit]);
          } else {
            byte = static_cast<uint8_t>(byte << 1 | (x[i * 8 + bit] > threshold));
          }
        }
        y[i] = byte;
      }
    });
  }
};

struct LogicalAnd {
  bool operator()(bool x, bool y) const { return x & y; }
};
struct LogicalOr {
  bool operator()(bool x, bool y) const { return x | y; }
};

}  // namespace

void RegisterComparisonKernels(KernelRegistry& kernels) {
  using Comparable = Concat<Numbers, Types<bool, TString>>;
  AddEquality<Equal>(kernels, "Equal", Comparable{});
  AddEquality<NotEqual>(kernels, "NotEqual", Comparable{});
  AddBinary<Less>(kernels, "Less", Reals{});
  AddBinary<LessEqual>(kernels, "LessEqual", Reals{});
  AddBinary<Greater>(kernels, "Greater", Reals{});
  AddBinary<GreaterEqual>(kernels, "GreaterEqual", Reals{});
  kernels.Add<ApproximateEqual>("ApproximateEqual", Types<float, double>{});
  kernels.Add<CompareAndBitpack>("CompareAndBitpack",
                                 Types<bool, Half, float, double, int8_t, int16_t, int32_t, int64_t>{});
  kernels.Add<elementwise::Binary<LogicalAnd, bool>>("LogicalAnd");
  kernels.Add<elementwise::Binary<LogicalOr, bool>>("LogicalOr");
}

}  // namespace penstock
