// Elementwise arithmetic of two tensors, with broadcasting.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

constexpr char kArithmetic[] =
    "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, "
    "complex128}";

OpBuilder Binary(OpRegistry& ops, std::string_view name, std::string_view types, std::string_view doc,
                 GradientFn gradient = nullptr) {
  return ops.Add(name).Input("x: T").Input("y: T").Output("z: T").Attr(types).Shape(shapes::Broadcast).Elementwise()
      .Doc(doc).Gradient(gradient);
}

void AddGradient(GradContext& g) {
  g.SetBroadcast(0, g.dy(), 1);
  g.SetBroadcast(1, g.dy(), 0);
}
void MulGradient(GradContext& g) {
  if (g.wanted(0)) g.SetBroadcast(0, g.dy() * Conj(g.x(1)), 1);
  if (g.wanted(1)) g.SetBroadcast(1, Conj(g.x(0)) * g.dy(), 0);
}
// Div divides integers too; its gradient is the same quotient.
void DivGradient(GradContext& g) {
  const Out x = Conj(g.x(0)), y = Conj(g.x(1)), dz = g.dy();
  const char* div = IsInteger(x.type()) ? "TruncateDiv" : "RealDiv";
  g.SetBroadcast(0, Call(div, {dz, y}), 1);
  g.SetBroadcast(1, dz * Call(div, {Call(div, {-x, y}), y}), 0);
}
void DivNoNanGradient(GradContext& g) {
  const Out x = Conj(g.x(0)), y = Conj(g.x(1)), dz = g.dy();
  g.SetBroadcast(0, Call("DivNoNan", {dz, y}), 1);
  g.SetBroadcast(1, dz * Call("DivNoNan", {Call("DivNoNan", {-x, y}), y}), 0);
}
void MaximumGradient(GradContext& g) {
  const Out zero = ZerosLike(g.dy()), first = Call("GreaterEqual", {g.x(0), g.x(1)});
  g.SetBroadcast(0, Where(first, g.dy(), zero), 1);
  g.SetBroadcast(1, Where(first, zero, g.dy()), 0);
}
void MinimumGradient(GradContext& g) {
  const Out zero = ZerosLike(g.dy()), first = Call("LessEqual", {g.x(0), g.x(1)});
  g.SetBroadcast(0, Where(first, g.dy(), zero), 1);
  g.SetBroadcast(1, Where(first, zero, g.dy()), 0);
}
// d/dx x^y = y x^(y-1); d/dy = x^y log x, taken as 0 where x is not positive (for complex x: where it is 0).
void PowGradient(GradContext& g) {
  const Out x = Conj(g.x(0)), y = Conj(g.x(1)), z = Conj(g.y()), dz = g.dy();
  g.SetBroadcast(0, dz * y * Call("Pow", {x, y - 1.0}), 1);
  if (!g.wanted(1)) return;
  const Out zero = ZerosLike(x);
  const Out mask = IsComplex(x.type()) ? Call("NotEqual", {x, zero}) : Call("Greater", {x, zero});
  const Out safe = Where(mask, x, OnesLike(x));
  const Out log = Where(mask, Log(safe), zero);
  g.SetBroadcast(1, dz * z * log, 0);
}
// 1 where x is not 0.
Out NotZero(Out x) { return Cast(Call("NotEqual", {x, ZerosLike(x)}), x.type()); }

}  // namespace

