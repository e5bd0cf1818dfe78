// A dilated convolution with strides of one is several plain ones: windows that lie `dilation` apart see the same one
// of the images that every `dilation`-th pixel makes.

#include <algorithm>

#include "penstock/kernels/cpu/nn/conv_tiles.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {

Convolution WithoutDilation(const Convolution& c) {
  Convolution plain = c;
  for (int d = 0; d < 3; ++d) {
    const int64_t apart = c.w.dilation[d];
    if (c.w.stride[d] != 1) plain.w.batch = 0;
    plain.w.batch *= apart;
    plain.w.out[d] = CeilDiv(c.w.out[d], apart);
    plain.w.in[d] = plain.w.out[d] + c.w.filter[d] - 1;
    plain.w.dilation[d] = 1;
    plain.w.pad[d] = plain.w.pad_after[d] = 0;
  }
  return plain;
}

bool DilatedConvolve(const KernelContext& k, const Convolution& c, const Convolution& plain, const float* x,
                     const FilterView& filter, float* y, const Epilogue& epilogue, const HeldFilter* held) {
  const Windows &w = c.w, &p = plain.w;
  const int64_t apart = w.dilation[0] * w.dilation[1] * w.dilation[2];
  Tensor from = k.Temp(DT_FLOAT, Shape({p.batch * p.InPixels() * w.channels}));
  Tensor to = k.Temp(DT_FLOAT, Shape({p.batch * p.OutPixels() * c.out_channels}));
  // fn(image, where its line begins, the line and the first pixel in the whole image) for each line of a plain image;
  // `shift`: of the whole image's pixels.
  const auto each_line = [&](const int64_t (&size)[3], const int64_t (&shift)[3], int64_t channels, const auto& fn) {
    k.Parallel(p.batch * size[0] * size[1], std::max<int64_t>(1, size[2] * channels / 8),
               [&](int64_t begin, int64_t end) {
                 for (int64_t line = begin; line < end; ++line) {
                   const int64_t i1 = line % size[1], i0 = line / size[1] % size[0], image = line / (size[0] * size[1]);
                   const int64_t part = image % apart, b = image / apart;
                   const int64_t a2 = part % w.dilation[2], a1 = part / w.dilation[2] % w.dilation[1],
                                 a0 = part / (w.dilation[2] * w.dilation[1]);
                   fn(line * size[2] * channels, b, i0 * w.dilation[0] + a0 - shift[0],
                      i1 * w.dilation[1] + a1 - shift[1], a2 - shift[2]);
                 }
               });
  };
  const auto inside = [](const int64_t (&size)[3], int64_t i0, int64_t i1) {
    return i0 >= 0 && i0 < size[0] && i1 >= 0 && i1 < size[1];
  };
  float *const parts = from.mutable_data<float>(), *const results = to.mutable_data<float>();
  each_line(p.in, w.pad, w.channels, [&](int64_t at, int64_t b, int64_t i0, int64_t i1, int64_t i2) {
    const float* const line = x + ((b * w.in[0] + i0) * w.in[1] + i1) * w.in[2] * w.channels;
    const bool any = inside(w.in, i0, i1);
    for (int64_t i = 0; i < p.in[2]; ++i, i2 += w.dilation[2]) {
      float* const pixel = parts + at + i * w.channels;
      if (any && i2 >= 0 && i2 < w.in[2]) {
        std::copy_n(line + i2 * w.channels, w.channels, pixel);
      } else {
        std::fill_n(pixel, w.channels, 0.0f);
      }
    }
  });
  if (!TileConvolve(k, plain, parts, filter, results, epilogue, held)) return false;
  constexpr int64_t kNoShift[3] = {0, 0, 0};
  each_line(p.out, kNoShift, c.out_channels, [&](int64_t at, int64_t b, int64_t i0, int64_t i1, int64_t i2) {
    if (!inside(w.out, i0, i1)) return;
    float* const line = y + ((b * w.out[0] + i0) * w.out[1] + i1) * w.out[2] * c.out_channels;
    for (int64_t i = 0; i < p.out[2] && i2 < w.out[2]; ++i, i2 += w.dilation[2]) {
      std::copy_n(results + at + i * c.out_channels, c.out_channels, line + i2 * c.out_channels);
    }
  });
  return true;
}

}  // namespace penstock
