// Choice by a comparison, without the tensor of bools between them.
#pragma once

#include "penstock/op/op_def.h"
#include "penstock/tensor/types.h"

namespace penstock {

// out[i] = in[2][i * step[2]] where the comparison of in[0][i * step[0]] and in[1][i * step[1]] holds, else
// in[3][i * step[3]]. Steps are 0 or 1; out may be any of the inputs.
using ComparedSelectLoop = void (*)(const void* const in[4], const int64_t step[4], void* out, int64_t n);

// The loop of _SelectLess and its like for floats or doubles. Null: another op.
ComparedSelectLoop ComparedSelectLoopOf(const OpDef& op, DataType type);

}  // namespace penstock
