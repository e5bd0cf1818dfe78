// Chains of elementwise functions that graph optimisation joined into one node.
#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterFusedElementwiseOps(OpRegistry& ops) {
  ops.Add("_FusedElementwise")
      .Input("args: num_args * T")
      .Output("results: num_results * T")
      .Attr("T: {float, double}")
      .Attr("num_args: int >= 1")
      .Attr("num_results: int >= 1")
      .Attr("steps: list(string)")
      .Attr("names: list(string)")
      .Attr("operands: list(int)")
      .Attr("results: list(int)")
      .Attr("parts: list(int) = []")
      .Attr("joins: list(int) = []")
      .Doc(
          "Elementwise ops, one after the other. `steps` are the ops, `names` the nodes that they stand for, "
          "`operands` "
          "what each reads, one, two or four numbers a step: an argument's, or the number of arguments and that of an "
          "earlier step. `results` are the steps whose values are given out. Instead of a whole tensor an argument "
          "may be one of several equal parts of one along its last dimension: `parts` has their number (1: whole) and "
          "which it is, for each argument; a result may be several values side by side: `joins` has how many, for "
          "each result. Both are empty if there is nothing of the kind.");
}

}  // namespace penstock
