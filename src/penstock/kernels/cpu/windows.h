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
