#include "penstock/kernels/cpu/random/random_samplers.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/tensor/elements.h"

namespace penstock::random {
namespace {

constinit BranchTable<3> gamma_ways{"random/gamma", {"exponential", "small", "large"}};
constinit BranchTable<2> poisson_ways{"random/poisson", {"product of uniforms", "rejection"}};
constinit BranchTable<2> binomial_ways{"random/binomial", {"few successes", "many successes"}};
constinit BranchTable<3> shuffle_ways{"random/shuffle", {"as it is", "values", "rows"}};

template <class T>
void ClassesOf(KernelContext& k, const Tensor& logits, int64_t num_samples, const Philox& start) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  Tensor& out = k.Output(0, Shape({rows, num_samples}));
  const T* all = logits.data<T>();
  k.Parallel(rows, 20 * (num_samples + classes), [&](int64_t begin, int64_t end) {
    std::vector<double> sums(classes);
    for (int64_t row = begin; row < end; ++row) {
      // A row's part of the stream follows from its number, so that a split among threads does not show.
      const uint64_t first = static_cast<uint64_t>(row) * num_samples * 2;
      Philox philox = start;
      philox.Skip(first / Philox::kGroup);
      PhiloxSingles singles(philox);
      for (uint64_t skip = 0; skip < first % Philox::kGroup; ++skip) singles();
      const T* x = all + row * classes;
      double largest = static_cast<double>(std::is_same_v<T, double> ? std::numeric_limits<double>::lowest()
                                                                     : std::numeric_limits<float>::lowest());
      for (int64_t j = 0; j < classes; ++j) {
        if (std::isfinite(static_cast<double>(x[j]))) largest = std::max(largest, static_cast<double>(x[j]));
      }
      double total = 0;
      for (int64_t j = 0; j < classes; ++j) {
        if (std::isfinite(static_cast<double>(x[j]))) total += std::exp(static_cast<double>(x[j]) - largest);
        sums[j] = total;
      }
      for (int64_t s = 0; s < num_samples; ++s) {
        const uint32_t high = singles();
        const double wanted = UnitDouble(high, singles()) * total;
        const int64_t found = std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin();
        if (out.dtype() == DT_INT32) {
          out.mutable_data<int32_t>()[row * num_samples + s] = static_cast<int32_t>(found);
        } else {
          out.mutable_data<int64_t>()[row * num_samples + s] = found;
        }
      }
    }
  });
}

// Uniform doubles out of groups of two, the second first.
class Doubles {
 public:
  explicit Doubles(Philox* philox) : philox_(philox) {}
  double operator()() {
    if (left_ == 0) {
      Uniform<double>()((*philox_)().data(), values_);
      left_ = 2;
    }
    return values_[--left_];
  }

