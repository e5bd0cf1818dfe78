#include "penstock/ops/algebra.h"

#include <unordered_map>

namespace penstock {

Algebra AlgebraOf(const OpDef& op) {
  using enum Algebra;
  static const auto* table = new std::unordered_map<std::string_view, Algebra>{
      {"Identity", kIdentity},
      {"Snapshot", kIdentity},
      {"StopGradient", kIdentity},
      {"PreventGradient", kIdentity},
      {"Add", kAdd},
      {"AddV2", kAdd},
      {"AddN", kSum},
      {"AccumulateNV2", kSum},
      {"Sub", kSubtract},
      {"Mul", kMultiply},
      {"Div", kDivide},
      {"RealDiv", kDivide},
      {"Neg", kInvolution},
      {"LogicalNot", kInvolution},
      {"Invert", kInvolution},
      {"Conj", kInvolution},
      {"Abs", kIdempotent},
      {"Relu", kRectifier},
      {"Relu6", kRectifier},
      {"Floor", kIdempotent},
      {"Ceil", kIdempotent},
      {"Rint", kIdempotent},
      {"Sign", kIdempotent},
      {"Transpose", kTranspose},
      {"Cast", kCast},
      {"Reshape", kReshape},
      {"Squeeze", kReshape},
      {"ExpandDims", kReshape},
      {"MatMul", kProduct},
      {"Conv2D", kProduct},
      {"DepthwiseConv2dNative", kProduct},
      {"BiasAdd", kAddBias},
      {"Sum", kTotal},
      {"Split", kSplit},
      {"ConcatV2", kConcat},
      {"FusedBatchNorm", kNormalize},
      {"FusedBatchNormV2", kNormalize},
      {"FusedBatchNormV3", kNormalize},
  };
  const auto it = table->find(op.name);
  return it == table->end() ? kNone : it->second;
}

}  // namespace penstock
