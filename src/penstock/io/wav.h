// WAV sound: 16-bit linear samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace penstock {

// Samples in [-1, 1], the channels of a frame side by side.
std::string EncodeWav(std::span<const float> samples, int64_t sample_rate, int64_t channels, int64_t frames);

}  // namespace penstock
