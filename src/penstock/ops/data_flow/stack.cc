// Stacks of tensors that live within a step.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterStackOps(OpRegistry& ops) {
  ops.Add("StackV2")
      .Input("max_size: int32")
      .Output("handle: resource")
      .Attr("elem_type: type")
      .Attr("stack_name: string = ''")
      .Stateful()
      .Shape([](ShapeContext& c) { c.out(0, PartialShape({2})); })
      .Doc("A stack of tensors; at most `max_size` unless that is negative.");
  ops.Add("StackPushV2")
      .Input("handle: resource").Input("elem: T").Output("output: T").Attr("T: type")
      .Attr("swap_memory: bool = false").Stateful().Shape([](ShapeContext& c) { c.out(0, c.in(1)); })
      .Doc("Puts a tensor on the stack and forwards it.");
  ops.Add("StackPopV2")
      .Input("handle: resource").Output("elem: elem_type").Attr("elem_type: type").Stateful().Shape(shapes::Unknown)
      .Doc("Takes the tensor on top.");
  ops.Add("StackCloseV2").Input("handle: resource").Stateful().Shape(shapes::None).Doc("Ends the stack.");

  ops.Add("Stack").Output("handle: Ref(string)").Attr("elem_type: type").Attr("stack_name: string = ''").Stateful()
      .Shape([](ShapeContext& c) { c.out(0, PartialShape({2})); })
      .Doc("A stack of tensors; StackV2 with an older handle.");
  ops.Add("StackPush")
      .Input("handle: Ref(string)").Input("elem: T").Output("output: T").Attr("T: type")
      .Attr("swap_memory: bool = false").Shape([](ShapeContext& c) { c.out(0, c.in(1)); })
      .Doc("Puts a tensor on the stack and forwards it.");
  ops.Add("StackPop").Input("handle: Ref(string)").Output("elem: elem_type").Attr("elem_type: type")
      .Shape(shapes::Unknown).Doc("Takes the tensor on top.");
  ops.Add("StackClose").Input("handle: Ref(string)").Shape(shapes::None).Doc("Ends the stack.");
}

}  // namespace penstock
