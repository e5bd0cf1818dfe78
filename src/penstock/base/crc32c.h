// CRC-32C (Castagnoli), and the masked form that files store.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// The checksum of what `crc` is the checksum of, followed by `bytes`. Starts at 0.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);
inline uint32_t Crc32c(std::string_view bytes) { return ExtendCrc32c(0, bytes); }

// A checksum of bytes that contain checksums is weak, so stored ones are rotated and shifted.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace penstock
