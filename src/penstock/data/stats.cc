#include "penstock/data/stats.h"

#include <algorithm>
#include <chrono>

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

void StatsAggregator::AddToHistogram(const std::string& name, double value, int64_t step) {
  std::lock_guard lock(mutex_);
  Histogram& histogram = histograms_[name];
  histogram.Add(value);
  if (!sink_) return;
  SummaryBuilder changed;
  changed.AddHistogram(name, histogram);
  sink_(changed, step);
}

void StatsAggregator::SetScalar(const std::string& name, float value, int64_t step) {
  std::lock_guard lock(mutex_);
  scalars_[name] = value;
  if (!sink_) return;
  SummaryBuilder changed;
  changed.AddScalars({name}, Tensor(value));
  sink_(changed, step);
}

std::string StatsAggregator::Summary() const {
  std::lock_guard lock(mutex_);
  SummaryBuilder all;
  for (const auto& [name, histogram] : histograms_) all.AddHistogram(name, histogram);
  for (const auto& [name, value] : scalars_) all.AddScalars({name}, Tensor(value));
  return all.Serialize();
}

void StatsAggregator::SetSink(Sink sink) {
  std::lock_guard lock(mutex_);
  sink_ = std::move(sink);
}

IteratorStats::IteratorStats(const Place& place, const std::string& dataset) : stats_(place.context->options.stats) {
  if (!stats_) return;
  const auto depth = std::count(place.prefix.begin(), place.prefix.end(), ':') / 2;
  name_ = stats_->Named(StrCat(dataset, "Dataset/_", depth));
}

namespace {

// Has an aggregator for all that the input counts.
class SetStatsDataset final : public Dataset {
 public:
  SetStatsDataset(Ref<const Dataset> input, Stats stats)
      : Dataset("", input->spec(), {input}), stats_(std::make_shared<const Stats>(std::move(stats))) {}
  int64_t Cardinality() const override { return input().Cardinality(); }
  Options options() const override {
    Options all = input().options();
    all.stats = stats_;
    return all;
  }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override { return input().Begin(place); }
  const std::shared_ptr<const Stats> stats_;
};

// Counts something of each element, under a name that the program gives.
class CountingDataset final : public Dataset {
 public:
  enum Kind { kLatency, kBytes };
  CountingDataset(Ref<const Dataset> input, Kind kind, std::string tag)
      : Dataset(kind == kLatency ? "LatencyStats" : "BytesProducedStats", input->spec(), {input}),
        kind_(kind),
        tag_(std::move(tag)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  class Counted final : public IteratorOverInput<CountingDataset> {
   public:
    Counted(const CountingDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), stats_(place.context->options.stats) {}
    bool Next(Element* element) override {
      const auto start = std::chrono::steady_clock::now();
      if (!input_->Next(element)) return false;
      ++step_;
      if (!stats_) return true;
      double value = 0;
      if (dataset().kind_ == kLatency) {
        value = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
      } else {
        for (const Tensor& t : *element) value += static_cast<double>(BytesOf(t));
      }
      stats_->aggregator->AddToHistogram(stats_->Named(dataset().tag_), value, step_);
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("step", &step_);
    }

   private:
    static uint64_t BytesOf(const Tensor& t) {
      uint64_t bytes = t.bytes();
      if (t.dtype() == DT_STRING) {
        for (const TString& s : t.flat<TString>()) bytes += s.view().size();
      }
      return bytes;
    }
    const std::shared_ptr<const Stats> stats_;
    int64_t step_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Counted>(*this, place);
  }
  const Kind kind_;
  const std::string tag_;
};

Ref<Dataset> MakeSetStats(DatasetArgs& args) {
  return MakeRef<SetStatsDataset>(args.dataset(),
                                  Stats{args.Resource<StatsAggregator>("stats_aggregator"), args.String("tag")});
}
Ref<Dataset> MakeLatency(DatasetArgs& args) {
  return MakeRef<CountingDataset>(args.dataset(), CountingDataset::kLatency, args.String("tag"));
}
Ref<Dataset> MakeBytes(DatasetArgs& args) {
  return MakeRef<CountingDataset>(args.dataset(), CountingDataset::kBytes, args.String("tag"));
}

}  // namespace

void RegisterStatsDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeSetStats>(kernels, "SetStatsAggregatorDataset");
  AddDatasetAndTwin<MakeLatency>(kernels, "LatencyStatsDataset");
  AddDatasetAndTwin<MakeBytes>(kernels, "BytesProducedStatsDataset");
}

}  // namespace penstock::data