 private:
  Philox* philox_;
  double values_[2];
  int left_ = 0;
};

// Marsaglia and Tsang's rejection method.
double GammaSample(double alpha, Philox philox) {
  Doubles uniform(&philox);
  gamma_ways.Enter(alpha == 1.0 ? 0 : alpha < 1 ? 1 : 2);
  if (alpha == 1.0) return -std::log(1.0 - uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  double normals[2];
  int left = 0;
  // A valid alpha is accepted nearly always; others (NaN, negative) must end too.
  for (int tries = 0; tries < 10000; ++tries) {
    if (left == 0) {
      Normal<double>()(philox().data(), normals);
      left = 2;
    }
    const double x = normals[--left];
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return d * v * (small ? std::pow(uniform(), 1 / alpha) : 1.0);
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Knuth's product of uniforms for small rates, Hormann's transformed rejection for others. Samples above `most` are
// drawn again.
double PoissonSample(double rate, double most, Philox philox) {
  Doubles uniform(&philox);
  if (std::isinf(rate) && rate > 0) return rate;
  if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
  poisson_ways.Enter(rate < 10 ? 0 : 1);
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1;
    for (double x = 0;; x += 1) {
      product *= uniform();
      if (product <= limit && x <= most) return x;
      if (product == 0) return x;
    }
  }
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (int tries = 0; tries < 10000; ++tries) {
    const double u = uniform() - 0.5, v = uniform();
    const double shifted = 0.5 - std::abs(u);
    const double x = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (x > most) continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return x;
    if (x < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + x * log_rate - std::lgamma(x + 1)) return x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Philox Skipped(Philox philox, int64_t groups) {
  philox.Skip(static_cast<uint64_t>(groups));
  return philox;
}

// Counts successes by the failures between them, which are distributed geometrically.
double FewSuccesses(double count, double probability, Philox philox) {
  Doubles uniform(&philox);
  const double log_failure = std::log1p(-probability);
  double tried = 0, successes = 0;
  while (true) {
    tried += std::ceil(std::log(uniform()) / log_failure);
    if (tried > count) return successes;
    successes += 1;
  }
}

// What Stirling's formula leaves out of log(k!).
double StirlingTail(double k) {
  static constexpr double kTails[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTails[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 + 1.0 / 1260 / square) / square) / (k + 1);
}

// Hormann's transformed rejection (BTRS).
double ManySuccesses(double count, double probability, Philox philox) {
  Doubles uniform(&philox);
  const double deviation = std::sqrt(count * probability * (1 - probability));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * probability;
  const double c = count * probability + 0.5, v_r = 0.92 - 4.2 / b, odds = probability / (1 - probability);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * probability);
  for (int tries = 0; tries < 10000; ++tries) {
    const double u = uniform() - 0.5, v = uniform(), shifted = 0.5 - std::abs(u);
    const double x = std::floor((2 * a / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= v_r) return x;
    if (!(x >= 0 && x <= count)) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - x + 1)) +
                         (x + 0.5) * std::log(odds * (count - x + 1) / (x + 1)) + StirlingTail(mode) +
                         StirlingTail(count - mode) - StirlingTail(x) - StirlingTail(count - x);
    if (std::log(v * alpha / (a / (shifted * shifted) + b)) <= bound) return x;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// The sample with this number.
double BinomialSample(const BinomialParameters::Batch& batch, const Philox& start, int64_t number) {
  constexpr int64_t kReservedForFew = 42;  // part of what numbers come out
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (batch.count <= 0 || batch.probability <= 0) return batch.failures && batch.count > 0 ? batch.count : 0;
  if (!std::isfinite(batch.count) || std::isnan(batch.probability)) return nan;
  binomial_ways.Enter(batch.many ? 1 : 0);
  const double sample = batch.many
                            ? ManySuccesses(batch.count, batch.probability, Skipped(start, kReservedPerOutput * number))
                            : FewSuccesses(batch.count, batch.probability, Skipped(start, kReservedForFew * number));
  return batch.failures ? batch.count - sample : sample;
}

// How a distribution is sampled is decided in the parameters' own type, as TensorFlow does.
template <class T>
void FillBatches(const Broadcast& plan, const Tensor& counts, const Tensor& probabilities,
                 std::vector<BinomialParameters::Batch>* batches) {
  const T *count = counts.data<T>(), *probability = probabilities.data<T>();
  ForEachRun(plan, 0, static_cast<int64_t>(batches->size()), [&](int64_t at, const int64_t* from, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const T c = count[from[0] + i * plan.strides[0].back()], p = probability[from[1] + i * plan.strides[1].back()];
      const bool failures = p > T(0.5);
      const T likely = failures ? T(1) - p : p;
      (*batches)[at + i] = {static_cast<double>(c), static_cast<double>(likely), failures, T(c * likely) >= T(10)};
    }
  });
}

double ValueAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF: return t.data<Half>()[i];
    case DT_BFLOAT16: return t.data<BFloat16>()[i];
    case DT_FLOAT: return t.data<float>()[i];
    case DT_DOUBLE: return t.data<double>()[i];
    case DT_INT32: return t.data<int32_t>()[i];
    default: return static_cast<double>(t.data<int64_t>()[i]);
  }
}

// The largest value of the type, as a double.
double Largest(DataType dtype) {
  switch (dtype) {
    case DT_HALF: return 65504;
    case DT_BFLOAT16:
    case DT_FLOAT: return std::numeric_limits<float>::max();
    case DT_DOUBLE: return std::numeric_limits<double>::max();
    case DT_INT32: return std::numeric_limits<int32_t>::max();
    default: return 9223372036854774784.0;  // the largest double that an int64 holds
  }
}

template <class I>
I ToInt(double v) {
  return v == v ? static_cast<I>(v) : 0;
}

void SetValue(Tensor* t, int64_t i, double v) {
  switch (t->dtype()) {
    case DT_HALF: t->mutable_data<Half>()[i] = Half(v); return;
    case DT_BFLOAT16: t->mutable_data<BFloat16>()[i] = BFloat16(v); return;
    case DT_FLOAT: t->mutable_data<float>()[i] = static_cast<float>(v); return;
    case DT_DOUBLE: t->mutable_data<double>()[i] = v; return;
    case DT_INT32: t->mutable_data<int32_t>()[i] = ToInt<int32_t>(v); return;
    default: t->mutable_data<int64_t>()[i] = ToInt<int64_t>(v);
  }
}

// Fills out[i * count + p] with sample(p, number) for i below num_samples and p below count. Samples are numbered
// parameter by parameter.
template <class F>
void ForEachSample(KernelContext& k, int64_t count, int64_t num_samples, Tensor* out, F sample) {
  k.Parallel(count * num_samples, 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i / num_samples;
      SetValue(out, i % num_samples * count + p, sample(p, i));
    }
  });
}

}  // namespace

