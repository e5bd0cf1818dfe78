#include "penstock/ops/all.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops) {
  RegisterAggregateOps(ops);
  RegisterCastOps(ops);
  RegisterComparisonOps(ops);
  RegisterConcatOps(ops);
  RegisterConstantOps(ops);
  RegisterControlFlowOps(ops);
  RegisterFunctionalOps(ops);
  RegisterGatherOps(ops);
  RegisterIdentityOps(ops);
  RegisterMatMulOps(ops);
  RegisterMathBinaryOps(ops);
  RegisterMathUnaryOps(ops);
  RegisterPadOps(ops);
  RegisterQueueOps(ops);
  RegisterRandomOps(ops);
  RegisterReductionOps(ops);
  RegisterResourceVariableOps(ops);
  RegisterScatterOps(ops);
  RegisterSendReceiveOps(ops);
  RegisterSequenceOps(ops);
  RegisterShapeOfOps(ops);
  RegisterSliceOps(ops);
  RegisterStateOps(ops);
  RegisterStatelessRandomOps(ops);
  RegisterTrainingOps(ops);
  RegisterTransposeOps(ops);
}

}  // namespace penstock
