// Every family of ops, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/op/op_registry.h"

namespace penstock {

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
void RegisterTensorArrayOps(OpRegistry& ops);
void RegisterTopKOps(OpRegistry& ops);
void RegisterTrainingOps(OpRegistry& ops);
void RegisterTransposeOps(OpRegistry& ops);

void RegisterAllOps(OpRegistry& ops);

}  // namespace penstock
