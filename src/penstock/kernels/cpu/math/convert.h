// Conversions between the types that tensors have and those that kernels compute in.
#pragma once

#include "penstock/kernels/cpu/loops.h"

namespace penstock {

// The loop from any real type to float, double or int64, or back from float and double to floating-point types and from
// int64 to integers, which wrap. Internal for other pairs.
UnaryLoop ConversionLoop(DataType from, DataType to);

}  // namespace penstock
