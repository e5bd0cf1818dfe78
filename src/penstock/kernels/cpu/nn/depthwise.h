// Convolutions in which each channel of the input has results of its own, of floats or doubles: sums of products of
// pixels with all their channels. The arguments are those of convolve.h.
#pragma once

#include "penstock/kernels/cpu/nn/convolve.h"

namespace penstock {

// More results than this for one channel are products of matrices rather.
inline constexpr int64_t kMostRepeats = 8;

void DepthwiseForward(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* filter,
                      void* y, const Epilogue& epilogue);
void DepthwiseInputGrad(const KernelContext& k, DataType type, const Convolution& c, const void* filter, const void* dy,
                        void* dx);
void DepthwiseFilterGrad(const KernelContext& k, DataType type, const Convolution& c, const void* x, const void* dy,
                         void* dfilter);

}  // namespace penstock
