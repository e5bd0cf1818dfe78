#include "penstock/data/parallel_map.h"

#include <time.h>

#include <algorithm>
#include <deque>

#include "penstock/data/background.h"
#include "penstock/data/stats.h"

namespace penstock::data {
namespace {

constexpr int64_t kPieceNanos = 20'000;  // elements are worked on in pieces of about this time
constexpr int64_t kLargestPiece = 64;
constexpr int64_t kMostThreadsPerCore = 8;

int64_t Nanos(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

class ParallelMapDataset final : public Dataset {
 public:
  ParallelMapDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                     int64_t parallelism, std::optional<bool> deterministic, bool preserves_cardinality)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}),
        function_(std::move(function)),
        parallelism_(parallelism),
        deterministic_(deterministic),
        preserves_cardinality_(preserves_cardinality) {}
  // Also where the function may end the dataset, as in version 1.
  int64_t Cardinality() const override { return input().Cardinality(); }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  // Elements that one thread works on, in the order of the input.
  struct Piece {
    std::vector<Made> items;
    bool done = false;
  };

  class Mapped final : public IteratorOverInput<ParallelMapDataset> {
   public:
    Mapped(const ParallelMapDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          call_(dataset.function_, place),
          ordered_(dataset.deterministic_.value_or(place.context->options.deterministic.value_or(true))),
          autotuned_(dataset.parallelism_ == kAutotune),
          stats_(place, dataset.name()),
          parallelism_(autotuned_ ? NumCores() : dataset.parallelism_),
          background_(place.context) {}

    bool Next(Element* element) override {
      if (mine_.empty() && !Take()) return false;
      if (stats_) Count();
      Made made = std::move(mine_.front());
      mine_.pop_front();
      ThrowIfError(made.status);
      if (made.end) return false;
      *element = std::move(made.element);
      return true;
    }

    void Visit(State& state) override {
      std::unique_lock lock(background_.mutex);
      paused_ = true;
      background_.WaitForResult(lock, [&] { return !reading_ && running_ == 0; });
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      std::deque<Made> all = mine_;
      for (const auto& piece : pieces_) all.insert(all.end(), piece->items.begin(), piece->items.end());
      const int64_t n = state.Size("size", all.size());
      all.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) data::Visit(state, StrCat("made_", i), &all[i]);
      if (state.restores()) {
        mine_ = std::move(all);
        pieces_.clear();
      }
      paused_ = false;
      background_.NotifyWork();
    }

   private:
    void Count() {
      std::lock_guard lock(background_.mutex);
      stats_.Scalar("thread_utilization", static_cast<double>(running_) / static_cast<double>(parallelism_), ++step_);
    }

    // Takes over a piece that is done; waits for it. False at the end.
    bool Take() {
      std::unique_lock lock(background_.mutex);
      if (!ended_) background_.Start(1, [this] { Work(); });
      std::shared_ptr<Piece> taken;
      background_.WaitForResult(lock, [&] {
        for (auto it = pieces_.begin(); it != pieces_.end(); ++it) {
          if ((*it)->done) {
            taken = std::move(*it);
            pieces_.erase(it);
            return true;
          }
          if (ordered_) return false;
        }
        return ended_ && pieces_.empty();
      });
      if (!taken) return false;
      for (Made& made : taken->items) mine_.push_back(std::move(made));
      background_.NotifyWork();
      return true;
    }

    void Work() {
      std::unique_lock lock(background_.mutex);
      for (;;) {
        const auto may_read = [&] {
          const int64_t most = piece_size_ > 1 ? 2 * parallelism_ : parallelism_;
          return !paused_ && !reading_ && (ended_ || static_cast<int64_t>(pieces_.size()) < most);
        };
        if (!background_.WaitForWork(lock, may_read) || ended_) return;
        reading_ = true;
        const auto piece = std::make_shared<Piece>();
        pieces_.push_back(piece);
        const int64_t size = piece_size_;
        lock.unlock();
        const bool ended = Read(*piece, size);
        lock.lock();
        reading_ = false;
        ended_ = ended_ || ended;
        ++running_;
        if (!ended_ && background_.threads() < parallelism_)
          background_.Start(background_.threads() + 1, [this] { Work(); });
        background_.NotifyWork();
        lock.unlock();
        const int64_t wall = Nanos(CLOCK_MONOTONIC), cpu = Nanos(CLOCK_THREAD_CPUTIME_ID);
        for (Made& made : piece->items) Map(&made);
        const int64_t wall_used = Nanos(CLOCK_MONOTONIC) - wall, cpu_used = Nanos(CLOCK_THREAD_CPUTIME_ID) - cpu;
        lock.lock();
        --running_;
        if (piece->items.empty()) {
          std::erase(pieces_, piece);
        } else {
          Learn(static_cast<int64_t>(piece->items.size()), wall_used, cpu_used);
          piece->done = true;
        }
        background_.NotifyResult();
      }
    }

