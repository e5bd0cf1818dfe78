// What ops are to algebra: the facts that rewriting rules rest on, beside the definitions of the ops.
#pragma once

#include <cstdint>

#include "penstock/op/op_def.h"

namespace penstock {

enum class Algebra : uint8_t {
  kNone,
  kIdentity,  // output 0 is input 0, and nothing else happens
  kAdd,
  kSum,  // of all inputs, of one shape
  kSubtract,
  kMultiply,
  kDivide,      // exact division: x / 1 is x
  kInvolution,  // f(f(x)) is x, bit by bit
  kIdempotent,  // f(f(x)) is f(x), bit by bit
  kTranspose,   // by the permutation in input 1
  kReshape,     // same elements in the same order under another shape
  kCast,
  kProduct,    // may be fused with what follows: "_Fused" + name is the fused op
  kAddBias,    // a vector added along the channels
  kRectifier,  // idempotent, too; may end a fused op
  kTotal,      // sums along axes
  kSplit,      // into equal parts along an axis: the axis in input 0
  kConcat,     // along an axis: in the last input
  kNormalize,  // batch normalisation: x, scale, offset, mean, variance
};

// kNone for ops that no rule knows.
Algebra AlgebraOf(const OpDef& op);

}  // namespace penstock
