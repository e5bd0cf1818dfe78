// The ops that conditionals and loops are made of: Switch, Merge and those that move values between frames. Gradients
// are those of whole conditionals and loops (graph/control_flow_gradient.cc).
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void SwitchShape(ShapeContext& c) {
  c.WithRank(1, 0);
  for (int i = 0; i < 2; ++i) {
    c.out(i, c.in(0));
    c.out_handle(i, c.in_handle(0));
  }
}

// The output has what all inputs agree on.
void MergeShape(ShapeContext& c) {
  PartialShape common = c.in(0);
  bool same_handle = true;
  for (int i = 1; i < c.num_inputs(); ++i) {
    const PartialShape& other = c.in(i);
    same_handle = same_handle && c.in_handle(i) == c.in_handle(0);
    if (!common.known_rank()) continue;
    if (!other.known_rank() || other.rank() != common.rank()) {
      common = PartialShape();
      continue;
    }
    for (int d = 0; d < common.rank(); ++d) {
      if (common[d] != other[d]) common.set_dim(d, -1);
    }
  }
  c.out(0, common);
  if (same_handle) c.out_handle(0, c.in_handle(0));
  c.out(1, PartialShape({}));
}

// A value that enters a loop keeps its shape only if every iteration sees the same one.
void EnterShape(ShapeContext& c) {
  const bool constant = c.attr<bool>("is_constant");
  c.out(0, constant ? c.in(0) : PartialShape());
  c.out_handle(0, c.in_handle(0));
}

}  // namespace

void RegisterControlFlowOps(OpRegistry& ops) {
  ops.Add("Switch").Is(Flow::kSwitch)
      .Input("data: T").Input("pred: bool").Output("output_false: T").Output("output_true: T").Attr("T: type")
      .Free().Shape(SwitchShape)
      .Doc("Forwards `data` to the output that `pred` names; the other one is dead.");
  ops.Add("RefSwitch").Is(Flow::kSwitch)
      .Input("data: Ref(T)").Input("pred: bool").Output("output_false: Ref(T)").Output("output_true: Ref(T)")
      .Attr("T: type").AllowsUninitializedInput().Free().Shape(SwitchShape)
      .Doc("As Switch, for a reference.");
  ops.Add("Merge").Is(Flow::kMerge)
      .Input("inputs: N * T").Output("output: T").Output("value_index: int32").Attr("T: type").Attr("N: int >= 1")
      .Free().Shape(MergeShape)
      .Doc("Forwards the first input that is live, and its index.");
  ops.Add("RefMerge").Is(Flow::kMerge)
      .Input("inputs: Ref(N * T)").Output("output: Ref(T)").Output("value_index: int32").Attr("T: type")
      .Attr("N: int >= 1").Free().Shape(MergeShape).Doc("As Merge, for references.");
  ops.Add("RefSelect")
      .Input("index: int32").Input("inputs: Ref(N * T)").Output("output: Ref(T)").Attr("T: type").Attr("N: int >= 1")
      .Free().Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        PartialShape first = c.in(1);
        if (!first.fully_known()) return;
        for (int i = 2; i < c.num_inputs(); ++i) {
          if (!c.in(i).fully_known() || !(c.in(i) == first)) return;
        }
        c.out(0, first);
      })
      .Doc("Forwards the reference number `index`.");
  ops.Add("Enter").Is(Flow::kEnter)
      .Input("data: T").Output("output: T").Attr("T: type").Attr("frame_name: string")
      .Attr("is_constant: bool = false").Attr("parallel_iterations: int = 10").Free().Shape(EnterShape)
      .Doc("Brings a value into the loop `frame_name`.");
  ops.Add("RefEnter").Is(Flow::kEnter)
      .Input("data: Ref(T)").Output("output: Ref(T)").Attr("T: type").Attr("frame_name: string")
      .Attr("is_constant: bool = false").Attr("parallel_iterations: int = 10").Free().Shape(shapes::SameAsInput0)
      .Doc("Brings a reference into the loop `frame_name`.");
  ops.Add("Exit").Is(Flow::kExit)
      .Input("data: T").Output("output: T").Attr("T: type").Free().Shape(shapes::SameAsInput0)
      .Doc("Hands a value from a loop to its surroundings.");
  ops.Add("RefExit").Is(Flow::kExit)
      .Input("data: Ref(T)").Output("output: Ref(T)").Attr("T: type").Free().Shape(shapes::SameAsInput0)
      .Doc("Hands a reference from a loop to its surroundings.");
  ops.Add("NextIteration").Is(Flow::kNextIteration)
      .Input("data: T").Output("output: T").Attr("T: type").Free().Shape(shapes::SameAsInput0)
      .Doc("Hands a value to the loop's next iteration.");
  ops.Add("RefNextIteration").Is(Flow::kNextIteration)
      .Input("data: Ref(T)").Output("output: Ref(T)").Attr("T: type").Free().Shape(shapes::SameAsInput0)
      .Doc("Hands a reference to the loop's next iteration.");
  ops.Add("RefIdentity")
      .Input("input: Ref(T)").Output("output: Ref(T)").Attr("T: type").AllowsUninitializedInput().Free()
      .Shape(shapes::SameAsInput0).Gradient([](GradContext& g) { g.Set(0, g.raw_dy()); }).Doc("The same reference.");
  ops.Add("LoopCond").Is(Flow::kLoopCond)
      .Input("input: bool").Output("output: bool").Free().NotDifferentiable()
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 0)); })
      .Doc("Whether the loop goes on: its predicate passes through here.");
  ops.Add("ControlTrigger")
      .ControlTrigger()
      .Free()
      .Shape(shapes::None)
      .Doc("Runs even if its control inputs are dead.");
  ops.Add("Abort")
      .Attr("error_msg: string = ''").Attr("exit_without_error: bool = false").Shape(shapes::None)
      .Doc("Ends the process: with an error, or quietly if `exit_without_error`.");
}

}  // namespace penstock
