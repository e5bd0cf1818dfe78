// Ops that reach the outside: Python functions, printing, assertions, the clock.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void PassGradient(GradContext& g) { g.Set(0, g.raw_dy()); }

}  // namespace

void RegisterHostOps(OpRegistry& ops) {
  ops.Add("PyFunc")
      .Input("input: Tin").Output("output: Tout").Attr("token: string").Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0").Stateful().NotDifferentiable().Heavy().Shape(shapes::Unknown)
      .Doc("Calls the Python function that `token` stands for, with NumPy arrays.");
  ops.Add("PyFuncStateless")
      .Input("input: Tin").Output("output: Tout").Attr("token: string").Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0").NotDifferentiable().Heavy().Shape(shapes::Unknown)
      .Doc("As PyFunc, for a function whose results follow from its arguments.");
  ops.Add("EagerPyFunc")
      .Input("input: Tin").Output("output: Tout").Attr("token: string").Attr("is_async: bool = false")
      .Attr("Tin: list(type) >= 0").Attr("Tout: list(type) >= 0").Stateful().Heavy().Shape(shapes::Unknown)
      .Doc("Calls the Python function that `token` stands for, with eager tensors.");
  ops.Add("Print")
      .Input("input: T").Input("data: U").Output("output: T").Attr("T: type").Attr("U: list(type) >= 0")
      .Attr("message: string = ''").Attr("first_n: int = -1").Attr("summarize: int = 3").Stateful()
      .Shape(shapes::SameAsInput0).Gradient(PassGradient)
      .Doc("Forwards `input` and prints `data` to the standard error stream.");
  ops.Add("PrintV2")
      .Input("input: string").Attr("output_stream: string = 'stderr'").Attr("end: string = '\n'").Stateful()
      .Shape([](ShapeContext& c) { c.WithRank(0, 0); })
      .Doc("Prints a string.");
  ops.Add("Assert")
      .Input("condition: bool").Input("data: T").Attr("T: list(type) >= 1").Attr("summarize: int = 3").Stateful()
      .NotDifferentiable().Shape([](ShapeContext& c) { c.WithRank(0, 0); })
      .Doc("Fails with `data` in the message unless the condition holds.");
  ops.Add("Timestamp")
      .Output("ts: double").Stateful().NotDifferentiable().Shape(shapes::Scalar)
      .Doc("Seconds since the epoch, when the op runs.");
}

}  // namespace penstock
