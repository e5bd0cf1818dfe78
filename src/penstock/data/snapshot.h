#pragma once

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// The input's elements, which are written to a directory as they pass. `shard` tells into which shard; all into the
// first if it is not there.
Ref<Dataset> MakeSave(Ref<const Dataset> input, std::string path, std::string_view compression,
                      std::optional<CapturedFunction> shard);

}  // namespace penstock::data
