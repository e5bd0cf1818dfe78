// Convolution on raw memory, channels last, filters [taps, in / groups, out]: what the kernels of conv.cc have in
// common.
#pragma once

#include "penstock/kernels/cpu/nn/windows.h"

namespace penstock {

struct Convolution {
  Windows w;  // w.channels: of the input
  int64_t out_channels = 1;
  int64_t groups = 1;  // the filter sees channels / groups of the input

  int64_t GroupIn() const { return w.channels / groups; }
  int64_t GroupOut() const { return out_channels / groups; }
};

// Windows of one pixel, each next to the last: the input is its own unrolled form.
bool IsProduct(const Convolution& c);

struct HeldFilter;  // packed_filter.h

// What is done to the results of a forward convolution of floats or doubles while they are in the cache: y + bias, or
// (y - mean) * scale + bias, and an activation. One element for each output channel.
struct Epilogue {
  enum Activation { kNone, kRelu, kRelu6, kElu, kLeakyRelu };
  const void* bias = nullptr;  // null: there is no epilogue
  const void *mean = nullptr, *scale = nullptr;
  Activation activation = kNone;
  float alpha = 0;  // of kLeakyRelu

  // To `rows` rows of `n` results, `stride` apart, of the channels from `channel` on.
  void Apply(DataType type, void* y, int64_t rows, int64_t n, int64_t stride, int64_t channel) const;
};

// y = x * filter. type: float, double or int32.
void ConvForward(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* filter,
                 void* y, const Epilogue& epilogue = {}, const HeldFilter* held = nullptr);
// dx from dy
void ConvInputGrad(const KernelContext& k, DataType type, const Convolution& c, const void* filter, const void* dy,
                   void* dx);
// The filter's gradient
void ConvFilterGrad(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* dy,
                    void* dfilter);

}  // namespace penstock
