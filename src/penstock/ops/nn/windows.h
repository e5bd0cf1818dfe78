// Shapes of ops that move a window over images: convolutions and pools.
#pragma once

#include <string_view>
#include <vector>

#include "penstock/graph/gradient.h"
#include "penstock/op/data_format.h"
#include "penstock/op/shape_inference.h"

namespace penstock::shapes {

// Windows along one dimension, -1 if unknown. Errors worded as TensorFlow's shape functions do: "Negative dimension
// size caused by subtracting 3 from 2".
int64_t WindowsAlong(int64_t in, int64_t filter, int64_t dilation, int64_t stride, std::string_view padding,
                     int64_t before = 0, int64_t after = 0);

// The attribute `data_format`, or the default of `spatial` dimensions if the op has none.
DataFormat FormatOf(ShapeContext& c, int spatial = 2);
// A list attribute with one number for each dimension. InvalidArgument naming the op if it has another length.
const std::vector<int64_t>& PerDimension(ShapeContext& c, std::string_view name, const DataFormat& format);
// The attribute `explicit_paddings` (empty if there is none), checked against `padding`.
std::vector<int64_t> ExplicitPaddings(ShapeContext& c, const DataFormat& format);

// Shape functions
void Conv(ShapeContext& c);  // Conv2D, Conv3D: (input, filter)
void DepthwiseConv(ShapeContext& c);
void ConvInputGrad(ShapeContext& c);   // (input_sizes, filter, out_backprop)
void ConvFilterGrad(ShapeContext& c);  // (input, filter_sizes, out_backprop)
void Pool(ShapeContext& c);            // one input, ksize and strides as attributes
void PoolV2(ShapeContext& c);          // ksize and strides as inputs

}  // namespace penstock::shapes

namespace penstock {

// Those of the node's attributes that are named and present.
AttrMap CopyAttrs(GradContext& g, std::initializer_list<std::string_view> names);

}  // namespace penstock
