// Random ops with a generator of their own.
#include "penstock/kernels/cpu/all.h"
#include "penstock/kernels/cpu/random_fill.h"

namespace penstock {
namespace {

template <class D>
class RandomKernel : public Kernel {
 public:
  explicit RandomKernel(const NodeView& node) : philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {}
  void Run(KernelContext& k) override {
    using T = typename D::Type;
    const auto out = k.out<T>(0, k.ShapeInput(0));
    const Philox start = philox_.Reserve(out.size() * random::kReservedPerOutput);
    random::Fill(k, start, D(), out);
  }

 private:
  SharedPhilox philox_;
};

template <class T>
using UniformKernel = RandomKernel<random::Uniform<T>>;
template <class T>
using NormalKernel = RandomKernel<random::Normal<T>>;
template <class T>
using TruncatedNormalKernel = RandomKernel<random::TruncatedNormal<T>>;

}  // namespace

void RegisterRandomKernels(KernelRegistry& kernels) {
  kernels.Add<UniformKernel>("RandomUniform", Floats{}, "dtype").HostInput(0);
  kernels.Add<NormalKernel>("RandomStandardNormal", Floats{}, "dtype").HostInput(0);
  kernels.Add<TruncatedNormalKernel>("TruncatedNormal", Floats{}, "dtype").HostInput(0);
}

}  // namespace penstock
