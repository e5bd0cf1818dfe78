// Where the iterators of one dataset get their seeds from.
#pragma once

#include <mutex>

#include "penstock/base/random.h"
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// Random numbers as TensorFlow's datasets draw them: one 32-bit number at a time, and how many were drawn.
class Drawn {
 public:
  Drawn() = default;
  Drawn(int64_t seed, int64_t seed2) { Reset(seed, seed2, 0); }
  uint32_t operator()() {
    ++count_;
    return numbers_();
  }
  void Visit(State& state);

 private:
  void Reset(int64_t seed, int64_t seed2, int64_t count);
  int64_t seed_ = 0, seed2_ = 0, count_ = 0;
  PhiloxSingles numbers_{Philox()};
};

// Thread-safe. With `reshuffle` each iterator gets other seeds, else all get those that were given.
class SeedGenerator final : public SharedState {
 public:
  SeedGenerator(int64_t seed, int64_t seed2, bool reshuffle);
  Drawn Next();
  // The next two seeds, that `Next` draws with.
  std::pair<int64_t, int64_t> NextPair();
  // The two that it was made with.
  std::pair<int64_t, int64_t> seeds() const { return {seed_, seed2_}; }
  void Visit(State& state) override;
  std::string DebugString() const override { return "SeedGenerator"; }

 private:
  int64_t seed_, seed2_;
  const bool reshuffle_;
  std::mutex mutex_;
  Drawn drawn_;
};

// How a dataset gets its generator: from the input `seed_generator`, which all iterators share; if that names none, one
// of its own with the inputs `seed` and `seed2`; ops without such an input have one for each iteration and place in it.
class Seeds {
 public:
  Seeds(DatasetArgs& args, bool reshuffle);
  Ref<SeedGenerator> For(const Place& place) const;
  // Saves or restores the generator that all iterators share.
  void Visit(State& state) const {
    if (shared_) state.Inside("seeds", [&] { shared_->Visit(state); });
  }

 private:
  int64_t seed_ = 0, seed2_ = 0;
  const bool reshuffle_;
  Ref<SeedGenerator> shared_;
};

}  // namespace penstock::data
