#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// A dataset of elements that are there.
Ref<Dataset> Kept(ElementSpec spec, std::vector<Element> elements);

// All but the first `count` elements.
Ref<Dataset> MakeSkip(Ref<const Dataset> input, int64_t count);

}  // namespace penstock::data
