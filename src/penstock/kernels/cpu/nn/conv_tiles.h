// Forward convolutions of floats by the loops of conv_loops.h: sums of products, or Winograd's way where it is cheaper.
#pragma once

#include <optional>

#include "penstock/kernels/cpu/nn/conv_loops.h"
#include "penstock/kernels/cpu/nn/convolve.h"

namespace penstock {

// A filter in memory: the tap t from input channel i to output channel o of group g, each counted within the group, at
// data[t * tap + i * in + o * out + g * group]. A gradient sees the taps backwards and the channels exchanged.
struct FilterView {
  const float* data = nullptr;
  int64_t tap = 0, in = 0, out = 0, group = 0;
};

// y = x * filter with the epilogue. False if this is not the fastest way; nothing has been computed then. Which way is
// taken depends on shapes only; results of Winograd's that are not finite are computed again as sums of products.
bool TileConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                  const Epilogue& epilogue, const HeldFilter* held);

// As TileConvolve, one way each.
void SumConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                 const Epilogue& epilogue, const HeldFilter* held);
// The side of Winograd's tiles for this convolution: 2 or 4; 0 if it can not or should not be computed so.
int WinogradSide(const Convolution& c);
// False if results are not finite.
bool WinogradConvolve(const KernelContext& k, const Convolution& c, int side, const float* x, const FilterView& filter,
                      float* y, const Epilogue& epilogue, const HeldFilter* held);

// The same for depthwise convolutions of few channels.
bool ThinConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                  const Epilogue& epilogue);
// The plain convolution of which a dilated one consists, over more images; no images if there is none.
Convolution WithoutDilation(const Convolution& c);
// A dilated convolution by way of that one.
bool DilatedConvolve(const KernelContext& k, const Convolution& c, const Convolution& plain, const float* x,
                     const FilterView& filter, float* y, const Epilogue& epilogue, const HeldFilter* held);

// An epilogue as tiles do it, if they can. It points into `epilogue`.
std::optional<TileEpilogue> InTiles(const Epilogue& epilogue);

}  // namespace penstock
