// Activations that are linear in parts, or nearly so, and their gradients.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

constinit BranchTable<2> relu_grads{"relu_gradient", {"floats", "other types"}};

// x limited to 0 ... limit; no limit if that is 0.
template <int kLimit>
struct Relu {
  template <class T>
  static void Plain(const void* in, void* out, int64_t n) {
    const T* x = static_cast<const T*>(in);
    T* y = static_cast<T*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i] < T(0) ? T(0) : x[i];
      y[i] = kLimit && v > T(kLimit) ? T(kLimit) : v;
    }
  }
  static void Floats(const void* x, void* y, int64_t n) {
    CpuLoops().nn->relu(static_cast<const float*>(x), kLimit ? kLimit : kInf, static_cast<float*>(y), n);
  }
};
// A product, not a choice: gradients that are NaN or infinite make NaN where x is out of range.
template <int kLimit>
struct ReluGrad {
  template <class T>
  static void Plain(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
    relu_grads.Enter(1);
    const T* dy = static_cast<const T*>(a);
    const T* x = static_cast<const T*>(b);
    T* z = static_cast<T*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i * sb];
      const bool passes = v > T(0) && (!kLimit || v < T(kLimit));
      z[i] = static_cast<T>(dy[i * sa] * (passes ? T(1) : T(0)));
    }
  }
  // Gradients do not stretch, so both are contiguous.
  static void Floats(const void* a, int64_t, const void* b, int64_t, void* out, int64_t n) {
    relu_grads.Enter(0);
    CpuLoops().nn->relu_grad(static_cast<const float*>(a), static_cast<const float*>(b), kLimit ? kLimit : kInf,
                             static_cast<float*>(out), n);
  }
};
struct Elu {
  static constexpr UnaryOp kLoop = UnaryOp::kElu;
  using InLoop = Types<float, double>;
};
struct Selu {
  static constexpr UnaryOp kLoop = UnaryOp::kSelu;
  using InLoop = Types<float, double>;
};
struct EluGrad {  // from the result y
  template <class T>
  T operator()(T dy, T y) const {
    return y < 0 ? (y + T(1)) * dy : dy;
  }
};
// Constants that keep a mean of 0 and a variance of 1.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;
struct SeluGrad {
  template <class T>
  T operator()(T dy, T y) const {
    return y < 0 ? dy * (y + T(kSeluScaleAlpha)) : dy * T(kSeluScale);
  }
};

template <class F, class T>
constexpr UnaryLoop LoopOf() {
  if constexpr (std::is_same_v<elementwise::ComputeType<T>, float>) {
    return &F::Floats;
  } else {
    return &F::template Plain<T>;
  }
}
template <class F, class T>
struct UnaryActivation : elementwise::UnaryKernel {
  explicit UnaryActivation(const NodeView& node) : UnaryKernel(node, LoopOf<F, T>(), 400) {}
};

// Gradients: no broadcasting.
struct GradientKernel : elementwise::BinaryKernel {
  GradientKernel(const NodeView& node, BinaryLoop loop, int64_t picoseconds)
      : BinaryKernel(node, loop, picoseconds, /*stretches=*/false) {}
};
template <class F, class T>
struct LoopGradient : GradientKernel {
  explicit LoopGradient(const NodeView& node) : GradientKernel(node, Pick(), 400) {}
  static BinaryLoop Pick() {
    if constexpr (std::is_same_v<elementwise::ComputeType<T>, float>) {
      return &F::Floats;
    } else {
      return &F::template Plain<T>;
    }
  }
};
template <class F, class T>
struct FormulaGradient : GradientKernel {
  explicit FormulaGradient(const NodeView& node)
      : GradientKernel(node, &elementwise::GenericBinary<F, elementwise::ComputeType<T>>, 1000) {}
};

