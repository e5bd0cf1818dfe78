#include "penstock/ops/all.h"

namespace penstock {

void RegisterAllOps(OpRegistry& ops) {
  (void)ops;
}

}  // namespace penstock
