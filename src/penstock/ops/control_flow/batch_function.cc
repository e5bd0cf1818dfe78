// A function called once for the inputs of several calls.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterBatchFunctionOps(OpRegistry& ops) {
  ops.Add("BatchFunction")
      .Input("in_tensors: Tin").Input("captured_tensors: Tcaptured").Output("out_tensors: Tout").Attr("f: func")
      .Attr("num_batch_threads: int").Attr("max_batch_size: int").Attr("batch_timeout_micros: int")
      .Attr("max_enqueued_batches: int = 10").Attr("allowed_batch_sizes: list(int) = []").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("batching_queue: string = ''")
      .Attr("low_priority_max_batch_size: int = 0").Attr("low_priority_batch_timeout_micros: int = 0")
      .Attr("low_priority_allowed_batch_sizes: list(int) = []").Attr("low_priority_max_enqueued_batches: int = 0")
      .Attr("mixed_priority_policy: {'low_priority_padding_with_max_batch_size', "
            "'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'} = "
            "'low_priority_padding_with_max_batch_size'")
      .Attr("batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'")
      .Attr("Tin: list(type) >= 1").Attr("Tcaptured: list(type) >= 0").Attr("Tout: list(type) >= 1")
      .Attr("enable_large_batch_splitting: bool = false").Shape(shapes::Unknown)
      .Doc("Calls `f` once for the rows of several calls of this op that come within `batch_timeout_micros` of each "
           "other, and gives each its own rows of the results.");
}

}  // namespace penstock
