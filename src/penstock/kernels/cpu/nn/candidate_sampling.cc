// Samples of classes, number for number TensorFlow's.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "penstock/base/parse_number.h"
#include "penstock/base/random.h"
#include "penstock/io/files.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/random/draw_below.h"

namespace penstock {
namespace {

// How classes are drawn from [0, range), and how likely each is.
struct UniformClasses {
  int64_t range;
  explicit UniformClasses(const NodeView& node) : range(node.attr<int64_t>("range_max")) {}
  int64_t Draw(PhiloxSingles& singles) const {
    return static_cast<int64_t>(Below(static_cast<uint64_t>(range), [&] { return Next64(singles); }));
  }
  float Probability(int64_t) const { return static_cast<float>(1.0 / static_cast<double>(range)); }
};

struct LogUniformClasses {
  int64_t range;
  double log_range = std::log1p(static_cast<double>(range));
  explicit LogUniformClasses(const NodeView& node) : range(node.attr<int64_t>("range_max")) {}
  int64_t Draw(PhiloxSingles& singles) const {
    const uint32_t x0 = singles(), x1 = singles();
    // Rounding may give `range` itself.
    return (static_cast<int64_t>(std::exp(UnitDouble(x0, x1) * log_range)) - 1) % range;
  }
  float Probability(int64_t k) const {
    const double at = static_cast<double>(k);
    return static_cast<float>(std::log((at + 2.0) / (at + 1.0)) / log_range);
  }
};

// Classes by given weights, drawn by Walker's alias method: each class has a place of equal size, and what it does not
// need of that another one has.
class WeightedClasses {
 public:
  int64_t range;
  explicit WeightedClasses(const NodeView& node)
      : range(node.attr<int64_t>("range_max")),
        shards_(node.attr<int64_t>("num_shards")),
        shard_(node.attr<int64_t>("shard")),
        distortion_(node.attr<float>("distortion")) {
    const auto unigrams = node.attr<std::vector<float>>("unigrams");
    const auto file = node.attr<std::string>("vocab_file");
    KernelContext::Require(!file.empty() || !unigrams.empty(), "Must provide either vocab_file or unigrams.");
    KernelContext::Require(file.empty() || unigrams.empty(), "Must only provide one of vocab_file and unigrams.");
    const int64_t reserved = node.attr<int64_t>("num_reserved_ids");
    KernelContext::Require(reserved <= kMost && range <= kMost,
                           "num_reserved_ids or range_max is too large: ", reserved, ", ", range);
    for (int64_t id = shard_; id < reserved; id += shards_) weights_.push_back(0);
    // Of several shards the others' classes start where this one's reserved ones end, as in TensorFlow.
    int64_t id = static_cast<int64_t>(weights_.size());
    if (file.empty()) {
      for (const float weight : unigrams) Add(id++, weight);
    } else {
      ReadWeights(file, id);
    }
    KernelContext::Require(range == static_cast<int64_t>(weights_.size()), "range_max is ", range,
                           ", but the number of classes with weights is ", weights_.size());
    KernelContext::Require(std::isfinite(total_) && total_ > 0, "The weights of classes add up to ", total_);
    Prepare();
  }
  // How many classes can be drawn at all: a weight may be too small beside the others.
  int64_t reachable() const { return std::ranges::count(drawn_, true); }
  int64_t Draw(PhiloxSingles& singles) const {
    const float part = UnitFloat(singles());
    const Place& place = places_[Below(static_cast<uint32_t>(range), [&] { return singles(); })];
    return part < place.own ? &place - places_.data() : place.other;
  }
  float Probability(int64_t k) const { return weights_[static_cast<size_t>(k)] / total_; }

 private:
  static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  struct Place {
    float own = 1;
    int64_t other = 0;
  };

  void Add(int64_t id, float weight) {
    if (id % shards_ != shard_) return;
    weight = std::pow(weight, distortion_);
    KernelContext::Require(weight >= 0, "The weight of a class must not be negative: ", weight);
    total_ += weight;
    weights_.push_back(weight);
  }
  void ReadWeights(const std::string& file, int64_t id) {
    const std::string text = ReadWholeFile(file);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      float weight = 0;
      KernelContext::Require(ParseNumber(line.substr(line.rfind(',') + 1), &weight),
                             "Wrong vocabulary format at line: ", line);
      Add(id++, weight);
      begin = end + 1;
    }
  }
  void Prepare() {
    const size_t n = weights_.size();
    places_.resize(n);
    std::vector<double> left(n);
    std::vector<size_t> large, small;
    double sum = 0;
    for (const float weight : weights_) sum += weight;
    for (size_t i = 0; i < n; ++i) {
      left[i] = weights_[i] * static_cast<float>(n) / sum;
      (left[i] < 1 ? small : large).push_back(i);
    }
    const auto take = [](std::vector<size_t>& from) {
      const size_t last = from.back();
      from.pop_back();
      return last;
    };
    while (!large.empty() && !small.empty()) {
      const size_t s = take(small), l = take(large);
      places_[s] = {static_cast<float>(left[s]), static_cast<int64_t>(l)};
      left[l] -= 1 - left[s];
      (left[l] < 1 ? small : large).push_back(l);
    }
    // What is left over has, but for rounding, just its own place, which is the default.
    drawn_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      if (places_[i].own >= std::numeric_limits<float>::min()) drawn_[i] = true;  // smaller ones count as 0
      if (places_[i].own < 1) drawn_[static_cast<size_t>(places_[i].other)] = true;
    }
  }

