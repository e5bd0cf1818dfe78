// Sound: WAV files, spectrograms, cepstral coefficients.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "penstock/io/wav.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/signal/fft.h"

namespace penstock {
namespace {

struct WavDecoder {
  int64_t channels, samples;
  explicit WavDecoder(const NodeView& node)
      : channels(node.attr<int64_t>("desired_channels")), samples(node.attr<int64_t>("desired_samples")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 0, "contents must be scalar, got shape ", k.shape(0));
    const WavSound sound = DecodeWav(*k.input(0).data<TString>());
    const int64_t rows = samples == -1 ? sound.frames() : samples, width = channels == -1 ? sound.channels : channels;
    k.Require(rows >= 0 && width >= 0, "desired sizes must not be negative: ", rows, ", ", width);
    const auto out = k.out<float>(0, Shape({rows, width}));
    for (int64_t i = 0; i < rows && width > 0; ++i) {
      for (int64_t c = 0; c < width; ++c) {
        // Channels that the file does not have repeat its last one.
        out[i * width + c] =
            i < sound.frames() ? sound.samples[i * sound.channels + std::min(c, sound.channels - 1)] : 0.0f;
      }
    }
    k.SetOutput(1, Tensor(static_cast<int32_t>(sound.sample_rate)));
  }
};

struct WavEncoder {
  void operator()(KernelContext& k) const {
    const Shape& audio = k.shape(0);
    k.Require(audio.rank() == 2, "audio must be 2-dimensional, but has shape ", audio);
    k.Require(k.shape(1).rank() == 0, "Input sample_rate should be a scalar tensor, got ", k.shape(1), " instead.");
    const int32_t rate = k.Scalar<int32_t>(1);
    k.Require(rate > 0, "sample_rate must be in (0, 2^32), got: ", rate);
    k.SetOutput(0, Tensor(TString(EncodeWav(k.in<float>(0), rate, audio[1], audio[0]))));
  }
};

// Squared magnitudes of windows of samples under a periodic Hann window, filled up with zeros to a power of two.
struct AudioSpectrogram {
  int64_t window, stride;
  bool squared;
  explicit AudioSpectrogram(const NodeView& node)
      : window(node.attr<int64_t>("window_size")),
        stride(node.attr<int64_t>("stride")),
        squared(node.attr<bool>("magnitude_squared")) {
    KernelContext::Require(window >= 2 && stride >= 1 && window <= (int64_t{1} << 30),
                           "Spectrogram initialization failed for window size ", window, " and stride ", stride);
  }
  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 2, "input must be 2-dimensional, but has shape ", in);
    const int64_t samples = in[0], channels = in[1];
    const auto length = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(window)));
    const int64_t width = 1 + length / 2, frames = samples < window ? 0 : 1 + (samples - window) / stride;
    const auto out = k.out<float>(0, Shape({channels, frames, width}));
    const float* x = k.in<float>(0).data();
    if (out.empty()) return;
    std::vector<double> hann(window);
    for (int64_t i = 0; i < window; ++i) {
      hann[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(window));
    }
    const int64_t half = length / 2, lanes = Fft<double>().lanes, all = channels * frames;
    const auto plan = FftPlan<double>::For(half);
    k.Parallel((all + lanes - 1) / lanes, 4 * lanes * length, [&](int64_t begin, int64_t end) {
      std::vector<double> memory(4 * width * lanes, 0.0);
      double* const m = memory.data();
      const Planes<double> a{m, m + width * lanes}, b{m + 2 * width * lanes, m + 3 * width * lanes};
      for (int64_t group = begin; group < end; ++group) {
        const int64_t first = group * lanes, count = std::min(lanes, all - first);
        for (int64_t l = 0; l < count; ++l) {
          const float* from = x + (first + l) % frames * stride * channels + (first + l) / frames;
          for (int64_t i = 0; i < length; ++i) {
            const double v = i < window ? hann[i] * static_cast<double>(from[i * channels]) : 0.0;
            double* const to = i % 2 ? a.im : a.re;
            to[i / 2 * lanes + l] = v;
          }
        }
        const Planes<double> z = plan->Run(a, b, lanes), y = z.re == a.re ? b : a;
        Fft<double>().join(half, lanes, plan->turns(), z.re, z.im, y.re, y.im);
        for (int64_t l = 0; l < count; ++l) {
          for (int64_t i = 0; i < width; ++i) {
            const double re = y.re[i * lanes + l], im = y.im[i * lanes + l];
            const auto power = static_cast<float>(re * re + im * im);
            out[(first + l) * width + i] = squared ? power : std::sqrt(power);
          }
        }
      }
    });
  }
};

