// WAV sound: 16-bit linear samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Samples in [-1, 1], the channels of a frame side by side.
std::string EncodeWav(std::span<const float> samples, int64_t sample_rate, int64_t channels, int64_t frames);

struct WavSound {
  int64_t channels = 1;
  uint32_t sample_rate = 0;
  std::vector<float> samples;  // in [-1, 1), the channels of a frame side by side
  int64_t frames() const { return static_cast<int64_t>(samples.size()) / channels; }
};
WavSound DecodeWav(std::string_view file);  // InvalidArgument: no such file

}  // namespace penstock
