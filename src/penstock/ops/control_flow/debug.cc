// What a debugger puts behind the tensors that it watches. Values go to `debug_urls`, and are outputs as well.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

OpBuilder Watching(OpRegistry& ops, const char* name, const char* output) {
  return ops.Add(name).Input("input: T").Output(output).Attr("T: type").Attr("device_name: string = ''")
      .Attr("tensor_name: string = ''").Attr("debug_urls: list(string) = []");
}

// The modes' sizes of output, which begin with the tensor's number; -1: as the input's rank says.
void NumericSummaryShape(ShapeContext& c) {
  switch (c.attr<int64_t>("tensor_debug_mode")) {
    case 2:  // CURT_HEALTH
      return c.out(0, PartialShape({2}));
    case 3:  // CONCISE_HEALTH
      return c.out(0, PartialShape({5}));
    case 4:  // FULL_HEALTH
      return c.out(0, PartialShape({11}));
    case 5:  // SHAPE
      return c.out(0, PartialShape({10}));
    case 8:  // REDUCE_INF_NAN_THREE_SLOTS
      return c.out(0, PartialShape({3}));
    default:
      return c.out(0, PartialShape());
  }
}

}  // namespace

void RegisterDebugOps(OpRegistry& ops) {
  Watching(ops, "DebugIdentity", "output: T")
      .Attr("gated_grpc: bool = false").AllowsUninitializedInput().Shape(shapes::SameAsInput0)
      .Doc("`input`, sent to `debug_urls`.");
  Watching(ops, "DebugNanCount", "output: int64")
      .Attr("gated_grpc: bool = false").AllowsUninitializedInput()
      .Shape([](ShapeContext& c) { c.out(0, PartialShape({1})); }).Doc("The number of NaNs in `input`.");
  Watching(ops, "DebugNumericSummary", "output: double")
      .Attr("lower_bound: float = -inf").Attr("upper_bound: float = inf").Attr("mute_if_healthy: bool = false")
      .Attr("gated_grpc: bool = false").AllowsUninitializedInput()
      .Shape([](ShapeContext& c) {
        c.out(0, PartialShape({c.in(0).known_rank() ? 14 + c.in(0).rank() : int64_t{-1}}));
      })
      .Doc("Whether `input` has a value, elements, NaNs, -Infs, negatives, zeros, positives, Infs, least, greatest, "
           "mean, variance, type, rank, sizes.");
  ops.Add("DebugIdentityV2")
      .Input("input: T").Output("output: T").Attr("T: type").Attr("tfdbg_context_id: string = ''")
      .Attr("op_name: string = ''").Attr("output_slot: int = -1").Attr("tensor_debug_mode: int = -1")
      .Attr("debug_urls: list(string) = []").Attr("circular_buffer_size: int = 1000")
      .Attr("tfdbg_run_id: string = ''").Stateful().Shape(shapes::SameAsInput0)
      .Gradient([](GradContext& g) { g.Set(0, g.dy()); }).Doc("`input`, written to the trace files in `debug_urls`.");
  ops.Add("DebugNumericSummaryV2")
      .Input("input: T").Output("output: output_dtype").Attr("output_dtype: {float, double} = DT_FLOAT")
      .Attr("T: type").Attr("tensor_debug_mode: int = -1").Attr("tensor_id: int = -1").Shape(NumericSummaryShape)
      .Doc("What `tensor_debug_mode` asks about `input`: infinities, NaNs, signs, shape.");
  ops.Add("DebugGradientRefIdentity")
      .Input("input: Ref(T)").Output("output: Ref(T)").Attr("T: type").AllowsUninitializedInput()
      .Shape(shapes::SameAsInput0).Gradient([](GradContext& g) { g.Set(0, g.dy()); })
      .Doc("`input`; marks a place whose gradient a debugger watches.");
}

}  // namespace penstock
