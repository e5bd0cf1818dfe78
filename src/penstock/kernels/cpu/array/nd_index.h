// Positions that the last dimension of an index tensor spells out, as flat row numbers.
#pragma once

#include <vector>

#include "penstock/kernel/kernel.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Element i of an integer index tensor.
inline int64_t IndexAt(const Tensor& t, int64_t i) { return t.dtype() == DT_INT16 ? t.data<int16_t>()[i] : t.IntAt(i); }

// One row number for each index vector: rows are what is left of `shape` behind the vector's length. Vectors outside
// the shape give InvalidArgument "indices[0] = [7] does not index into `what` [5]", or -1 if `ignore_bad`.
std::vector<int64_t> RowNumbers(const Tensor& indices, const Shape& shape, std::string_view what,
                                bool ignore_bad = false);

// Whether the attribute bad_indices_policy of a node says that vectors outside the shape stand for nothing.
inline bool IgnoresBad(const NodeView& node) {
  const std::string policy = node.attr_or<std::string>("bad_indices_policy", "");
  KernelContext::Require(policy.empty() || policy == "DEFAULT" || policy == "ERROR" || policy == "IGNORE",
                         "Unknown bad indices handling attribute: ", policy);
  return policy == "IGNORE";
}

}  // namespace penstock
