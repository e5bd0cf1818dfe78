// Random ops with a generator of their own.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/random/random_samplers.h"

namespace penstock {
namespace {

using random::kReservedPerOutput;

class GeneratorKernel : public Kernel {
 public:
  explicit GeneratorKernel(const NodeView& node) : philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {}

 protected:
  SharedPhilox philox_;
};

template <class D>
class RandomKernel : public GeneratorKernel {
 public:
  using GeneratorKernel::GeneratorKernel;
  void Run(KernelContext& k) override {
    const auto out = k.out<typename D::Type>(0, random::WantedShape(k, 0));
    random::Fill(k, philox_.Reserve(out.size() * kReservedPerOutput), D(), out);
  }
};

template <class T>
using UniformKernel = RandomKernel<random::Uniform<T>>;
template <class T>
using NormalKernel = RandomKernel<random::Normal<T>>;
template <class T>
using TruncatedNormalKernel = RandomKernel<random::TruncatedNormal<T>>;

template <class T>
class UniformIntKernel : public GeneratorKernel {
 public:
  using GeneratorKernel::GeneratorKernel;
  void Run(KernelContext& k) override {
    k.Require(k.shape(1).rank() == 0, "minval must be 0-D, got shape ", k.shape(1));
    k.Require(k.shape(2).rank() == 0, "maxval must be 0-D, got shape ", k.shape(2));
    const auto out = k.out<T>(0, random::WantedShape(k, 0));
    if (out.empty()) return;
    const T low = k.Scalar<T>(1), high = k.Scalar<T>(2);
    k.Require(low < high, "Need minval < maxval, got ", low, " >= ", high);
    random::Fill(k, philox_.Reserve(out.size() * kReservedPerOutput), random::UniformInt<T>(low, high), out);
  }
};

class Shuffle : public GeneratorKernel {
 public:
  using GeneratorKernel::GeneratorKernel;
  void Run(KernelContext& k) override {
    const Tensor& value = k.input(0);
    const bool some = value.num_elements() > 1 && value.rank() > 0 && value.dim(0) > 1;
    // A group holds four numbers; one is needed for each row but the last.
    random::ShuffleRows(k, some ? philox_.Reserve((value.dim(0) - 1 + 3) / 4) : Philox());
  }
};

class Multinomial : public GeneratorKernel {
 public:
  using GeneratorKernel::GeneratorKernel;
  void Run(KernelContext& k) override {
    const Tensor& logits = k.input(0);
    const int64_t num_samples = random::CheckClasses(logits, k, 1);
    random::SampleClasses(k, logits, num_samples, philox_.Reserve(random::ClassesReserve(logits.dim(0), num_samples)));
  }
};

template <void (*kSample)(KernelContext&, const Tensor&, int64_t, const Philox&, Tensor*)>
class SamplesKernel : public GeneratorKernel {
 public:
  using GeneratorKernel::GeneratorKernel;
  void Run(KernelContext& k) override {
    Shape shape = random::WantedShape(k, 0);
    const int64_t num_samples = shape.num_elements();
    const Tensor& parameters = k.input(1);
    for (const int64_t d : parameters.shape()) shape.AddDim(d);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    kSample(k, parameters, num_samples, philox_.Reserve(out.num_elements() * kReservedPerOutput), &out);
  }
};

}  // namespace

void RegisterRandomKernels(KernelRegistry& kernels) {
  kernels.Add<UniformKernel>("RandomUniform", Floats{}, "dtype").HostInput(0);
  kernels.Add<NormalKernel>("RandomStandardNormal", Floats{}, "dtype").HostInput(0);
  kernels.Add<TruncatedNormalKernel>("TruncatedNormal", Floats{}, "dtype").HostInput(0);
  kernels.Add<UniformIntKernel>("RandomUniformInt", Indices{}, "Tout").HostInput(0).HostInput(1).HostInput(2);
  kernels.Add<Shuffle>("RandomShuffle");
  kernels.Add<Multinomial>("Multinomial", Floats{}).HostInput(1);
  using PoissonTypes = Types<Half, float, double, int32_t, int64_t>;
  kernels.Add<SamplesKernel<random::SampleGamma>>("RandomGamma", Floats{}).HostInput(0);
  kernels.Add<SamplesKernel<random::SamplePoisson>>("RandomPoisson", Types<Half, float, double>{}, "dtype")
      .HostInput(0);
  kernels.Add<SamplesKernel<random::SamplePoisson>>("RandomPoissonV2", PoissonTypes{}, "dtype").HostInput(0);
}

}  // namespace penstock
