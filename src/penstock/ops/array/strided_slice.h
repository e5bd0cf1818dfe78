// What a strided slice means: NumPy's x[1:3, ::-1, None, ..., 2] as begin, end and strides with masks. Used by shape
// functions (parts unknown) and kernels (all known).
#pragma once

#include <vector>

#include "penstock/op/attr_value.h"
#include "penstock/tensor/shape.h"

namespace penstock {

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
  // From the attributes begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask.
  explicit SliceMasks(const AttrMap& attrs);
  SliceMasks() = default;
  // As attributes of another op of the family.
  AttrMap Attrs() const;
};

// For each dimension of the input: first element, step, and how many (-1 unknown). `result` has the shape with new axes
// put in and shrunk axes left out.
struct SlicePlan {
  std::vector<int64_t> begin, stride, size;
  PartialShape result;
  std::vector<int> result_dim;  // which dimension of the result each of the input's is; -1 for shrunk ones
  bool whole = true;            // takes everything, in order
  bool dim0_range = true;       // takes everything, in order, but a range of dimension 0
};

// `spec` is the length of begin, end and strides; `begin` and `end` may be missing. The rank of `input` must be known.
// InvalidArgument: zero strides, more than one ellipsis, indices out of range, too many of them.
SlicePlan PlanSlice(const SliceMasks& masks, const PartialShape& input, int spec, const std::vector<int64_t>* begin,
                    const std::vector<int64_t>* end, const std::vector<int64_t>& strides);

}  // namespace penstock
