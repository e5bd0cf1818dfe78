// Evenly spaced numbers.
#include <cmath>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

double AsDouble(const Tensor& t) {
  switch (t.dtype()) {
    case DT_FLOAT: return t.scalar<float>();
    case DT_DOUBLE: return t.scalar<double>();
    case DT_HALF: return t.scalar<Half>();
    case DT_BFLOAT16: return t.scalar<BFloat16>();
    default: return 0;
  }
}

// What a number of this type can hold of x.
double Rounded(DataType type, double x) {
  switch (type) {
    case DT_FLOAT: return static_cast<float>(x);
    case DT_HALF: return Half(static_cast<float>(x));
    case DT_BFLOAT16: return BFloat16(static_cast<float>(x));
    default: return x;
  }
}

int64_t AsInt(const Tensor& t) {
  switch (t.dtype()) {
    case DT_INT8: return t.scalar<int8_t>();
    case DT_INT16: return t.scalar<int16_t>();
    case DT_UINT16: return t.scalar<uint16_t>();
    case DT_UINT32: return t.scalar<uint32_t>();
    default: return t.IntAt(0);
  }
}

// The length is known once start, limit and delta are.
void RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.WithRank(i, 0);
  const Tensor *start = c.in_value(0), *limit = c.in_value(1), *delta = c.in_value(2);
  int64_t size = -1;
  if (start && limit && delta) {
    if (IsFloating(start->dtype())) {
      const double n = std::ceil(std::abs(Rounded(
          start->dtype(), Rounded(start->dtype(), AsDouble(*limit) - AsDouble(*start)) / AsDouble(*delta))));
      if (n >= 0 && n < 9e18) size = static_cast<int64_t>(n);
    } else {
      const int64_t a = AsInt(*start), b = AsInt(*limit), d = AsInt(*delta);
      if (d == 0) throw InvalidArgument("Requires delta != 0");
      if (d > 0 && a > b) throw InvalidArgument("Requires start <= limit when delta > 0: ", a, "/", b);
      if (d < 0 && a < b) throw InvalidArgument("Requires start >= limit when delta < 0: ", a, "/", b);
      const uint64_t span = d > 0 ? uint64_t(b) - uint64_t(a) : uint64_t(a) - uint64_t(b);
      const uint64_t step = d > 0 ? uint64_t(d) : 0 - uint64_t(d);
      const uint64_t n = span / step + (span % step != 0);
      if (n <= static_cast<uint64_t>(INT64_MAX)) size = static_cast<int64_t>(n);
    }
  }
  c.out(0, PartialShape({size}));
}

}  // namespace

void RegisterSequenceOps(OpRegistry& ops) {
  ops.Add("Range").Input("start: Tidx").Input("limit: Tidx").Input("delta: Tidx").Output("output: Tidx")
      .Attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32")
      .NotDifferentiable().Shape(RangeShape).Doc("start, start + delta, ... up to but not including limit.");
  ops.Add("LinSpace").Input("start: T").Input("stop: T").Input("num: Tidx").Output("output: T")
      .Attr("T: {bfloat16, half, float, double}").Attr("Tidx: {int32, int64} = DT_INT32").NotDifferentiable()
      .Doc("num evenly spaced values from start to stop, both included.")
      .Shape([](ShapeContext& c) {
        for (int i = 0; i < 3; ++i) c.WithRank(i, 0);
        const auto num = c.in_int(2);
        if (num && *num <= 0) throw InvalidArgument("Requires num > 0: ", *num);
        c.out(0, PartialShape({num.value_or(-1)}));
      });
}

}  // namespace penstock
