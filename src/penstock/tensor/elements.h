// Moving elements of any type.
#pragma once

#include "penstock/tensor/tensor.h"

namespace penstock {

// Elements [first, first + count) of `from` to element `at` of `to` on; both of one type.
void CopyElements(const Tensor& from, int64_t first, int64_t count, Tensor* to, int64_t at);
// All elements of `from` to element `at` of `to` on. Strings are taken out of a tensor that nobody else holds.
void MoveElements(Tensor* from, Tensor* to, int64_t at);
// A flat position in a tensor of that shape, as messages have it: "[1,2]", and "" for scalars.
struct Position {
  const Shape& shape;
  int64_t at;
  std::string ToString() const;
};

}  // namespace penstock
