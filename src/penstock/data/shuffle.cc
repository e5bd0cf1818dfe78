// Elements in a random order: each time one of those in a buffer. And datasets of random numbers.
#include <deque>
#include <numeric>

#include "penstock/data/seed_generator.h"

namespace penstock::data {
namespace {

constexpr size_t kMostRounds = 3;  // that the buffer holds elements of

// Shuffles each of `count` rounds over the input (without end if it is negative). Elements of one round come before
// those of the next.
class ShuffleDataset final : public Dataset {
 public:
  ShuffleDataset(std::string name, Ref<const Dataset> input, int64_t buffer_size, Seeds seeds, int64_t count)
      : Dataset(std::move(name), input->spec(), {input}),
        buffer_size_(buffer_size),
        count_(count),
        seeds_(std::move(seeds)) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n == 0 || count_ == 0) return 0;
    if (count_ < 0) return kInfinite;
    return n < 0 ? n : n * count_;
  }
  void Visit(State& state) const override {
    seeds_.Visit(state);
    Dataset::Visit(state);
  }

 private:
  class Shuffled final : public IteratorOf<ShuffleDataset> {
   public:
    Shuffled(const ShuffleDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), seeds_(dataset.seeds_.For(place)), random_(seeds_->Next()) {
      rounds_.push_back(0);
    }

    bool Next(Element* element) override {
      Fill();
      if (buffer_.empty()) return false;
      while (rounds_.front() == 0) {
        rounds_.pop_front();
        random_ = seeds_->Next();
      }
      // The front of the buffer holds the round that is given out; the element that is taken leaves its place to the
      // first.
      const size_t at = random_() % static_cast<uint64_t>(rounds_.front());
      std::swap(buffer_[at], buffer_.front());
      *element = std::move(buffer_.front());
      buffer_.pop_front();
      --rounds_.front();
      return true;
    }

    void Visit(State& state) override {
      state.Inside("random", [&] { random_.Visit(state); });
      state.Inside("seeds", [&] { seeds_->Visit(state); });
      state.Value("produced", &produced_);
      state.Value("round", &round_);
      state.Nested("input", &input_, [&] { return dataset().input().Begin(place()); });
      state.Value("most", &most_);
      state.Values("buffer", &buffer_);
      state.Values("rounds", &rounds_);
      auto left = static_cast<int64_t>(buffer_.size());
      for (const int64_t n : rounds_) {
        State::Require(n >= 0 && n <= left);
        left -= n;
      }
      State::Require(left == 0 && !rounds_.empty());
    }

   private:
    // Reads until the buffer is full or the last round is over.
    void Fill() {
      while (WantsMore()) {
        if (!input_) {
          if (round_ > 0) rounds_.push_back(0);
          input_ = dataset().input().Begin(place());
        }
        Element element;
        if (input_->Next(&element)) {
          produced_ = true;
          buffer_.push_back(std::move(element));
          most_ = std::max(most_, static_cast<int64_t>(buffer_.size()));
          ++rounds_.back();
          continue;
        }
        input_.reset();
        ++round_;
        if (dataset().count_ < 0 && !produced_) return;  // empty rounds would follow without end
        context().ThrowIfStopped();
      }
    }

    bool WantsMore() const {
      const int64_t count = dataset().count_, size = dataset().buffer_size_;
      if (!input_ && count >= 0 && round_ >= count) return false;
      if (rounds_.size() > kMostRounds && !buffer_.empty()) return false;
      if (size < 0 && !IsServedRoundComplete()) return true;  // a buffer without a size holds whole rounds
      return static_cast<int64_t>(buffer_.size()) < (size < 0 ? most_ : size);
    }

    // Whether the round that gives the next element has been read to its end.
    bool IsServedRoundComplete() const {
      for (const int64_t& n : rounds_) {
        if (n > 0) return &n != &rounds_.back() || !input_;
      }
      return false;
    }

