#include "penstock/tensor/special_values.h"

#include <cmath>

namespace penstock {
namespace {

// Only the exponent is looked at in the fast loop.
template <class T, class I>
SpecialValues Count(std::span<const T> x, I exponent) {
  const I* bits = reinterpret_cast<const I*>(x.data());
  bool any = false;
  for (size_t i = 0; i < x.size(); ++i) any |= (bits[i] & exponent) == exponent;
  SpecialValues found;
  if (!any) return found;
  for (const T v : x) {
    const double d = static_cast<double>(v);
    if (std::isnan(d)) ++found.nan;
    if (std::isinf(d)) ++(d > 0 ? found.positive_infinity : found.negative_infinity);
  }
  return found;
}

}  // namespace

SpecialValues CountSpecialValues(const Tensor& x) {
  switch (x.dtype()) {
    case DT_HALF: return Count<Half, uint16_t>(x.flat<Half>(), 0x7C00);
    case DT_BFLOAT16: return Count<BFloat16, uint16_t>(x.flat<BFloat16>(), 0x7F80);
    case DT_FLOAT: return Count<float, uint32_t>(x.flat<float>(), 0x7F800000u);
    case DT_DOUBLE: return Count<double, uint64_t>(x.flat<double>(), 0x7FF0000000000000u);
    default: return {};
  }
}

}  // namespace penstock