int64_t CheckClasses(const Tensor& logits, const KernelContext& k, int num_samples_input) {
  k.Require(logits.rank() == 2, "logits should be a matrix, got shape ", logits.shape());
  const int64_t num_samples = k.Int(num_samples_input);
  k.Require(num_samples >= 0, "num_samples should be non-negative, got ", num_samples);
  k.Require(logits.dim(0) <= INT32_MAX && logits.dim(1) <= INT32_MAX, "logits.shape = ", logits.shape(),
            " too large for int");
  k.Require(logits.dim(1) > 0, "num_classes should be positive, got ", logits.dim(1));
  return num_samples;
}

uint64_t ClassesReserve(int64_t rows, int64_t num_samples) {
  return static_cast<uint64_t>(rows) * static_cast<uint64_t>((num_samples + 3) / 4 * 4 * 2) * kReservedPerOutput;
}

void SampleClasses(KernelContext& k, const Tensor& logits, int64_t num_samples, const Philox& start) {
  switch (logits.dtype()) {
    case DT_HALF: return ClassesOf<Half>(k, logits, num_samples, start);
    case DT_BFLOAT16: return ClassesOf<BFloat16>(k, logits, num_samples, start);
    case DT_FLOAT: return ClassesOf<float>(k, logits, num_samples, start);
    case DT_DOUBLE: return ClassesOf<double>(k, logits, num_samples, start);
    default: throw Unimplemented("drawing classes by logits of type ", logits.dtype());
  }
}

namespace {

// Each of n values but the last changes place with one behind it, or stays. The places are known some values ahead, so
// that they come from memory in time.
template <class T>
void ShuffleValues(T* values, int64_t n, const Philox& start) {
  constexpr int64_t kAhead = 32;
  PhiloxSingles singles(start);
  int64_t places[kAhead];
  for (int64_t first = 0; first + 1 < n; first += kAhead) {
    const int64_t count = std::min(kAhead, n - 1 - first);
    for (int64_t i = 0; i < count; ++i) {
      places[i] = first + i + singles() % static_cast<uint32_t>(n - first - i);
      __builtin_prefetch(values + places[i], 1);
    }
    for (int64_t i = 0; i < count; ++i) std::swap(values[first + i], values[places[i]]);
  }
}

}  // namespace

