// Elementwise functions of one tensor.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

constexpr char kFloats[] = "T: {bfloat16, half, float, double}";
constexpr char kFloatsAndComplex[] = "T: {bfloat16, half, float, double, complex64, complex128}";
constexpr char kSignedAndComplex[] =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}";

OpBuilder Unary(OpRegistry& ops, std::string_view name, std::string_view types, std::string_view doc,
                GradientFn gradient = nullptr) {
  return ops.Add(name).Input("x: T").Output("y: T").Attr(types).Shape(shapes::SameAsInput0).Elementwise().Doc(doc)
      .Gradient(gradient);
}

// The gradient op of a function whose derivative follows from its result y: (y, dy) -> dx.
OpBuilder GradOfResult(OpRegistry& ops, std::string_view name, GradientFn gradient) {
  return ops.Add(name).Input("y: T").Input("dy: T").Output("z: T").Attr(kFloatsAndComplex)
      .Shape([](ShapeContext& c) { c.out(0, c.in(0).MergeWith(c.in(1))); }).Elementwise().Gradient(gradient);
}

void ReciprocalGradient(GradContext& g) { g.Set(0, g.Call("ReciprocalGrad", {g.y(), g.dy()})); }
// z = -dy y^2
void ReciprocalGradGradient(GradContext& g) {
  const Out y = Conj(g.x(0)), dz = g.dy();
  g.Set(0, Conj(dz) * -2.0 * g.x(1) * y);
  g.Set(1, g.Call("ReciprocalGrad", {y, dz}));
}
void NoGradient(GradContext&) {}

}  // namespace

