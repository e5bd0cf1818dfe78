#pragma once

#include "penstock/data/remake.h"

namespace penstock::data {

// batch(map(x)) as a map over batch(x), whose function calls the first one for each row; null if the dataset is not of
// this form, or the function has state, or shapes are not known. With `tries_both`, whichever is faster is found while
// it runs.
Ref<const Dataset> VectorizeMap(const Remaker& remaker, const Dataset& dataset, bool tries_both);

}  // namespace penstock::data
