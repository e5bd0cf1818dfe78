// Elements by their places: one of them, or all in a random order without a buffer.
#include "penstock/data/access.h"

#include "penstock/base/index_shuffle.h"
#include "penstock/data/seed_generator.h"

namespace penstock::data {
namespace {

constexpr int kRounds = 8;

class ElementAtDataset final : public Dataset {
 public:
  ElementAtDataset(Ref<const Dataset> input, int64_t index) : Dataset("", input->spec(), {input}), index_(index) {}
  int64_t Cardinality() const override { return 1; }

 private:
  class Only final : public IteratorOf<ElementAtDataset> {
   public:
    Only(const ElementAtDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), access_(dataset.input().Access(place)) {}
    bool Next(Element* element) override {
      if (std::exchange(done_, true)) return false;
      const int64_t index = dataset().index_, n = dataset().input().Cardinality();
      RequireIndex(index, n);
      *element = access_(index);
      return true;
    }
    void Visit(State& state) override { state.Value("done", &done_); }

   private:
    const Accessor access_;
    bool done_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Only>(*this, place);
  }
  const int64_t index_;
};

class GlobalShuffleDataset final : public Dataset {
 public:
  GlobalShuffleDataset(Ref<const Dataset> input, Seeds seeds)
      : Dataset("GlobalShuffle", input->spec(), {input}), seeds_(std::move(seeds)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }
  void Visit(State& state) const override {
    seeds_.Visit(state);
    Dataset::Visit(state);
  }

 private:
  class Shuffled final : public IteratorOf<GlobalShuffleDataset> {
   public:
    Shuffled(const GlobalShuffleDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), access_(dataset.input().Access(place)), seeds_(dataset.seeds_.For(place)) {
      std::tie(seed_, seed2_) = seeds_->NextPair();
      seed3_ = seeds_->NextPair().first;
    }
    bool Next(Element* element) override {
      const int64_t n = dataset().Cardinality();
      if (at_ >= n) return false;
      const std::array<uint32_t, 3> key{static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed2_),
                                        static_cast<uint32_t>(seed3_)};
      *element = access_(static_cast<int64_t>(
          ShuffledIndex(static_cast<uint64_t>(at_++), key, static_cast<uint64_t>(n - 1), kRounds)));
      return true;
    }
    void Visit(State& state) override {
      state.Inside("seeds", [&] { seeds_->Visit(state); });
      state.Value("seed", &seed_);
      state.Value("seed2", &seed2_);
      state.Value("seed3", &seed3_);
      state.Position("next", &at_, dataset().Cardinality());
    }

   private:
    const Accessor access_;
    const Ref<SeedGenerator> seeds_;
    int64_t seed_ = 0, seed2_ = 0, seed3_ = 0, at_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Shuffled>(*this, place);
  }
  const Seeds seeds_;
};

Ref<Dataset> MakeGlobalShuffle(DatasetArgs& args) {
  Ref<const Dataset> input = args.dataset();
  try {
    input->RequireShuffleable();
  } catch (const Error& error) {
    throw FailedPrecondition(
        "`global_shuffle` requires all upstream transformations be compatible with random access. Got: ",
        error.status().message());
  }
  const int64_t n = input->Cardinality();
  args.Require(n > 0, "`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got ",
               "cardinality ", n, " for dataset ", input->DebugString());
  return MakeRef<GlobalShuffleDataset>(std::move(input),
                                       Seeds(args, args.attr<bool>("reshuffle_each_iteration", true)));
}

}  // namespace

Ref<Dataset> MakeElementAt(Ref<const Dataset> dataset, int64_t index) {
  return MakeRef<ElementAtDataset>(std::move(dataset), index);
}

void RegisterAccessDatasets(KernelRegistry& kernels) { AddDataset<MakeGlobalShuffle>(kernels, "GlobalShuffleDataset"); }

}  // namespace penstock::data
