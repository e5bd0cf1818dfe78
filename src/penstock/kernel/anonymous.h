// Resources that only their handles name.
#pragma once

#include <string>

#include "penstock/kernel/kernel.h"

namespace penstock {

// The `shared_name` that says so: TensorFlow's.
inline constexpr char kAnonymousName[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

// Whether the node's resource is to live as long as its handles, found by no name.
inline bool IsAnonymous(const NodeView& node) { return node.attr_or<std::string>("shared_name", "") == kAnonymousName; }

}  // namespace penstock
