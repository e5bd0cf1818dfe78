// Activations: functions of one tensor that are linear in parts, or nearly so.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

constexpr char kReals[] = "T: realnumbertype";
constexpr char kFloats[] = "T: {half, bfloat16, float, double}";
constexpr char kFloatsByDefault[] = "T: {half, bfloat16, float, double} = DT_FLOAT";

OpBuilder Activation(OpRegistry& ops, std::string_view name, std::string_view types, GradientFn gradient,
                     std::string_view first_attr = "") {
  OpBuilder op = ops.Add(name);
  if (!first_attr.empty()) op.Attr(first_attr);  // TensorFlow's order
  return op.Input("features: T")
      .Output("activations: T")
      .Attr(types)
      .Shape(shapes::SameAsInput0)
      .Elementwise()
      .Gradient(gradient);
}

OpBuilder ActivationGrad(OpRegistry& ops, std::string_view name, std::string_view second, std::string_view types,
                         GradientFn gradient, std::string_view first_attr = "") {
  OpBuilder op = ops.Add(name);
  if (!first_attr.empty()) op.Attr(first_attr);
  return op.Input("gradients: T")
      .Input(second)
      .Output("backprops: T")
      .Attr(types)
      .Shape([](ShapeContext& c) { c.out(0, shapes::Merge(c.in(0), c.in(1))); })
      .Elementwise()
      .Gradient(gradient);
}

// The gradients of f'(x) dy where f is linear in parts: the second derivative is nothing.
void LinearInParts(GradContext& g) {
  g.Set(0, g.Call(g.op().name, {g.dy(), g.x(1)},
                  g.attrs().Find("alpha") ? AttrMap{{"alpha", g.attr("alpha")}} : AttrMap{}));
  g.Set(1, ZerosLike(g.x(1)));
}
// The same where the negative part is an exponential, whose slope grows with the result itself.
void ExponentialBelowZero(GradContext& g) {
  const Out y = g.x(1);
  g.Set(0, g.Call(g.op().name, {g.dy(), y}));
  g.Set(1, Where(g.Call("Less", {y, g.scope().ScalarOf(y.type(), 0)}), g.dy() * g.x(0), ZerosLike(y)));
}

}  // namespace

void RegisterActivationOps(OpRegistry& ops) {
  Activation(ops, "Relu",
             "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}",
             [](GradContext& g) {
               g.Set(0, g.Call("ReluGrad", {g.dy(), g.y()}));
             })
      .Doc("max(x, 0).");
  ActivationGrad(ops, "ReluGrad", "features: T", kReals, LinearInParts);
  Activation(ops, "Relu6", kReals, [](GradContext& g) {
    g.Set(0, g.Call("Relu6Grad", {g.dy(), g.y()}));
  }).Doc("x limited to 0 ... 6.");
  ActivationGrad(ops, "Relu6Grad", "features: T", kReals, LinearInParts);
  Activation(ops, "LeakyRelu", kFloatsByDefault,
             [](GradContext& g) {
               g.Set(0, g.Call("LeakyReluGrad", {g.dy(), g.x(0)}, {{"alpha", g.attr("alpha")}}));
             },
             "alpha: float = 0.2")
      .Doc("x where it is positive, else alpha * x.");
  ActivationGrad(ops, "LeakyReluGrad", "features: T", kFloatsByDefault, LinearInParts,
                 "alpha: float = 0.2");
  Activation(ops, "Elu", kFloats, [](GradContext& g) {
    g.Set(0, g.Call("EluGrad", {g.dy(), g.y()}));
  }).Doc("x where it is positive, else exp(x) - 1.");
  ActivationGrad(ops, "EluGrad", "outputs: T", kFloats, ExponentialBelowZero);
  Activation(ops, "Selu", kFloats,
             [](GradContext& g) {
               g.Set(0, g.Call("SeluGrad", {g.dy(), g.y()}));
             })
      .Doc(
          "scale * x where x is positive, else scale * alpha * (exp(x) - 1), with the constants that keep mean and "
          "variance.");
  ActivationGrad(ops, "SeluGrad", "outputs: T", kFloats, ExponentialBelowZero);
}

}  // namespace penstock