void RegisterMathUnaryOps(OpRegistry& ops) {
  // Sign, size, powers
  Unary(ops, "Abs", "T: {bfloat16, half, float, double, int8, int16, int32, int64}", "|x|.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Sign", {g.x(0)})); });
  Unary(ops, "Neg", kSignedAndComplex, "-x.", [](GradContext& g) { g.Set(0, -g.dy()); });
  Unary(ops, "Sign", kSignedAndComplex, "-1, 0 or 1 by the sign of x; x / |x| for complex numbers.",
        [](GradContext& g) { g.Set(0, ZerosLike(g.x(0))); });
  Unary(ops, "Inv", kSignedAndComplex, "1 / x.", ReciprocalGradient);
  Unary(ops, "Reciprocal", kSignedAndComplex, "1 / x.", ReciprocalGradient);
  GradOfResult(ops, "InvGrad", ReciprocalGradGradient);
  GradOfResult(ops, "ReciprocalGrad", ReciprocalGradGradient);
  Unary(ops, "Square",
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
        "complex128}",
        "x * x.", [](GradContext& g) { g.Set(0, g.dy() * (Conj(g.x(0)) * 2.0)); });
  Unary(ops, "Sqrt", kFloatsAndComplex, "The square root of x.",
        [](GradContext& g) { g.Set(0, g.Call("SqrtGrad", {g.y(), g.dy()})); });
  GradOfResult(ops, "SqrtGrad", [](GradContext& g) {  // z = dy / 2y
    const Out over_y = g.dy() / g.x(0);
    g.Set(0, -Conj(over_y) * g.y());
    g.Set(1, over_y * 0.5);
  });
  Unary(ops, "Rsqrt", kFloatsAndComplex, "1 over the square root of x.",
        [](GradContext& g) { g.Set(0, g.Call("RsqrtGrad", {g.y(), g.dy()})); });
  GradOfResult(ops, "RsqrtGrad", [](GradContext& g) {  // z = -dy y^3 / 2
    const Out y = Conj(g.x(0));
    g.Set(0, Conj(g.dy()) * -1.5 * g.x(1) * Square(y));
    g.Set(1, g.Call("RsqrtGrad", {y, g.dy()}));
  });
  // Rounding
  for (const char* name : {"Floor", "Ceil", "Rint"}) {
    Unary(ops, name, kFloats, "x rounded to a whole number.", NoGradient);
  }
  Unary(ops, "Round", kSignedAndComplex, "x rounded to the nearest whole number, halves to the even one.", NoGradient);

  // Exponentials and logarithms
  Unary(ops, "Exp", kFloatsAndComplex, "e to the power of x.", [](GradContext& g) { g.Set(0, g.dy() * Conj(g.y())); });
  Unary(ops, "Expm1", kFloatsAndComplex, "exp(x) - 1, exact near zero.",
        [](GradContext& g) { g.Set(0, g.dy() * Exp(Conj(g.x(0)))); });
  Unary(ops, "Log", kFloatsAndComplex, "The natural logarithm of x.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Reciprocal", {Conj(g.x(0))})); });
  Unary(ops, "Log1p", kFloatsAndComplex, "log(1 + x), exact near zero.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Reciprocal", {1.0 + Conj(g.x(0))})); });
  Unary(ops, "Sigmoid", kFloatsAndComplex, "1 / (1 + exp(-x)).",
        [](GradContext& g) { g.Set(0, g.Call("SigmoidGrad", {Conj(g.y()), g.dy()})); });
  GradOfResult(ops, "SigmoidGrad", [](GradContext& g) {  // z = dy y (1 - y)
    const Out y = Conj(g.x(0)), dy = Conj(g.x(1)), dz = g.dy();
    const Out product = dz * dy;
    g.Set(0, product - product * 2.0 * y);
    g.Set(1, g.Call("SigmoidGrad", {y, dz}));
  });
  Unary(ops, "Tanh", kFloatsAndComplex, "The hyperbolic tangent of x.",
        [](GradContext& g) { g.Set(0, g.Call("TanhGrad", {Conj(g.y()), g.dy()})); });
  GradOfResult(ops, "TanhGrad", [](GradContext& g) {  // z = dy (1 - y^2)
    const Out y = Conj(g.x(0)), dy = Conj(g.x(1)), dz = g.dy();
    g.Set(0, dz * -2.0 * dy * y);
    g.Set(1, g.Call("TanhGrad", {y, dz}));
  });

  // Trigonometric and hyperbolic
  Unary(ops, "Sin", kFloatsAndComplex, "sin x.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Cos", {Conj(g.x(0))})); });
  Unary(ops, "Cos", kFloatsAndComplex, "cos x.",
        [](GradContext& g) { g.Set(0, -g.dy() * Call("Sin", {Conj(g.x(0))})); });
  Unary(ops, "Tan", kFloatsAndComplex, "tan x.", [](GradContext& g) {
    g.Set(0, g.dy() * Square(Call("Reciprocal", {Call("Cos", {Conj(g.x(0))})})));
  });
  Unary(ops, "Asin", kFloatsAndComplex, "The angle whose sine is x.", [](GradContext& g) {
    g.Set(0, g.dy() * Call("Reciprocal", {Sqrt(1.0 - Square(Conj(g.x(0))))}));
  });
  Unary(ops, "Acos", kFloatsAndComplex, "The angle whose cosine is x.", [](GradContext& g) {
    g.Set(0, -g.dy() * Call("Reciprocal", {Sqrt(1.0 - Square(Conj(g.x(0))))}));
  });
  Unary(ops, "Atan", kFloatsAndComplex, "The angle whose tangent is x.", [](GradContext& g) {
    g.Set(0, g.dy() * Call("Reciprocal", {1.0 + Square(Conj(g.x(0)))}));
  });
  Unary(ops, "Sinh", kFloatsAndComplex, "The hyperbolic sine of x.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Cosh", {Conj(g.x(0))})); });
  Unary(ops, "Cosh", kFloatsAndComplex, "The hyperbolic cosine of x.",
        [](GradContext& g) { g.Set(0, g.dy() * Call("Sinh", {Conj(g.x(0))})); });
  Unary(ops, "Asinh", kFloatsAndComplex, "The number whose hyperbolic sine is x.",
        [](GradContext& g) { g.Set(0, g.dy() / Call("Cosh", {Conj(g.y())})); });
  Unary(ops, "Acosh", kFloatsAndComplex, "The number whose hyperbolic cosine is x.",
        [](GradContext& g) { g.Set(0, g.dy() / Call("Sinh", {Conj(g.y())})); });
  Unary(ops, "Atanh", kFloatsAndComplex, "The number whose hyperbolic tangent is x.", [](GradContext& g) {
    g.Set(0, g.dy() * Call("Reciprocal", {1.0 - Square(Conj(g.x(0)))}));
  });

  // Activations that are elementwise functions of one argument
  const auto activation = [&](std::string_view name, GradientFn gradient) {
    return ops.Add(name).Input("features: T").Output("activations: T").Attr("T: {half, bfloat16, float, double}")
        .Shape(shapes::SameAsInput0).Elementwise().Gradient(gradient);
  };
  const auto activation_grad = [&](std::string_view name) {
    return ops.Add(name).Input("gradients: T").Input("features: T").Output("backprops: T")
        .Attr("T: {half, bfloat16, float, double}")
        .Shape([](ShapeContext& c) { c.out(0, c.in(0).MergeWith(c.in(1))); }).Elementwise();
  };
  activation("Softplus", [](GradContext& g) { g.Set(0, g.Call("SoftplusGrad", {g.dy(), g.x(0)})); })
      .Doc("log(1 + exp(x)).");
  activation("Softsign", [](GradContext& g) { g.Set(0, g.Call("SoftsignGrad", {g.dy(), g.x(0)})); })
      .Doc("x / (1 + |x|).");
  activation_grad("SoftplusGrad").Gradient([](GradContext& g) {  // z = dy / (1 + e^-x)
    const Out dy = g.x(0), x = g.x(1), dz = g.dy();
    g.Set(0, g.Call("SoftplusGrad", {dz, x}));
    g.Set(1, dz * dy / (Exp(-x) + 2.0 + Exp(x)));
  });
  activation_grad("SoftsignGrad");

  // Tests and bits
  for (const char* name : {"IsNan", "IsInf", "IsFinite"}) {
    ops.Add(name).Input("x: T").Output("y: bool").Attr(kFloats).Shape(shapes::SameAsInput0).Elementwise();
  }
  ops.Add("LogicalNot").Input("x: bool").Output("y: bool").Shape(shapes::SameAsInput0).Elementwise()
      .NotDifferentiable().Doc("The opposite of x.");
  ops.Add("Invert").Input("x: T").Output("y: T").Attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .Shape(shapes::SameAsInput0).Elementwise().NotDifferentiable().Doc("All bits of x flipped.");
  ops.Add("PopulationCount").Input("x: T").Output("y: uint8")
      .Attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .Shape(shapes::SameAsInput0).Elementwise().Doc("The number of bits set in x.");
}

}  // namespace penstock
