// Special functions of one, two and three tensors, and parts of complex numbers.
#include <cmath>
#include <numbers>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

constexpr double kPi = std::numbers::pi;

OpBuilder Special(OpRegistry& ops, std::string_view name, std::string_view doc, GradientFn gradient) {
  return ops.Add(name)
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {bfloat16, half, float, double}")
      .Shape(shapes::SameAsInput0)
      .Elementwise()
      .Heavy()
      .Doc(doc)
      .Gradient(gradient);
}
Out Of(const char* op, Out x) { return Call(op, {x}); }
Out IsZero(Out x) { return Call("Equal", {x, ZerosLike(x)}); }
// `otherwise` where x is not zero, and `limit` where it is.
Out UnlessZero(Out x, double limit, Out otherwise) { return Where(IsZero(x), OnesLike(x) * limit, otherwise); }
Out OverX(GradContext& g) { return g.y() / g.x(0); }

OpBuilder Binary(OpRegistry& ops, std::string_view name, const char* a, const char* x, std::string_view types,
                 std::string_view doc, GradientFn gradient) {
  return ops.Add(name)
      .Input(StrCat(a, ": T"))
      .Input(StrCat(x, ": T"))
      .Output("z: T")
      .Attr(types)
      .Shape(shapes::Broadcast)
      .Elementwise()
      .Heavy()
      .Doc(doc)
      .Gradient(gradient);
}

// d/dx of the lower incomplete gamma ratio: x^(a-1) e^-x / Gamma(a).
Out IgammaSlope(GradContext& g) {
  const Out a = g.x(0), x = g.x(1);
  return Exp(Call("Xlogy", {a - 1.0, x}) - x - Of("Lgamma", a));
}

// The regularised incomplete beta function is differentiated by x only: x^(a-1) (1-x)^(b-1) / B(a, b).
void BetaincGradient(GradContext& g) {
  const Out a = g.x(0), b = g.x(1), x = g.x(2);
  const Out log_beta = Of("Lgamma", a) + Of("Lgamma", b) - Of("Lgamma", a + b);
  const Out slope = Exp(Call("Xlogy", {a - 1.0, x}) + Call("Xlog1py", {b - 1.0, -x}) - log_beta);
  g.SetBroadcast(2, slope * g.dy());
}

OpBuilder PartOfComplex(OpRegistry& ops, std::string_view name, const char* in, const char* out, GradientFn gradient) {
  return ops.Add(name)
      .Input(StrCat(in, ": T"))
      .Output(StrCat(out, ": Tout"))
      .Attr("T: {complex64, complex128} = DT_COMPLEX64")
      .Attr("Tout: {float, double} = DT_FLOAT")
      .Shape(shapes::SameAsInput0)
      .Elementwise()
      .Gradient(gradient);
}
Out MakeComplex(Out re, Out im) {
  return CallOp("Complex", std::vector<Out>{re, im},
                {{"Tout", re.type() == DT_DOUBLE ? DT_COMPLEX128 : DT_COMPLEX64}})[0];
}
Out PartOf(const char* op, Out x) {
  return CallOp(op, std::vector<Out>{x}, {{"Tout", x.type() == DT_COMPLEX128 ? DT_DOUBLE : DT_FLOAT}})[0];
}

}  // namespace

