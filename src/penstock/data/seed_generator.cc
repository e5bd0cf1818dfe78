#include "penstock/data/seed_generator.h"

#include <atomic>

namespace penstock::data {

void Drawn::Reset(int64_t seed, int64_t seed2, int64_t count) {
  seed_ = seed;
  seed2_ = seed2;
  count_ = count;
  Philox philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2));
  philox.Skip(static_cast<uint64_t>(count) / Philox::kGroup);
  numbers_ = PhiloxSingles(philox);
  for (int64_t i = 0; i < count % Philox::kGroup; ++i) numbers_();
}

void Drawn::Visit(State& state) {
  state.Value("seed", &seed_);
  state.Value("seed2", &seed2_);
  state.Value("count", &count_);
  if (state.restores()) Reset(seed_, seed2_, count_);
}

SeedGenerator::SeedGenerator(int64_t seed, int64_t seed2, bool reshuffle)
    : seed_(seed), seed2_(seed2), reshuffle_(reshuffle) {
  if (seed_ == 0 && seed2_ == 0) {
    seed_ = static_cast<int64_t>(NondeterministicSeed());
    seed2_ = static_cast<int64_t>(NondeterministicSeed());
  }
  drawn_ = Drawn(seed_, seed2_);
}

Drawn SeedGenerator::Next() {
  const auto [seed, seed2] = NextPair();
  return Drawn(seed, seed2);
}

std::pair<int64_t, int64_t> SeedGenerator::NextPair() {
  std::lock_guard lock(mutex_);
  if (!reshuffle_) return {seed_, seed2_};
  const int64_t seed = drawn_();
  return {seed, drawn_()};
}

void SeedGenerator::Visit(State& state) {
  std::lock_guard lock(mutex_);
  drawn_.Visit(state);
}

Seeds::Seeds(DatasetArgs& args, bool reshuffle)
    : seed_(args.Has("seed") ? args.Int("seed") : 0),
      seed2_(args.Has("seed2") ? args.Int("seed2") : 0),
      reshuffle_(reshuffle) {
  if (!args.Has("seed_generator")) return;
  const Tensor& handle = args.tensor("seed_generator");
  args.Require(handle.dtype() == DT_RESOURCE && handle.num_elements() == 1, "seed_generator must be one handle");
  const bool is_named = static_cast<bool>(handle.data<ResourceHandle>()->resource);
  shared_ =
      is_named ? args.Resource<SeedGenerator>("seed_generator") : MakeRef<SeedGenerator>(seed_, seed2_, reshuffle);
}

Ref<SeedGenerator> Seeds::For(const Place& place) const {
  if (shared_) return shared_;
  const Ref<SharedState> made = place.context->Shared(
      place.prefix, [&]() -> Ref<SharedState> { return MakeRef<SeedGenerator>(seed_, seed2_, reshuffle_); });
  return ShareRef(static_cast<SeedGenerator*>(made.get()));
}

namespace {

constexpr char kTypeName[] = "tensorflow::data::SeedGenerator";

// With a second output, a variant, in older programs; the handle itself keeps the object.
void SetHandle(KernelContext& k, Ref<SeedGenerator> seeds) {
  static std::atomic<int64_t> next{0};
  *k.Output(0, Shape()).mutable_data<ResourceHandle>() = {
      k.device().name(), "", StrCat("AnonymousSeedGenerator", next.fetch_add(1)), kTypeName, {}, std::move(seeds)};
  if (k.num_outputs() == 2) k.Output(1, Shape());
}

struct Anonymous {
  void operator()(KernelContext& k) const {
    const bool reshuffle = k.num_inputs() < 3 || k.Scalar<bool>(2);
    SetHandle(k, MakeRef<SeedGenerator>(k.Int(0), k.Int(1), reshuffle));
  }
};

struct Dummy {
  void operator()(KernelContext& k) const { SetHandle(k, nullptr); }
};

struct Delete {
  void operator()(KernelContext&) const {}
};

}  // namespace

void RegisterSeedGeneratorKernels(KernelRegistry& kernels) {
  kernels.Add<Anonymous>("AnonymousRandomSeedGenerator");
  kernels.Add<Anonymous>("AnonymousSeedGenerator");
  kernels.Add<Dummy>("DummySeedGenerator");
  kernels.Add<Delete>("DeleteRandomSeedGenerator");
  kernels.Add<Delete>("DeleteSeedGenerator");
}

}  // namespace penstock::data
