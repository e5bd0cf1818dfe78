// The other direction of config.h: what a caller sets on a step as a message, and what a step reports from one.
#pragma once

#include <string>
#include <string_view>

#include "penstock/io/config.h"

namespace penstock {

// Without what debuggers watch.
std::string SerializeRunOptions(const RunOptions& options);
// Step stats and partition graphs. InvalidArgument: no RunMetadata.
RunMetadata ParseRunMetadata(std::string_view bytes);

}  // namespace penstock
