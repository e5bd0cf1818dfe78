#include "penstock/base/random.h"

#include <random>

#include "penstock/base/fork.h"

namespace penstock {

uint64_t NondeterministicSeed() {
  static ForkMutex mutex;
  static std::random_device device;
  std::lock_guard lock(mutex);
  return uint64_t{device()} << 32 | device();
}

SharedPhilox::SharedPhilox(int64_t seed, int64_t seed2) {
  if (seed == 0 && seed2 == 0) {
    seed = static_cast<int64_t>(NondeterministicSeed());
    seed2 = static_cast<int64_t>(NondeterministicSeed());
  }
  philox_ = Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2));
}

}  // namespace penstock
