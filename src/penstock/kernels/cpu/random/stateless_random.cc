// Random ops whose numbers follow from a seed or from a generator's key and counter.
#include "penstock/base/index_shuffle.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/random/random_samplers.h"

namespace penstock {
namespace {

uint64_t SeedAt(const Tensor& seed, int64_t i) {
  if (seed.dtype() == DT_UINT32) return uint64_t{seed.data<uint32_t>()[i]};
  if (seed.dtype() == DT_UINT64) return seed.data<uint64_t>()[i];
  return static_cast<uint64_t>(seed.IntAt(i));
}

}  // namespace

Philox random::FromSeed(const KernelContext& k, int input) {
  const Tensor& seed = k.input(input);
  k.Require(seed.rank() == 1 && seed.dim(0) == 2, "seed must have shape [2], not ", seed.shape());
  const uint64_t a = SeedAt(seed, 0), b = SeedAt(seed, 1);
  const Philox::Group mix = Philox::Block({static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32),
                                           static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)},
                                          {0x3ec8f720, 0x02461e29});
  return Philox({0, 0, mix[2], mix[3]}, {mix[0], mix[1]});
}

namespace {

using random::FromSeed;
constexpr int32_t kPhilox = 1;

// Inputs first, first + 1, first + 2: key, counter, algorithm.
Philox FromKey(const KernelContext& k, int first) {
  const Tensor &key = k.input(first), &counter = k.input(first + 1);
  k.Require(key.rank() == 1 && key.dim(0) == 1, "key must have shape [1], not ", key.shape());
  random::RequirePhilox(k.Int(first + 2));
  k.Require(counter.rank() == 1 && counter.dim(0) >= 2,
            "counter must be a vector with length at least 2; got shape: ", counter.shape());
  const uint64_t* c = counter.data<uint64_t>();
  const uint64_t secret = key.data<uint64_t>()[0];
  return Philox({static_cast<uint32_t>(c[0]), static_cast<uint32_t>(c[0] >> 32), static_cast<uint32_t>(c[1]),
                 static_cast<uint32_t>(c[1] >> 32)},
                {static_cast<uint32_t>(secret), static_cast<uint32_t>(secret >> 32)});
}

struct BySeed {
  static constexpr int kNext = 2;  // first input after it
  static Philox Get(const KernelContext& k) { return FromSeed(k, 1); }
};
struct ByKey {
  static constexpr int kNext = 4;
  static Philox Get(const KernelContext& k) { return FromKey(k, 1); }
};

template <class D, class By>
struct Random {
  void operator()(KernelContext& k) const {
    const auto out = k.out<typename D::Type>(0, random::WantedShape(k, 0));
    if (out.empty()) return;
    random::Fill(k, By::Get(k), D(), out);
  }
};

template <class T, class By>
struct RandomInt {
  void operator()(KernelContext& k) const {
    const auto out = k.out<T>(0, random::WantedShape(k, 0));
    const Philox start = By::Get(k);
    k.Require(k.shape(By::kNext).rank() == 0, "minval must be 0-D, got shape ", k.shape(By::kNext));
    k.Require(k.shape(By::kNext + 1).rank() == 0, "maxval must be 0-D, got shape ", k.shape(By::kNext + 1));
    if (out.empty()) return;
    const T low = k.Scalar<T>(By::kNext), high = k.Scalar<T>(By::kNext + 1);
    k.Require(low < high, "Need minval < maxval, got ", low, " >= ", high);
    random::Fill(k, start, random::UniformInt<T>(low, high), out);
  }
};

template <class By>
struct With {
  template <class T>
  using Uniform = Random<random::Uniform<T>, By>;
  template <class T>
  using Normal = Random<random::Normal<T>, By>;
  template <class T>
  using Truncated = Random<random::TruncatedNormal<T>, By>;
  template <class T>
  using FullInt = Random<random::FullInt<T>, By>;
  template <class T>
  using UniformInt = RandomInt<T, By>;
};

struct Multinomial {
  void operator()(KernelContext& k) const {
    const int64_t num_samples = random::CheckClasses(k.input(0), k, 1);
    random::SampleClasses(k, k.input(0), num_samples, FromSeed(k, 2));
  }
};

// Each input is one for all numbers, or has one for each.
template <class T>
class IndexShuffle {
 public:
  explicit IndexShuffle(const NodeView& node) {
    constexpr int64_t kFewest = 4, kMost = 1024;
    const int64_t rounds = std::clamp(node.attr<int64_t>("rounds"), kFewest, kMost);
    rounds_ = static_cast<int>(rounds + rounds % 2);
  }
  void operator()(KernelContext& k) const {
    const Tensor &index = k.input(0), &seed = k.input(1), &max_index = k.input(2);
    k.Require(index.rank() <= 1, "Index must be a scalar or vector.");
    k.Require(max_index.rank() <= 1, "max_index must be a scalar or vector.");
    int64_t n = 1;
    if (index.rank() == 1)
      n = index.dim(0);
    else if (max_index.rank() == 1)
      n = max_index.dim(0);
    else if (seed.rank() == 2)
      n = seed.dim(0);
    k.Require(max_index.rank() == 0 || max_index.dim(0) == n, "max_index must be a scalar or a vector of size [", n,
              "] but got ", max_index.shape(), ".");
    k.Require((seed.rank() == 1 && seed.dim(0) == 3) || (seed.rank() == 2 && seed.dim(0) == n && seed.dim(1) == 3),
              "Seed must be a vector of size [3] or a matrix of size [", n, ", 3] but got ", seed.shape(), ".");
    const bool one = index.rank() == 0 && max_index.rank() == 0 && seed.rank() == 1;
    const auto out = k.out<T>(0, one ? Shape() : Shape({n}));
    for (int64_t i = 0; i < n; ++i) {
      const T at = index.data<T>()[index.rank() * i], most = max_index.data<T>()[max_index.rank() * i];
      k.Require(most >= T{0}, "max_index must be >= 0 but was ", most);
      k.Require(at >= T{0} && at <= most, "index must be in [0, ", most, "] but was ", at);
      std::array<uint32_t, 3> key;
      for (int j = 0; j < 3; ++j) key[j] = static_cast<uint32_t>(SeedAt(seed, (seed.rank() - 1) * 3 * i + j));
      out[i] = static_cast<T>(ShuffledIndex(static_cast<uint64_t>(at), key, static_cast<uint64_t>(most), rounds_));
    }
  }

