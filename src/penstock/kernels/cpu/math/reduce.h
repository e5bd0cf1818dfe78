// Reductions of one array, on raw memory; reduction.cc makes kernels of it, others may call it directly.
#pragma once

#include "penstock/kernel/kernel_context.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {

// Which axes a reduction runs over, with neighbouring axes of one kind joined.
struct ReductionPlan {
  Shape out, out_kept;         // without the reduced axes; with 1 in their place
  std::vector<int64_t> sizes;  // joined; sizes of 1 left out
  std::vector<bool> reduced;   // alternating
  int64_t count = 1;           // elements that go into each result
};
// axes: int32 or int64. InvalidArgument: out of range, or one twice.
ReductionPlan PlanReduction(const Shape& shape, const Tensor& axes);

// Reduces x (of the plan's input shape) to out. `type` has loops for `op`: not half or bfloat16.
void Reduce(const KernelContext& k, ReduceOp op, DataType type, const ReductionPlan& plan, const void* x, void* out);

}  // namespace penstock
