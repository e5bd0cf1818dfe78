#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// A number that tells datasets apart by how they are made, the same in every process: ops, attributes, values, and the
// functions by what they compute, not by their names.
// `salt` counts too.
uint64_t Fingerprint(const Dataset& dataset, const FunctionLibraryPtr& session_library, std::string_view salt);

}  // namespace penstock::data
