#include "penstock/ops/all.h"

#include "penstock/graph/export.h"
#include "penstock/ops/known_ops.h"

namespace penstock {

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
  RegisterTensorArrayOps(ops);
  RegisterTopKOps(ops);
  RegisterTrainingOps(ops);
  RegisterTransposeOps(ops);
}

}  // namespace penstock
