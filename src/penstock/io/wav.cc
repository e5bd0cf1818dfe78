#include "penstock/io/wav.h"

#include <algorithm>
#include <cmath>

#include "penstock/base/status.h"

namespace penstock {
namespace {

void AppendLittle(std::string* out, int64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

// The parts of a file, one after the other.
class Parts {
 public:
  explicit Parts(std::string_view file) : rest_(file) {}
  bool empty() const { return rest_.empty(); }
  std::string_view Text(size_t n) {
    if (n > rest_.size()) throw InvalidArgument("Data too short when trying to read string");
    const std::string_view text = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return text;
  }
  uint32_t Number(int bytes) {
    const std::string_view text = Text(static_cast<size_t>(bytes));
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(text[i])) << (8 * i);
    return value;
  }
  void Expect(std::string_view wanted) {
    const std::string_view found = Text(wanted.size());
    if (found != wanted) throw InvalidArgument("Header mismatch: Expected ", wanted, " but found ", found);
  }
  // What cannot be skipped ends the file.
  void Skip(size_t n) { rest_.remove_prefix(std::min(n, rest_.size())); }

 private:
  std::string_view rest_;
};

// The part that says what the samples are.
void ReadFormat(Parts& parts, WavSound* sound) {
  const uint32_t size = parts.Number(4);
  if (size != 16 && size != 18) {
    throw InvalidArgument("Bad format chunk size for WAV: Expected 16 or 18, but got", size);
  }
  const uint32_t format = parts.Number(2);
  if (format != 1) throw InvalidArgument("Bad audio format for WAV: Expected 1 (PCM), but got", format);
  sound->channels = parts.Number(2);
  if (sound->channels < 1) {
    throw InvalidArgument("Bad number of channels for WAV: Expected at least 1, but got ", sound->channels);
  }
  sound->sample_rate = parts.Number(4);
  const uint32_t bytes_per_second = parts.Number(4), bytes_per_frame = parts.Number(2), bits = parts.Number(2);
  if (bits != 16) throw InvalidArgument("Can only read 16-bit WAV files, but received ", bits);
  if (bytes_per_frame != 2 * sound->channels) {
    throw InvalidArgument("Bad bytes per sample in WAV header: Expected ", 2 * sound->channels, " but got ",
                          bytes_per_frame);
  }
  if (bytes_per_second != bytes_per_frame * sound->sample_rate) {
    throw InvalidArgument("Bad bytes per second in WAV header: Expected ", bytes_per_frame * sound->sample_rate,
                          " but got ", bytes_per_second, " (sample_rate=", sound->sample_rate,
                          ", bytes_per_sample=", bytes_per_frame, ")");
  }
  if (size == 18) parts.Skip(2);
}

}  // namespace

WavSound DecodeWav(std::string_view file) {
  Parts parts(file);
  parts.Expect("RIFF");
  parts.Number(4);
  parts.Expect("WAVE");
  WavSound sound;
  for (std::string_view name = parts.Text(4); name != "fmt "; name = parts.Text(4)) {
    if (name != "JUNK" && name != "bext" && name != "iXML") throw InvalidArgument("Unexpected field ", name);
    parts.Skip(parts.Number(4));
  }
  ReadFormat(parts, &sound);
  bool found = false;
  while (!parts.empty()) {
    const std::string_view name = parts.Text(4);
    const uint32_t size = parts.Number(4);
    if (size > INT32_MAX) {
      throw InvalidArgument("WAV data chunk '", name, "' is too large: ", size, " bytes, but the limit is ", INT32_MAX);
    }
    if (name != "data") {
      parts.Skip(size);
      continue;
    }
    if (found) throw InvalidArgument("More than one data chunk found in WAV");
    found = true;
    const size_t frame = 2 * static_cast<size_t>(sound.channels);
    Parts data(parts.Text(size / frame * frame));
    sound.samples.resize(size / frame * static_cast<size_t>(sound.channels));
    for (float& sample : sound.samples) sample = static_cast<float>(static_cast<int16_t>(data.Number(2))) / 32768.0f;
  }
  if (!found) throw InvalidArgument("No data chunk found in WAV");
  return sound;
}

std::string EncodeWav(std::span<const float> samples, int64_t sample_rate, int64_t channels, int64_t frames) {
  constexpr int64_t kBytes = 2, kHeader = 44;
  if (sample_rate < 0 || sample_rate > UINT32_MAX) {
    throw InvalidArgument("sample_rate must be in [0, 2^32), got: ", sample_rate);
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
