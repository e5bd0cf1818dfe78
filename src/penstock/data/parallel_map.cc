#include "penstock/data/parallel_map.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "penstock/data/autotune.h"
#include "penstock/data/background.h"
#include "penstock/data/stats.h"

namespace penstock::data {
namespace {

constexpr int64_t kPieceNanos = 20'000;  // elements are worked on in pieces of about this time
constexpr int64_t kLargestPiece = 64;
constexpr int64_t kManyStrings = 16;

class ParallelDataset final : public Dataset {
 public:
  ParallelDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, MakeWork work, int64_t parallelism,
                  std::optional<bool> deterministic)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}),
        work_(std::move(work)),
        parallelism_(parallelism),
        deterministic_(deterministic) {}
  // Also where the function may end the dataset, as in version 1.
  int64_t Cardinality() const override { return input().Cardinality(); }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  // Elements that one thread works on, in the order of the input.
  struct Piece {
    std::vector<Made> items;
    std::vector<Tensor> strings;  // of the input, see `used_`
    bool done = false;
  };

  class Ahead final : public IteratorOverInput<ParallelDataset> {
   public:
    Ahead(const ParallelDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place),
          work_(dataset.work_(place)),
          ordered_(dataset.deterministic_.value_or(place.context->options.deterministic.value_or(true))),
          stats_(place, dataset.name()),
          parallelism_(place.context->options, dataset.parallelism_),
          background_(place.context) {
      std::lock_guard lock(background_.mutex);
      if (place.context->options.warm_start) background_.Start(1, [this] { Run(); });
    }

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
      background_.PauseUntilDone(state);
      background_.WaitForResult(lock, [&] { return !reading_ && running_ == 0 && read_.empty(); });
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
    }

   private:
    void Count() {
      std::lock_guard lock(background_.mutex);
      const double share = static_cast<double>(running_) / static_cast<double>(parallelism_.now());
      stats_.Scalar("thread_utilization", share, ++step_);
    }

    // Takes over a piece that is done; waits for it. False at the end.
    bool Take() {
      std::unique_lock lock(background_.mutex);
      if (!ended_) background_.Start(1, [this] { Run(); });
      std::shared_ptr<Piece> taken;
      background_.WaitForResult(lock, [&] {
        for (auto it = pieces_.begin(); it != pieces_.end(); ++it) {
          if ((*it)->done) {
            taken = std::move(*it);
            pieces_.erase(it);
            return true;
          }
          if (ordered_) break;
        }
        if (ended_ && pieces_.empty()) return true;
        parallelism_.Waited();
        return false;
      });
      if (!taken) return false;
      for (Made& made : taken->items) mine_.push_back(std::move(made));
      if (HasIdle() && MayRead()) background_.NotifyOneWork();
      return true;
    }

    // A thread reads a piece and works on it, or hands it over to one that waits and reads on: then what reads stays on
    // one core, with what it read before, and nobody waits for a thread to wake up before the next piece is read.
    void Run() {
      std::unique_lock lock(background_.mutex);
      for (;;) {
        const auto has_work = [&] { return !read_.empty() || ended_ || MayRead(); };
        ++waiting_;
        const bool goes_on = background_.WaitForWork(lock, has_work);
        --waiting_;
        if (!goes_on) return;
        if (!read_.empty()) {
          const std::shared_ptr<Piece> piece = std::move(read_.front());
          read_.pop_front();
          WorkOn(piece, lock);
        } else if (ended_) {
          return;
        } else {
          ReadPieces(lock);
        }
      }
    }

    bool MayRead() const {
      const int64_t most = piece_size_ > 1 ? 2 * parallelism_.now() : parallelism_.now() + 1;  // that which is read
      return !background_.paused() && !reading_ && !ended_ && static_cast<int64_t>(pieces_.size()) < most;
    }
    // Whether there are more threads that wait than pieces for them.
    bool HasIdle() const { return waiting_ > static_cast<int64_t>(read_.size()); }

    void ReadPieces(std::unique_lock<std::mutex>& lock) {
      for (;;) {
        const auto piece = std::make_shared<Piece>();
        pieces_.push_back(piece);
        const int64_t size = piece_size_;
        reading_ = true;
        std::vector<Tensor> used = std::exchange(used_, {});
        lock.unlock();
        used.clear();
        const bool ended = Read(*piece, size);
        lock.lock();
        reading_ = false;
        ended_ = ended_ || ended;
        if (!ended_ && background_.threads() < parallelism_.now())
          background_.Start(background_.threads() + 1, [this] { Run(); });
        if (ended_) {
          background_.NotifyWork();
        } else if (HasIdle() && MayRead() && !background_.stopping()) {
          read_.push_back(piece);
          background_.NotifyOneWork();
          continue;
        }
        WorkOn(piece, lock);
        return;
      }
    }

    void WorkOn(const std::shared_ptr<Piece>& piece, std::unique_lock<std::mutex>& lock) {
      ++running_;
      lock.unlock();
      CallTimes times;
      for (Made& made : piece->items) {
        for (const Tensor& t : made.element) {
          if (t.dtype() == DT_STRING && t.num_elements() >= kManyStrings) piece->strings.push_back(t);
        }
        Apply(&made);
      }
      times.Stop();
      lock.lock();
      --running_;
      if (!ended_) std::move(piece->strings.begin(), piece->strings.end(), std::back_inserter(used_));
      piece->strings.clear();
      if (piece->items.empty()) {
        std::erase(pieces_, piece);
      } else {
        Learn(static_cast<int64_t>(piece->items.size()), times);
        piece->done = true;
      }
      background_.NotifyResult();
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

    void Apply(Made* made) const {
      if (!made->status.ok()) return;
      try {
        work_.apply(&made->element);
      } catch (const Error& error) {
        made->end = IsEnd(error);
        if (!made->end) made->status = error.status();
      } catch (...) {
        made->status = CurrentStatus();
      }
    }

    // The size of the next pieces follows from how long an element takes.
    void Learn(int64_t elements, const CallTimes& times) {
      const int64_t each = std::max<int64_t>(1, times.wall / elements);
      nanos_ = nanos_ == 0 ? each : (7 * nanos_ + each) / 8;
      // Calls that wait may wait for each other.
      if (!work_.may_wait) piece_size_ = std::clamp<int64_t>(kPieceNanos / nanos_, 1, kLargestPiece);
      if (nanos_ > kPieceNanos) parallelism_.Learn(times);
    }

    const Work work_;
    const bool ordered_;
    const IteratorStats stats_;
    int64_t step_ = 0;       // of what is counted
    std::deque<Made> mine_;  // taken over by whoever asks for elements
    // Under the background's mutex:
    std::deque<std::shared_ptr<Piece>> pieces_;  // in the order of the input
    std::deque<std::shared_ptr<Piece>> read_;    // those of them that nobody works on yet
    int64_t waiting_ = 0;                        // threads
    // Strings that were worked on, for the next who reads, since whoever did so before made most of them: threads that
    // free each other's memory one by one wait for each other.
    std::vector<Tensor> used_;
    TunedThreads parallelism_;
    int64_t piece_size_ = 1, nanos_ = 0;
    int running_ = 0;
    bool reading_ = false, ended_ = false;
    Background background_;  // last: its threads use all this
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Ahead>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [input = input().Access(place), work = work_(place)](int64_t index) {
      Element element = input(index);
      work.apply(&element);
      return element;
    };
  }
  const MakeWork work_;
  const int64_t parallelism_;
  const std::optional<bool> deterministic_;
};

