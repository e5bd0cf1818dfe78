// Every family of ops, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterControlFlowOps(OpRegistry& ops);
void RegisterFunctionalOps(OpRegistry& ops);
void RegisterQueueOps(OpRegistry& ops);
void RegisterRandomOps(OpRegistry& ops);
void RegisterSendReceiveOps(OpRegistry& ops);
void RegisterStateOps(OpRegistry& ops);
void RegisterTrainingOps(OpRegistry& ops);

void RegisterAllOps(OpRegistry& ops);

}  // namespace penstock
