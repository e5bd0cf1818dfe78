#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// A dataset of elements that are there.
Ref<const Dataset> Kept(ElementSpec spec, std::vector<Element> elements);

}  // namespace penstock::data
