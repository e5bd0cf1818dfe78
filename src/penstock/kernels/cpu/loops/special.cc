// Special functions: what is between the elementary ones (math.cc) and those without short formulas
// (special_functions.h).
#include "penstock/kernels/cpu/loops/bessel.h"
#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/inverse_normal.h"

namespace penstock::PENSTOCK_ISA {
void FillSpecial(Loops& loops) {
  const auto set = [&](UnaryOp op, UnaryLoop of_float, UnaryLoop of_double) {
    loops.unary[static_cast<int>(op)][DT_FLOAT] = of_float;
    loops.unary[static_cast<int>(op)][DT_DOUBLE] = of_double;
  };
  set(UnaryOp::kNdtri, kMap<float, Ndtri>, kMap<double, Ndtri>);
  set(UnaryOp::kErfinv, kMap<float, Erfinv>, kMap<double, Erfinv>);
  set(UnaryOp::kBesselI0e, kMap<float, BesselI0e>, nullptr);
  set(UnaryOp::kBesselI1e, kMap<float, BesselI1e>, nullptr);
}

}  // namespace penstock::PENSTOCK_ISA
