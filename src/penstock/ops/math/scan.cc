// Running sums, products and log-sum-exps along an axis.
#include <limits>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

OpBuilder Scan(OpRegistry& ops, std::string_view name, std::string_view types) {
  return ops.Add(name).Input("x: T").Input("axis: Tidx").Output("out: T").Attr("exclusive: bool = false")
      .Attr("reverse: bool = false").Attr(types).Attr("Tidx: {int32, int64} = DT_INT32").Shape(shapes::SameAsInput0);
}

// The running sum of dy in the other direction.
Out Backwards(GradContext& g, const char* op, Out dy) {
  return g.Call(op, {dy, g.x(1)}, {{"exclusive", g.attr<bool>("exclusive")}, {"reverse", !g.attr<bool>("reverse")}});
}

double HalfOfLargest(DataType type) {
  switch (type) {
    case DT_HALF: return 32752;
    case DT_DOUBLE: return std::numeric_limits<double>::max() / 2;
    default: return std::numeric_limits<float>::max() / 2;
  }
}

}  // namespace

void RegisterScanOps(OpRegistry& ops) {
  Scan(ops, "Cumsum", "T: numbertype").Doc("out[i] = x[0] + ... + x[i] along `axis`; `exclusive` leaves x[i] out.")
      .Gradient([](GradContext& g) { g.Set(0, Backwards(g, "Cumsum", g.dy())); });
  Scan(ops, "Cumprod", "T: numbertype").Doc("out[i] = x[0] * ... * x[i] along `axis`; `exclusive` leaves x[i] out.")
      .Gradient([](GradContext& g) { g.Set(0, Call("DivNoNan", {Backwards(g, "Cumsum", g.y() * g.dy()), g.x(0)})); });
  Scan(ops, "CumulativeLogsumexp", "T: {bfloat16, half, float, double}")
      .Doc("out[i] = log(exp(x[0]) + ... + exp(x[i])) along `axis`; `exclusive` leaves x[i] out.")
      .Gradient([](GradContext& g) {
        // Positive and negative parts of dy apart, as logarithms, so that nothing overflows. The logarithm of 0 is a
        // finite number, since the gradient of this gradient subtracts such logarithms.
        const Out x = g.x(0), y = g.y(), dy = g.dy(), zero = ZerosLike(dy);
        const Out lowest = zero - HalfOfLargest(x.type());
        const Out log_positive = Where(Call("Greater", {dy, zero}), Log(dy), lowest);
        const Out log_negative = Where(Call("Less", {dy, zero}), Log(-dy), lowest);
        const Out positive = Exp(Backwards(g, "CumulativeLogsumexp", log_positive - y) + x);
        const Out negative = Exp(Backwards(g, "CumulativeLogsumexp", log_negative - y) + x);
        g.Set(0, positive - negative);
      });
}

}  // namespace penstock
