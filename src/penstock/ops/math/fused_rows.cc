// Functions of rows and of what rows are reduced to that graph optimisation joined into one node.
#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterFusedRowsOps(OpRegistry& ops) {
  ops.Add("_FusedRows")
      .Input("args: num_args * T")
      .Output("results: num_results * T")
      .Attr("T: {float, double}")
      .Attr("num_args: int >= 1")
      .Attr("num_results: int >= 1")
      .Attr("steps: list(string)")
      .Attr("names: list(string)")
      .Attr("operands: list(int)")
      .Attr("of_rows: list(bool)")
      .Attr("results: list(int)")
      .Doc(
          "Ops, one after the other: elementwise ones, and Sum, Mean, Max or Min along the last dimension, which they "
          "keep with size 1. `steps`, `names`, `operands` and `results` are those of _FusedElementwise, but that a "
          "reduction reads one value, which is of rows. `of_rows` says for each step whether its result has whole "
          "rows or one number for each.");
}

}  // namespace penstock
