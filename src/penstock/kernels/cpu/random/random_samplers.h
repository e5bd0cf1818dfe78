// Samplers that stateful and stateless random ops share.
#pragma once

#include <vector>

#include "penstock/kernels/cpu/random/random_fill.h"

namespace penstock::random {

// The shape in input i: a vector, unlike KernelContext::ShapeInput's, which may be one number.
inline Shape WantedShape(const KernelContext& k, int i) {
  k.Require(k.shape(i).rank() == 1, "shape must be a vector of {int32,int64}, got shape ", k.shape(i));
  return k.ShapeInput(i);
}

// The generator that a seed of two numbers, an input, stands for: scrambled, so that any two different seeds will do.
Philox FromSeed(const KernelContext& k, int input);

// Uniform integers in [low, low + range).
template <class T>
struct UniformInt {
  using Type = T;
  using U = std::make_unsigned_t<T>;
  static constexpr bool kVariable = false;
  static constexpr int kCount = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kCost = 6;
  U low, range;
  UniformInt(T lo, T hi) : low(static_cast<U>(lo)), range(static_cast<U>(hi) - static_cast<U>(lo)) {}
  void operator()(const uint32_t* g, T* out) const {
    for (int i = 0; i < kCount; ++i) {
      if constexpr (sizeof(T) == 8) {
        out[i] = static_cast<T>(low + (g[2 * i] | uint64_t{g[2 * i + 1]} << 32) % range);
      } else {
        out[i] = static_cast<T>(low + g[i] % range);
      }
    }
  }
};

// All bits random.
template <class T>
struct FullInt {
  using Type = T;
  static constexpr bool kVariable = false;
  static constexpr int kCount = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kCost = 4;
  void operator()(const uint32_t* g, T* out) const {
    for (int i = 0; i < kCount; ++i) {
      out[i] = sizeof(T) == 8 ? static_cast<T>(g[2 * i] | uint64_t{g[2 * i + 1]} << 32) : static_cast<T>(g[i]);
    }
  }
};

// Draws `num_samples` classes for each row of logits (half, bfloat16, float or double) into output 0.
void SampleClasses(KernelContext& k, const Tensor& logits, int64_t num_samples, const Philox& start);
// How many groups that takes from the stream.
uint64_t ClassesReserve(int64_t rows, int64_t num_samples);
// logits and num_samples, checked.
int64_t CheckClasses(const Tensor& logits, const KernelContext& k, int num_samples_input);

// Rows of input 0 in random order as output 0.
void ShuffleRows(KernelContext& k, const Philox& start);

// Gamma samples: output [samples..., alphas...]; alpha and output of one floating type.
void SampleGamma(KernelContext& k, const Tensor& alpha, int64_t num_samples, const Philox& start, Tensor* out);
// Poisson samples: output [samples..., rates...]; any of half, float, double, int32, int64 on both sides.
void SamplePoisson(KernelContext& k, const Tensor& rate, int64_t num_samples, const Philox& start, Tensor* out);

// Binomial samples of parameters that two inputs hold, from `first` on: counts and probabilities (half, float, double).
struct BinomialParameters {
  // InvalidArgument: the shape in input `wanted` does not end with the shape that the two have together.
  BinomialParameters(const KernelContext& k, int wanted, int first);
  struct Batch {
    double count, probability;  // at most one half: of failures if `failures`
    bool failures, many;        // many: sampled by rejection
  };
  Shape shape;
  int64_t samples = 1;  // of each batch
  std::vector<Batch> batches;
};
void SampleBinomial(KernelContext& k, const BinomialParameters& parameters, const Philox& start, Tensor* out);

// InvalidArgument unless the number names Philox, or leaves the choice.
void RequirePhilox(int64_t algorithm);

}  // namespace penstock::random