void RegisterMathSpecialOps(OpRegistry& ops) {
  // Error function and relatives
  Special(ops, "Erf", "The error function.",
          [](GradContext& g) { g.Set(0, g.dy() * (Exp(-Square(g.x(0))) * (2 / std::sqrt(kPi)))); });
  Special(ops, "Erfc", "1 - erf(x).",
          [](GradContext& g) { g.Set(0, g.dy() * (Exp(-Square(g.x(0))) * (-2 / std::sqrt(kPi)))); });
  Special(ops, "Erfinv", "The number whose error function is x.",
          [](GradContext& g) { g.Set(0, g.dy() * (Exp(Square(g.y())) * (std::sqrt(kPi) / 2))); });
  Special(ops, "Ndtri", "The quantile of the normal distribution.",
          [](GradContext& g) { g.Set(0, g.dy() * (Exp(Square(g.y()) * 0.5) * std::sqrt(2 * kPi))); });
  // Gamma function and relatives
  Special(ops, "Lgamma", "log |Gamma(x)|.", [](GradContext& g) { g.Set(0, g.dy() * Of("Digamma", g.x(0))); });
  Special(ops, "Digamma", "The derivative of lgamma.",
          [](GradContext& g) { g.Set(0, g.dy() * Call("Polygamma", {OnesLike(g.x(0)), g.x(0)})); });
  // Integrals
  Special(ops, "Dawsn", "Dawson's integral.",
          [](GradContext& g) { g.Set(0, g.dy() * (1.0 - 2.0 * g.x(0) * g.y())); });
  Special(ops, "Expint", "The exponential integral Ei.",
          [](GradContext& g) { g.Set(0, g.dy() * Exp(g.x(0)) / g.x(0)); });
  Special(ops, "FresnelCos", "The integral of cos(pi t^2 / 2) from 0 to x.",
          [](GradContext& g) { g.Set(0, g.dy() * Of("Cos", Square(g.x(0)) * (kPi / 2))); });
  Special(ops, "FresnelSin", "The integral of sin(pi t^2 / 2) from 0 to x.",
          [](GradContext& g) { g.Set(0, g.dy() * Of("Sin", Square(g.x(0)) * (kPi / 2))); });
  Special(ops, "Spence", "Spence's dilogarithm.", [](GradContext& g) {
    const Out x = g.x(0), one = OnesLike(x);
    g.Set(0, g.dy() * Where(Call("Equal", {x, one}), -one, Log(x) / (1.0 - x)));
  });
  // Bessel functions, plain and scaled by e^-|x| or e^x
  Special(ops, "BesselI0", "The modified Bessel function I0.",
          [](GradContext& g) { g.Set(0, g.dy() * Of("BesselI1", g.x(0))); });
  Special(ops, "BesselI0e", "exp(-|x|) I0(x).", [](GradContext& g) {
    g.Set(0, g.dy() * (Of("BesselI1e", g.x(0)) - Of("Sign", g.x(0)) * g.y()));
  });
  Special(ops, "BesselI1", "The modified Bessel function I1.", [](GradContext& g) {
    g.Set(0, g.dy() * UnlessZero(g.x(0), 0.5, Of("BesselI0", g.x(0)) - OverX(g)));
  });
  Special(ops, "BesselI1e", "exp(-|x|) I1(x).", [](GradContext& g) {
    const Out x = g.x(0);
    g.Set(0, g.dy() * UnlessZero(x, 0.5, Of("BesselI0e", x) - g.y() * Of("Sign", x) - OverX(g)));
  });
  Special(ops, "BesselK0", "The modified Bessel function K0.",
          [](GradContext& g) { g.Set(0, -g.dy() * Of("BesselK1", g.x(0))); });
  Special(ops, "BesselK0e", "exp(x) K0(x).",
          [](GradContext& g) { g.Set(0, g.dy() * (g.y() - Of("BesselK1e", g.x(0)))); });
  Special(ops, "BesselK1", "The modified Bessel function K1.",
          [](GradContext& g) { g.Set(0, g.dy() * (-Of("BesselK0", g.x(0)) - OverX(g))); });
  Special(ops, "BesselK1e", "exp(x) K1(x).", [](GradContext& g) {
    g.Set(0, g.dy() * (g.y() * (1.0 - Of("Reciprocal", g.x(0))) - Of("BesselK0e", g.x(0))));
  });
  Special(ops, "BesselJ0", "The Bessel function J0.",
          [](GradContext& g) { g.Set(0, -g.dy() * Of("BesselJ1", g.x(0))); });
  Special(ops, "BesselJ1", "The Bessel function J1.", [](GradContext& g) {
    g.Set(0, g.dy() * UnlessZero(g.x(0), 0.5, Of("BesselJ0", g.x(0)) - OverX(g)));
  });
  Special(ops, "BesselY0", "The Bessel function Y0.",
          [](GradContext& g) { g.Set(0, -g.dy() * Of("BesselY1", g.x(0))); });
  Special(ops, "BesselY1", "The Bessel function Y1.",
          [](GradContext& g) { g.Set(0, g.dy() * (Of("BesselY0", g.x(0)) - OverX(g))); });

  // Of two
  constexpr char kAll[] = "T: {bfloat16, half, float, double}", kTwo[] = "T: {float, double}";
  Binary(ops, "Igamma", "a", "x", kAll, "The lower incomplete gamma function over Gamma(a).", [](GradContext& g) {
    g.SetBroadcast(0, g.dy() * Call("IgammaGradA", {g.x(0), g.x(1)}), 1);
    g.SetBroadcast(1, g.dy() * IgammaSlope(g), 0);
  });
  Binary(ops, "Igammac", "a", "x", kAll, "The upper incomplete gamma function over Gamma(a).", [](GradContext& g) {
    g.SetBroadcast(0, -g.dy() * Call("IgammaGradA", {g.x(0), g.x(1)}), 1);
    g.SetBroadcast(1, -g.dy() * IgammaSlope(g), 0);
  });
  Binary(ops, "IgammaGradA", "a", "x", kTwo, "The derivative of Igamma by a.", nullptr);
  Binary(ops, "Zeta", "x", "q", kTwo, "The Hurwitz zeta function.", [](GradContext& g) {
    g.SetBroadcast(1, -g.dy() * g.x(0) * Call("Zeta", {g.x(0) + 1.0, g.x(1)}), 0);
  });
  Binary(ops, "Polygamma", "a", "x", kTwo, "The derivative of order `a` of digamma.", [](GradContext& g) {
    g.SetBroadcast(1, g.dy() * Call("Polygamma", {g.x(0) + 1.0, g.x(1)}), 0);
  });
  ops.Add("Betainc").Input("a: T").Input("b: T").Input("x: T").Output("z: T").Attr(kTwo).Elementwise().Heavy()
      .Doc("The regularised incomplete beta function.").Gradient(BetaincGradient).Shape([](ShapeContext& c) {
        // Scalars go with anything; the others have one shape.
        PartialShape shape({});
        bool unknown = false;
        for (int i = 0; i < 3; ++i) {
          if (!c.in(i).known_rank()) {
            unknown = true;
          } else if (c.in(i).rank() > 0) {
            shape = shape.known_rank() && shape.rank() == 0 ? c.in(i) : shape.MergeWith(c.in(i));
          }
        }
        c.out(0, unknown && shape.rank() == 0 ? PartialShape() : shape);
      });

  // Complex numbers
  ops.Add("Complex").Input("real: T").Input("imag: T").Output("out: Tout").Attr("T: {float, double} = DT_FLOAT")
      .Attr("Tout: {complex64, complex128} = DT_COMPLEX64").Shape(shapes::Broadcast).Elementwise()
      .Doc("The complex number with these parts.").Gradient([](GradContext& g) {
        g.SetBroadcast(0, PartOf("Real", g.dy()), 1);
        g.SetBroadcast(1, PartOf("Imag", g.dy()), 0);
      });
  PartOfComplex(ops, "Real", "input", "output",
                [](GradContext& g) { g.Set(0, MakeComplex(g.dy(), ZerosLike(g.dy()))); });
  PartOfComplex(ops, "Imag", "input", "output",
                [](GradContext& g) { g.Set(0, MakeComplex(ZerosLike(g.dy()), g.dy())); });
  PartOfComplex(ops, "Angle", "input", "output", [](GradContext& g) {
    const Out x = g.x(0);
    const Out turned = Call("Reciprocal", {MakeComplex(PartOf("Imag", x), PartOf("Real", x))});
    g.Set(0, -MakeComplex(g.dy(), ZerosLike(g.dy())) * turned);
  });
  PartOfComplex(ops, "ComplexAbs", "x", "y", [](GradContext& g) {
    // x / |x| written out, so that it has a derivative of its own (Sign's is zero).
    const auto complex = [](Out real) { return MakeComplex(real, ZerosLike(real)); };
    g.Set(0, Call("DivNoNan", {complex(g.dy()) * g.x(0), complex(g.y())}));
  });
  ops.Add("Conj").Input("input: T").Output("output: T").Attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
      .Shape(shapes::SameAsInput0).Elementwise().Doc("The complex conjugate.")
      .Gradient([](GradContext& g) { g.Set(0, Conj(g.dy())); });
}

}  // namespace penstock