void RegisterMathBinaryOps(OpRegistry& ops) {
  Binary(ops, "Add",
         "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}",
         "x + y; strings are joined.", AddGradient);
  Binary(ops, "AddV2",
         "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64, "
         "complex128}",
         "x + y.", AddGradient)
      .Commutative().Aggregate();
  Binary(ops, "Sub",
         "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, "
         "uint64}",
         "x - y.", [](GradContext& g) {
           g.SetBroadcast(0, g.dy(), 1);
           if (g.wanted(1)) g.SetBroadcast(1, -g.dy(), 0);
         });
  Binary(ops, "Mul", kArithmetic, "x * y.", MulGradient).Commutative();
  Binary(ops, "MulNoNan", "T: {bfloat16, half, float, double, complex64, complex128}",
         "x * y, and 0 where y is 0, whatever x is.", [](GradContext& g) {
           g.SetBroadcast(0, Call("MulNoNan", {g.dy(), g.x(1)}), 1);
           g.SetBroadcast(1, Call("MulNoNan", {g.x(0), g.dy()}), 0);
         });
  Binary(ops, "Div", kArithmetic, "x / y; integers are rounded towards zero.", DivGradient);
  Binary(ops, "RealDiv", kArithmetic, "x / y.", DivGradient);
  Binary(ops, "DivNoNan", "T: {half, float, bfloat16, double, complex64, complex128}", "x / y, and 0 where y is 0.",
         DivNoNanGradient);
  Binary(ops, "TruncateDiv", kArithmetic, "x / y rounded towards zero.", [](GradContext&) {});
  Binary(ops, "FloorDiv", kArithmetic, "x / y rounded down.", [](GradContext&) {});
  Binary(ops, "FloorMod",
         "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}",
         "x - y * floor(x / y): has the sign of y.", [](GradContext& g) {
           const Out quotient = Call("FloorDiv", {g.x(0), g.x(1)});
           g.SetBroadcast(0, g.dy(), 1);
           g.SetBroadcast(1, -(g.dy() * quotient), 0);
         });
  Binary(ops, "TruncateMod", "T: {int32, int64, bfloat16, half, float, double}", "The remainder with the sign of x.");
  Binary(ops, "Mod", "T: {int32, int64, half, half, bfloat16, float, double}", "The remainder with the sign of x.");
  Binary(ops, "SquaredDifference", "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
         "(x - y)^2; for complex numbers conj(x - y) (x - y).", [](GradContext& g) {
           const Out d = g.dy() * 2.0 * (g.x(0) - g.x(1));
           g.SetBroadcast(0, d, 1);
           if (g.wanted(1)) g.SetBroadcast(1, -d, 0);
         }).Commutative();
  Binary(ops, "Maximum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
         "The larger of x and y.", MaximumGradient);
  Binary(ops, "Minimum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
         "The smaller of x and y.", MinimumGradient);
  Binary(ops, "Pow", "T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}",
         "x to the power of y.", PowGradient);
  Binary(ops, "Xlogy", "T: {half, bfloat16, float, double, complex64, complex128}", "x log y, and 0 where x is 0.",
         [](GradContext& g) {
           const Out x = g.x(0), y = g.x(1), dz = g.dy();
           g.SetBroadcast(0, dz * Call("Xlogy", {NotZero(x), y}), 1);
           g.SetBroadcast(1, dz * Call("Xdivy", {x, y}), 0);
         });
  Binary(ops, "Xlog1py", "T: {half, bfloat16, float, double, complex64, complex128}",
         "x log(1 + y), and 0 where x is 0.", [](GradContext& g) {
           const Out x = g.x(0), y = g.x(1), dz = g.dy();
           g.SetBroadcast(0, dz * Call("Xlog1py", {NotZero(x), y}), 1);
           g.SetBroadcast(1, dz * Call("Xdivy", {x, y + 1.0}), 0);
         });
  Binary(ops, "Xdivy", "T: {half, bfloat16, float, double, complex64, complex128}", "x / y, and 0 where x is 0.",
         [](GradContext& g) {
           const Out x = g.x(0), y = g.x(1), dz = g.dy();
           g.SetBroadcast(0, dz * Call("Xdivy", {NotZero(x), y}), 1);
           g.SetBroadcast(1, dz * Call("Xdivy", {-x, Square(y)}), 0);
         });
  ops.Add("Atan2").Input("y: T").Input("x: T").Output("z: T").Attr("T: {bfloat16, half, float, double}")
      .Shape(shapes::Broadcast).Elementwise().Doc("The angle of the point (x, y).").Gradient([](GradContext& g) {
        const Out y = g.x(0), x = g.x(1), scale = g.dy() / (Square(x) + Square(y));
        g.SetBroadcast(0, x * scale, 1);
        g.SetBroadcast(1, -y * scale, 0);
      });
  ops.Add("NextAfter").Input("x1: T").Input("x2: T").Output("output: T").Attr("T: {double, float} = DT_FLOAT")
      .Shape(shapes::Broadcast).Elementwise().Doc("The number next to x1 on the way to x2.")
      .Gradient([](GradContext& g) {
        g.SetBroadcast(0, g.dy() * OnesLike(g.x(0)), 1);
        g.SetBroadcast(1, g.dy() * ZerosLike(g.x(1)), 0);
      });

  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    Binary(ops, name, "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}", "Bit by bit.").Commutative()
        .NotDifferentiable();
  }
  for (const char* name : {"LeftShift", "RightShift"}) {
    Binary(ops, name, "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
           "x shifted by y bits; by 0 if y is negative, by all but one bit if y is too large.").NotDifferentiable();
  }
}

}  // namespace penstock
