// Some of the elements, or the elements again: take, skip, shard, repeat.
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/window.h"

namespace penstock::data {
namespace {

class TakeDataset final : public Dataset {
 public:
  TakeDataset(Ref<const Dataset> input, int64_t count)
      : Dataset(count == 0 ? "EmptyTake" : "FiniteTake", input->spec(), {input}), count_(count) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (count_ < 0 || n == kUnknown || count_ == 0) return count_ == 0 ? 0 : n;
    return n == kInfinite ? count_ : std::min(n, count_);
  }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class First final : public IteratorOverInput<TakeDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      if (dataset().count_ >= 0 && taken_ >= dataset().count_) input_.reset();
      if (!input_ || !input_->Next(element)) return false;
      ++taken_;
      return true;
    }
    int64_t Skip(int64_t n) override {
      if (!input_) return 0;
      const int64_t most = dataset().count_ < 0 ? n : std::min(n, dataset().count_ - taken_);
      const int64_t skipped = most > 0 ? input_->Skip(most) : 0;
      taken_ += skipped;
      return skipped;
    }
    void Visit(State& state) override {
      VisitUntilDropped(state);
      state.Value("taken", &taken_);
    }

   private:
    int64_t taken_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<First>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override { return input().Access(place); }
  const int64_t count_;
};

class SkipDataset final : public Dataset {
 public:
  SkipDataset(Ref<const Dataset> input, int64_t count)
      : Dataset(count < 0 ? "EmptySkip" : "FiniteSkip", input->spec(), {input}), count_(count) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    return n < 0 ? n : count_ < 0 ? 0 : std::max<int64_t>(0, n - count_);
  }
  void RequireShuffleable() const override {
    if (count_ < 0) {
      throw FailedPrecondition("`skip(", count_, ")` does not support random access of tf.data datasets.");
    }
    input().RequireShuffleable();
  }

 private:
  class Rest final : public IteratorOverInput<SkipDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override { return Begin() && input_->Next(element); }
    int64_t Skip(int64_t n) override { return Begin() ? input_->Skip(n) : 0; }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("skipped", &skipped_);
    }

   private:
    bool Begin() {
      const int64_t count = dataset().count_;
      if (count < 0) return false;
      // An element that fails counts as skipped.
      while (skipped_ < count) {
        Element passed;
        ++skipped_;
        if (!input_->Next(&passed)) {
          skipped_ = count;
          return false;
        }
      }
      return true;
    }
    int64_t skipped_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Rest>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [input = input().Access(place), count = count_](int64_t index) { return input(index + count); };
  }
  const int64_t count_;
};

class ShardDataset final : public Dataset {
 public:
  ShardDataset(Ref<const Dataset> input, int64_t shards, int64_t index, bool require_non_empty)
      : Dataset("Shard", input->spec(), {input}),
        shards_(shards),
        index_(index),
        require_non_empty_(require_non_empty) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    return n < 0 || shards_ < 0 ? n : n / shards_ + (index_ < n % shards_);
  }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class Every final : public IteratorOverInput<ShardDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      const ShardDataset& d = dataset();
      if (!begun_) before_ = d.index_;
      if (input_->Skip(before_) < before_ || !input_->Next(element)) return false;
      before_ = d.shards_ - 1;
      if (!begun_ && d.require_non_empty_) {  // every shard has a first element
        before_ = d.index_;
        const int64_t others = d.shards_ - 1 - d.index_;
        if (const int64_t there = input_->Skip(others); there < others) {
          throw InvalidArgument(
              "There aren't enough elements in this dataset for each shard to have at least one element (# elems = ",
              d.index_ + 1 + there, ", # shards = ", d.shards_,
              "). If you are using datasets with distribution strategy, consider turning dataset autosharding off with "
              "`tf.data.Options`.");
        }
      }
      begun_ = true;
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("begun", &begun_);
      state.Position("before", &before_);
    }

   private:
    bool begun_ = false;  // the first element was given
    int64_t before_ = 0;  // elements of others before the next one
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    RequireNumber();
    return std::make_unique<Every>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    RequireNumber();
    return [input = input().Access(place), this](int64_t index) { return input(index * shards_ + index_); };
  }
  void RequireNumber() const {
    if (shards_ == kShardHint) {
      throw FailedPrecondition(
          "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
          "`tf.distribute.Strategy.experimental_distribute_dataset()` with "
          "`tf.data.experimental.AutoShardPolicy.HINT` policy, or tf.data service with "
          "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode.");
    }
  }
  const int64_t shards_, index_;
  const bool require_non_empty_;
};

