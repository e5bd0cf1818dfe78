// Sound: WAV files, and what speech recognition makes of samples.
#include <bit>

#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// An attribute that is a size, or -1 for what is found in the file.
int64_t SizeOrUnknown(ShapeContext& c, const char* attribute, const char* what) {
  const int64_t size = c.attr<int64_t>(attribute);
  if (size < -1) throw InvalidArgument(what, " must be non-negative, got ", size);
  return size;
}

void SpectrogramShape(ShapeContext& c) {
  const PartialShape input = c.WithRank(0, 2);
  const int64_t window = c.attr<int64_t>("window_size"), stride = c.attr<int64_t>("stride");
  if (window < 2 || stride < 1 || window > (int64_t{1} << 30)) {
    throw InvalidArgument("Spectrogram initialization failed for window size ", window, " and stride ", stride);
  }
  const int64_t samples = input.known_rank() ? input[0] : -1;
  const int64_t frames = samples < 0 ? -1 : samples < window ? 0 : 1 + (samples - window) / stride;
  c.out(0, PartialShape({input.known_rank() ? input[1] : -1, frames,
                         static_cast<int64_t>(1 + std::bit_ceil(static_cast<uint64_t>(window)) / 2)}));
}

}  // namespace

void RegisterAudioOps(OpRegistry& ops) {
  ops.Add("DecodeWav")
      .Input("contents: string").Output("audio: float").Output("sample_rate: int32")
      .Attr("desired_channels: int = -1").Attr("desired_samples: int = -1")
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        const int64_t samples = SizeOrUnknown(c, "desired_samples", "samples");
        c.out(0, PartialShape({samples, SizeOrUnknown(c, "desired_channels", "channels")}));
        c.out(1, PartialShape({}));
      })
      .Doc("The samples of a 16-bit WAV file in [-1, 1), [samples, channels]; cut or filled up if sizes are given.");
  ops.Add("EncodeWav")
      .Input("audio: float").Input("sample_rate: int32").Output("contents: string")
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 2);
        c.WithRank(1, 0);
        c.out(0, PartialShape({}));
      })
      .Doc("A 16-bit WAV file of samples in [-1, 1].");
  ops.Add("AudioSpectrogram")
      .Input("input: float").Output("spectrogram: float").Attr("window_size: int").Attr("stride: int")
      .Attr("magnitude_squared: bool = false").Shape(SpectrogramShape)
      .Doc("Magnitudes of the frequencies in windows of samples: [channels, windows, frequencies].");
  ops.Add("Mfcc")
      .Input("spectrogram: float").Input("sample_rate: int32").Output("output: float")
      .Attr("upper_frequency_limit: float = 4000").Attr("lower_frequency_limit: float = 20")
      .Attr("filterbank_channel_count: int = 40").Attr("dct_coefficient_count: int = 13")
      .Shape([](ShapeContext& c) {
        const PartialShape in = c.WithRank(0, 3);
        c.WithRank(1, 0);
        const int64_t count = c.attr<int64_t>("dct_coefficient_count");
        if (count < 1) throw InvalidArgument("dct_coefficient_count must be positive, not ", count);
        c.out(0, PartialShape({in.known_rank() ? in[0] : -1, in.known_rank() ? in[1] : -1, count}));
      })
      .Doc("Mel-frequency cepstral coefficients of squared magnitudes' spectrograms.");
}

}  // namespace penstock
