// Activations that are linear in parts, or nearly so, and their gradients.
#include <cmath>
#include <limits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/elementwise.h"
#include "penstock/kernels/cpu/nn_loops.h"

namespace penstock {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// x limited to 0 ... limit; no limit if that is 0.
template <int kLimit>
struct Relu {
  template <class T>
  static void Plain(const void* in, void* out, int64_t n) {
    const T* x = static_cast<const T*>(in);
    T* y = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i] < T(0) ? T(0) : x[i];
      y[i] = kLimit && v > T(kLimit) ? T(kLimit) : v;
    }
  }
  static void Floats(const void* x, void* y, int64_t n) {
    CpuLoops().nn->relu(static_cast<const float*>(x), kLimit ? kLimit : kInf, static_cast<float*>(y), n);
  }
};
template <int kLimit>
struct ReluGrad {
  template <class T>
  static void Plain(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
    const T* dy = static_cast<const T*>(a);
    const T* x = static_cast<const T*>(b);
    T* z = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i * sb];
      z[i] = v > T(0) && (!kLimit || v < T(kLimit)) ? dy[i * sa] : T(0);
    }
  }
  static void Floats(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
    if (sa == 0 || sb == 0) return Plain<float>(a, sa, b, sb, out, n);
    CpuLoops().nn->relu_grad(static_cast<const float*>(a), static_cast<const float*>(b), kLimit ? kLimit : kInf,
                             static_cast<float*>(out), n);
  }
};
struct Elu {
  template <class T>
  static void Plain(const void* in, void* out, int64_t n) {
    const T* x = static_cast<const T*>(in);
    T* y = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? std::expm1(x[i]) : x[i];
  }
  static void Floats(const void* in, void* out, int64_t n) {
    const UnaryLoop expm1 = CpuLoops()(UnaryOp::kExpm1, DT_FLOAT);
    const float* x = static_cast<const float*>(in);
    float* y = static_cast<float*>(out);
    constexpr int64_t kBlock = 512;
    float e[kBlock];
    for (int64_t b = 0; b < n; b += kBlock) {
      const int64_t m = std::min(kBlock, n - b);
      expm1(x + b, e, m);
      for (int64_t i = 0; i < m; ++i) y[b + i] = x[b + i] < 0 ? e[i] : x[b + i];
    }
  }
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
struct Selu {
  template <class T>
  static void Plain(const void* in, void* out, int64_t n) {
    Elu::Plain<T>(in, out, n);
    Scale(static_cast<T*>(out), n);
  }
  static void Floats(const void* in, void* out, int64_t n) {
    Elu::Floats(in, out, n);
    Scale(static_cast<float*>(out), n);
  }
  template <class T>
  static void Scale(T* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] *= y[i] < 0 ? T(kSeluScaleAlpha) : T(kSeluScale);
  }
};
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
using EluKernel = UnaryActivation<Elu, T>;
template <class T>
using SeluKernel = UnaryActivation<Selu, T>;
template <class T>
using ReluGradKernel = LoopGradient<ReluGrad<0>, T>;
template <class T>
using Relu6GradKernel = LoopGradient<ReluGrad<6>, T>;
template <class T>
using EluGradKernel = FormulaGradient<EluGrad, T>;
template <class T>
using SeluGradKernel = FormulaGradient<SeluGrad, T>;

template <class T>
struct LeakyRelu {
  float alpha;
  explicit LeakyRelu(const NodeView& node) : alpha(node.attr<float>("alpha")) {}
  void operator()(KernelContext& k) const {
    const T a(alpha);
    const T* x = k.in<T>(0).data();
    T* y = k.OutLike<T>(0).data();
    ParallelElements(k, k.input(0).num_elements(), 500, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] > T(0) ? x[i] : a * x[i];
    });
  }
};
template <class T>
struct LeakyReluGrad {
  float alpha;
  explicit LeakyReluGrad(const NodeView& node) : alpha(node.attr<float>("alpha")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0) == k.shape(1), "inputs must be the same shape: gradients are ", k.shape(0), ", features ",
              k.shape(1));
    const T a(alpha);
    const T* dy = k.in<T>(0).data();
    const T* x = k.in<T>(1).data();
    T* dx = k.OutputLike(0, {0, 1}, k.shape(0)).template mutable_data<T>();
    ParallelElements(k, k.input(0).num_elements(), 500, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) dx[i] = x[i] > T(0) ? dy[i] : a * dy[i];
    });
  }
};

}  // namespace

void RegisterActivationKernels(KernelRegistry& kernels) {
  kernels.Add<ReluKernel>("Relu", Reals{});
  kernels.Add<ReluGradKernel>("ReluGrad", Reals{});
  kernels.Add<Relu6Kernel>("Relu6", Reals{});
  kernels.Add<Relu6GradKernel>("Relu6Grad", Reals{});
  kernels.Add<EluKernel>("Elu", Floats{});
  kernels.Add<EluGradKernel>("EluGrad", Floats{});
  kernels.Add<SeluKernel>("Selu", Floats{});
  kernels.Add<SeluGradKernel>("SeluGrad", Floats{});
  kernels.Add<LeakyRelu>("LeakyRelu", Floats{});
  kernels.Add<LeakyReluGrad>("LeakyReluGrad", Floats{});
}

}  // namespace penstock
