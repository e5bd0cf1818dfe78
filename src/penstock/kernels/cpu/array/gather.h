// Rows picked by indices: what Gather, and the reading of rows of a variable, share.
#pragma once

#include "penstock/kernel/kernel.h"

namespace penstock {

// params is [batches, outer, limit, inner], the result [batches, outer, indices of a batch, inner].
struct GatherSizes {
  int64_t batches, outer, limit, inner;
};

// Fills `out`, which is not empty. InvalidArgument: an index that is not in [0, limit).
void GatherInto(const KernelContext& k, const Tensor& params, const Tensor& indices, const GatherSizes& sizes,
                Tensor& out);

}  // namespace penstock
