// Integer tensors of any width as plain vectors.
#pragma once

#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock::shapes {

// The elements of an integer tensor of any width. InvalidArgument for other types.
std::vector<int64_t> Integers(const Tensor& values);

}  // namespace penstock::shapes
