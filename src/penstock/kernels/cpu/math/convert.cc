#include "penstock/kernels/cpu/math/convert.h"

#include "penstock/base/status.h"

namespace penstock {
namespace {

template <class From, class To>
void Convert(const void* x, void* y, int64_t n) {
  const From* in = static_cast<const From*>(x);
  To* out = static_cast<To*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
}

template <class Wide, class... Ts>
UnaryLoop From(DataType from, Types<Ts...>) {
  UnaryLoop loop = nullptr;
  ((from == kTypeOf<Ts> ? void(loop = &Convert<Ts, Wide>) : void()), ...);
  return loop;
}
template <class Wide, class... Ts>
UnaryLoop To(DataType to, Types<Ts...>) {
  UnaryLoop loop = nullptr;
  ((to == kTypeOf<Ts> ? void(loop = &Convert<Wide, Ts>) : void()), ...);
  return loop;
}

}  // namespace

UnaryLoop ConversionLoop(DataType from, DataType to) {
  if (const UnaryLoop loop = CpuLoops().cast[from][to]) return loop;
  UnaryLoop loop = nullptr;
  if (to == DT_FLOAT) loop = From<float>(from, Reals{});
  if (to == DT_DOUBLE) loop = From<double>(from, Reals{});
  if (to == DT_INT64) loop = From<int64_t>(from, Ints{});
  if (!loop && from == DT_FLOAT) loop = To<float>(to, Floats{});
  if (!loop && from == DT_DOUBLE) loop = To<double>(to, Floats{});
  if (!loop && from == DT_INT64) loop = To<int64_t>(to, Ints{});
  if (!loop) throw Internal("there is no conversion from ", from, " to ", to);
  return loop;
}

}  // namespace penstock
