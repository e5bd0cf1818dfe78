// Ops that hand their input over: identities, gradient stops, checks.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void EachLikeInput(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    c.out(i, c.in(i));
    c.out_handle(i, c.in_handle(i));
  }
}

// What the debugger puts behind an output that is watched.
OpBuilder DebuggedCopy(OpRegistry& ops, std::string_view name) {
  return ops.Add(name)
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("tensor_name: string = ''")
      .Attr("debug_ops_spec: list(string) = []")
      .AllowsUninitializedInput()
      .Shape(shapes::SameAsInput0)
      .Free();
}

}  // namespace

void RegisterIdentityOps(OpRegistry& ops) {
  ops.Add("NoOp").Shape(shapes::None).Free().Doc("Does nothing: a place for control edges.");

  ops.Add("Identity")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Shape(shapes::SameAsInput0)
      .Gradient(IdentityGradient)
      .MayAliasInput0()
      .Free()
      .Doc("`input` itself.");

  ops.Add("IdentityN")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: list(type) >= 1")
      .Shape(EachLikeInput)
      .Gradient([](GradContext& g) {
        for (int i = 0; i < g.num_inputs(); ++i) {
          if (g.has_dy(i)) {
            g.Set(i, g.raw_dy(i));
          } else if (g.x(i).type() != DT_RESOURCE && g.x(i).type() != DT_VARIANT) {
            g.Set(i, g.dy(i));  // zeros, where there can be a gradient
          }
        }
      })
      .MayAliasInput0()
      .Free()
      .Doc("The inputs themselves; all are there before any output is.");

  ops.Add("Snapshot")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Shape(shapes::SameAsInput0)
      .MayAliasInput0()
      .Free()
      .Doc("`input`, as it is now.");

  ops.Add("DeepCopy")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: type")
      .Stateful()
      .Shape(shapes::SameAsInput0)
      .Doc("A copy of `x` in memory of its own.");

  DebuggedCopy(ops, "Copy").Doc("A copy of `input`.");

  DebuggedCopy(ops, "CopyHost").Doc("A copy of `input` in host memory.");

  ops.Add("GuaranteeConst")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Stateful()
      .Shape(shapes::SameAsInput0)
      .MayAliasInput0()
      .Free()
      .Doc("`input`, which the program promises never to change.");

  ops.Add("StopGradient")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .NotDifferentiable()
      .Shape(shapes::SameAsInput0)
      .MayAliasInput0()
      .Free()
      .Doc("`input`; gradients treat it as a constant.");

  ops.Add("PreventGradient")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("message: string = ''")
      .Shape(shapes::SameAsInput0)
      .Gradient([](GradContext& g) {
        throw NotFound("Gradient explicitly disabled. Reason: ", g.attr<std::string>("message"));
      })
      .MayAliasInput0()
      .Free()
      .Doc("`input`; asking for a gradient through it is an error.");

  ops.Add("DebugGradientIdentity")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .AllowsUninitializedInput()
      .Shape(shapes::SameAsInput0)
      .Gradient(IdentityGradient)
      .MayAliasInput0()
      .Free()
      .Doc("`input`; marks a place whose gradient a debugger watches.");

  ops.Add("EnsureShape")
      .Input("input: T")
      .Output("output: T")
      .Attr("shape: shape")
      .Attr("T: type")
      .Shape([](ShapeContext& c) { c.out(0, shapes::Merge(c.in(0), c.attr<PartialShape>("shape"))); })
      .Gradient(IdentityGradient)
      .MayAliasInput0()
      .Free()
      .Doc("`input`, found to have a shape that fits `shape`; an error otherwise.");

  for (const auto& [name, found] : {std::pair("CheckNumerics", "if it holds NaN or infinity."),
                                    std::pair("CheckNumericsV2", "and which of NaN, +Inf and -Inf it holds.")}) {
    ops.Add(name)
        .Input("tensor: T")
        .Output("output: T")
        .Attr("T: {bfloat16, half, float, double}")
        .Attr("message: string")
        .Stateful()
        .Shape(shapes::SameAsInput0)
        .Gradient([](GradContext& g) {
          g.Set(0, g.Call(g.op().name, {g.dy()},
                          {{"message", "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                                           g.attr<std::string>("message")}}));
        })
        .MayAliasInput0()
        .Doc(StrCat("`tensor`; an error that says `message` ", found));
  }
}

}  // namespace penstock
