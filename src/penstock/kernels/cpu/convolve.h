// Convolution on raw memory, channels last, filters [taps, in / groups, out]: what the kernels of conv.cc have in
// common.
#pragma once

#include "penstock/kernels/cpu/windows.h"

namespace penstock {

struct Convolution {
  Windows w;  // w.channels: of the input
  int64_t out_channels = 1;
  int64_t groups = 1;  // the filter sees channels / groups of the input

  int64_t GroupIn() const { return w.channels / groups; }
  int64_t GroupOut() const { return out_channels / groups; }
};

// y = x * filter. type: float, double or int32.
void ConvForward(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* filter,
                 void* y);
// dx from dy
void ConvInputGrad(const KernelContext& k, DataType type, const Convolution& c, const void* filter, const void* dy,
                   void* dx);
// The filter's gradient
void ConvFilterGrad(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* dy,
                    void* dfilter);

}  // namespace penstock
