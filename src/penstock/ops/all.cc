#include "penstock/ops/all.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops) {
  RegisterControlFlowOps(ops);
  RegisterFunctionalOps(ops);
  RegisterQueueOps(ops);
  RegisterRandomOps(ops);
  RegisterSendReceiveOps(ops);
  RegisterStateOps(ops);
  RegisterTrainingOps(ops);
}

}  // namespace penstock
