// Permutations of [0, n) that are computed number by number, without a table: TensorFlow's, for the same keys.
#pragma once

#include <array>
#include <cstdint>

namespace penstock {

// Where `index` goes in the permutation of [0, max_index] that the key and the number of rounds (even, 4 or more) stand
// for. `index` is at most `max_index`.
uint64_t ShuffledIndex(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int rounds);

}  // namespace penstock
