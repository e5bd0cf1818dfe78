// Equal elements found by open addressing: what unique and list differences share. NaN equals nothing, -0 equals 0.
#pragma once

#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock {

// index[i] = number of the different value that element i has, in order of first occurrence; returns where each
// different value first stands. `index` is an int32 or int64 vector.
std::vector<int64_t> IndexElements(const Tensor& values, Tensor& index);
// The same for the rows of a matrix.
std::vector<int64_t> IndexRows(const Tensor& rows, Tensor& index);
// Positions of the elements of x that y does not have.
std::vector<int64_t> ElementsMissing(const Tensor& x, const Tensor& y);

}  // namespace penstock
