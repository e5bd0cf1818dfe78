// Static optimisation: datasets replaced by others that give the same elements with less work.
#pragma once

#include <set>
#include <string>

#include "penstock/data/remake.h"

namespace penstock::data {

// The dataset with all rewrites applied that are named, as often as they fit; itself if none does. Names that are not
// known do not count.
Ref<const Dataset> Rewrite(KernelContext& k, Ref<const Dataset> dataset, const std::set<std::string>& names);

// The part of the dataset's elements that worker `index` of `workers` shall have, by the number of an AutoShardPolicy.
// NotFound: it shall be divided by files, but reads none.
Ref<const Dataset> AutoShard(KernelContext& k, Ref<const Dataset> dataset, int64_t workers, int64_t index,
                             int64_t policy);

}  // namespace penstock::data