void ShuffleRows(KernelContext& k, const Philox& start) {
  const Tensor& value = k.input(0);
  if (value.num_elements() <= 1 || value.rank() == 0 || value.dim(0) <= 1) {
    shuffle_ways.Enter(0);
    k.SetOutput(0, value);
    return;
  }
  const int64_t rows = value.dim(0), width = value.num_elements() / rows;
  const bool values = width == 1 && DataTypeSize(value.dtype()) == 4 && IsPod(value.dtype());
  shuffle_ways.Enter(values ? 1 : 2);
  if (values) {
    Tensor& out = k.Output(0, value.shape());
    std::memcpy(out.mutable_raw(), value.raw(), static_cast<size_t>(rows) * 4);
    return ShuffleValues(static_cast<uint32_t*>(out.mutable_raw()), rows, start);
  }
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  ShuffleValues(order.data(), rows, start);
  Tensor& out = k.Output(0, value.shape());
  k.Parallel(rows, 4 + width / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) CopyElements(value, order[i] * width, width, &out, i * width);
  });
}

void SampleGamma(KernelContext& k, const Tensor& alpha, int64_t num_samples, const Philox& start, Tensor* out) {
  ForEachSample(k, alpha.num_elements(), num_samples, out, [&](int64_t p, int64_t i) {
    return GammaSample(ValueAt(alpha, p), Skipped(start, kReservedPerOutput * i));
  });
}

void SamplePoisson(KernelContext& k, const Tensor& rate, int64_t num_samples, const Philox& start, Tensor* out) {
  const double most = Largest(out->dtype());
  ForEachSample(k, rate.num_elements(), num_samples, out, [&](int64_t p, int64_t i) {
    return PoissonSample(ValueAt(rate, p), most, Skipped(start, kReservedPerOutput * i));
  });
}

BinomialParameters::BinomialParameters(const KernelContext& k, int wanted, int first) {
  k.Require(k.shape(wanted).rank() == 1, "Input shape should be a vector, got shape: ", k.shape(wanted));
  shape = k.ShapeInput(wanted);
  const Tensor &counts = k.input(first), &probabilities = k.input(first + 1);
  const Shape* const shapes[] = {&counts.shape(), &probabilities.shape()};
  const Broadcast plan = MakeBroadcast(shapes);
  bool fits = shape.rank() >= plan.out.rank();
  for (int i = 1; fits && i <= plan.out.rank(); ++i) {
    fits = shape[shape.rank() - i] == plan.out[plan.out.rank() - i];
  }
  k.Require(fits, "Shape passed in must end with broadcasted shape.");
  for (int i = 0; i < shape.rank() - plan.out.rank(); ++i) samples *= shape[i];
  batches.resize(plan.out.num_elements());
  if (batches.empty()) return;
  if (counts.dtype() == DT_HALF) {
    FillBatches<Half>(plan, counts, probabilities, &batches);
  } else if (counts.dtype() == DT_FLOAT) {
    FillBatches<float>(plan, counts, probabilities, &batches);
  } else {
    FillBatches<double>(plan, counts, probabilities, &batches);
  }
}

void SampleBinomial(KernelContext& k, const BinomialParameters& parameters, const Philox& start, Tensor* out) {
  const bool whole = IsInteger(out->dtype());
  const double most = Largest(out->dtype());
  ForEachSample(k, static_cast<int64_t>(parameters.batches.size()), parameters.samples, out, [&](int64_t p, int64_t i) {
    const double sample = BinomialSample(parameters.batches[p], start, i);
    return whole && sample > most ? most : sample;
  });
}

void RequirePhilox(int64_t algorithm) {
  constexpr int64_t kPhilox = 1, kThreeFry = 2, kAuto = 3;
  KernelContext::Require(algorithm != kThreeFry, "Non-XLA devices don't support the ThreeFry algorithm.");
  KernelContext::Require(algorithm == kPhilox || algorithm == kAuto, "Unsupported algorithm id: ", algorithm);
}

}  // namespace penstock::random