  int64_t shards_, shard_;
  float distortion_, total_ = 0;
  std::vector<float> weights_;
  std::vector<Place> places_;
  std::vector<bool> drawn_;
};

// Classes by how often they have been true ones, and once more. The sums of a binary indexed tree find a class.
class LearnedClasses {
 public:
  int64_t range;
  explicit LearnedClasses(const NodeView& node) : range(node.attr<int64_t>("range_max")) {
    KernelContext::Require(range < kMost, "range_max is too large: ", range);
    total_ = static_cast<int32_t>(range);
    counts_.assign(static_cast<size_t>(range), 1);
    sums_.resize(static_cast<size_t>(range) + 1);
    for (size_t i = 1; i < sums_.size(); ++i) sums_[i] = static_cast<int32_t>(i & -i);
  }
  int64_t Draw(PhiloxSingles& singles) const {
    auto rest = static_cast<int32_t>(Below(static_cast<uint32_t>(total_), [&] { return singles(); }));
    size_t at = 0;  // the sum of the classes before `at` is at most the number drawn
    for (size_t step = std::bit_floor(sums_.size() - 1); step > 0; step /= 2) {
      if (at + step < sums_.size() && sums_[at + step] <= rest) rest -= sums_[at += step];
    }
    return static_cast<int64_t>(at);
  }
  float Probability(int64_t k) const {
    return static_cast<float>(counts_[static_cast<size_t>(k)]) / static_cast<float>(total_);
  }
  void Learn(std::span<const int64_t> classes) {
    for (const int64_t k : classes) {
      if (total_ == kMost) return;
      ++total_;
      ++counts_[static_cast<size_t>(k)];
      for (size_t i = static_cast<size_t>(k) + 1; i < sums_.size(); i += i & -i) ++sums_[i];
    }
  }

 private:
  static constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  int32_t total_;
  std::vector<int32_t> counts_, sums_;
};

// How many of the samples are expected to be a class of probability p, when it took so many tries to find them.
float ExpectedCount(float p, int64_t samples, int64_t tries) {
  if (tries == samples) return p * static_cast<float>(samples);
  return static_cast<float>(-std::expm1(static_cast<double>(tries) * std::log1p(-p)));
}

class SamplerKernel : public Kernel {
 public:
  explicit SamplerKernel(const NodeView& node)
      : num_true_(node.attr<int64_t>("num_true")),
        num_sampled_(node.attr<int64_t>("num_sampled")),
        unique_(node.attr<bool>("unique")) {
    KernelContext::Require(num_sampled_ <= kMostSamples, "num_sampled is too large: ", num_sampled_);
  }

 protected:
  static constexpr int64_t kMostSamples = int64_t{1} << 31;
  static constexpr int64_t kMostTries = std::numeric_limits<int32_t>::max();  // TensorFlow's process ends there

  // The true classes, checked: they are in [0, range).
  std::span<const int64_t> TrueClasses(KernelContext& k, int64_t range) const {
    k.Require(k.shape(0).rank() == 2, "true_classes must be a matrix, but has shape ", k.shape(0));
    k.Require(k.shape(0).dim(1) == num_true_, "true_classes must have num_true columns, expected: ", k.shape(0).dim(1),
              " was: ", num_true_);
    const std::span<const int64_t> classes = k.in<int64_t>(0);
    for (const int64_t c : classes) {
      k.Require(c >= 0 && c < range, "`true_candidate` out of range [0, ", range, "), received ", c);
    }
    return classes;
  }

  int64_t num_true_, num_sampled_;
  bool unique_;
};

template <class Classes>
class CandidateSampler final : public SamplerKernel {
 public:
  explicit CandidateSampler(const NodeView& node)
      : SamplerKernel(node), classes_(node), philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {}

