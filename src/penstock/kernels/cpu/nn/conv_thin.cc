// Depthwise convolutions of few channels: vectors hold several pixels with all their channels, since a vector of
// channels of one pixel would be mostly empty.
#include <algorithm>
#include <cmath>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_tiles.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {
namespace {

enum class Way { kNotFinite, kOneResult, kRepeated };
constinit BranchTable<3> ways{"convolution/thin",
                              {"weights not finite", "one result a channel", "several results a channel"}};

}  // namespace

bool ThinConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                  const Epilogue& epilogue) {
  const Windows& w = c.w;
  const int64_t channels = c.out_channels;
  if (c.groups != w.channels || channels > kMostThinVectors || w.in[0] != 1 || w.out[0] != 1 || w.filter[0] != 1 ||
      w.stride[2] != 1 || w.Taps() == 1 || epilogue.bias) {
    return false;
  }
  const ConvLoops& loops = *CpuLoops().conv;
  const int64_t repeat = channels / w.channels;  // results of one input channel
  const int64_t n = channels * loops.lanes * std::max<int64_t>(1, kMostThinVectors / channels), pixels = n / channels;
  const int64_t taps = w.Taps();
  std::vector<float> weights(taps * n);
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t group = i % channels / repeat, out = i % repeat;
      weights[t * n + i] = filter.data[t * filter.tap + out * filter.out + group * filter.group];
    }
  }
  // The border is multiplied as zeros: an infinite weight would make NaN of it.
  const bool finite = std::all_of(weights.begin(), weights.end(), [](float f) { return std::isfinite(f); });
  ways.Enter(!finite ? Way::kNotFinite : repeat == 1 ? Way::kOneResult : Way::kRepeated);
  if (!finite) return false;
  // Each channel of the input as often as it has results, with the borders; a block at the end may reach beyond a line.
  const int64_t rows = (w.out[1] - 1) * w.stride[1] + (w.filter[1] - 1) * w.dilation[1] + 1;
  const int64_t columns = CeilDiv(w.out[2], pixels) * pixels + (w.filter[2] - 1) * w.dilation[2],
                line = columns * channels;
  Tensor padded = k.Temp(DT_FLOAT, Shape({w.batch, rows, line}));
  float* const image = padded.mutable_data<float>();
  k.Parallel(w.batch * rows, line, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t i1 = r % rows - w.pad[1], b = r / rows;
      float* to = image + r * line;
      if (i1 < 0 || i1 >= w.in[1]) {
        std::fill_n(to, line, 0.0f);
        continue;
      }
      const int64_t before = std::min(w.pad[2], columns), inside = std::clamp<int64_t>(columns - before, 0, w.in[2]);
      to = std::fill_n(to, before * channels, 0.0f);
      const float* const from = x + (b * w.in[1] + i1) * w.in[2] * w.channels;
      if (repeat == 1) {
        to = std::copy_n(from, inside * channels, to);
      } else {
        for (int64_t i = 0; i < inside * w.channels; ++i) to = std::fill_n(to, repeat, from[i]);
      }
      std::fill(to, image + (r + 1) * line, 0.0f);
    }
  });
  std::vector<int64_t> offsets(taps);
  for (int64_t t = 0; t < taps; ++t) {
    offsets[t] = t / w.filter[2] * w.dilation[1] * line + t % w.filter[2] * w.dilation[2] * channels;
  }
  const int64_t width = w.out[2] * channels;
  k.Parallel(w.batch * w.out[1], std::max<int64_t>(1, width * taps / 16), [&](int64_t begin, int64_t end) {
    std::vector<float> last(n);
    for (int64_t r = begin; r < end; ++r) {
      const float* const from = image + (r / w.out[1] * rows + r % w.out[1] * w.stride[1]) * line;
      float* const to = y + r * width;
      for (int64_t at = 0; at < width; at += n) {
        const bool whole = at + n <= width;
        loops.taps(from + at, offsets.data(), taps, weights.data(), n, whole ? to + at : last.data());
        if (!whole) std::copy_n(last.begin(), width - at, to + at);
      }
    }
  });
  return true;
}

}  // namespace penstock
