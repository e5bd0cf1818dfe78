// Every family of ops, one function each; the list in all.cc is the whole registration.
#pragma once

#include "penstock/op/op_registry.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops);

}  // namespace penstock
