#include "penstock/kernels/cpu/random_samplers.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "penstock/tensor/elements.h"

namespace penstock::random {
namespace {

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
  if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
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

double ValueAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF:
      return t.data<Half>()[i];
    case DT_BFLOAT16:
      return t.data<BFloat16>()[i];
    case DT_FLOAT:
      return t.data<float>()[i];
    case DT_DOUBLE:
      return t.data<double>()[i];
    case DT_INT32:
      return t.data<int32_t>()[i];
    default:
      return static_cast<double>(t.data<int64_t>()[i]);
  }
}

// The largest value of the type, as a double.
double Largest(DataType dtype) {
  switch (dtype) {
    case DT_HALF:
      return 65504;
    case DT_BFLOAT16:
    case DT_FLOAT:
      return std::numeric_limits<float>::max();
    case DT_DOUBLE:
      return std::numeric_limits<double>::max();
    case DT_INT32:
      return std::numeric_limits<int32_t>::max();
    default:
      return 9223372036854774784.0;  // the largest double that an int64 holds
  }
}

template <class I>
I ToInt(double v) {
  return v == v ? static_cast<I>(v) : 0;
}

void SetValue(Tensor* t, int64_t i, double v) {
  switch (t->dtype()) {
    case DT_HALF:
      t->mutable_data<Half>()[i] = Half(v);
      return;
    case DT_BFLOAT16:
      t->mutable_data<BFloat16>()[i] = BFloat16(v);
      return;
    case DT_FLOAT:
      t->mutable_data<float>()[i] = static_cast<float>(v);
      return;
    case DT_DOUBLE:
      t->mutable_data<double>()[i] = v;
      return;
    case DT_INT32:
      t->mutable_data<int32_t>()[i] = ToInt<int32_t>(v);
      return;
    default:
      t->mutable_data<int64_t>()[i] = ToInt<int64_t>(v);
  }
}

// Fills out[sample * parameters + p] with sample(parameter p, stream). Streams are counted parameter by parameter.
template <class F>
void ForEachSample(KernelContext& k, const Tensor& parameters, int64_t num_samples, const Philox& start, Tensor* out,
                   F sample) {
  const int64_t count = parameters.num_elements();
  k.Parallel(count * num_samples, 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Philox philox = start;
      philox.Skip(static_cast<uint64_t>(kReservedPerOutput * i));
      const int64_t p = i / num_samples;
      SetValue(out, i % num_samples * count + p, sample(ValueAt(parameters, p), philox));
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
    case DT_HALF:
      return ClassesOf<Half>(k, logits, num_samples, start);
    case DT_BFLOAT16:
      return ClassesOf<BFloat16>(k, logits, num_samples, start);
    case DT_FLOAT:
      return ClassesOf<float>(k, logits, num_samples, start);
    case DT_DOUBLE:
      return ClassesOf<double>(k, logits, num_samples, start);
    default:
      throw Unimplemented("drawing classes by logits of type ", logits.dtype());
  }
}

void ShuffleRows(KernelContext& k, const Philox& start) {
  const Tensor& value = k.input(0);
  if (value.num_elements() <= 1 || value.rank() == 0 || value.dim(0) <= 1) {
    k.SetOutput(0, value);
    return;
  }
  const int64_t rows = value.dim(0), width = value.num_elements() / rows;
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  PhiloxSingles singles(start);
  for (int64_t i = 0; i + 1 < rows; ++i) std::swap(order[i], order[i + singles() % static_cast<uint32_t>(rows - i)]);
  Tensor& out = k.Output(0, value.shape());
  k.Parallel(rows, 4 + width / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) CopyElements(value, order[i] * width, width, &out, i * width);
  });
}

void SampleGamma(KernelContext& k, const Tensor& alpha, int64_t num_samples, const Philox& start, Tensor* out) {
  ForEachSample(k, alpha, num_samples, start, out, GammaSample);
}

void SamplePoisson(KernelContext& k, const Tensor& rate, int64_t num_samples, const Philox& start, Tensor* out) {
  const double most = Largest(out->dtype());
  ForEachSample(k, rate, num_samples, start, out,
                [most](double r, const Philox& p) { return PoissonSample(r, most, p); });
}

}  // namespace penstock::random
