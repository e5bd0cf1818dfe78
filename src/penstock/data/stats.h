// What pipelines count while they run: histograms and scalars by name.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "penstock/data/dataset.h"
#include "penstock/io/summary.h"

namespace penstock::data {

// Thread-safe.
class StatsAggregator final : public Resource {
 public:
  void AddToHistogram(const std::string& name, double value, int64_t step);
  void SetScalar(const std::string& name, float value, int64_t step);
  std::string Summary() const;  // all that was counted, serialized
  // What changes goes there at once, too.
  using Sink = std::function<void(const SummaryBuilder& changed, int64_t step)>;
  void SetSink(Sink sink);
  std::string DebugString() const override { return "StatsAggregator"; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Histogram> histograms_;
  std::map<std::string, float> scalars_;
  Sink sink_;
};

// Where an iteration counts, and what the names begin with.
struct Stats {
  Ref<StatsAggregator> aggregator;
  std::string prefix;
  std::string Named(const std::string& name) const { return prefix.empty() ? name : StrCat(prefix, "::", name); }
};

// What an iterator counts, if anybody wants to know: under the name of its dataset and its depth in the pipeline.
class IteratorStats {
 public:
  IteratorStats(const Place& place, const std::string& dataset);
  explicit operator bool() const { return stats_ != nullptr; }
  void Histogram(std::string_view what, double value, int64_t step) const {
    stats_->aggregator->AddToHistogram(StrCat(name_, "::", what), value, step);
  }
  void Scalar(std::string_view what, double value, int64_t step) const {
    stats_->aggregator->SetScalar(StrCat(name_, "::", what), static_cast<float>(value), step);
  }

 private:
  const std::shared_ptr<const Stats> stats_;
  std::string name_;
};

}  // namespace penstock::data