Ref<Dataset> Make(DatasetArgs& args) {
  const int64_t parallelism = args.Int("num_parallel_calls");
  args.Require(parallelism > 0 || parallelism == kAutotune, "num_parallel_calls must be greater than zero.");
  return MakeParallelMap(args.Versioned("ParallelMap"), args.spec(), args.dataset(),
                         args.Function("f", "other_arguments"), parallelism, args.Deterministic(),
                         args.attr<bool>("preserve_cardinality"));
}

}  // namespace

Ref<Dataset> MakeParallel(std::string name, ElementSpec spec, Ref<const Dataset> input, MakeWork work,
                          int64_t parallelism, std::optional<bool> deterministic) {
  return MakeRef<ParallelDataset>(std::move(name), std::move(spec), std::move(input), std::move(work), parallelism,
                                  deterministic);
}

Ref<Dataset> MakeParallelMap(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                             int64_t parallelism, std::optional<bool> deterministic, bool preserves_cardinality) {
  const auto f = std::make_shared<const CapturedFunction>(std::move(function));
  const auto make_work = [f, preserves_cardinality](const Place& place) {
    const auto call = std::make_shared<const BoundCall>(*f, place);
    return Work{[call, preserves_cardinality](Element* element) { MapElement(*call, !preserves_cardinality, element); },
                call->may_wait()};
  };
  return MakeParallel(std::move(name), std::move(spec), std::move(input), make_work, parallelism, deterministic);
}

void RegisterParallelMapDatasets(KernelRegistry& kernels) {
  AddDataset<Make>(kernels, "ParallelMapDataset");
  AddDataset<Make>(kernels, "ParallelMapDatasetV2");
}

}  // namespace penstock::data