// Triangular filters whose centres are equally far apart in mel, a scale of what is heard.
class MelFilters {
 public:
  MelFilters(int64_t bins, double sample_rate, int64_t channels, double lowest, double highest)
      : channels_(channels), channel_of_(bins, kUnused), weights_(bins, 0.0) {
    const double low = Mel(lowest), spacing = (Mel(highest) - low) / static_cast<double>(channels + 1);
    std::vector<double> centers(channels + 1);
    for (int64_t i = 0; i <= channels; ++i) centers[i] = low + spacing * static_cast<double>(i + 1);
    const double hertz = 0.5 * sample_rate / static_cast<double>(bins - 1);  // of one bin
    // The bin of constant signals never counts.
    begin_ = static_cast<int64_t>(std::min(1.5 + lowest / hertz, static_cast<double>(bins)));
    end_ = static_cast<int64_t>(std::min(highest / hertz, static_cast<double>(bins))) + 1;
    if (end_ > bins) begin_ = end_ = 0;  // too few frequencies: TensorFlow gives zeros
    int64_t channel = 0;
    for (int64_t i = begin_; i < end_; ++i) {
      const double mel = Mel(static_cast<double>(i) * hertz);
      while (channel < channels && centers[channel] < mel) ++channel;
      channel_of_[i] = channel - 1;  // its falling side, and the rising side of the one after it
      const double left = channel > 0 ? centers[channel - 1] : low;
      weights_[i] = (centers[channel] - mel) / (centers[channel] - left);
    }
  }
  bool reaches() const { return end_ > 0; }
  void Apply(const float* power, double* out) const {
    std::fill(out, out + channels_, 0.0);
    for (int64_t i = begin_; i < end_; ++i) {
      const double magnitude = std::sqrt(static_cast<double>(power[i])), falling = magnitude * weights_[i];
      const int64_t channel = channel_of_[i];
      if (channel >= 0) out[channel] += falling;
      if (channel + 1 < channels_) out[channel + 1] += magnitude - falling;
    }
  }

 private:
  static constexpr int64_t kUnused = -2;
  static double Mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }
  const int64_t channels_;
  int64_t begin_ = 0, end_ = 0;
  std::vector<int64_t> channel_of_;
  std::vector<double> weights_;
};

struct Mfcc {
  double highest, lowest;
  int64_t channels, coefficients;
  explicit Mfcc(const NodeView& node)
      : highest(node.attr<float>("upper_frequency_limit")),
        lowest(node.attr<float>("lower_frequency_limit")),
        channels(node.attr<int64_t>("filterbank_channel_count")),
        coefficients(node.attr<int64_t>("dct_coefficient_count")) {}
  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 3, "spectrogram must be 3-dimensional, but has shape ", in);
    k.Require(k.shape(1).rank() == 0, "Input sample_rate should be a scalar tensor, got ", k.shape(1), " instead.");
    const int32_t rate = k.Scalar<int32_t>(1);
    const int64_t bins = in[2], rows = in[0] * in[1];
    k.Require(channels >= 1 && channels <= (1 << 20) && coefficients >= 1 && coefficients <= channels && rate > 0 &&
                  bins >= 2 && lowest >= 0 && highest > lowest,
              "Mfcc initialization failed for channel count ", bins, ", sample rate ", rate, ", lower_frequency_limit ",
              lowest, ", upper_frequency_limit ", highest, ", filterbank_channel_count ", channels,
              " and dct_coefficient_count ", coefficients);
    const auto out = k.out<float>(0, Shape({in[0], in[1], coefficients}));
    const float* x = k.in<float>(0).data();
    if (out.empty()) return;
    const MelFilters filters(bins, rate, channels, lowest, highest);
    if (!filters.reaches()) return std::fill(out.begin(), out.end(), 0.0f);
    std::vector<double> cosines(coefficients * channels);
    const double norm = std::sqrt(2.0 / static_cast<double>(channels));
    const double step = std::numbers::pi / static_cast<double>(channels);
    for (int64_t i = 0; i < coefficients; ++i) {
      for (int64_t j = 0; j < channels; ++j) {
        cosines[i * channels + j] = norm * std::cos(static_cast<double>(i) * step * (static_cast<double>(j) + 0.5));
      }
    }
    k.Parallel(rows, 4 * bins + channels * (20 + coefficients), [&](int64_t begin, int64_t end) {
      std::vector<double> mel(channels);
      for (int64_t r = begin; r < end; ++r) {
        filters.Apply(x + r * bins, mel.data());
        for (double& v : mel) v = std::log(v < 1e-12 ? 1e-12 : v);
        for (int64_t i = 0; i < coefficients; ++i) {
          double sum = 0;
          for (int64_t j = 0; j < channels; ++j) sum += cosines[i * channels + j] * mel[j];
          out[r * coefficients + i] = static_cast<float>(sum);
        }
      }
    });
  }
};

}  // namespace

void RegisterAudioKernels(KernelRegistry& kernels) {
  kernels.Add<WavDecoder>("DecodeWav");
  kernels.Add<WavEncoder>("EncodeWav");
  kernels.Add<AudioSpectrogram>("AudioSpectrogram");
  kernels.Add<Mfcc>("Mfcc");
}

}  // namespace penstock
