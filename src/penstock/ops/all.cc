#include "penstock/ops/all.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops) {
  RegisterConcatOps(ops);
  RegisterConstantOps(ops);
  RegisterControlFlowOps(ops);
  RegisterFunctionalOps(ops);
  RegisterGatherOps(ops);
  RegisterIdentityOps(ops);
  RegisterPadOps(ops);
  RegisterQueueOps(ops);
  RegisterRandomOps(ops);
  RegisterResourceVariableOps(ops);
  RegisterScatterOps(ops);
  RegisterSendReceiveOps(ops);
  RegisterShapeOfOps(ops);
  RegisterSliceOps(ops);
  RegisterStateOps(ops);
  RegisterTrainingOps(ops);
  RegisterTransposeOps(ops);
}

}  // namespace penstock
