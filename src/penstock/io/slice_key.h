// How checkpoints name parts of tensors: a key that sorts like the tuple (0, name, extents).
#pragma once

#include <string>
#include <string_view>

#include "penstock/io/tensor_slice.h"

namespace penstock {

std::string SliceKey(std::string_view name, const TensorSlice& slice);

}  // namespace penstock
