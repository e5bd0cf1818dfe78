#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// The element at a place as the only one. When iterated over, OutOfRange if there is none, FailedPrecondition or
// Unimplemented if the dataset's elements cannot be had so.
Ref<Dataset> MakeElementAt(Ref<const Dataset> dataset, int64_t index);

}  // namespace penstock::data
