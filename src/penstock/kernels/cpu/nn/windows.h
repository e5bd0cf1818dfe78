// Windows over images and volumes, as kernels of convolutions and pools see them: always three spatial dimensions (the
// first of size 1 for images), channels last.
#pragma once

#include <string>
#include <vector>

#include "penstock/kernel/kernel_context.h"
#include "penstock/op/data_format.h"

namespace penstock {

// The attributes that such ops share, read once. InvalidArgument if they make no sense.
struct WindowAttrs {
  explicit WindowAttrs(const NodeView& node, int spatial = 2);
  DataFormat format;
  std::string padding;
  std::vector<int64_t> strides, dilations, explicit_pads, ksize;  // by dimension of the tensor; ksize may be empty
};

struct Windows {
  int64_t batch = 1, channels = 1;
  int64_t in[3] = {1, 1, 1}, filter[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {0, 0, 0}, pad_after[3] = {0, 0, 0};

  int64_t InPixels() const { return in[0] * in[1] * in[2]; }
  int64_t OutPixels() const { return out[0] * out[1] * out[2]; }
  int64_t Taps() const { return filter[0] * filter[1] * filter[2]; }

  // The input pixel under tap `tap` of output pixel `pixel`'s window; -1 if it lies outside of the image.
  int64_t PixelUnder(int64_t pixel, int64_t tap) const {
    const int64_t at[3] = {pixel / (out[1] * out[2]), pixel / out[2] % out[1], pixel % out[2]};
    const int64_t of[3] = {tap / (filter[1] * filter[2]), tap / filter[2] % filter[1], tap % filter[2]};
    int64_t under = 0;
    for (int d = 0; d < 3; ++d) {
      const int64_t i = at[d] * stride[d] - pad[d] + of[d] * dilation[d];
      if (i < 0 || i >= in[d]) return -1;
      under = under * in[d] + i;
    }
    return under;
  }
};

// Input of this shape, in the attributes' format, under windows of `filter` (spatial sizes). InvalidArgument if the
// output would be negative.
Windows MakeWindows(const WindowAttrs& attrs, const Shape& input, std::span<const int64_t> filter);
// The shape of a tensor with these sizes, in the format.
Shape ImageShape(const DataFormat& format, int64_t batch, const int64_t* spatial, int64_t channels);

// The tensor with channels last: itself, or a transposed copy.
Tensor ChannelsLast(const KernelContext& k, const Tensor& t, const DataFormat& format);
// Copies a channels-last tensor into `to`, of the same image in the given format.
void FromChannelsLast(const KernelContext& k, const Tensor& from, const DataFormat& format, Tensor& to);

}  // namespace penstock
