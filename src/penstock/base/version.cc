#include "penstock/base/version.h"

namespace penstock {

const char* Version() { return kVersion; }

}  // namespace penstock
