// Barriers, conditional accumulators, staging areas.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void OldHandleShape(ShapeContext& c) { c.out(0, PartialShape({2})); }

void InsertShape(ShapeContext& c) {
  const PartialShape handle = c.WithRank(0, 1), keys = c.WithRank(1, 1), values = c.WithRankAtLeast(2, 1);
  if (handle.known_rank()) shapes::RequireDim(handle[0], 2);
  if (keys.known_rank() && values.known_rank()) ShapeContext::MergeDim(keys[0], values[0]);
}

void TakeShape(ShapeContext& c) { c.WithRank(1, 0); }
void StepShape(ShapeContext& c) { c.WithRank(1, 0); }
void KeyShape(ShapeContext& c) { c.WithRankAtMost(0, 1); }
void NoKeyShape(ShapeContext& c) { c.out(0, PartialShape({})); }

}  // namespace

void RegisterDataFlowOps(OpRegistry& ops) {
  ops.Add("Barrier").Output("handle: Ref(string)").Attr("component_types: list(type) >= 1")
      .Attr("shapes: list(shape) >= 0 = []").Attr("capacity: int = -1").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(OldHandleShape)
      .Doc("Tuples whose components come one by one under a key, and leave together when they are complete.");
  ops.Add("BarrierInsertMany").Input("handle: Ref(string)").Input("keys: string").Input("values: T").Attr("T: type")
      .Attr("component_index: int").Shape(InsertShape).Doc("Gives keys their values for one component.");
  ops.Add("BarrierTakeMany").Input("handle: Ref(string)").Input("num_elements: int32").Output("indices: int64")
      .Output("keys: string").Output("values: component_types").Attr("component_types: list(type) >= 1")
      .Attr("allow_small_batch: bool = false").Attr("wait_for_incomplete: bool = false").Attr("timeout_ms: int = -1")
      .Shape(shapes::Unknown).Doc("Takes complete tuples; waits until there are enough.");
  ops.Add("BarrierClose").Input("handle: Ref(string)").Attr("cancel_pending_enqueues: bool = false")
      .Shape(shapes::None).Doc("No new key can be added any more.");
  ops.Add("BarrierReadySize").Input("handle: Ref(string)").Output("size: int32").Shape(shapes::Scalar)
      .Doc("How many tuples are complete.");
  ops.Add("BarrierIncompleteSize").Input("handle: Ref(string)").Output("size: int32").Shape(shapes::Scalar)
      .Doc("How many tuples are not complete yet.");

  ops.Add("ConditionalAccumulator").Output("handle: Ref(string)")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Attr("shape: shape")
      .Attr("container: string = ''").Attr("shared_name: string = ''")
      .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'").Stateful().Shape(OldHandleShape)
      .Doc("Sums gradients up until their mean or sum is taken; those of an old step are dropped.");
  ops.Add("ResourceConditionalAccumulator").Output("handle: resource")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Attr("shape: shape")
      .Attr("container: string = ''").Attr("shared_name: string = ''")
      .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'").Stateful().Shape(OldHandleShape)
      .Doc("Sums gradients up until their mean or sum is taken; those of an old step are dropped.");
  ops.Add("SparseConditionalAccumulator").Output("handle: Ref(string)")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Attr("shape: shape")
      .Attr("container: string = ''").Attr("shared_name: string = ''")
      .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'").Stateful().Shape(OldHandleShape)
      .Doc("A ConditionalAccumulator of rows.");
  ops.Add("AccumulatorApplyGradient").Input("handle: Ref(string)").Input("local_step: int64").Input("gradient: dtype")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Shape(shapes::None)
      .Doc("Adds a gradient, unless it is older than the accumulator's step.");
  ops.Add("ResourceAccumulatorApplyGradient").Input("handle: resource").Input("local_step: int64")
      .Input("gradient: dtype")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Stateful().Shape(shapes::None)
      .Doc("Adds a gradient, unless it is older than the accumulator's step.");
  ops.Add("SparseAccumulatorApplyGradient").Input("handle: Ref(string)").Input("local_step: int64")
      .Input("gradient_indices: int64").Input("gradient_values: dtype").Input("gradient_shape: int64")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Attr("has_known_shape: bool")
      .Shape(shapes::None).Doc("Adds rows, unless they are older than the accumulator's step.");
  ops.Add("AccumulatorTakeGradient").Input("handle: Ref(string)").Input("num_required: int32")
      .Output("average: dtype")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Shape(TakeShape)
      .Doc("The mean or sum of the gradients, once there are enough; begins the next step.");
  ops.Add("ResourceAccumulatorTakeGradient").Input("handle: resource").Input("num_required: int32")
      .Output("average: dtype")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Stateful().Shape(TakeShape)
      .Doc("The mean or sum of the gradients, once there are enough; begins the next step.");
  ops.Add("SparseAccumulatorTakeGradient").Input("handle: Ref(string)").Input("num_required: int32")
      .Output("indices: int64").Output("values: dtype").Output("shape: int64")
      .Attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}").Shape(shapes::Unknown)
      .Doc("The mean or sum of the rows, once there are enough gradients; begins the next step.");
  ops.Add("AccumulatorNumAccumulated").Input("handle: Ref(string)").Output("num_accumulated: int32")
      .Shape(shapes::Scalar).Doc("How many gradients were added in this step.");
  ops.Add("ResourceAccumulatorNumAccumulated").Input("handle: resource").Output("num_accumulated: int32").Stateful()
      .Shape(shapes::Scalar).Doc("How many gradients were added in this step.");
  ops.Add("AccumulatorSetGlobalStep").Input("handle: Ref(string)").Input("new_global_step: int64").Shape(StepShape)
      .Doc("Sets the step.");
  ops.Add("ResourceAccumulatorSetGlobalStep").Input("handle: resource").Input("new_global_step: int64").Stateful()
      .Shape(StepShape).Doc("Sets the step.");

  ops.Add("Stage").Input("values: dtypes").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type) >= 1").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Unknown).Doc("Puts a tuple into a staging area; waits while it is full.");
  ops.Add("Unstage").Output("values: dtypes").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type) >= 1").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Unknown).Doc("Takes the first tuple out of a staging area; waits for one.");
  ops.Add("StagePeek").Input("index: int32").Output("values: dtypes").Attr("capacity: int >= 0 = 0")
      .Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(shapes::Unknown)
      .Doc("A tuple of a staging area, which stays there.");
  ops.Add("StageSize").Output("size: int32").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type)").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("How many tuples there are.");
  ops.Add("StageClear").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type)")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(shapes::Unknown)
      .Doc("Removes all tuples.");
  ops.Add("MapStage").Input("key: int64").Input("indices: int32").Input("values: fake_dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type)")
      .Attr("fake_dtypes: list(type) >= 1").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(KeyShape).Doc("Puts components of a tuple under a key; waits while the area is full.");
  ops.Add("MapPeek").Input("key: int64").Input("indices: int32").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(KeyShape)
      .Doc("Components of the tuple with a key, which stay there.");
  ops.Add("MapUnstage").Input("key: int64").Input("indices: int32").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(KeyShape)
      .Doc("Takes components of the tuple with a key; waits for it.");
  ops.Add("MapUnstageNoKey").Input("indices: int32").Output("key: int64").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(NoKeyShape)
      .Doc("Takes components of a tuple, any; waits for one.");
  ops.Add("MapSize").Output("size: int32").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type)").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("How many tuples are complete.");
  ops.Add("MapIncompleteSize").Output("size: int32").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type)").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("How many tuples are not complete yet.");
  ops.Add("MapClear").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type)")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(shapes::Unknown)
      .Doc("Removes all tuples.");
  ops.Add("OrderedMapStage").Input("key: int64").Input("indices: int32").Input("values: fake_dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type)")
      .Attr("fake_dtypes: list(type) >= 1").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(KeyShape).Doc("Puts components of a tuple under a key; waits while the area is full.");
  ops.Add("OrderedMapPeek").Input("key: int64").Input("indices: int32").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(KeyShape)
      .Doc("Components of the tuple with a key, which stay there.");
  ops.Add("OrderedMapUnstage").Input("key: int64").Input("indices: int32").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(KeyShape)
      .Doc("Takes components of the tuple with a key; waits for it.");
  ops.Add("OrderedMapUnstageNoKey").Input("indices: int32").Output("key: int64").Output("values: dtypes")
      .Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type) >= 1")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Stateful().Shape(NoKeyShape)
      .Doc("Takes components of a tuple, that with the smallest key; waits for one.");
  ops.Add("OrderedMapSize").Output("size: int32").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type)").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Scalar).Doc("How many tuples are complete.");
  ops.Add("OrderedMapIncompleteSize").Output("size: int32").Attr("capacity: int >= 0 = 0")
      .Attr("memory_limit: int >= 0 = 0").Attr("dtypes: list(type)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Stateful().Shape(shapes::Scalar).Doc("How many tuples are not complete yet.");
  ops.Add("OrderedMapClear").Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0")
      .Attr("dtypes: list(type)").Attr("container: string = ''").Attr("shared_name: string = ''").Stateful()
      .Shape(shapes::Unknown).Doc("Removes all tuples.");
}

}  // namespace penstock
