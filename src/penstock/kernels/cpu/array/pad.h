// One padded axis of a tensor, and what mirrors at its ends.
#pragma once

#include "penstock/kernel/kernel_context.h"

namespace penstock {

struct PadAxis {
  int64_t n, before, after;
  int64_t out() const { return before + n + after; }

  // InvalidArgument unless the axis is long enough to be mirrored. `skip`: 1 leaves the border out (REFLECT), 0 repeats
  // it (SYMMETRIC).
  void RequireMirrored(int64_t skip, const char* kind = "") const {
    KernelContext::Require(before <= n - skip && after <= n - skip, "paddings must be ",
                           skip ? "less than" : "no greater than", " the ", kind, "dimension size: ", before, ", ",
                           after, skip ? " not less than " : " greater than ", n);
  }
};

// Where position `at` of a padded axis mirrors from.
inline int64_t Mirrored(int64_t at, const PadAxis& axis, int64_t skip) {
  at -= axis.before;
  if (at < 0) return skip - 1 - at;
  if (at >= axis.n) return 2 * axis.n - 1 - skip - at;
  return at;
}

}  // namespace penstock
