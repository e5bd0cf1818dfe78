// Integers below a bound, drawn as TensorFlow draws them one at a time.
#pragma once

#include <limits>

#include "penstock/base/random.h"

namespace penstock {

inline uint64_t Next64(PhiloxSingles& singles) {
  const uint32_t low = singles(), high = singles();
  return low | uint64_t{high} << 32;
}

// Uniform in [0, n), of numbers that are uniform among all of their type.
template <class T, class Next>
T Below(T n, Next next) {
  if ((n & (n - 1)) == 0) return next() & (n - 1);
  // Numbers below `rest` are drawn again: those above are a multiple of n many.
  const T rest = static_cast<T>(std::numeric_limits<T>::max() % n + 1);
  T drawn = next();
  while (drawn < rest) drawn = next();
  return drawn % n;
}

}  // namespace penstock