  void Run(KernelContext& k) override {
    const std::span<const int64_t> true_classes = TrueClasses(k, classes_.range);
    k.Require(!unique_ || num_sampled_ <= classes_.range, "Sampler's range is too small: ", num_sampled_,
              " different classes of ", classes_.range);
    if constexpr (requires { classes_.reachable(); }) {
      k.Require(!unique_ || num_sampled_ <= classes_.reachable(), num_sampled_,
                " different classes are wanted, but only ", classes_.reachable(), " have a weight");
    }
    std::unique_lock<std::mutex> lock;
    if constexpr (kLearns) lock = std::unique_lock(mutex_);
    const auto sampled = k.out<int64_t>(0, Shape({num_sampled_}));
    // Part of what numbers come out: 2048 words for each sample.
    PhiloxSingles singles(philox_.Reserve(static_cast<uint64_t>(num_sampled_) * 2048 / Philox::kGroup));
    int64_t tries = num_sampled_;
    if (unique_) {
      std::unordered_set<int64_t> used;
      tries = 0;
      for (int64_t found = 0; found < num_sampled_; ++tries) {
        const int64_t value = classes_.Draw(singles);
        if (used.insert(value).second) sampled[found++] = value;
        if (tries % 4096 == 0 && k.cancelled()) throw Cancelled("Step was cancelled.");
        if (tries == kMostTries) {
          throw ResourceExhausted("Only ", found, " different classes of ", num_sampled_, " were found in ", tries,
                                  " tries");
        }
      }
    } else {
      for (int64_t& value : sampled) value = classes_.Draw(singles);
    }
    const auto true_count = k.out<float>(1, k.shape(0));
    for (size_t i = 0; i < true_classes.size(); ++i) {
      true_count[i] = ExpectedCount(classes_.Probability(true_classes[i]), num_sampled_, tries);
    }
    const auto sampled_count = k.out<float>(2, Shape({num_sampled_}));
    for (size_t i = 0; i < sampled.size(); ++i) {
      sampled_count[i] = ExpectedCount(classes_.Probability(sampled[i]), num_sampled_, tries);
    }
    if constexpr (kLearns) classes_.Learn(true_classes);
  }

 private:
  static constexpr bool kLearns = std::is_same_v<Classes, LearnedClasses>;
  Classes classes_;
  std::mutex mutex_;  // for classes that learn
  SharedPhilox philox_;
};

class AllCandidates final : public SamplerKernel {
 public:
  using SamplerKernel::SamplerKernel;
  void Run(KernelContext& k) override {
    TrueClasses(k, num_sampled_);
    const auto sampled = k.out<int64_t>(0, Shape({num_sampled_}));
    for (size_t i = 0; i < sampled.size(); ++i) sampled[i] = static_cast<int64_t>(i);
    std::ranges::fill(k.out<float>(1, k.shape(0)), 1.0f);
    std::ranges::fill(k.out<float>(2, Shape({num_sampled_})), 1.0f);
  }
};

struct ComputeAccidentalHits {
  int64_t num_true;
  explicit ComputeAccidentalHits(const NodeView& node) : num_true(node.attr<int64_t>("num_true")) {}

  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 2 && k.shape(0).dim(1) == num_true,
              "true_candidates must be a batch_size * num_true matrix, but has shape ", k.shape(0));
    k.Require(k.shape(1).rank() == 1, "sampled_candidates must be a vector, but has shape ", k.shape(1));
    const auto true_classes = k.in<int64_t>(0), sampled = k.in<int64_t>(1);
    std::unordered_map<int64_t, int64_t> place;  // the last one counts
    for (size_t i = 0; i < sampled.size(); ++i) place[sampled[i]] = static_cast<int64_t>(i);
    std::vector<std::pair<int64_t, int64_t>> hits;  // row, place
    for (size_t i = 0; i < true_classes.size(); ++i) {
      const auto hit = place.find(true_classes[i]);
      if (hit != place.end()) hits.emplace_back(static_cast<int64_t>(i) / num_true, hit->second);
    }
    const Shape shape({static_cast<int64_t>(hits.size())});
    const auto rows = k.out<int32_t>(0, shape);
    const auto ids = k.out<int64_t>(1, shape);
    for (size_t i = 0; i < hits.size(); ++i) {
      rows[i] = static_cast<int32_t>(hits[i].first);
      ids[i] = hits[i].second;
    }
    std::ranges::fill(k.out<float>(2, shape), std::numeric_limits<float>::lowest());
  }
};

}  // namespace

void RegisterCandidateSamplingKernels(KernelRegistry& kernels) {
  kernels.Add<CandidateSampler<UniformClasses>>("UniformCandidateSampler");
  kernels.Add<CandidateSampler<LogUniformClasses>>("LogUniformCandidateSampler");
  kernels.Add<CandidateSampler<LearnedClasses>>("LearnedUnigramCandidateSampler");
  kernels.Add<CandidateSampler<LearnedClasses>>("ThreadUnsafeUnigramCandidateSampler");
  kernels.Add<CandidateSampler<WeightedClasses>>("FixedUnigramCandidateSampler");
  kernels.Add<AllCandidates>("AllCandidateSampler");
  kernels.Add<ComputeAccidentalHits>("ComputeAccidentalHits");
}

}  // namespace penstock
