// Hashes of strings that programs and files depend on.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// MurmurHash64A, on little-endian words.
uint64_t MurmurHash64(std::string_view bytes, uint64_t seed);
// SipHash-2-4.
uint64_t SipHash(std::string_view bytes, uint64_t key0, uint64_t key1);

}  // namespace penstock
