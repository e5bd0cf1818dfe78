// Samples of classes, number for number TensorFlow's.
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

uint64_t Next64(PhiloxSingles& singles) {
  const uint32_t low = singles(), high = singles();
  return low | uint64_t{high} << 32;
}

// How classes are drawn from [0, range), and how likely each is.
struct UniformClasses {
  int64_t range;
  int64_t Draw(PhiloxSingles& singles) const {
    const uint64_t n = static_cast<uint64_t>(range);
    if ((n & (n - 1)) == 0) return static_cast<int64_t>(Next64(singles) & (n - 1));
    // Numbers below `rest` are drawn again: those above are a multiple of n many.
    const uint64_t rest = UINT64_MAX % n + 1;
    uint64_t drawn = Next64(singles);
    while (drawn < rest) drawn = Next64(singles);
    return static_cast<int64_t>(drawn % n);
  }
  float Probability(int64_t) const { return static_cast<float>(1.0 / static_cast<double>(range)); }
};

struct LogUniformClasses {
  int64_t range;
  double log_range = std::log1p(static_cast<double>(range));
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

  // The true classes, checked.
  std::span<const int64_t> TrueClasses(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 2, "true_classes must be a matrix, but has shape ", k.shape(0));
    k.Require(k.shape(0).dim(1) == num_true_, "true_classes must have num_true columns, expected: ", k.shape(0).dim(1),
              " was: ", num_true_);
    return k.in<int64_t>(0);
  }

  int64_t num_true_, num_sampled_;
  bool unique_;
};

template <class Classes>
class CandidateSampler final : public SamplerKernel {
 public:
  explicit CandidateSampler(const NodeView& node)
      : SamplerKernel(node),
        classes_{node.attr<int64_t>("range_max")},
        philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {}

  void Run(KernelContext& k) override {
    const std::span<const int64_t> true_classes = TrueClasses(k);
    k.Require(!unique_ || num_sampled_ <= classes_.range, "Sampler's range is too small: ", num_sampled_,
              " different classes of ", classes_.range);
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
  }

 private:
  Classes classes_;
  SharedPhilox philox_;
};

class AllCandidates final : public SamplerKernel {
 public:
  using SamplerKernel::SamplerKernel;
  void Run(KernelContext& k) override {
    TrueClasses(k);
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
  kernels.Add<AllCandidates>("AllCandidateSampler");
  kernels.Add<ComputeAccidentalHits>("ComputeAccidentalHits");
}

}  // namespace penstock
