// Elements made ahead of time by a thread.
#include <chrono>
#include <deque>

#include "penstock/data/autotune.h"
#include "penstock/data/background.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/stats.h"

namespace penstock::data {
namespace {

constexpr int64_t kFirstAutotuned = 2, kLargestAutotuned = 512;
constexpr int64_t kSmall = 16;  // buffers up to this size are filled up as soon as one element is taken
// Elements are handed over together as long as they were made within this time.
constexpr std::chrono::microseconds kPieceTime{20};

class PrefetchDataset final : public Dataset {
 public:
  PrefetchDataset(Ref<const Dataset> input, int64_t size) : Dataset("Prefetch", input->spec(), {input}), size_(size) {}
  int64_t Cardinality() const override { return input().Cardinality(); }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class Ahead final : public IteratorOverInput<PrefetchDataset> {
   public:
    Ahead(const PrefetchDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          stats_(place, "Prefetch"),
          limit_(place.context, dataset.size_, kFirstAutotuned, kLargestAutotuned),
          background_(place.context) {
      std::lock_guard lock(background_.mutex);
      if (place.context->options.warm_start && limit_.now() > 0) background_.Start(1, [this] { Work(); });
    }

    bool Next(Element* element) override {
      if (dataset().size_ == 0) return input_->Next(element);
      if (stats_) Count();
      if (mine_.empty() && !Take()) return false;
      Made made = std::move(mine_.front());
      mine_.pop_front();
      held_.fetch_sub(1);
      // A buffer of a size to be found is `kAutotune`, which is small too until elements are made faster than taken.
      if ((mine_.empty() || dataset().size_ <= kSmall) && full_.load()) {
        std::lock_guard lock(background_.mutex);
        background_.NotifyWork();
      }
      ThrowIfError(made.status);
      *element = std::move(made.element);
      return true;
    }

    void Visit(State& state) override {
      // While this is held, all that was read of the input is among the elements made.
      reading_.lock();
      state.PausedUntilDone([this] { reading_.unlock(); });
      std::lock_guard lock(background_.mutex);
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      std::deque<Made> all = mine_;
      all.insert(all.end(), ready_.begin(), ready_.end());
      const int64_t n = state.Size("size", all.size());
      all.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) data::Visit(state, StrCat("made_", i), &all[i]);
      if (!state.restores()) return;
      mine_ = std::move(all);
      ready_.clear();
      held_.store(n);
    }

   private:
    void Count() {
      std::lock_guard lock(background_.mutex);
      if (mine_.empty() && ready_.empty() && ended_) return;
      const int64_t held = held_.load();
      ++step_;
      stats_.Histogram("buffer_utilization", static_cast<double>(held) / static_cast<double>(limit_.now()), step_);
      stats_.Scalar("buffer_size", static_cast<double>(held), step_);
      stats_.Scalar("buffer_capacity", static_cast<double>(limit_.now()), step_);
    }

    // Takes over all that is ready; waits for it. False at the end.
    bool Take() {
      std::unique_lock lock(background_.mutex);
      if (!ended_) background_.Start(1, [this] { Work(); });
      const bool grows = ready_.empty() && was_full_ && limit_.tuned();
      background_.WaitForResult(lock, [&] { return !ready_.empty() || ended_; });
      mine_.swap(ready_);
      if (grows && !mine_.empty()) {
        limit_.Grow(mine_.front().element);
        was_full_ = false;
        background_.NotifyWork();
      }
      return !mine_.empty();
    }

    void Work() {
      for (;;) {
        int64_t room;
        {
          std::unique_lock lock(background_.mutex);
          const auto has_room = [&] { return held_.load() < limit_.now(); };
          if (!has_room()) {
            was_full_ = true;
            full_.store(true);
            const bool goes_on = background_.WaitForWork(lock, has_room);
            full_.store(false);
            if (!goes_on) return;
          }
          if (background_.stopping()) return;
          room = limit_.now() - held_.load();
        }
        std::lock_guard reading(reading_);
        std::deque<Made> piece;
        bool ended = false;
        const auto start = std::chrono::steady_clock::now();
        do {
          Made made = Catch([&](Element* element) { return input_->Next(element); });
          ended = made.end;
          if (!ended) piece.push_back(std::move(made));
        } while (!ended && static_cast<int64_t>(piece.size()) < room &&
                 std::chrono::steady_clock::now() - start < kPieceTime);
        std::lock_guard lock(background_.mutex);
        held_.fetch_add(static_cast<int64_t>(piece.size()));
        for (Made& made : piece) ready_.push_back(std::move(made));
        ended_ = ended;
        background_.NotifyResult();
        if (ended) return;
      }
    }

    const IteratorStats stats_;
    int64_t step_ = 0;        // of what is counted
    std::mutex reading_;      // held while the thread uses the input
    std::deque<Made> mine_;   // taken over by whoever asks for elements
    std::deque<Made> ready_;  // under the background's mutex, as what follows
    bool ended_ = false, was_full_ = false;
    TunedBuffer limit_;
    // Whoever takes an element lowers the one and then looks at the other; the thread does it the other way round.
    // So both are in one order for all threads, or neither would see that it has to wake, or not to wait.
    std::atomic<int64_t> held_{0};   // elements in both
    std::atomic<bool> full_{false};  // the thread waits for room
    Background background_;          // last: its thread uses all this
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Ahead>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override { return input().Access(place); }
  const int64_t size_;
};

Ref<Dataset> MakePrefetch(DatasetArgs& args) {
  const int64_t size = args.Int("buffer_size");
  args.Require(size >= 0 || size == kAutotune, "buffer_size must be >= 0 or set buffer_size to be ", kAutotune,
               " for auto-tuning");
  return MakeRef<PrefetchDataset>(args.dataset(), size);
}

}  // namespace

void RegisterPrefetchDatasets(KernelRegistry& kernels) { AddDataset<MakePrefetch>(kernels, "PrefetchDataset"); }

}  // namespace penstock::data