class RepeatDataset final : public Dataset {
 public:
  RepeatDataset(Ref<const Dataset> input, int64_t count)
      : Dataset(count < 0    ? "ForeverRepeat"
                : count == 0 ? "EmptyRepeat"
                             : "FiniteRepeat",
                input->spec(), {input}),
        count_(count) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n == 0 || count_ == 0) return 0;
    if (count_ < 0) return kInfinite;
    if (n < 0) return n;
    return n > INT64_MAX / count_ ? INT64_MAX : n * count_;
  }
  void RequireShuffleable() const override {
    if (count_ <= 0) {
      throw FailedPrecondition("`repeat(", count_, ")` does not support random access of tf.data datasets.");
    }
    input().RequireShuffleable();
  }

 private:
  class Rounds final : public IteratorOf<RepeatDataset> {
   public:
    // A round begins as soon as TensorFlow's does, as a shuffled input draws its seeds then.
    Rounds(const RepeatDataset& dataset, const Place& place) : IteratorOf(dataset, place) {
      if (dataset.count_ != 0) input_ = dataset.input().Begin(place);
    }
    bool Next(Element* element) override {
      const int64_t count = dataset().count_;
      while (count < 0 || round_ < count) {
        if (!input_) input_ = dataset().input().Begin(place());
        if (input_->Next(element)) {
          first_ = false;
          return true;
        }
        input_.reset();
        ++round_;
        if (count < 0 && first_) return false;  // an empty round would be followed by others without end
        first_ = true;
        this->context().ThrowIfStopped();
        if (round_ == count) dataset().input().Begin(place());  // TensorFlow begins one round more than it gives
      }
      return false;
    }
    void Visit(State& state) override {
      state.Value("round", &round_);
      state.Value("first", &first_);
      state.Nested("input", &input_, [this] {  // what was just begun is at its beginning
        return input_ ? std::move(input_) : dataset().input().Begin(place());
      });
    }

   private:
    std::unique_ptr<Iterator> input_;
    int64_t round_ = 0;
    bool first_ = true;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Rounds>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    RequireKnownCardinality();
    return [input = input().Access(place), n = input().Cardinality()](int64_t index) { return input(index % n); };
  }
  const int64_t count_;
};

Ref<Dataset> MakeTakeOf(DatasetArgs& args) { return MakeRef<TakeDataset>(args.dataset(), args.Int("count")); }
Ref<Dataset> MakeSkipOf(DatasetArgs& args) { return MakeSkip(args.dataset(), args.Int("count")); }
Ref<Dataset> MakeRepeat(DatasetArgs& args) { return MakeRef<RepeatDataset>(args.dataset(), args.Int("count")); }

Ref<Dataset> MakeShard(DatasetArgs& args) {
  const int64_t shards = args.Int("num_shards"), index = args.Int("index");
  if (shards == kShardHint) {  // and the index whatever it is
    return MakeRef<ShardDataset>(args.dataset(), shards, index, args.attr<bool>("require_non_empty"));
  }
  args.Require(shards > 0, "Number of shards must be greater than zero (currently num_shards = ", shards, ").");
  args.Require(index >= 0 && index < shards, "Index must be between 0 and ", shards - 1, " (currently index = ", index,
               ").");
  return MakeRef<ShardDataset>(args.dataset(), shards, index, args.attr<bool>("require_non_empty"));
}

}  // namespace

Ref<Dataset> MakeTake(Ref<const Dataset> input, int64_t count) { return MakeRef<TakeDataset>(std::move(input), count); }

Ref<Dataset> MakeSkip(Ref<const Dataset> input, int64_t count) { return MakeRef<SkipDataset>(std::move(input), count); }

void RegisterSelectDatasets(KernelRegistry& kernels) {
  AddDataset<MakeTakeOf>(kernels, "TakeDataset");
  AddDataset<MakeSkipOf>(kernels, "SkipDataset");
  AddDataset<MakeShard>(kernels, "ShardDataset");
  AddDataset<MakeRepeat>(kernels, "RepeatDataset");
}

}  // namespace penstock::data