 private:
  int rounds_;
};

struct Shuffle {
  void operator()(KernelContext& k) const { random::ShuffleRows(k, FromKey(k, 1)); }
};

// Samples of distributions with one parameter, whose shape the wanted one ends with.
template <void (*kSample)(KernelContext&, const Tensor&, int64_t, const Philox&, Tensor*), class By>
struct Samples {
  void operator()(KernelContext& k) const {
    const Tensor& parameters = k.input(By::kNext);
    const Shape shape = random::WantedShape(k, 0);
    bool fits = shape.rank() >= parameters.rank();
    for (int i = 1; fits && i <= parameters.rank(); ++i) {
      fits = shape[shape.rank() - i] == parameters.dim(parameters.rank() - i);
    }
    k.Require(fits, "Shape passed in must end with broadcasted shape.");
    const Philox start = By::Get(k);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() > 0) kSample(k, parameters, out.num_elements() / parameters.num_elements(), start, &out);
  }
};

struct Binomial {
  void operator()(KernelContext& k) const {
    const random::BinomialParameters parameters(k, 0, 2);
    const Philox start = FromSeed(k, 1);
    random::SampleBinomial(k, parameters, start, &k.Output(0, parameters.shape));
  }
};

struct GetKeyCounter {
  void operator()(KernelContext& k) const {
    const Philox philox = FromSeed(k, 0);
    const auto& key = philox.key();
    const auto& c = philox.counter();
    k.out<uint64_t>(0, Shape({1}))[0] = key[0] | uint64_t{key[1]} << 32;
    const auto counter = k.out<uint64_t>(1, Shape({2}));
    counter[0] = c[0] | uint64_t{c[1]} << 32;
    counter[1] = c[2] | uint64_t{c[3]} << 32;
    if (k.num_outputs() > 2) k.SetOutput(2, Tensor(kPhilox));
  }
};

struct GetAlgorithm {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(kPhilox)); }
};

template <class By>
void AddDistributions(KernelRegistry& kernels, const char* suffix) {
  using W = With<By>;
  const auto name = [&](const char* base) { return StrCat("Stateless", base, suffix); };
  kernels.Add<W::template Uniform>(name("RandomUniform"), Floats{}, "dtype").HostInput(0);
  kernels.Add<W::template Normal>(name("RandomNormal"), Floats{}, "dtype").HostInput(0);
  kernels.Add<W::template Truncated>(name("TruncatedNormal"), Floats{}, "dtype").HostInput(0);
  using FullInts = Types<int32_t, int64_t, uint32_t, uint64_t>;
  kernels.Add<W::template FullInt>(name("RandomUniformFullInt"), FullInts{}, "dtype").HostInput(0);
  kernels.Add<W::template UniformInt>(name("RandomUniformInt"), FullInts{}, "dtype").HostInput(0);
}

}  // namespace

void RegisterStatelessRandomKernels(KernelRegistry& kernels) {
  AddDistributions<BySeed>(kernels, "");
  AddDistributions<ByKey>(kernels, "V2");
  kernels.Add<Multinomial>("StatelessMultinomial", Floats{}).HostInput(1).HostInput(2);
  kernels.Add<Shuffle>("StatelessShuffle");
  kernels.Add<IndexShuffle>("RandomIndexShuffle", Types<int32_t, int64_t, uint32_t, uint64_t>{}, "dtype").HostInput(1);
  kernels.Add<Binomial>("StatelessRandomBinomial", Types<Half, float, double>{}).HostInput(0).HostInput(1);
  using PoissonTypes = Types<Half, float, double, int32_t, int64_t>;
  kernels.Add<Samples<random::SamplePoisson, BySeed>>("StatelessRandomPoisson", PoissonTypes{}, "dtype")
      .HostInput(0)
      .HostInput(1);
  kernels.Add<Samples<random::SampleGamma, BySeed>>("StatelessRandomGammaV2", Floats{}, "dtype")
      .HostInput(0)
      .HostInput(1);
  kernels.Add<Samples<random::SampleGamma, ByKey>>("StatelessRandomGammaV3", Floats{}, "dtype").HostInput(0);
  kernels.Add<GetKeyCounter>("StatelessRandomGetKeyCounter");
  kernels.Add<GetKeyCounter>("StatelessRandomGetKeyCounterAlg");
  kernels.Add<GetAlgorithm>("StatelessRandomGetAlg");
}

}  // namespace penstock
