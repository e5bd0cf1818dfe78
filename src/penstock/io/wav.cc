#include "penstock/io/wav.h"

#include <algorithm>
#include <cmath>

#include "penstock/base/status.h"

namespace penstock {
namespace {

void AppendLittle(std::string* out, int64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

}  // namespace

std::string EncodeWav(std::span<const float> samples, int64_t sample_rate, int64_t channels, int64_t frames) {
  constexpr int64_t kBytes = 2, kHeader = 44;
  if (sample_rate <= 0 || sample_rate > UINT32_MAX) {
    throw InvalidArgument("sample_rate must be in (0, 2^32), got: ", sample_rate);
  }
  if (channels <= 0 || channels > UINT16_MAX) {
    throw InvalidArgument("num_channels must be in (0, 2^16), got: ", channels);
  }
  if (frames < 0 || channels * frames != static_cast<int64_t>(samples.size())) {
    throw InvalidArgument("sound of ", frames, " frames and ", channels, " channels has ", samples.size(), " samples");
  }
  const int64_t data = frames * channels * kBytes;
  if (sample_rate * channels * kBytes > UINT32_MAX || data > int64_t{UINT32_MAX} - kHeader) {
    throw InvalidArgument("Provided channels and frames cannot be encoded as a WAV.");
  }
  std::string wav("RIFF");
  AppendLittle(&wav, data + kHeader - 8, 4);
  wav += "WAVEfmt ";
  AppendLittle(&wav, 16, 4);  // bytes of this part
  AppendLittle(&wav, 1, 2);   // linear samples
  AppendLittle(&wav, channels, 2);
  AppendLittle(&wav, sample_rate, 4);
  AppendLittle(&wav, sample_rate * channels * kBytes, 4);
  AppendLittle(&wav, channels * kBytes, 2);
  AppendLittle(&wav, 8 * kBytes, 2);
  wav += "data";
  AppendLittle(&wav, data, 4);
  for (const float sample : samples) {
    const float scaled = std::isnan(sample) ? 0.0f : std::clamp(std::round(sample * 32768.0f), -32768.0f, 32767.0f);
    AppendLittle(&wav, static_cast<int16_t>(scaled), 2);
  }
  return wav;
}

}  // namespace penstock