    // Up to `size` elements, as long as they come quickly; true at the end.
    bool Read(Piece& piece, int64_t size) {
      const int64_t start = size > 1 ? Nanos(CLOCK_MONOTONIC) : 0;
      do {
        Made made = Catch([&](Element* element) { return input_->Next(element); });
        if (made.end) return true;
        piece.items.push_back(std::move(made));
      } while (static_cast<int64_t>(piece.items.size()) < size && Nanos(CLOCK_MONOTONIC) - start < kPieceNanos);
      return false;
    }

    void Map(Made* made) const {
      if (!made->status.ok()) return;
      try {
        MapElement(call_, !dataset().preserves_cardinality_, &made->element);
      } catch (const Error& error) {
        made->end = IsEnd(error);
        if (!made->end) made->status = error.status();
      } catch (...) {
        made->status = CurrentStatus();
      }
    }

    // The size of the next pieces follows from how long an element takes; how many threads pay, from how much of that
    // time the function waits for something else than a core.
    void Learn(int64_t elements, int64_t wall, int64_t cpu) {
      const int64_t each = std::max<int64_t>(1, wall / elements);
      nanos_ = nanos_ == 0 ? each : (7 * nanos_ + each) / 8;
      // Calls that wait may wait for each other.
      if (!call_.may_wait()) piece_size_ = std::clamp<int64_t>(kPieceNanos / nanos_, 1, kLargestPiece);
      waits_ = (7 * waits_ + static_cast<double>(wall) / static_cast<double>(std::max<int64_t>(1, cpu))) / 8;
      if (autotuned_ && nanos_ > kPieceNanos) {
        parallelism_ = std::clamp<int64_t>(static_cast<int64_t>(NumCores() * waits_), NumCores(),
                                           kMostThreadsPerCore * NumCores());
      }
    }

    const BoundCall call_;
    const bool ordered_, autotuned_;
    const IteratorStats stats_;
    int64_t step_ = 0;       // of what is counted
    std::deque<Made> mine_;  // taken over by whoever asks for elements
    // Under the background's mutex:
    std::deque<std::shared_ptr<Piece>> pieces_;
    int64_t parallelism_, piece_size_ = 1, nanos_ = 0;
    double waits_ = 1;
    int running_ = 0;
    bool reading_ = false, ended_ = false, paused_ = false;
    Background background_;  // last: its threads use all this
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Mapped>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return AccessMapped(input(), function_, !preserves_cardinality_, place);
  }
  const CapturedFunction function_;
  const int64_t parallelism_;
  const std::optional<bool> deterministic_;
  const bool preserves_cardinality_;
};

Ref<Dataset> Make(DatasetArgs& args) {
  const int64_t parallelism = args.Int("num_parallel_calls");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  return MakeParallelMap(args.Versioned("ParallelMap"), args.spec(), args.dataset(),
                         args.Function("f", "other_arguments"), parallelism, args.Deterministic(),
                         args.attr<bool>("preserve_cardinality"));
}

}  // namespace

Ref<Dataset> MakeParallelMap(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                             int64_t parallelism, std::optional<bool> deterministic, bool preserves_cardinality) {
  return MakeRef<ParallelMapDataset>(std::move(name), std::move(spec), std::move(input), std::move(function),
                                     parallelism, deterministic, preserves_cardinality);
}

void RegisterParallelMapDatasets(KernelRegistry& kernels) {
  AddDataset<Make>(kernels, "ParallelMapDataset");
  AddDataset<Make>(kernels, "ParallelMapDatasetV2");
}

}  // namespace penstock::data
