#include "penstock/ops/all.h"

#include "penstock/graph/export.h"
#include "penstock/ops/known_ops.h"

namespace penstock {

// Each family is a file of this folder and one function; this list is the whole registration.
void RegisterActivationOps(OpRegistry& ops);
void RegisterAggregateOps(OpRegistry& ops);
void RegisterBatchNormOps(OpRegistry& ops);
void RegisterBiasOps(OpRegistry& ops);
void RegisterCandidateSamplingOps(OpRegistry& ops);
void RegisterCastOps(OpRegistry& ops);
void RegisterCheckpointOps(OpRegistry& ops);
void RegisterComparisonOps(OpRegistry& ops);
void RegisterConcatOps(OpRegistry& ops);
void RegisterConstantOps(OpRegistry& ops);
void RegisterControlFlowOps(OpRegistry& ops);
void RegisterConvOps(OpRegistry& ops);
void RegisterCountingOps(OpRegistry& ops);
void RegisterCrossOps(OpRegistry& ops);
void RegisterDataFormatOps(OpRegistry& ops);
void RegisterDiagonalOps(OpRegistry& ops);
void RegisterEinsumOps(OpRegistry& ops);
void RegisterFakeQuantOps(OpRegistry& ops);
void RegisterFunctionalOps(OpRegistry& ops);
void RegisterGatherOps(OpRegistry& ops);
void RegisterHostOps(OpRegistry& ops);
void RegisterIdentityOps(OpRegistry& ops);
void RegisterMatMulOps(OpRegistry& ops);
void RegisterMathBinaryOps(OpRegistry& ops);
void RegisterMathSpecialOps(OpRegistry& ops);
void RegisterMathUnaryOps(OpRegistry& ops);
void RegisterPadOps(OpRegistry& ops);
void RegisterPartitionOps(OpRegistry& ops);
void RegisterPatchesOps(OpRegistry& ops);
void RegisterPoolOps(OpRegistry& ops);
void RegisterQuantizeOps(OpRegistry& ops);
void RegisterQueueOps(OpRegistry& ops);
void RegisterRandomOps(OpRegistry& ops);
void RegisterReductionOps(OpRegistry& ops);
void RegisterResizeOps(OpRegistry& ops);
void RegisterResourceVariableOps(OpRegistry& ops);
void RegisterScanOps(OpRegistry& ops);
void RegisterScatterNdOps(OpRegistry& ops);
void RegisterScatterOps(OpRegistry& ops);
void RegisterSegmentOps(OpRegistry& ops);
void RegisterSelectOps(OpRegistry& ops);
void RegisterSelectionOps(OpRegistry& ops);
void RegisterSendReceiveOps(OpRegistry& ops);
void RegisterSequenceOps(OpRegistry& ops);
void RegisterShapeOfOps(OpRegistry& ops);
void RegisterSliceOps(OpRegistry& ops);
void RegisterSoftmaxOps(OpRegistry& ops);
void RegisterSpaceOps(OpRegistry& ops);
void RegisterSparseMathOps(OpRegistry& ops);
void RegisterSparseOps(OpRegistry& ops);
void RegisterStackOps(OpRegistry& ops);
void RegisterStateOps(OpRegistry& ops);
void RegisterStatelessRandomOps(OpRegistry& ops);
void RegisterSummaryOps(OpRegistry& ops);
void RegisterTensorArrayOps(OpRegistry& ops);
void RegisterTopKOps(OpRegistry& ops);
void RegisterTrainingOps(OpRegistry& ops);
void RegisterTransposeOps(OpRegistry& ops);

void RegisterAllOps(OpRegistry& ops) {
  ops.SetKnownOps(FindKnownOp);
  SetNewerAttrs(IsNewerAttr);
  RegisterActivationOps(ops);
  RegisterAggregateOps(ops);
  RegisterBatchNormOps(ops);
  RegisterBiasOps(ops);
  RegisterCandidateSamplingOps(ops);
  RegisterCastOps(ops);
  RegisterCheckpointOps(ops);
  RegisterComparisonOps(ops);
  RegisterConcatOps(ops);
  RegisterConstantOps(ops);
  RegisterControlFlowOps(ops);
  RegisterConvOps(ops);
  RegisterCountingOps(ops);
  RegisterCrossOps(ops);
  RegisterDataFormatOps(ops);
  RegisterDiagonalOps(ops);
  RegisterEinsumOps(ops);
  RegisterFakeQuantOps(ops);
  RegisterFunctionalOps(ops);
  RegisterGatherOps(ops);
  RegisterHostOps(ops);
  RegisterIdentityOps(ops);
  RegisterMatMulOps(ops);
  RegisterMathBinaryOps(ops);
  RegisterMathSpecialOps(ops);
  RegisterMathUnaryOps(ops);
  RegisterPadOps(ops);
  RegisterPartitionOps(ops);
  RegisterPatchesOps(ops);
  RegisterPoolOps(ops);
  RegisterQuantizeOps(ops);
  RegisterQueueOps(ops);
  RegisterRandomOps(ops);
  RegisterReductionOps(ops);
  RegisterResizeOps(ops);
  RegisterResourceVariableOps(ops);
  RegisterScanOps(ops);
  RegisterScatterNdOps(ops);
  RegisterScatterOps(ops);
  RegisterSegmentOps(ops);
  RegisterSelectOps(ops);
  RegisterSelectionOps(ops);
  RegisterSendReceiveOps(ops);
  RegisterSequenceOps(ops);
  RegisterShapeOfOps(ops);
  RegisterSliceOps(ops);
  RegisterSoftmaxOps(ops);
  RegisterSpaceOps(ops);
  RegisterSparseMathOps(ops);
  RegisterSparseOps(ops);
  RegisterStackOps(ops);
  RegisterStateOps(ops);
  RegisterStatelessRandomOps(ops);
  RegisterSummaryOps(ops);
  RegisterTensorArrayOps(ops);
  RegisterTopKOps(ops);
  RegisterTrainingOps(ops);
  RegisterTransposeOps(ops);
}

}  // namespace penstock
