// As InterleaveDataset, with threads that make the elements of several datasets ahead of time.
#include <algorithm>
#include <deque>

#include "penstock/data/autotune.h"
#include "penstock/data/background.h"
#include "penstock/data/interleave.h"

namespace penstock::data {
namespace {

constexpr int64_t kPieceNanos = 20'000;  // threads work this long before they hand over what they made
constexpr int64_t kMostTuned = 64;
constexpr int64_t kMostThreads = 64;

struct Settings {
  InterleaveSizes sizes;
  // Threads, datasets opened before their turn, elements made of each; or kAutotune.
  int64_t parallelism, ahead, buffer;
  std::optional<bool> deterministic;
  bool legacy;
};

class ParallelInterleaveDataset final : public Dataset {
 public:
  ParallelInterleaveDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                            const Settings& settings)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}),
        function_(std::move(function)),
        settings_(settings) {}
  int64_t Cardinality() const override { return input().Cardinality() == kInfinite ? kInfinite : kUnknown; }

 private:
  // One dataset that the function made.
  struct Source {
    Element args;
    int64_t index = 0;
    std::unique_ptr<Iterator> iterator;
    std::deque<Made> made;
    bool busy = false;    // a thread uses the iterator
    bool failed = false;  // it could not be opened; `made` says why
    bool was_full = false;
    bool ended() const { return !busy && !iterator && made.empty(); }
  };
  using SourcePtr = std::shared_ptr<Source>;

  class InTurns final : public IteratorOverInput<ParallelInterleaveDataset> {
   public:
    InTurns(const ParallelInterleaveDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          call_(dataset.function_, place),
          ordered_(dataset.settings_.deterministic.value_or(place.context->options.deterministic.value_or(true))),
          threads_(place.context->options, dataset.settings_.parallelism,
                   std::min(dataset.settings_.sizes.cycle, kMostThreads)),
          ahead_most_(place.context, dataset.settings_.ahead,
                      std::min<int64_t>(dataset.settings_.sizes.cycle, 2 * NumCores()), kMostTuned),
          buffer_(place.context, dataset.settings_.buffer, 2 * dataset.settings_.sizes.block,
                  std::max(2 * dataset.settings_.sizes.block, kMostTuned)),
          slots_(static_cast<size_t>(dataset.settings_.sizes.cycle)),
          background_(place.context) {
      std::lock_guard lock(background_.mutex);
      if (place.context->options.warm_start) Start();
    }

    bool Next(Element* element) override {
      std::unique_lock lock(background_.mutex);
      Start();
      Made made;
      bool found = false;
      background_.WaitForResult(lock, [&] {
        found = ordered_ ? TakeInOrder(&made) : TakeAny(&made);
        if (found || (input_ended_ && open_ == 0 && ahead_.empty())) return true;
        Waited();
        return false;
      });
      if (!found) return false;
      ThrowIfError(made.status);
      *element = std::move(made.element);
      return true;
    }

    void Visit(State& state) override {
      std::unique_lock lock(background_.mutex);
      background_.PauseUntilDone(state);
      background_.WaitForResult(lock, [&] { return !reading_ && running_ == 0; });
      IteratorOverInput::Visit(state);
      state.Value("input_ended", &input_ended_);
      state.Position("at", &at_, static_cast<int64_t>(slots_.size()) - 1);
      state.Position("filled", &filled_, static_cast<int64_t>(slots_.size()));
      state.Value("given", &given_);
      state.Value("index", &index_);
      open_ = 0;
      for (size_t i = 0; i < slots_.size(); ++i) {
        VisitSource(state, StrCat("slot_", i), &slots_[i]);
        if (slots_[i]) ++open_;
      }
      const int64_t n = state.Size("ahead", ahead_.size());
      ahead_.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        VisitSource(state, StrCat("ahead_", i), &ahead_[i]);
        State::Require(ahead_[i] != nullptr);
      }
    }

   private:
    void Start() {
      background_.Start(static_cast<int>(std::min(threads_.now(), kMostThreads)), [this] { Work(); });
    }
    // What was asked for is not there: more threads may pay, a larger buffer if this one was full since, datasets
    // opened earlier if none is open.
    void Waited() {
      threads_.Waited();
      const SourcePtr& source = slots_[at_];
      if (source) {
        grows_ = source->was_full && buffer_.tuned();
        source->was_full = false;
      } else if (!reading_ && !input_ended_) {
        ahead_most_.Grow({});
      }
    }
    void VisitSource(State& state, const std::string& key, SourcePtr* source) {
      state.Inside(key, [&] {
        bool there = *source != nullptr;
        state.Value("there", &there);
        if (state.restores()) *source = there ? std::make_shared<Source>() : nullptr;
        if (!there) return;
        Source& s = **source;
        state.Value("args", &s.args);
        state.Value("index", &s.index);
        state.Value("failed", &s.failed);
        state.Nested("iterator", &s.iterator, [&] { return BeginMade(call_, s.args, place(), s.index); });
        const int64_t n = state.Size("size", s.made.size());
        s.made.resize(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) data::Visit(state, StrCat("made_", i), &s.made[i]);
      });
    }

    void Advance() {
      given_ = 0;
      at_ = (at_ + 1) % static_cast<int64_t>(slots_.size());
    }
    // The next dataset into the slot, if one is open.
    bool Refill(SourcePtr& slot) {
      if (ahead_.empty()) return false;
      slot = std::move(ahead_.front());
      ahead_.pop_front();
      ++open_;
      background_.NotifyWork();
      return true;
    }
    void Give(Source& source, Made* made) {
      *made = std::move(source.made.front());
      source.made.pop_front();
      if (grows_) GrowBuffer(made->element);
      if (static_cast<int64_t>(source.made.size()) == LowLevel()) background_.NotifyWork();
    }
    // Whether the slot's dataset is at its end; then the slot is empty.
    bool Drop(SourcePtr& slot) {
      if (!slot->ended()) return false;
      slot.reset();
      --open_;
      background_.NotifyWork();
      return true;
    }

    // As InterleaveDataset goes; false: what comes next is not there yet.
    bool TakeInOrder(Made* made) {
      if (dataset().settings_.legacy && !FillAll()) return false;
      while (open_ > 0 || !ahead_.empty() || !input_ended_) {
        SourcePtr& slot = slots_[at_];
        if (!slot) {
          if (Refill(slot)) continue;
          if (!input_ended_ || reading_) return false;
          at_ = (at_ + 1) % static_cast<int64_t>(slots_.size());
        } else if (!slot->made.empty()) {
          Give(*slot, made);
          if (slot->failed && !dataset().settings_.legacy) {
            Drop(slot);
          } else if (++given_ == dataset().settings_.sizes.block) {
            Advance();
          }
          return true;
        } else if (!slot->ended() || (dataset().settings_.legacy && ahead_.empty() && !input_ended_)) {
          return false;
        } else {
          Drop(slot);
          // In the legacy form the next dataset takes the place at once, and if there is none, the next slot gives what
          // is left of this one's block.
          const int64_t given = given_;
          const bool is_last = dataset().settings_.legacy && !Refill(slot);
          Advance();
          if (is_last) given_ = given;
        }
      }
      return false;
    }

    // The legacy form begins when all slots are filled; false: not yet.
    bool FillAll() {
      const int64_t cycle = static_cast<int64_t>(slots_.size());
      while (filled_ < cycle && Refill(slots_[filled_])) ++filled_;
      if (filled_ < cycle && input_ended_ && !reading_) filled_ = cycle;
      return filled_ == cycle;
    }

    // From the first slot that has something, beginning with that whose turn it is.
    bool TakeAny(Made* made) {
      for (size_t tried = 0; tried < slots_.size(); ++tried) {
        SourcePtr& slot = slots_[at_];
        if (slot && slot->made.empty()) Drop(slot);
        if (!slot) Refill(slot);
        if (slot && !slot->made.empty()) {
          Give(*slot, made);
          if (++given_ >= dataset().settings_.sizes.block) Advance();
          return true;
        }
        Advance();
      }
      return false;
    }

    bool MayRead() const {
      if (reading_ || input_ended_) return false;
      // In the legacy form, a dataset that has ended keeps its place until the next one is there.
      const SourcePtr& slot = slots_[at_];
      const bool waits = dataset().settings_.legacy && slot && slot->ended();
      return open_ - waits + static_cast<int64_t>(ahead_.size()) <
             static_cast<int64_t>(slots_.size()) + ahead_most_.now();
    }
    // Threads are woken for many elements at once.
    int64_t LowLevel() const { return buffer_.now() / 2; }
    void GrowBuffer(const Element& element) {
      buffer_.Grow(element, open_ + static_cast<int64_t>(ahead_.size()));
      grows_ = false;
      background_.NotifyWork();  // the low level has risen above what some have left
    }
    // A dataset of which more elements may be made: those whose turn is next first.
    Source* Starved() {
      const auto is_starved = [&](const SourcePtr& s) {
        return s && !s->busy && s->iterator && static_cast<int64_t>(s->made.size()) <= LowLevel();
      };
      for (size_t i = 0; i < slots_.size(); ++i) {
        const SourcePtr& s = slots_[(static_cast<size_t>(at_) + i) % slots_.size()];
        if (is_starved(s)) return s.get();
      }
      for (const SourcePtr& s : ahead_) {
        if (is_starved(s)) return s.get();
      }
      return nullptr;
    }

    void Work() {
      std::unique_lock lock(background_.mutex);
      for (;;) {
        Source* source = nullptr;
        const auto has_work = [&] {
          if (background_.paused() || running_ >= threads_.now()) return false;
          return MayRead() || (source = Starved()) != nullptr;
        };
        if (!background_.WaitForWork(lock, has_work)) return;
        ++running_;
        if (!source) {
          Open(lock);
        } else {
          Make(lock, *source);
        }
        --running_;
        Start();
        background_.NotifyResult();
        background_.NotifyWork();
      }
    }

    void Open(std::unique_lock<std::mutex>& lock) {
      reading_ = true;
      lock.unlock();
      auto source = std::make_shared<Source>();
      Made args = Catch([&](Element* element) { return input_->Next(element); });
      lock.lock();
      reading_ = false;
      if (args.end) {
        input_ended_ = true;
        return;
      }
      // Its place in the order is taken before it is open.
      source->args = std::move(args.element);
      source->index = index_++;
      source->busy = true;
      ahead_.push_back(source);
      background_.NotifyWork();
      lock.unlock();
      CallTimes times;
      Made opened{args.status, {}, false};
      if (opened.status.ok()) {
        opened = Catch([&](Element*) {
          source->iterator = BeginMade(call_, source->args, place(), source->index);
          return true;
        });
      }
      times.Stop();
      lock.lock();
      threads_.Learn(times);
      source->busy = false;
      if (opened.status.ok()) return;
      source->failed = true;
      source->made.push_back(std::move(opened));
    }

    void Make(std::unique_lock<std::mutex>& lock, Source& source) {
      source.busy = true;
      const int64_t room = buffer_.now() - static_cast<int64_t>(source.made.size());
      lock.unlock();
      std::deque<Made> piece;
      bool ended = false, in_time = true;
      CallTimes times;
      do {
        Made made = Catch([&](Element* element) { return source.iterator->Next(element); });
        ended = made.end;
        if (!ended) piece.push_back(std::move(made));
        in_time = times.wall + Nanos(CLOCK_MONOTONIC) < kPieceNanos;
      } while (!ended && in_time && static_cast<int64_t>(piece.size()) < room);
      if (ended) source.iterator.reset();
      if (threads_.tuned()) times.Stop();
      lock.lock();
      threads_.Learn(times);
      source.busy = false;
      source.was_full = !ended && static_cast<int64_t>(piece.size()) == room;
      // Threads hand over as much as they make in one piece's time.
      if (source.was_full && in_time && buffer_.tuned()) GrowBuffer(piece.back().element);
      for (Made& made : piece) source.made.push_back(std::move(made));
    }

    const BoundCall call_;
    const bool ordered_;
    // Under the background's mutex:
    TunedThreads threads_;
    TunedBuffer ahead_most_, buffer_;
    std::vector<SourcePtr> slots_;  // those that are read in turns
    std::deque<SourcePtr> ahead_;   // those that come into slots next, in order
    int64_t at_ = 0, given_ = 0, open_ = 0, index_ = 0, filled_ = 0;
    int running_ = 0;
    bool reading_ = false, input_ended_ = false, grows_ = false;
    Background background_;  // last: its threads use all this
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<InTurns>(*this, place);
  }
  const CapturedFunction function_;
  const Settings settings_;
};

