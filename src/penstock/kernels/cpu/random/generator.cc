// Random ops whose generator is a variable: [counter, counter, key], behind the algorithm's number in old programs.
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/random/random_samplers.h"
#include "penstock/kernels/cpu/state/variables.h"

namespace penstock {
namespace {

constexpr int64_t kStateSize = 3;

uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
uint32_t Low(int64_t v) { return static_cast<uint32_t>(v); }
uint32_t High(int64_t v) { return static_cast<uint32_t>(static_cast<uint64_t>(v) >> 32); }

// The generator in the variable that input 0 names, which then leaves out `numbers`. `algorithm`: null if the state
// begins with it.
Philox Advance(KernelContext& k, const int64_t* algorithm, uint64_t numbers) {
  const Ref<VariableSlot> slot = VariableInput(k, 0);
  std::lock_guard lock(slot->mutex);
  if (!slot->value.initialized()) throw MissingVariable(k.handle(0));
  const Tensor& state = slot->value;
  k.Require(state.dtype() == DT_INT64, "dtype of RNG state variable must be int64, not ", state.dtype());
  k.Require(state.rank() == 1, "RNG state must have one and only one dimension, not ", state.rank());
  const int64_t before = algorithm ? 0 : 1;
  k.Require(state.dim(0) >= before, "Size of tensor must be at least ", before);
  random::RequirePhilox(algorithm ? *algorithm : state.data<int64_t>()[0]);
  k.Require(state.dim(0) >= before + kStateSize, "For the Philox algorithm, the size of state must be at least ",
            before + kStateSize, "; got ", state.dim(0));
  int64_t* words = WritableValue(k, *slot).mutable_data<int64_t>() + before;
  const Philox start({Low(words[0]), High(words[0]), Low(words[1]), High(words[1])}, {Low(words[2]), High(words[2])});
  Philox next = start;
  next.Skip(numbers * static_cast<uint64_t>(random::kReservedPerOutput));
  words[0] = static_cast<int64_t>(Join(next.counter()[0], next.counter()[1]));
  words[1] = static_cast<int64_t>(Join(next.counter()[2], next.counter()[3]));
  return start;
}

// The algorithm in input 1.
int64_t Algorithm(const KernelContext& k) {
  k.Require(k.shape(1).rank() == 0, "input 1 (0-based) must have shape [], not ", k.shape(1));
  return k.Int(1);
}

template <class D, bool kInState = false>
struct Draw {
  void operator()(KernelContext& k) const {
    const auto out = k.out<typename D::Type>(0, random::WantedShape(k, kInState ? 1 : 2));
    const int64_t algorithm = kInState ? 0 : Algorithm(k);
    const Philox start = Advance(k, kInState ? nullptr : &algorithm, out.size());
    if (!out.empty()) random::Fill(k, start, D(), out);
  }
};
template <class T>
using Uniform = Draw<random::Uniform<T>>;
template <class T>
using Normal = Draw<random::Normal<T>>;
template <class T>
using OldNormal = Draw<random::Normal<T>, true>;
template <class T>
using TruncatedNormal = Draw<random::TruncatedNormal<T>>;
template <class T>
using FullInt = Draw<random::FullInt<T>>;

template <class T>
struct UniformInt {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(3).rank() == 0, "minval must be 0-D, got shape ", k.shape(3));
    k.Require(k.shape(4).rank() == 0, "maxval must be 0-D, got shape ", k.shape(4));
    const T low = k.Scalar<T>(3), high = k.Scalar<T>(4);
    k.Require(low < high, "Need minval < maxval, got ", low, " >= ", high);
    const auto out = k.out<T>(0, random::WantedShape(k, 2));
    const int64_t algorithm = Algorithm(k);
    const Philox start = Advance(k, &algorithm, out.size());
    random::Fill(k, start, random::UniformInt<T>(low, high), out);
  }
};

struct Binomial {
  void operator()(KernelContext& k) const {
    const random::BinomialParameters parameters(k, 2, 3);
    Tensor& out = k.Output(0, parameters.shape);
    const int64_t algorithm = Algorithm(k);
    const auto samples = static_cast<uint64_t>(parameters.samples);
    const Philox start = Advance(k, &algorithm, parameters.batches.size() * 2 * 100 * (samples + 3) / 4);
    random::SampleBinomial(k, parameters, start, &out);
  }
};

struct Skip {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(2).rank() == 0, "input 2 (0-based) must have shape [], not ", k.shape(2));
    const int64_t algorithm = Algorithm(k);
    Advance(k, &algorithm, static_cast<uint64_t>(k.Int(2)));
  }
};

struct ReadAndSkip {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(2).rank() == 0, "input 2 (0-based) must have shape [], not ", k.shape(2));
    const int64_t algorithm = Algorithm(k);
    const Philox before = Advance(k, &algorithm, k.Scalar<uint64_t>(2));
    const auto out = k.out<int64_t>(0, Shape({kStateSize}));
    out[0] = static_cast<int64_t>(Join(before.counter()[0], before.counter()[1]));
    out[1] = static_cast<int64_t>(Join(before.counter()[2], before.counter()[3]));
    out[2] = static_cast<int64_t>(Join(before.key()[0], before.key()[1]));
  }
};

template <class T>
struct NonDeterministic {
  void operator()(KernelContext& k) const {
    for (T& v : k.out<T>(0, random::WantedShape(k, 0))) v = static_cast<T>(NondeterministicSeed());
  }
};

}  // namespace

void RegisterGeneratorKernels(KernelRegistry& kernels) {
  using FullInts = Types<int32_t, int64_t, uint32_t, uint64_t>;
  kernels.Add<Uniform>("StatefulUniform", Floats{}, "dtype").HostInput(1).HostInput(2);
  kernels.Add<Normal>("StatefulStandardNormalV2", Floats{}, "dtype").HostInput(1).HostInput(2);
  kernels.Add<OldNormal>("StatefulStandardNormal", Floats{}, "dtype").HostInput(1);
  kernels.Add<TruncatedNormal>("StatefulTruncatedNormal", Floats{}, "dtype").HostInput(1).HostInput(2);
  kernels.Add<FullInt>("StatefulUniformFullInt", FullInts{}, "dtype").HostInput(1).HostInput(2);
  kernels.Add<UniformInt>("StatefulUniformInt", Indices{}, "dtype").HostInput(1).HostInput(2).HostInput(3).HostInput(4);
  kernels.Add<Binomial>("StatefulRandomBinomial", Types<Half, float, double>{}).HostInput(1).HostInput(2);
  kernels.Add<Skip>("RngSkip").HostInput(1).HostInput(2);
  kernels.Add<ReadAndSkip>("RngReadAndSkip").HostInput(1).HostInput(2);
  kernels.Add<NonDeterministic>("NonDeterministicInts", FullInts{}, "dtype").HostInput(0);
}

}  // namespace penstock
