// How checkpoints name parts of tensors: a key that sorts like the tuple (0, name, extents).
#pragma once

#include <string>
#include <string_view>

#include "penstock/io/tensor_slice.h"
#include "tensorflow/core/framework/tensor_slice.pb.h"

namespace penstock {

std::string SliceKey(std::string_view name, const TensorSlice& slice);

TensorSlice FromProto(const tensorflow::TensorSliceProto& proto);
void ToProto(const TensorSlice& slice, tensorflow::TensorSliceProto* proto);

}  // namespace penstock