// Inputs that only some versions have are kAutotune in the others.
Ref<Dataset> MakeParallelInterleave(DatasetArgs& args) {
  const auto optional = [&](std::string_view name) { return args.Has(name) ? args.Int(name) : kAutotune; };
  Settings settings{InterleaveSizesOf(args),
                    optional("num_parallel_calls"),
                    optional("prefetch_input_elements"),
                    optional("buffer_output_elements"),
                    args.Deterministic(),
                    !args.Has("num_parallel_calls")};
  args.Require(settings.parallelism >= kAutotune && settings.parallelism != 0,
               "num_parallel_calls must be greater than zero.");
  args.Require(settings.ahead >= kAutotune, "`prefetch_input_elements` must be >= 0");
  args.Require(settings.buffer >= kAutotune && settings.buffer != 0, "`buffer_output_elements` must be > 0");
  args.Require(
      settings.legacy || args.Int("cycle_length") == kAutotune || settings.parallelism <= settings.sizes.cycle,
      "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either `tf.data.AUTOTUNE` or a ",
      "value less than or equal to `cycle_length`. However, `num_parallel_calls` is ", settings.parallelism,
      " and `cycle_length` is ", settings.sizes.cycle);
  if (args.Has("sloppy")) settings.deterministic = !args.Bool("sloppy");
  // The legacy form has a thread for each dataset: they may wait for each other.
  if (settings.legacy) settings.parallelism = settings.sizes.cycle;
  std::string name = args.Versioned(args.kernel().node().op().name.starts_with("Legacy") ? "LegacyParallelInterleave"
                                                                                         : "ParallelInterleave");
  return MakeRef<ParallelInterleaveDataset>(std::move(name), args.spec(), args.dataset(),
                                            args.Function("f", "other_arguments"), settings);
}

}  // namespace

void RegisterParallelInterleaveDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeParallelInterleave>(kernels, "ParallelInterleaveDataset");
  for (const char* op : {"LegacyParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV2",
                         "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4"}) {
    AddDataset<MakeParallelInterleave>(kernels, op);
  }
}

}  // namespace penstock::data
