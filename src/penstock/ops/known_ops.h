// Ops of TensorFlow 2.21 and 1.15 by their signatures alone: graphs that have them can be imported, changed and
// written, and only running such a node fails. known_ops.inc is written by tools/known_ops.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/op/op_def.h"

namespace penstock {

// Null if TensorFlow has no such op. Definitions are made when they are first asked for; any thread may ask.
const OpDef* FindKnownOp(std::string_view name);
std::vector<std::string> KnownOpNames();  // sorted
// Whether the op got this attribute after TensorFlow 1.15.
bool IsNewerAttr(std::string_view op, std::string_view attr);

}  // namespace penstock