    const Ref<SeedGenerator> seeds_;
    Drawn random_;
    std::unique_ptr<Iterator> input_;
    bool produced_ = false;
    int64_t round_ = 0;  // rounds that have ended
    int64_t most_ = 0;   // elements that the buffer has held at once
    std::deque<Element> buffer_;
    std::deque<int64_t> rounds_;  // how many elements of each are in the buffer
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Shuffled>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    if (count_ != 1) return Dataset::MakeAccessor(place);
    return [input = input().Access(place), order = Order(place)](int64_t index) { return input((*order)[index]); };
  }
  // The one order in which elements have places, for as long as there is the dataset.
  std::shared_ptr<const std::vector<int64_t>> Order(const Place& place) const {
    std::lock_guard lock(order_mutex_);
    if (order_) return order_;
    const int64_t n = std::max<int64_t>(0, Cardinality());
    const auto [seed, seed2] = seeds_.For(place)->seeds();
    Drawn random(seed, seed2);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = 0; i < n; ++i) std::swap(order[i], order[i + random() % (n - i)]);
    order_ = std::make_shared<const std::vector<int64_t>>(std::move(order));
    return order_;
  }
  const int64_t buffer_size_, count_;
  const Seeds seeds_;
  mutable std::mutex order_mutex_;
  mutable std::shared_ptr<const std::vector<int64_t>> order_;
};

class RandomDataset final : public Dataset {
 public:
  RandomDataset(ElementSpec spec, Seeds seeds) : Dataset("Random", std::move(spec)), seeds_(std::move(seeds)) {}
  int64_t Cardinality() const override { return kInfinite; }
  void Visit(State& state) const override { seeds_.Visit(state); }

 private:
  class Numbers final : public IteratorOf<RandomDataset> {
   public:
    Numbers(const RandomDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), random_(dataset.seeds_.For(place)->Next()) {}
    bool Next(Element* element) override {
      *element = {Tensor(static_cast<int64_t>(random_()))};
      return true;
    }
    void Visit(State& state) override { random_.Visit(state); }

   private:
    Drawn random_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Numbers>(*this, place);
  }
  const Seeds seeds_;
};

// Keeps each element with the probability `rate`.
class SamplingDataset final : public Dataset {
 public:
  SamplingDataset(Ref<const Dataset> input, float rate, Seeds seeds)
      : Dataset("Sampling", input->spec(), {input}), rate_(rate), seeds_(std::move(seeds)) {}

 private:
  class Sampled final : public IteratorOverInput<SamplingDataset> {
   public:
    Sampled(const SamplingDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), random_(dataset.seeds_.For(place)->Next()) {}
    bool Next(Element* element) override {
      while (input_->Next(element)) {
        if (UnitFloat(random_()) < dataset().rate_) return true;
      }
      return false;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Inside("random", [&] { random_.Visit(state); });
    }

   private:
    Drawn random_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Sampled>(*this, place);
  }
  const float rate_;
  const Seeds seeds_;
};

Ref<Dataset> MakeShuffle(DatasetArgs& args) {
  const int64_t size = args.Int("buffer_size");
  args.Require(size > 0 || size == kUnknown, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  return MakeRef<ShuffleDataset>("Shuffle", args.dataset(), size,
                                 Seeds(args, args.attr<bool>("reshuffle_each_iteration", true)), 1);
}

Ref<Dataset> MakeShuffleAndRepeat(DatasetArgs& args) {
  const int64_t size = args.Int("buffer_size"), count = args.Int("count");
  args.Require(size > 0 || size == kUnknown, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  args.Require(count > 0 || count == -1, "count must be greater than zero or equal to -1.");
  return MakeRef<ShuffleDataset>("ShuffleAndRepeat", args.dataset(), size,
                                 Seeds(args, args.attr<bool>("reshuffle_each_iteration", true)), count);
}

Ref<Dataset> MakeRandom(DatasetArgs& args) {
  return MakeRef<RandomDataset>(args.spec(), Seeds(args, args.attr<bool>("rerandomize_each_iteration")));
}

Ref<Dataset> MakeSampling(DatasetArgs& args) {
  return MakeRef<SamplingDataset>(args.dataset(), args.kernel().Scalar<float>(1), Seeds(args, false));
}

}  // namespace

void RegisterShuffleDatasets(KernelRegistry& kernels) {
  for (const char* op : {"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"})
    AddDataset<MakeShuffle>(kernels, op);
  for (const char* op : {"ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2"}) {
    AddDataset<MakeShuffleAndRepeat>(kernels, op);
  }
  AddDatasetAndTwin<MakeRandom>(kernels, "RandomDataset");
  AddDataset<MakeRandom>(kernels, "RandomDatasetV2");
  AddDataset<MakeSampling>(kernels, "SamplingDataset");
}

}  // namespace penstock::data
