// Elements that are no finite numbers.
#pragma once

#include "penstock/tensor/tensor.h"

namespace penstock {

struct SpecialValues {
  int64_t nan = 0, positive_infinity = 0, negative_infinity = 0;
  bool any() const { return nan || positive_infinity || negative_infinity; }
};

// Of a tensor of half, bfloat16, float or double; none for other types.
SpecialValues CountSpecialValues(const Tensor& x);

}  // namespace penstock