template <class T>
using ReluKernel = UnaryActivation<Relu<0>, T>;
template <class T>
using Relu6Kernel = UnaryActivation<Relu<6>, T>;
template <class T>
using ReluGradKernel = LoopGradient<ReluGrad<0>, T>;
template <class T>
using Relu6GradKernel = LoopGradient<ReluGrad<6>, T>;
template <class T>
using EluGradKernel = FormulaGradient<EluGrad, T>;
template <class T>
using SeluGradKernel = FormulaGradient<SeluGrad, T>;

// fn(inputs, output, n) on pieces of tensors of T in the type that T is computed in: half is converted block by block.
template <class T, size_t kInputs, class Fn>
void InComputeType(const KernelContext& k, const std::array<const T*, kInputs>& x, T* y, Fn fn) {
  using C = elementwise::ComputeType<T>;
  ParallelElements(k, k.input(0).num_elements(), 500, [&](int64_t begin, int64_t end) {
    std::array<const C*, kInputs> in;
    if constexpr (std::is_same_v<T, C>) {
      for (size_t j = 0; j < kInputs; ++j) in[j] = x[j] + begin;
      fn(in, y + begin, end - begin);
    } else {
      constexpr int64_t kBlock = 512;
      alignas(64) C values[kInputs][kBlock], results[kBlock];
      for (int64_t i = begin; i < end; i += kBlock) {
        const int64_t n = std::min(kBlock, end - i);
        for (size_t j = 0; j < kInputs; ++j) {
          CpuLoops().cast[kTypeOf<T>][DT_FLOAT](x[j] + i, values[j], n);
          in[j] = values[j];
        }
        fn(in, results, n);
        CpuLoops().cast[DT_FLOAT][kTypeOf<T>](results, y + i, n);
      }
    }
  });
}

// With alpha as a number of the tensor's type, as TensorFlow rounds it.
template <class T>
struct LeakyRelu {
  using C = elementwise::ComputeType<T>;
  C alpha;
  explicit LeakyRelu(const NodeView& node) : alpha(static_cast<C>(T(node.attr<float>("alpha")))) {}
  void operator()(KernelContext& k) const {
    const std::array<const T*, 1> x = {k.in<T>(0).data()};
    InComputeType<T>(k, x, k.OutLike<T>(0).data(), [a = alpha](const auto& in, C* y, int64_t n) {
      const C* features = in[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const C v = features[i], scaled = a * v;
        y[i] = v > C(0) ? v : scaled;
      }
    });
  }
};
template <class T>
struct LeakyReluGrad {
  using C = elementwise::ComputeType<T>;
  C alpha;
  explicit LeakyReluGrad(const NodeView& node) : alpha(static_cast<C>(T(node.attr<float>("alpha")))) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0) == k.shape(1), "inputs must be the same shape: gradients are ", k.shape(0), ", features ",
              k.shape(1));
    const std::array<const T*, 2> x = {k.in<T>(0).data(), k.in<T>(1).data()};
    T* dx = k.OutputLike(0, {0, 1}, k.shape(0)).template mutable_data<T>();
    InComputeType<T>(k, x, dx, [a = alpha](const auto& in, C* y, int64_t n) {
      const C *dy = in[0], *features = in[1];
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const C d = dy[i], scaled = a * d;
        y[i] = features[i] > C(0) ? d : scaled;
      }
    });
  }
};

}  // namespace

void RegisterActivationKernels(KernelRegistry& kernels) {
  kernels.Add<ReluKernel>("Relu", Reals{});
  kernels.Add<ReluGradKernel>("ReluGrad", Reals{});
  kernels.Add<Relu6Kernel>("Relu6", Reals{});
  kernels.Add<Relu6GradKernel>("Relu6Grad", Reals{});
  AddUnary<Elu>(kernels, "Elu", Floats{});
  kernels.Add<EluGradKernel>("EluGrad", Floats{});
  AddUnary<Selu>(kernels, "Selu", Floats{});
  kernels.Add<SeluGradKernel>("SeluGrad", Floats{});
  kernels.Add<LeakyRelu>("LeakyRelu", Floats{});
  kernels.Add<LeakyReluGrad>("LeakyReluGrad", Floats{});
}

}  // namespace penstock
