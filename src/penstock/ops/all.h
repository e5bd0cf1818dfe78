// All ops.
#pragma once

#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops);

}  // namespace penstock
