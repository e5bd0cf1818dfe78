// The elements of datasets that a function makes: one dataset after the other, or several in turns.
#include "penstock/data/interleave.h"
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

std::unique_ptr<Iterator> BeginMade(const BoundCall& call, const Element& args, const Place& outer, int64_t index) {
  Element made;
  call(args, &made);
  if (made.size() != 1) throw InvalidArgument("`f` must return a single scalar of dtype DT_VARIANT.");
  return DatasetFrom(made[0])->Begin(outer.At(index));
}

namespace {

class FlatMapDataset final : public Dataset {
 public:
  FlatMapDataset(ElementSpec spec, Ref<const Dataset> input, CapturedFunction function)
      : Dataset("FlatMap", std::move(spec), {std::move(input)}), function_(std::move(function)) {}

 private:
  class Flat final : public IteratorOverInput<FlatMapDataset> {
   public:
    Flat(const FlatMapDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), call_(dataset.function_, place) {}
    bool Next(Element* element) override {
      while (!ended_) {
        if (current_) {
          if (current_->Next(element)) return true;
          current_.reset();
          context().ThrowIfStopped();
        }
        args_.clear();
        if (!input_->Next(&args_)) {
          ended_ = true;
          break;
        }
        current_ = BeginMade(call_, args_, place(), index_++);
      }
      return false;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      state.Value("index", &index_);
      state.Value("args", &args_);
      state.Nested("current", &current_, [&] { return BeginMade(call_, args_, place(), index_ - 1); });
    }

   private:
    const BoundCall call_;
    bool ended_ = false;
    int64_t index_ = 0;
    Element args_;  // what the current dataset was made of
    std::unique_ptr<Iterator> current_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Flat>(*this, place);
  }
  const CapturedFunction function_;
};

class InterleaveDataset final : public Dataset {
 public:
  InterleaveDataset(ElementSpec spec, Ref<const Dataset> input, CapturedFunction function, int64_t cycle, int64_t block)
      : Dataset("Interleave", std::move(spec), {std::move(input)}),
        function_(std::move(function)),
        cycle_(cycle),
        block_(block) {}

 private:
  class InTurns final : public IteratorOverInput<InterleaveDataset> {
   public:
    InTurns(const InterleaveDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), call_(dataset.function_, place), slots_(dataset.cycle_) {}
    bool Next(Element* element) override {
      while (!ended_ || open_ > 0) {
        Slot& slot = slots_[at_];
        if (slot.iterator) {
          if (slot.iterator->Next(element)) {
            if (++given_ == dataset().block_) Advance();
            return true;
          }
          slot.iterator.reset();
          --open_;
          Advance();
          context().ThrowIfStopped();
        } else if (!ended_) {
          slot.args.clear();
          if (!input_->Next(&slot.args)) {
            ended_ = true;
          } else {
            slot.index = index_++;
            slot.iterator = BeginMade(call_, slot.args, place(), slot.index);
            ++open_;
          }
        } else {
          Advance();
        }
      }
      return false;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      state.Position("at", &at_, static_cast<int64_t>(slots_.size()) - 1);
      state.Value("given", &given_);
      state.Value("index", &index_);
      open_ = 0;
      for (size_t i = 0; i < slots_.size(); ++i) {
        Slot& slot = slots_[i];
        state.Inside(StrCat("slot_", i), [&] {
          state.Value("args", &slot.args);
          state.Value("index", &slot.index);
          state.Nested("iterator", &slot.iterator, [&] { return BeginMade(call_, slot.args, place(), slot.index); });
        });
        if (slot.iterator) ++open_;
      }
    }

   private:
    struct Slot {
      Element args;
      int64_t index = 0;
      std::unique_ptr<Iterator> iterator;
    };
    void Advance() {
      given_ = 0;
      at_ = (at_ + 1) % dataset().cycle_;
    }
    const BoundCall call_;
    bool ended_ = false;  // the input
    int64_t at_ = 0, given_ = 0, open_ = 0, index_ = 0;
    std::vector<Slot> slots_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<InTurns>(*this, place);
  }
  const CapturedFunction function_;
  const int64_t cycle_, block_;
};

Ref<Dataset> MakeFlatMap(DatasetArgs& args) {
  return MakeRef<FlatMapDataset>(args.spec(), args.dataset(), args.Function("f", "other_arguments"));
}

Ref<Dataset> MakeInterleave(DatasetArgs& args) {
  const InterleaveSizes sizes = InterleaveSizesOf(args);
  return MakeRef<InterleaveDataset>(args.spec(), args.dataset(), args.Function("f", "other_arguments"), sizes.cycle,
                                    sizes.block);
}

}  // namespace

InterleaveSizes InterleaveSizesOf(DatasetArgs& args) {
  InterleaveSizes sizes{args.Int("cycle_length"), args.Int("block_length")};
  if (sizes.cycle == kAutotune) {
    sizes.cycle = NumCores();
    // The order of elements follows from it, so it is what TensorFlow takes: since version 2 not more than are read at
    // the same time.
    if (args.kernel().node().op().FindAttr("deterministic")) {
      const int64_t calls = args.Int("num_parallel_calls");
      sizes.cycle = calls == kAutotune ? (sizes.cycle + 2) / 3 : std::min(calls, sizes.cycle);
    }
  }
  const bool parallel = args.kernel().node().op().name != "InterleaveDataset";  // in TensorFlow's words for each
  args.Require(sizes.cycle > 0, parallel ? "`cycle_length` must be > 0" : "cycle_length must be greater than zero.");
  args.Require(sizes.cycle <= kMostInCycle, "`cycle_length` must be at most ", kMostInCycle, ", got ", sizes.cycle);
  args.Require(sizes.block > 0, parallel ? "`block_length` must be > 0" : "block_length must be greater than zero.");
  return sizes;
}

void RegisterInterleaveDatasets(KernelRegistry& kernels) {
  AddDataset<MakeFlatMap>(kernels, "FlatMapDataset");
  AddDataset<MakeInterleave>(kernels, "InterleaveDataset");
}

}  // namespace penstock::data
