// The cross product of vectors of three.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

template <class T>
struct Cross {
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    k.Require(shape == k.shape(1), "Both inputs must be of same shape: ", shape, " vs. ", k.shape(1));
    k.Require(shape.rank() >= 1, "Input must be at least 1D", shape);
    if (shape.dim(shape.rank() - 1) != 3) {
      throw FailedPrecondition("Cross-products are only defined for 3-element vectors.");
    }
    const auto a = k.in<T>(0), b = k.in<T>(1);
    const auto c = k.out<T>(0, shape);
    ParallelElements(k, static_cast<int64_t>(c.size()) / 3, 2000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *u = &a[i * 3], *v = &b[i * 3];
        T* w = &c[i * 3];
        for (int j = 0; j < 3; ++j) {
          const int p = (j + 1) % 3, q = (j + 2) % 3;
          w[j] = static_cast<T>(u[p] * v[q] - u[q] * v[p]);
        }
      }
    });
  }
};

}  // namespace

void RegisterCrossKernels(KernelRegistry& kernels) { kernels.Add<Cross>("Cross", Reals{}); }

}  // namespace penstock
