#pragma once

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// f of each element, on up to `parallelism` threads (kAutotune: as many as pay). In the order of the input, unless
// `deterministic` is false. `name`: see Dataset.
Ref<Dataset> MakeParallelMap(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                             int64_t parallelism, std::optional<bool> deterministic, bool preserves_cardinality);

}  // namespace penstock::data
